"""`identify` and `estimates`: many runs of best-arm identification and of stopping rules for a
mean.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.errors import EnvironmentExhausted
from dpbandits.core.inputs import Floats, Integers, number_within, refuse_class, switch
from dpbandits.core.privacy import Guarantee
from dpbandits.core.tables import FigureTable
from dpbandits.environments.base import Environment, require_pair
from dpbandits.noise.protocol import Noise
from dpbandits.policies import POLICIES
from dpbandits.policies.base import Identified
from dpbandits.policies.contract import Policy
from dpbandits.policies.stopping import StoppingRule
from dpbandits.session.estimator import require_rule
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

# Best-arm identification: the identified arm, its number of rounds, and how often it is right.


CAP = 10**8
"""Default number of rounds after which a run is stopped."""


@final
@dataclass(frozen=True, eq=False)
class Identification:
    """Independent runs of one policy in one environment, each until it identifies an arm or reaches
    the cap.

    Attributes:
        policy: the policy.
        environment: the environment.
        seed: seed of all runs.
        cap: the most rounds of a run.
        arms: the identified arm, −1 for none, shape (runs,).
        samples: rounds until then (`cap` if none), shape (runs,).
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
        """Share of all runs that identified a best arm (any of them, if there are several)."""
        return float((self._right & (self.arms >= 0)).mean())

    @property
    def wrong(self) -> float:
        """Share of all runs that identified an arm that is not best; the policy keeps it below its
        failure probability.
        """
        return float((~self._right & (self.arms >= 0)).mean())

    @property
    def undecided(self) -> int:
        """Number of runs that reached the cap; their `samples` are lower limits."""
        return int((self.arms < 0).sum())

    @property
    def guarantee(self) -> Guarantee | None:
        """The guarantee of decisions and identified arm together, marked as simulated; None without
        privacy.
        """
        guarantee = self.policy.guarantee
        return None if guarantee is None else replace(guarantee, noise="simulated")

    def summary(self) -> FigureTable:
        """Return shares of correct, wrong and undecided runs, and mean, standard error, median, 99
        % and worst number of rounds, as a dict that prints as a table.
        """
        n, x = len(self.samples), self.samples
        median, q99 = np.quantile(x, [0.5, 0.99], method="higher")
        figures = {
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
        return FigureTable.of_runs(figures, title, n)

    @property
    def _right(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        return self.environment.gaps[self.arms] == 0


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
    """Play `runs` independent runs until the policy identifies the best arm, with seeded, simulated
    noise.

    Args:
        policy: a policy with a method `best_arm(state)`: DPSE, SuccessiveElimination, AdaPTT,
            CTBTT, or a user-defined one.
        environment: the environment; it has as many arms.
        delta: failure probability, in place of the policy's `delta` or `beta`.
        runs: number of runs.
        seed: seed of all runs.
        cap: rounds after which a run is stopped and counted as undecided; by default 10⁸, or less
            if environment or horizon are shorter. Required if several arms are best, because most
            runs never end then.
        workers: number of runs at once; None for one per core if runs are long enough.
        compiled: True uses the compiled player if there is one (equal in law).

    Returns:
        The runs.

    Raises:
        TypeError: the policy identifies no arm, or the environment is a log, whose rounds cannot be
            ordered.
        ValueError: numbers out of range, a policy whose failure probability is not fixed, or tied
            best arms without a cap.

    >>> from dpbandits import Bernoulli
    >>> from dpbandits.policies import AdaPTT
    >>> identify(AdaPTT(arms=2, epsilon=1), Bernoulli([0.8, 0.4]), delta=0.01, runs=100).correct
    1.0
    """
    policy = with_confidence(policy, delta)
    require_pair(policy, environment)
    cap = checked_cap(policy, environment, cap)
    cap, runs, seed = checked(policy, environment, cap, runs, seed, "cap")
    workers = checked_workers(workers)
    compiled = switch(compiled, "compiled")
    player, is_compiled = identifying_player(policy, environment, cap, seed, compiled)
    paths = play_all(player, np.array([cap]), runs=runs, workers=workers, threads=is_compiled)
    identified = [
        path.found if is_compiled else identified_by(policy, path.state) for path in paths
    ]
    arms = np.array([-1 if each is None else each.arm for each in identified])
    samples = np.array([cap if each is None else each.rounds for each in identified])
    return Identification(policy, environment, seed, cap, arms, samples)


def with_confidence(policy: Policy, delta: float | None) -> Policy:
    """Return the policy with failure probability `delta`; the policy itself if `delta` is None."""
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
    chance = number_within(delta, "delta", 0, 1, "()", of="a probability")
    changes: dict[str, Any] = {name: chance} | (
        {"horizon": None} if name == "beta" and "horizon" in names else {}
    )
    return replace(policy, **changes)


def checked_cap(policy: Policy, environment: Environment, cap: int | None) -> int:
    """Return the most rounds of a run, as given or by default."""
    if environment.changing:
        raise TypeError(
            "Expected an environment whose means stand still: where they change, so does the best "
            "arm."
        )
    if environment.logged:
        raise TypeError(
            "Expected an environment that shows the reward of any arm; a log shows those of its "
            "own decisions only."
        )
    if cap is not None:
        return cap
    length = environment.length
    horizon = getattr(policy, "horizon", None) if policy.about.needs_horizon else None
    best = np.flatnonzero(environment.gaps == 0)
    if len(best) > 1 and length is None and horizon is None:
        raise ValueError(
            f"Arms {best.tolist()} are all best, so most runs would never end: give cap=, the "
            "rounds to give up after."
        )
    return min(CAP, length or CAP, horizon or CAP)


def identifying_player(
    policy: Policy, environment: Environment, cap: int, seed: int, compiled: bool
) -> tuple[Player, bool]:
    """Return the player of one run: compiled, or by events until an arm is identified."""
    player, is_compiled = choose_player(policy, environment, cap, seed, compiled)
    if is_compiled:
        return player, True
    host: Callable[..., Path] = partial(play_events, until=partial(has_identified, policy))
    return partial(play_plain, policy, environment, cap, seed, host=host), False


def identified_by(policy: Policy, state: Any) -> Identified | None:
    """Return the policy's identified arm in a state; any pair (arm, rounds) is accepted."""
    # `identify` requires this method
    pair = policy.best_arm(state)  # type: ignore[attr-defined]
    return None if pair is None else Identified(int(pair[0]), int(pair[1]))


def has_identified(policy: Policy, state: Any) -> bool:
    return identified_by(policy, state) is not None


# Stopping rules: their estimates and numbers of values, over many runs.


@final
@dataclass(frozen=True, eq=False)
class Estimates:
    """Independent runs of one stopping rule; arrays have shape (runs,).

    Attributes:
        rule: the rule.
        environment: the environment.
        seed: seed of all runs.
        value: the estimates.
        rounds: values behind them.
        capped: True if the cap (or the environment's end) came before the rule halted.
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
        """Runs that did not halt at an estimate further than alpha·|mean| from the mean. A capped
        run claims nothing, so it counts as right.
        """
        wrong = np.abs(self.value - self.mean) > self.rule.alpha * abs(self.mean)
        return self.capped | ~wrong

    @property
    def coverage(self) -> float:
        """Share of the runs that are right; the rule guarantees at least 1 − beta."""
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

    The environment's one arm gives rewards in [0, 1], which represent values in [low, high]. A rule
    that tests at doublings only costs time by its tests, others by their values. A run depends only
    on rule, environment, seed and the run's number.

    Args:
        rule: the stopping rule.
        environment: an environment with one arm.
        runs: number of runs.
        seed: seed of all runs.
        workers: number of runs at once; None for one per core if runs are long enough.
        compiled: True uses the compiled player if there is one (equal in law); False runs the
            rule's Python code.

    Returns:
        The runs.

    Raises:
        TypeError, ValueError: not a stopping rule and an environment with one arm, or numbers out
            of range.

    >>> from dpbandits import Bernoulli, DPExponentialNAS
    >>> rule = DPExponentialNAS(alpha=0.5, beta=0.05, cap=10**12, epsilon=1)
    >>> runs = estimates(rule, Bernoulli([0.6]), runs=100, seed=1)
    >>> runs.coverage >= 0.95, bool(runs.capped.any())
    (True, False)
    """
    require_rule(rule)
    _, runs, seed = checked(rule, environment, 1, runs, seed)
    workers = checked_workers(workers)
    compiled = switch(compiled, "compiled")
    player, threads = choose_rule_player(rule, environment, seed, compiled)
    paths = play_all(player, np.array([rule.cap]), runs=runs, workers=workers, threads=threads)
    stops = [rule.estimate(path.state) for path in paths]
    halted = [stop for stop in stops if stop is not None]
    assert len(halted) == runs
    return Estimates(
        rule=rule,
        environment=environment,
        seed=seed,
        value=np.array([stop.value for stop in halted]),
        rounds=np.array([stop.rounds for stop in halted], np.int64),
        capped=np.array([stop.capped for stop in halted]),
    )


def choose_rule_player(
    rule: StoppingRule, environment: Environment, seed: int, compiled: bool
) -> tuple[Player, bool]:
    """Return the player of one run to its end, and whether threads can play several at once."""
    is_ours = type(rule) in POLICIES.values()  # one of the caller's own may stop otherwise
    if compiled and is_ours and environment.lattice(rule.reader.grid) is not None:
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
    """Play one run value by value through a `Session`, which is finished if the environment ends
    before the rule halts.
    """
    assert isinstance(policy, StoppingRule)
    environment, session = environment.fresh(), Session(policy, noise=noise, seed=seed)
    t = 0
    while policy.estimate(session.state) is None and t < min(rounds, environment.length or rounds):
        decision = session.ask()
        try:
            reward = environment.draw(decision.action, rng)
        except EnvironmentExhausted:
            break
        session.tell(decision, reward)
        t += 1
    if policy.estimate(session.state) is None:
        session.finish()
    return Path(np.array([[t]]), t, session.releases, t, session.ledger, session.state)
