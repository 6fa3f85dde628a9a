"""Base classes of policies for single arms: released statistics of each arm, the privacy budget,
plans that fill one arm's batch at a time, and plans while rewards are pending.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol, final

import numpy as np

from dpbandits.core.inputs import Floats, refuse_others
from dpbandits.core.plan import Action, Hold, Law, Plan, PublicRng
from dpbandits.core.privacy import Grid, as_fraction
from dpbandits.mechanisms.base import Exact, LazyCumulative, LazyForgetful, Mechanism
from dpbandits.policies.contract import Policy, Release, policy_dataclass
from dpbandits.policies.formulas.indices import IndexNumbers, IndexRule, clip01

# The state of most policies: the released statistics of each arm.


class Statistics(NamedTuple):
    """Released statistics, one number per arm. Public."""

    totals: tuple[float, ...]  # released sum of rewards
    rounds: tuple[int, ...]  # rounds behind `totals`; 0: nothing released yet
    draws: tuple[int, ...]  # noise draws inside `totals`
    pulls: tuple[int, ...]  # rewards recorded until the last plan ended: released, dropped or open
    open: tuple[int, ...]  # those of them in the arm's open block
    t: int  # rewards recorded, all arms
    out: tuple[int, ...] = ()  # arms out of play: paused, suspended or retired (`Policy.among`)


def empty(arms: int) -> Statistics:
    zeros = (0,) * arms
    return Statistics((0.0,) * arms, zeros, zeros, zeros, zeros, 0)


def fold(s: Statistics, release: Release) -> Statistics:
    """Return the statistics after one plan: add the recorded counts, and replace the released arms'
    totals.
    """
    pulls, open_ = list(s.pulls), list(s.open)
    for action, times in release.told:
        for arm in action if isinstance(action, tuple) else (action,):
            pulls[arm] += times
            open_[arm] += times
    if not release.coordinates:
        return s._replace(pulls=tuple(pulls), open=tuple(open_), t=release.round)
    totals, rounds, draws = list(s.totals), list(s.rounds), list(s.draws)
    for arm, answer in zip(release.coordinates, release.answers, strict=True):
        totals[arm], rounds[arm], draws[arm] = answer[:3]
        open_[arm] = 0
    counts = tuple(totals), tuple(rounds), tuple(draws), tuple(pulls), tuple(open_)
    return Statistics(*counts, release.round)


def first_unseen(s: Statistics) -> int | None:
    """Return the lowest arm without a release; None if there is none."""
    return s.rounds.index(0) if 0 in s.rounds else None


def emptied(open_: Sequence[int], arms: Collection[int] | None) -> tuple[int, ...]:
    """Return the rewards in the arms' open blocks, once those of these arms (None: of all) were
    dropped.
    """
    return tuple(0 if arms is None or arm in arms else each for arm, each in enumerate(open_))


# Requests while rewards are pending: the arms' first blocks come first. Then the index decides, as
# if the pending rewards had confirmed the current means.
#
# Everything here is a function of released values and of public counts. An arm whose open block is
# fully requested counts the requested rounds as released with its current mean, so that its index
# falls as it would without delay.
#
# Source: ours; for the cost of delay, Joulani, György and Szepesvári 2013.


AskedAhead = Mapping[Any, int]
"""By arm, the number of requested rounds that a state does not include."""


class HasRoom(Protocol):
    """A policy that knows how many rewards an arm's open block still needs."""

    def room(self, state: Any, arm: int) -> int: ...


def open_first_block(
    policy: HasRoom, s: Statistics, asked: AskedAhead, arms: Sequence[int]
) -> tuple[int, int] | None:
    """Return the lowest arm whose first block is not fully requested, and the rounds left in it;
    None if there is none.
    """
    for arm in arms:
        if not s.rounds[arm]:
            left = policy.room(s, arm) - asked.get(arm, 0)
            if left > 0:
                return arm, left
    return None


def least_asked(s: Statistics, asked: AskedAhead, arms: Sequence[int]) -> int:
    """Return the arm without a release whose first block was requested least."""
    unseen = [arm for arm in arms if not s.rounds[arm]]
    return min(unseen, key=lambda arm: (s.open[arm] + asked.get(arm, 0), arm))


