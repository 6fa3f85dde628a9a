"""Stopping rules, simulated: when they stop and what they say, over many runs, without touching
single values where that is exact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import final

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.arrays import Floats, Integers
from dpbandits.core.errors import EnvironmentExhausted
from dpbandits.core.privacy import Guarantee
from dpbandits.environments.base import Environment
from dpbandits.noise.protocol import Noise
from dpbandits.policies.contract import Policy
from dpbandits.policies.stopping import StoppingRule
from dpbandits.session.estimator import required
from dpbandits.session.session import Session
from dpbandits.simulation.arguments import checked, checked_workers
from dpbandits.simulation.plain import Path
from dpbandits.simulation.sharing import Player, play_all
from dpbandits.simulation.simulate import play_plain


@final
@dataclass(frozen=True, eq=False)
class Estimates:
    """Independent runs of one stopping rule, each shape (runs,).

    value: what it said. rounds: values behind it. capped: the cap (or the environment's end) came
        before it halted.
    """

    rule: StoppingRule
    environment: Environment
    seed: int
    value: Floats
    rounds: Integers
    capped: NDArray[np.bool_]

    def __repr__(self) -> str:
        late = f", {self.capped.sum():,} capped" if self.capped.any() else ""
        return (
            f"Estimates({self.rule.name}, runs={len(self.value)}, {self.coverage:.1%} right, "
            f"{self.rounds.mean():,.0f} rounds on average{late})"
        )

    @property
    def mean(self) -> float:
        """The true mean of the values."""
        low, high = self.rule.range
        return low + (high - low) * float(self.environment.means[0])

    @property
    def right(self) -> NDArray[np.bool_]:
        """Runs that did not halt at a value further than alpha·|mean| from the mean; a capped one
        claims nothing, so it is right.
        """
        wrong = np.abs(self.value - self.mean) > self.rule.alpha * abs(self.mean)
        return self.capped | ~wrong

    @property
    def coverage(self) -> float:
        """Share of the runs that are right: at least 1 − beta is claimed."""
        return float(self.right.mean())

    @property
    def guarantee(self) -> Guarantee | None:
        """The rule's guarantee, marked as simulated."""
        guarantee = self.rule.guarantee
        return None if guarantee is None else replace(guarantee, noise="simulated")


def estimates(
    rule: StoppingRule,
    environment: Environment,
    *,
    runs: int,
    seed: int = 0,
    workers: int | None = None,
    compiled: bool = True,
) -> Estimates:
    """Play a stopping rule to its end `runs` times, with seeded, simulated noise (not private).

    The environment's one arm gives rewards in [0, 1], which stand for values in [low, high]. A rule
    that asks at doublings only costs time by its questions, any other by its values. A run depends
    on (rule, environment, seed, its number) only.

    Args:
        workers: runs played at once; None: one per core where a run takes long enough to gain by
            it.
        compiled: use the compiled twin where there is one (equal in law); False plays the rule's
            own Python.

    >>> from dpbandits import Bernoulli, DPExponentialNAS
    >>> rule = DPExponentialNAS(alpha=0.5, beta=0.05, cap=10**12, epsilon=1)
    >>> runs = estimates(rule, Bernoulli([0.6]), runs=100, seed=1)
    >>> runs.coverage >= 0.95, bool(runs.capped.any())
    (True, False)
    """
    _, runs, seed = checked(required(rule), environment, 1, runs, seed)
    workers = checked_workers(workers)
    player, threads = choose_rule_player(rule, environment, seed, compiled)
    paths = play_all(player, np.array([rule.cap]), runs=runs, workers=workers, threads=threads)
    stops = [rule.estimate(path.state) for path in paths]
    found = [stop for stop in stops if stop is not None]
    assert len(found) == runs
    return Estimates(
        rule=rule,
        environment=environment,
        seed=seed,
        value=np.array([stop.value for stop in found]),
        rounds=np.array([stop.rounds for stop in found], np.int64),
        capped=np.array([stop.capped for stop in found]),
    )


def choose_rule_player(
    rule: StoppingRule, environment: Environment, seed: int, compiled: bool
) -> tuple[Player, bool]:
    """How one run is played to its end, and whether threads can play several at once."""
    if compiled and environment.lattice(rule.reader.grid) is not None:
        # numba: only when it is used
        from dpbandits.simulation.players.stopping import stopping_player

        player = stopping_player(rule, environment, seed)
        if player is not None:
            return player, True
    finite = environment.logged or (environment.length or rule.cap) < rule.cap
    return partial(
        play_plain, rule, environment, rule.cap, seed, host=play_stream if finite else None
    ), False


def play_stream(
    policy: Policy,
    environment: Environment,
    rounds: int,
    checkpoints: Integers,
    *,
    noise: Noise,
    seed: int,
    rng: np.random.Generator,
) -> Path:
    """One run value by value through a `Session`, which is finished where the environment ends
    before the rule stops.
    """
    assert isinstance(policy, StoppingRule)
    environment, session = environment.fresh(), Session(policy, noise=noise, seed=seed)
    t = 0
    while policy.estimate(session.state) is None and t < min(rounds, environment.length or rounds):
        decision = session.ask()
        try:
            reward = environment.draw(decision.action, rng)  # type: ignore[arg-type]  # one arm
        except EnvironmentExhausted:
            break
        session.tell(decision, reward)
        t += 1
    if policy.estimate(session.state) is None:
        session.finish()
    return Path(np.array([[t]]), t, session.releases, t, session.ledger, session.state)
