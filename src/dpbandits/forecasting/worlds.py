"""Forecasts in which no arm is best for everybody: visitors differ (policies that decide by
contexts), or rates change in the course of the trial.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dpbandits.core.contexts import UnitContexts, checked_rows
from dpbandits.core.inputs import MOST, Floats, Integers, real_number, shown, whole_number
from dpbandits.core.privacy import as_fraction
from dpbandits.environments.changing import ChangingMeans
from dpbandits.environments.contexts import ContextTable
from dpbandits.forecasting.outcome import EQUAL, EachRate, Foreseen, Prior, drawn_means
from dpbandits.policies.contextual import ContextualPolicy
from dpbandits.policies.contract import Policy
from dpbandits.policies.joint_contexts import JointDPLinTS
from dpbandits.policies.named import EVERY_POLICY, close_to
from dpbandits.session.people import policy_for_users
from dpbandits.session.ranges import Range
from dpbandits.simulation.simulate import simulate

ROWS = 2_000
"""Visitors that are made up where only the number of features is given."""

MOST_PIECES = 1_000
"""Times that rates may be drawn anew in a trial, as expected."""

WEIGHTS, MADE_UP, CHANGES = 3, 4, 5
"""Set the streams of laws, of made-up visitors and of changes apart from all others."""


@dataclass(frozen=True)
class Visitors:
    """What is said of visitors.

    Args:
        contexts: of visitors like those to come, shape (rows, features).
        spread: the standard deviation over visitors of an arm's rate, as a share of the rate.
        words: in words.
    """

    contexts: Floats
    spread: float
    words: str
    usual: ClassVar[tuple[str, str]] = ("DPLinTS", "DPRateIMED")

    @property
    def known(self) -> dict[str, int]:
        """What policies are told."""
        return {"features": self.contexts.shape[1]}

    def takes(self, baseline: type[Policy]) -> bool:
        """Whether this is played to be compared with."""
        return True

    @classmethod
    def given(cls, features: Any, spread: object, seed: int) -> Visitors:
        """
        Args:
            features: how many there are, or contexts, shape (rows, features).

        Raises:
            ValueError: neither; or the spread is no number of at least 0.
        """
        share = real_number(spread)
        if share is None or not 0 <= share <= 10:
            raise ValueError(
                f"Expected spread={shown(spread)} to be a number from 0 to 10: the standard "
                "deviation over visitors of an arm's rate, as a share of the rate."
            )
        if isinstance(features, (list, tuple, np.ndarray)) and np.ndim(features) == 2:
            rows = np.asarray(features)
            contexts = checked_rows(rows, rows.shape[1], "features")
            if len(contexts) < 2:
                raise ValueError("Expected features= to be at least two contexts.")
            said = f"{len(contexts):,} given contexts of {contexts.shape[1]} features"
        else:
            many = whole_number(features, "features", 2, 1_000)
            rng = np.random.default_rng([seed, MADE_UP])
            measured = rng.normal(size=(ROWS, many - 1))
            contexts = UnitContexts(measured)(measured)
            said = f"made-up visitors of {many} features, a constant among them"
        return cls(contexts, share, f"visitors: {said}; spread of a rate over them: {share:.0%}")

    def world(self, means: Floats, seed: int, draw: int) -> ContextTable:
        """Visitors of one draw: each arm's rate varies along a direction of its own.

        Args:
            means: of each arm over all visitors, shape (arms,).
        """
        rng = np.random.default_rng([seed, draw, WEIGHTS])
        along = self.contexts @ rng.normal(size=(self.contexts.shape[1], len(means)))
        along -= along.mean(axis=0)
        along /= np.maximum(along.std(axis=0), 1e-12)
        return ContextTable(self.contexts, np.clip(means * (1.0 + self.spread * along), 0.0, 1.0))


@dataclass(frozen=True)
class Lasting:
    """Rates that are drawn anew, with which arm has which, at random times.

    Args:
        lasting: visitors from one time to the next, on average.
        prior: what the rates may be at a time. ruler: the range of rewards.
        visitors: in the trial.
    """

    lasting: int
    prior: Prior | EachRate
    ruler: Range
    visitors: int
    usual: ClassVar[tuple[str, str]] = ("DPKalmanTS", "DPRateIMED")

    @classmethod
    def given(
        cls, lasting: object, prior: Prior | EachRate, ruler: Range, visitors: int
    ) -> Lasting:
        """
        Raises:
            ValueError: not a whole number, or one for which rates change too often.
        """
        least = -(-visitors // MOST_PIECES)
        return cls(whole_number(lasting, "lasting", least, MOST), prior, ruler, visitors)

    @property
    def known(self) -> dict[str, int]:
        """What policies are told."""
        return {"lasting": self.lasting}

    def takes(self, baseline: type[Policy]) -> bool:
        """Whether this is played to be compared with; others would take minutes."""
        return "lasting" in {field.name for field in fields(baseline)}

    @property
    def words(self) -> str:
        return (
            f"they last {self.lasting:,} visitors on average, then they and which arm has which "
            "are drawn anew; losses are against the arm that is best at each time"
        )

    def world(self, seed: int, draw: int) -> ChangingMeans:
        rng = np.random.default_rng([seed, draw, CHANGES])
        changes = rng.binomial(self.visitors - 1, 1.0 / self.lasting)
        starts = np.sort(rng.choice(self.visitors - 1, changes, replace=False)) + 1
        rates = drawn_means(self.prior, self.ruler, changes + 1, int(rng.integers(2**32)))
        return ChangingMeans(rng.permuted(rates, axis=1), [0, *starts], self.visitors)


World = ContextTable | ChangingMeans


class Entrant(NamedTuple):
    """A policy under a label. epsilon: None: no privacy."""

    label: str
    epsilon: float | None
    policy: Policy


def entrants_in_worlds(
    policies: Sequence[Any] | Any,
    epsilons: Any,
    arms: int,
    how: Visitors | Lasting,
    rounds: int,
    cap: int,
) -> tuple[list[Entrant], list[Entrant]]:
    """The policies at every ε, small ones first; and what they are without privacy.

    Raises:
        ValueError: no such policy, or one that does not play single arms at an ε.
    """
    named = how.usual if policies is None else policies
    if isinstance(named, (str, type)):
        named = [named]
    given = epsilons if isinstance(epsilons, (list, tuple)) else [epsilons]
    budgets = sorted({as_fraction(epsilon, "epsilon") for epsilon in given})
    if not budgets or not named:
        raise ValueError("Expected one ε and one policy at least: epsilon=[.5, 1], for example.")
    private, plain = list[Entrant](), dict[str, Entrant]()
    for name in dict.fromkeys(named):
        cls = playable(name, how)
        for epsilon in budgets:
            policy = policy_for_users(made(cls, arms, how, rounds, epsilon=epsilon), cap)
            private.append(Entrant(cls.__name__, float(epsilon), policy))
        baseline = EVERY_POLICY.get(cls.about.baseline)
        if baseline is not None and how.takes(baseline):
            plain[baseline.__name__] = Entrant(
                baseline.__name__, None, made(baseline, arms, how, rounds)
            )
    return private, list(plain.values())


def playable(name: object, how: Visitors | Lasting) -> type[Policy]:
    known = EVERY_POLICY
    cls: Any = known.get(name) if isinstance(name, str) else name
    takes = (
        {f.name for f in fields(cls)} if isinstance(cls, type) and issubclass(cls, Policy) else {}
    )
    fits = bool(takes) and cls.about.feedback == "bandit" and cls.about.goal == "regret"
    missing = {"features", "lasting"} & set(takes) - set(how.known)
    if not fits or not {"arms", "epsilon"} <= set(takes) or missing:
        close = close_to(name, known) if isinstance(name, str) else ""
        raise ValueError(
            f"Expected policies={shown(name)} to be a policy that plays single arms at an ε, with "
            f"{next(iter(how.known))}= or without, such as {how.usual[0]!r}{close}; `dpbandits "
            "list` lists them."
        )
    found: type[Policy] = cls
    return found


def made(
    cls: type[Policy], arms: int, how: Visitors | Lasting, rounds: int, **budget: Any
) -> Policy:
    """An instance for so many arms; it knows how many rounds there are if it can."""
    known: dict[str, Any] = {**how.known, "horizon": rounds}
    if issubclass(cls, JointDPLinTS) and isinstance(how, Visitors):  # its cells are of such people
        known["public_contexts"] = how.contexts
    taken = {f.name for f in fields(cls)}
    return cls(arms=arms, **{n: v for n, v in known.items() if n in taken}, **budget)


class Played(NamedTuple):
    """By draw, what was lost against the arm that is best for each visitor or at each time, and how
    often each arm was played; shapes (draws,) and (draws, arms).
    """

    losses: Floats
    plays: Integers


def played_in_worlds(
    policy: Policy, worlds: Sequence[World], rounds: int, seed: int, tell: Callable[[], None]
) -> Played:
    losses, plays = list[float](), list[Any]()
    for draw, world in enumerate(worlds):
        runs = simulate(policy, world, rounds, seed=seed, at=[rounds], first=draw, workers=1)
        lost = float(runs.regret()[0])
        if isinstance(world, ContextTable) and not isinstance(
            policy, (ContextualPolicy, JointDPLinTS)
        ):
            # which is measured against one best arm
            lost += rounds * (world.best - float(world.means.max()))
        losses.append(lost)
        plays.append(runs.plays_at([rounds])[0, 0])
        tell()
    return Played(np.array(losses), np.array(plays))


def foreseen_in_worlds(
    private: Sequence[Entrant],
    plain: Sequence[Entrant],
    worlds: Sequence[World],
    rounds: int,
    seed: int,
    span: float,
    progress: Callable[[int, int], None] | None,
) -> tuple[Foreseen, ...]:
    """All rows: policies, what they are without privacy, equal shares."""
    done, total = 0, (len(private) + len(plain)) * len(worlds)

    def tell() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)

    if progress is not None:
        progress(0, total)
    most = [float(world.best_until(rounds)) for world in worlds]
    mean = [rounds * float(world.means.mean()) for world in worlds]
    equal = np.array(most) - np.array(mean)
    arms = worlds[0].arms
    shares = Played(equal, np.full((len(worlds), arms), rounds // arms))
    best = np.array([int(world.means.argmax()) for world in worlds])

    def row(label: str, epsilon: float | None, found: Played, baseline: Played | None) -> Foreseen:
        loss = found.losses * span
        privacy = None if baseline is None else (found.losses - baseline.losses) * span
        saved = (shares.losses - found.losses) * span
        q95, q99 = np.quantile(loss, [0.95, 0.99], method="higher").tolist()
        leads = float((found.plays.argmax(axis=1) == best).mean())
        return Foreseen(
            label,
            epsilon,
            float(loss.mean()),
            error_of(loss),
            None if privacy is None else float(privacy.mean()),
            float(saved.mean()),
            q95,
            q99,
            float(loss.max()),
            leads,
            None,
            None if privacy is None else error_of(privacy),
            error_of(saved),
        )

    without = {
        each.label: played_in_worlds(each.policy, worlds, rounds, seed, tell) for each in plain
    }
    rows = [
        row(
            each.label,
            each.epsilon,
            played_in_worlds(each.policy, worlds, rounds, seed, tell),
            without.get(each.policy.about.baseline),
        )
        for each in private
    ]
    compared = [row(label, None, found, None) for label, found in without.items()]
    return (*rows, *compared, row(EQUAL, None, shares, None))


def error_of(each: Floats) -> float:
    return float(each.std(ddof=1) / np.sqrt(len(each)))