def as_if_answered(policy: HasRoom, s: Statistics, asked: AskedAhead) -> Statistics:
    """Return the statistics as if all requested rewards had been recorded and had left the means
    unchanged.
    """
    totals, rounds, draws = list(s.totals), list(s.rounds), list(s.draws)
    pulls, open_ = list(s.pulls), list(s.open)
    for arm, times in asked.items():
        pulls[arm] += times
        if rounds[arm] and times >= policy.room(s, arm):
            grown = rounds[arm] + open_[arm] + times
            totals[arm] *= grown / rounds[arm]
            rounds[arm], draws[arm], open_[arm] = grown, draws[arm] + 1, 0
        else:
            open_[arm] += times
    counts = tuple(totals), tuple(rounds), tuple(draws), tuple(pulls), tuple(open_)
    return Statistics(*counts, s.t + sum(asked.values()), s.out)


def of_arms(s: Statistics, arms: Sequence[int]) -> Statistics:
    """Return the statistics of some arms, in this order, as if there were no others."""
    return Statistics(
        tuple(s.totals[arm] for arm in arms),
        tuple(s.rounds[arm] for arm in arms),
        tuple(s.draws[arm] for arm in arms),
        tuple(s.pulls[arm] for arm in arms),
        tuple(s.open[arm] for arm in arms),
        s.t,
    )


def in_play(s: Statistics) -> tuple[int, ...] | None:
    """Return the arms in play; None for all."""
    return tuple(arm for arm in range(len(s.rounds)) if arm not in s.out) if s.out else None


def ranked(
    policy: IndexPolicy, s: Statistics, asked: AskedAhead, eligible: Sequence[int] | None = None
) -> tuple[int, int]:
    """Return the arm to request next, and for how many rounds.

    A first block comes first; then the largest index among the eligible released arms; without any,
    the arm that was requested least. If nothing is pending and all arms are eligible, this is the
    policy's plan.
    """
    arms = range(len(s.rounds)) if eligible is None else eligible
    first = open_first_block(policy, s, asked, arms)
    if first is not None:
        return first
    seen = [arm for arm in arms if s.rounds[arm]]
    if not seen:
        return least_asked(s, asked, arms), 1
    expected = as_if_answered(policy, s, asked)
    if len(seen) == len(s.rounds):
        arm = policy.leader(expected, expected.t + 1)
    else:
        arm = seen[policy.leader(of_arms(expected, seen), expected.t + 1)]
    return arm, policy.room(expected, arm)


class Among(NamedTuple):
    """A law over some of the arms: `law` draws positions among `arms`."""

    law: Law
    arms: tuple[int, ...]

    def sample(self, round: int, rng: PublicRng) -> int:
        place = self.law.sample(round, rng)
        assert isinstance(place, int)
        return self.arms[place]


def first_blocks(
    policy: HasRoom, s: Statistics, asked: AskedAhead, eligible: Sequence[int] | None = None
) -> Hold | None:
    """Return the plan of a first block, for policies that draw their arms once all have a release.

    Args:
        policy: the policy.
        s: the statistics.
        asked: by arm, requested rounds that `s` does not include.
        eligible: the arms that may be played; None for all.

    Returns:
        The open first block, or the least requested one. None once all arms have a release; with
        `eligible`, also once arms without a release are fully requested and another one can be
        drawn.
    """
    arms = range(len(s.rounds)) if eligible is None else eligible
    if all(s.rounds[arm] for arm in arms):
        return None
    first = open_first_block(policy, s, asked, arms)
    if first is None and eligible is not None and any(s.rounds[arm] for arm in arms):
        return None
    arm, rounds = first or (least_asked(s, asked, arms), 1)
    return Hold(arm, rounds, (arm,))


def seen_among(s: Statistics, eligible: Sequence[int] | None) -> tuple[int, ...]:
    """Return the eligible arms that have a release."""
    arms = range(len(s.rounds)) if eligible is None else eligible
    return tuple(arm for arm in arms if s.rounds[arm])


