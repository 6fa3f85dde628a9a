"""`identify` and `estimates`: many runs of what stops by itself, best arm identification and
stopping rules for a mean.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.errors import EnvironmentExhausted
from dpbandits.core.inputs import Floats, Integers, real_number, refuse_class, shown, whole_number
from dpbandits.core.privacy import Guarantee
from dpbandits.core.tables import FigureTable
from dpbandits.environments.base import Environment, require_pair
from dpbandits.noise.protocol import Noise
from dpbandits.policies.base import Identified
from dpbandits.policies.contract import Policy
from dpbandits.policies.stopping import StoppingRule
from dpbandits.session.estimator import required
from dpbandits.session.session import Session
from dpbandits.simulation.plain import Path, play_events
from dpbandits.simulation.simulate import (
    Player,
    checked,
    checked_workers,
    choose_player,
    play_all,
    play_plain,
)

# Which arm a policy names, after how many rounds, and how often it is right: `simulate` for
# best-arm identification.


CAP = 10**8
"""Rounds after which a run is given up, unless the caller or a finite environment says
otherwise.
"""


@final
@dataclass(frozen=True, eq=False)
class Identification:
    """Independent runs of one policy in one environment, each until it named an arm or came to the
    cap.

    arms: the named arm, −1 for a run that named none, shape (runs,). samples: rounds it took (`cap`
        if none), shape (runs,).
    """

    policy: Policy
    environment: Environment
    seed: int
    cap: int
    arms: Integers
    samples: Integers

    def __repr__(self) -> str:
        late = (
            f", {self.undecided} undecided at the cap of {self.cap:,} rounds"
            if self.undecided
            else ""
        )
        mean = f"{self.samples.mean():,.0f} rounds on average"
        return (
            f"Identification({self.policy.name}, runs={len(self.arms)}, {self.correct:.1%} "
            f"correct, {mean}{late})"
        )

    @property
    def correct(self) -> float:
        """Share of all runs that named a best arm (any of them, if several are)."""
        return float((self._right & (self.arms >= 0)).mean())

    @property
    def wrong(self) -> float:
        """Share of all runs that named an arm that is not best: what the policy keeps below its
        failure probability.
        """
        return float((~self._right & (self.arms >= 0)).mean())

    @property
    def undecided(self) -> int:
        """Runs that came to the cap; their `samples` are a lower limit."""
        return int((self.arms < 0).sum())

    @property
    def guarantee(self) -> Guarantee | None:
        """What decisions and named arm promise together, marked as simulated; None for a policy
        without privacy.
        """
        guarantee = self.policy.guarantee
        return None if guarantee is None else replace(guarantee, noise="simulated")

    def summary(self) -> FigureTable:
        """Shares of correct, wrong and undecided runs; mean, its standard error, median, 99 % and
        worst of the rounds. A dict, which prints as a table.
        """
        n, x = len(self.samples), self.samples
        median, q99 = np.quantile(x, [0.5, 0.99], method="higher")
        found = {
            "correct": self.correct,
            "wrong": self.wrong,
            "undecided": self.undecided / n,
            "mean": float(x.mean()),
            "error": float(x.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan"),
            "median": float(median),
            "q99": float(q99),
            "worst": float(x.max()),
        }
        title = f"{self.policy.name}, {n} runs: shares of them, and rounds until an arm was named"
        return FigureTable.of_runs(found, title, n)

    @property
    def _right(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        best: np.ndarray[Any, np.dtype[np.bool_]] = self.environment.gaps[self.arms] == 0
        return best


def identify(
    policy: Policy,
    environment: Environment,
    *,
    delta: float | None = None,
    runs: int = 1,
    seed: int = 0,
    cap: int | None = None,
    workers: int | None = None,
    compiled: bool = True,
) -> Identification:
    """Play `runs` independent runs until the policy names the best arm, with seeded, simulated
    noise.

    Args:
        policy: one with a method `best_arm(state)`: DPSE, SuccessiveElimination, AdaPTT, CTBTT, or
            your own.
        delta: failure probability to play with, in place of the policy's `delta` or `beta`.
        cap: rounds after which a run is given up and counted as undecided; 10⁸ unless environment
            or horizon are shorter. Must be
            given where several arms are best: most runs never end there.
        workers: runs played at once; None: one per core where a run takes long enough to gain by
            it.
        compiled: use the compiled twin where there is one (equal in law).

    Raises:
        TypeError: the policy names no arm, or the environment is a log, whose rounds cannot be
        ordered.
        ValueError: numbers out of range; a policy whose failure probability is not fixed; tied best
        arms and no cap.

    >>> from dpbandits import Bernoulli
    >>> from dpbandits.policies import AdaPTT
    >>> identify(AdaPTT(arms=2, epsilon=1), Bernoulli([0.8, 0.4]), delta=0.01, runs=100).correct
    1.0
    """
    policy = with_confidence(policy, delta)
    require_pair(policy, environment)
    cap = checked_cap(policy, environment, cap)
    cap, runs, seed = checked(policy, environment, cap, runs, seed)
    workers = checked_workers(workers)
    player, is_compiled = naming_player(policy, environment, cap, seed, compiled)
    paths = play_all(player, np.array([cap]), runs=runs, workers=workers, threads=is_compiled)
    named = [path.found if is_compiled else named_by(policy, path.state) for path in paths]
    arms = np.array([-1 if found is None else found.arm for found in named])
    samples = np.array([cap if found is None else found.rounds for found in named])
    return Identification(policy, environment, seed, cap, arms, samples)


def with_confidence(policy: Policy, delta: float | None) -> Policy:
    """The policy with failure probability `delta`, or as it is if that already has a fixed one."""
    refuse_class(policy, "a policy", "dpbandits.AdaPTT(arms=5, epsilon=1)")
    if not isinstance(policy, Policy) or not callable(getattr(policy, "best_arm", None)):
        raise TypeError(
            "Expected a policy that names an arm (a method best_arm(state)), such as DPSE, "
            "SuccessiveElimination, AdaPTT or CTBTT; "
            f"got {getattr(policy, 'name', type(policy).__name__)}."
        )
    names = {f.name for f in fields(policy)}
    name = "delta" if "delta" in names else "beta" if "beta" in names else None
    if delta is None:
        if name is not None and getattr(policy, name) is None:
            raise ValueError(
                f"{policy.name} has no fixed failure probability (its {name} is None): give "
                "delta=, say delta=0.05."
            )
        return policy
    if name is None:
        raise ValueError(
            f"{policy.name} has no field delta or beta to set: leave delta out, and give it "
            "where the policy is made."
        )
    chance = real_number(delta)
    if chance is None or not 0 < chance < 1:
        raise ValueError(f"Expected delta={shown(delta)} to be a probability with 0 < delta < 1.")
    changes: dict[str, Any] = {name: float(chance)} | (
        {"horizon": None} if name == "beta" and "horizon" in names else {}
    )
    return replace(policy, **changes)


def checked_cap(policy: Policy, environment: Environment, cap: int | None) -> int:
    """The rounds a run may take."""
    if environment.logged:
        raise TypeError(
            "Expected an environment that shows the reward of any arm; a log shows those of its "
            "own decisions only."
        )
    if cap is not None:
        return whole_number(cap, "cap", 1, of="rounds")
    length = getattr(environment, "length", None)
    horizon = getattr(policy, "horizon", None) if policy.about.needs_horizon else None
    best = np.flatnonzero(environment.gaps == 0)
    if len(best) > 1 and length is None and horizon is None:
        raise ValueError(
            f"Arms {best.tolist()} are all best, so most runs would never end: give cap=, the "
            "rounds to give up after."
        )
    return min(CAP, length or CAP, horizon or CAP)


def naming_player(
    policy: Policy, environment: Environment, cap: int, seed: int, compiled: bool
) -> tuple[Player, bool]:
    """How one run is played: compiled (which tells what it found), or by events until an arm is
    named.
    """
    player, is_compiled = choose_player(policy, environment, cap, seed, compiled)
    if is_compiled:
        return player, True
    host: Callable[..., Path] = partial(play_events, until=partial(has_named, policy))
    return partial(play_plain, policy, environment, cap, seed, host=host), False


def named_by(policy: Policy, state: Any) -> Identified | None:
    """What the policy says of a state; anything that is a pair (arm, rounds) will do."""
    # only policies that identify have it: `identify` has asked for one of these
    found = policy.best_arm(state)  # type: ignore[attr-defined]
    return None if found is None else Identified(int(found[0]), int(found[1]))


def has_named(policy: Policy, state: Any) -> bool:
    return named_by(policy, state) is not None


# Stopping rules, simulated: when they stop and what they say, over many runs, without touching
# single values where that is exact.


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
        from dpbandits.simulation.compiled.stopping import stopping_player

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