# Base classes: pure differential privacy and its budget, released statistics of each arm, and plans
# that fill one arm's batch at a time.


def require_budget(amount: Fraction, grid: int, name: str, parts: Fraction = Fraction(1)) -> None:
    """Refuse budgets whose noise might not fit into 64 bits, after division by a record's `parts`
    and a counter's levels.
    """
    if grid * parts / amount > 2**40:
        shared = f" divided among {round(parts):,} parts" if parts > 1 else ""
        raise ValueError(
            f"Expected {name} >= {float(grid * parts / 2**40):.1g} for grid={grid}{shared}, got "
            f"{float(amount):.1g}. "
            "Use a coarser grid or a larger budget."
        )


def parts_of(policy: PrivatePolicy) -> Fraction:
    """Return the number of parts that the budget is divided into: arms of a super arm, actions of a
    record, trees.
    """
    randomizer = policy.randomizer()
    if randomizer is not None:
        return Fraction(randomizer.width)
    mechanism = policy.mechanism()
    refuse_others(
        mechanism,
        Mechanism,
        f"a mechanism of {policy.name}.mechanism()",
        "LazyForgetful(epsilon=self.budget)",
    )
    one = getattr(mechanism, "inner", mechanism).guarantee
    return policy.budget / one.epsilon if one is not None and one.epsilon else Fraction(1)


@policy_dataclass
class PrivatePolicy(Policy):
    """Base class of policies with pure differential privacy.

    Args:
        epsilon: ε for one round's reward. A float means the decimal that it prints as.
        grid: public steps per unit of reward; 1 for 0/1 rewards.

    Raises:
        ValueError: epsilon is not a finite number above 0, or too small for the grid.
    """

    epsilon: Fraction | float | str
    grid: int = 1024

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", as_fraction(self.epsilon, "epsilon"))
        require_budget(self.budget, Grid(steps=self.grid).steps, "epsilon")
        super().__post_init__()
        require_budget(self.budget, self.grid, "epsilon", parts_of(self))

    @final
    @property
    def budget(self) -> Fraction:
        """ε as an exact fraction."""
        return as_fraction(self.epsilon, "epsilon")


# How the sums of single arms are released.


@policy_dataclass
class ExactSums(Policy):
    """Base class of policies that read exact sums: without privacy, or of reports that users
    randomised.
    """

    grid: int = 1024

    def mechanism(self) -> Exact:
        return Exact(grid=Grid(steps=self.grid))


@policy_dataclass
class NewestBatches(PrivatePolicy):
    """Base class of policies that release each batch alone."""

    def mechanism(self) -> LazyForgetful:
        return LazyForgetful(epsilon=self.budget, grid=Grid(steps=self.grid))


@policy_dataclass
class GrowingSums(PrivatePolicy):
    """Base class of policies that release the sum of all batches, each with its draw of noise.

    Args:
        first: rounds in an arm's first batch.
    """

    first: int | None = None

    def mechanism(self) -> LazyCumulative:
        return LazyCumulative(epsilon=self.budget, grid=Grid(steps=self.grid))


class Identified(NamedTuple):
    """The identified arm, and the number of rounds it took."""

    arm: int
    rounds: int


class FoldsReleases:
    """What policies have alike whose state is the released statistics of each arm."""

    @final
    def init(self: Any) -> Statistics:
        return empty(self.arms)

    @final
    def update(self, state: Statistics, plan: Plan, release: Release) -> Statistics:
        return fold(state, release)

    @final
    def dropped(
        self, state: Statistics, release: Release, arms: Collection[int] | None = None
    ) -> Statistics:
        state = fold(state, release)
        return state._replace(open=emptied(state.open, arms))


@policy_dataclass
class StatisticsPolicy(FoldsReleases, Policy):
    """Base class of policies for single arms whose state is the released statistics of each."""

    @final
    def widened(self, state: Statistics, arms: int) -> Statistics:
        more = (0,) * (arms - len(state.rounds))
        return Statistics(
            state.totals + (0.0,) * len(more),
            state.rounds + more,
            state.draws + more,
            state.pulls + more,
            state.open + more,
            state.t,
        )

    @final
    def among(self, state: Statistics, arms: Collection[int] | None) -> Statistics:
        if arms is None:
            return state
        return state._replace(out=tuple(arm for arm in range(self.arms) if arm not in arms))


def largest_below(ceilings: Floats, score: Callable[[int], float]) -> int:
    """Return the arm with the largest score, the lowest on a tie, with as few evaluations as
    possible.

    Args:
        ceilings: upper bounds of the scores, shape (arms,).
        score: returns an arm's score.
    """
    best = int(ceilings.argmax())
    top = score(best)
    others = np.flatnonzero(ceilings >= top)
    for arm in others[np.argsort(-ceilings[others], kind="stable")].tolist():
        if ceilings[arm] < top or (ceilings[arm] == top and arm > best):
            break
        value = score(arm)
        if value > top or (value == top and arm < best):
            best, top = arm, value
    return best


def no_score(*given: object) -> float:
    raise NotImplementedError("An index policy gives a rule, or overrides scores().")


@policy_dataclass
class IndexPolicy(StatisticsPolicy):
    """Base class of policies that play the arm with the largest score (the lowest on a tie) until
    its batch is full, and then release it.

    Every arm's first batch comes first, in order. A subclass gives a `rule`, which the simulator
    compiles; without such a rule it overrides `scores` and perhaps `batch`.
    """

    chooses: ClassVar[bool] = True

    @cached_property
    def rule(self) -> IndexRule:
        """The formulas of score and batch length, and their constants."""
        return IndexRule(no_score, IndexNumbers())

    def scores(self, s: Statistics, t: int) -> list[float]:
        """Return every arm's index from released values; all arms have a release.

        Args:
            s: the statistics of the arms that are compared.
            t: the round, counted from 1.

        Returns:
            A number for each of them, in their order; the arm with the largest is played.
        """
        score, p, log_t = self.rule.score, self.rule.numbers, math.log(t)
        means = [total / n for total, n in zip(s.totals, s.rounds, strict=True)]
        best = max(map(clip01, means)) if self.rule.timeless else 0.0
        return [
            score(p, mean, n, draws, log_t, best)
            for mean, n, draws in zip(means, s.rounds, s.draws, strict=True)
        ]

    def leader(self, s: Statistics, t: int) -> int:
        """Return the arm with the largest score, the lowest on a tie. See `scores`."""
        scores = self.scores(s, t)
        return scores.index(max(scores))

    def batch(self, s: Statistics, arm: int) -> int:
        """Return the rounds in the arm's open batch, of which `room` are left.

        They are computed anew after each release, also of another arm, so that an open batch may
        become longer or shorter. A batch ends with its last reward, whichever arm is then played
        (`Progress` in `core/plan`); or before, at the end of a period, and when it is dropped or
        the session closed.

        Args:
            s: the statistics of the arms in play and, if it is out of play, of this one.
            arm: its place among them.
        """
        p, n, best, leading = self.rule.numbers, s.rounds[arm], 0.0, 0
        if n and self.rule.by_best:
            seen = zip(s.totals, s.rounds, strict=True)
            best, leading = max((clip01(total / m), m) for total, m in seen if m)
        mean = s.totals[arm] / n if n else 0.0
        return self.rule.size(p, mean, n, s.draws[arm], s.pulls[arm], best, leading)

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        return self.ahead(state, {}, rng, in_play(state))

    @final
    def room(self, state: Statistics, arm: int) -> int:
        if state.out:  # a batch is compared with arms in play only
            arms = [each for each in range(self.arms) if each == arm or each not in state.out]
            state, arm = of_arms(state, arms), arms.index(arm)
        return max(1, self.batch(state, arm) - state.open[arm])

    @final
    def ahead(
        self,
        state: Statistics,
        asked: Mapping[Action, int],
        rng: PublicRng,
        eligible: Sequence[int] | None = None,
    ) -> Hold:
        arm, rounds = ranked(self, state, asked, eligible)
        return Hold(arm, rounds, (arm,))
