"""What the policies share: pure differential privacy and its budget, released statistics of each
arm, and plans that fill one arm's batch at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, NamedTuple, final

import numpy as np

from dpbandits.core.arrays import Floats
from dpbandits.core.plan import Action, Hold, Plan, PublicRng
from dpbandits.core.privacy import Grid, as_fraction
from dpbandits.policies.ahead import ranked
from dpbandits.policies.contract import Policy, Release
from dpbandits.policies.formulas.divergences import clip01
from dpbandits.policies.formulas.rules import IndexNumbers, IndexRule
from dpbandits.policies.statistics import (
    Statistics,
    empty,
    first_unseen,
    fold,
    fold_dropped,
    widened,
)


def require_budget(price: Fraction, grid: int, name: str, parts: Fraction = Fraction(1)) -> None:
    """Refuse budgets whose noise, shared out over a record's `parts` and a counter's levels, might
    not fit into 64 bits.
    """
    if grid * parts / price > 2**40:
        shared = f" shared out over {round(parts):,} parts" if parts > 1 else ""
        raise ValueError(
            f"Expected {name} >= {float(grid * parts / 2**40):.1g} for grid={grid}{shared}, got "
            f"{float(price):.1g}. "
            "Use a coarser grid or a larger budget."
        )


def parts_of(policy: PrivatePolicy) -> Fraction:
    """Over how many parts the budget is shared out before any noise is drawn: arms of a super arm,
    actions of a record, trees.
    """
    randomizer = policy.randomizer()
    if randomizer is not None:
        return Fraction(randomizer.width)
    mechanism = policy.mechanism()
    one = getattr(mechanism, "inner", mechanism).promise()
    return policy.budget / one.epsilon if one is not None and one.epsilon else Fraction(1)


@dataclass(frozen=True, kw_only=True)
class PrivatePolicy(Policy):
    """A policy with pure differential privacy.

    Args:
        epsilon: budget for one round's reward; a float is read as the decimal it is written as.
    """

    epsilon: Fraction | float | str
    grid: int = 1024

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", as_fraction(self.epsilon, "epsilon"))
        require_budget(self.budget, Grid(steps=self.grid).steps, "epsilon")
        super().__post_init__()
        parts = parts_of(self)
        if parts > 1:
            require_budget(self.budget, self.grid, "epsilon", parts)

    @final
    @property
    def budget(self) -> Fraction:
        return as_fraction(self.epsilon, "epsilon")


class Identified(NamedTuple):
    """The arm that is best up to the policy's failure probability, and the rounds that took."""

    arm: int
    rounds: int


@dataclass(frozen=True, kw_only=True)
class StatisticsPolicy(Policy):
    """A policy whose state is the released statistics of each arm, and nothing else."""

    @final
    def init(self) -> Statistics:
        return empty(self.arms)

    @final
    def update(self, state: Statistics, plan: Plan, release: Release) -> Statistics:
        return fold(state, release)

    @final
    def dropped(
        self, state: Statistics, release: Release, arms: Collection[int] | None = None
    ) -> Statistics:
        return fold_dropped(state, release, arms)

    @final
    def widened(self, state: Statistics, arms: int) -> Statistics:
        return widened(state, arms)


def largest_below(ceilings: Floats, score: Callable[[int], float]) -> int:
    """The arm with the largest score, the lowest on a tie, by as few scores as it takes.

    ceilings: shape (arms,); no arm's score is above its own.
    """
    best = int(ceilings.argmax())
    top = score(best)
    others = np.flatnonzero(ceilings >= top)
    for arm in others[np.argsort(-ceilings[others], kind="stable")].tolist():
        if ceilings[arm] < top or (ceilings[arm] == top and arm > best):
            break
        found = score(arm)
        if found > top or (found == top and arm < best):
            best, top = arm, found
    return best


def no_score(*given: object) -> float:
    raise NotImplementedError("An index policy gives a rule, or overrides scores().")


@dataclass(frozen=True, kw_only=True)
class IndexPolicy(Policy):
    """Plays the arm with the largest score (lowest number on a tie) until its batch is full, then
    releases it.

    Every arm's first batch comes first, in order. A policy gives its `rule`, which the simulator
    compiles, too; one that is no such rule overrides `scores` and perhaps `batch`.
    """

    chooses: ClassVar[bool] = True

    @cached_property
    def rule(self) -> IndexRule:
        """Score and batch rule as formulas, and their constants."""
        return IndexRule(no_score, IndexNumbers())

    def scores(self, s: Statistics, t: int) -> list[float]:
        """Return every arm's index at round t, from released values; all arms have a release."""
        score, p, log_t = self.rule.score, self.rule.numbers, math.log(t)
        means = [total / n for total, n in zip(s.totals, s.rounds, strict=True)]
        best = max(map(clip01, means)) if self.rule.timeless else 0.0
        return [
            score(p, mean, n, draws, log_t, best)
            for mean, n, draws in zip(means, s.rounds, s.draws, strict=True)
        ]

    def leader(self, s: Statistics, t: int) -> int:
        """The arm with the largest score, the lowest on a tie."""
        scores = self.scores(s, t)
        return scores.index(max(scores))

    def batch(self, s: Statistics, arm: int) -> int:
        """Return the rounds in the arm's next batch."""
        p, n, best, leading = self.rule.numbers, s.rounds[arm], 0.0, 0
        if n and self.rule.by_best:
            seen = zip(s.totals, s.rounds, strict=True)
            best, leading = max((clip01(total / m), m) for total, m in seen if m)
        mean = s.totals[arm] / n if n else 0.0
        return self.rule.size(p, mean, n, s.draws[arm], s.pulls[arm], best, leading)

    @final
    def init(self) -> Statistics:
        return empty(self.arms)

    @final
    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        arm = first_unseen(state)
        if arm is None:
            arm = self.leader(state, state.t + 1)
        return Hold(arm, self.room(state, arm), (arm,))

    @final
    def update(self, state: Statistics, plan: Plan, release: Release) -> Statistics:
        return fold(state, release)

    @final
    def room(self, state: Statistics, arm: int) -> int:
        return max(1, self.batch(state, arm) - state.open[arm])

    @final
    def ranking(
        self,
        state: Statistics,
        asked: Mapping[Action, int],
        eligible: Sequence[int] | None = None,
    ) -> tuple[int, int]:
        """The arm to ask for next, and for how many rounds (see `ahead`); the first of a plan where
        nothing was asked ahead.
        """
        return ranked(self, state, asked, eligible)

    @final
    def ahead(
        self,
        state: Statistics,
        asked: Mapping[Action, int],
        rng: PublicRng,
        eligible: Sequence[int] | None = None,
    ) -> Hold:
        arm, rounds = self.ranking(state, asked, eligible)
        return Hold(arm, rounds, (arm,))

    @final
    def dropped(
        self, state: Statistics, release: Release, arms: Collection[int] | None = None
    ) -> Statistics:
        return fold_dropped(state, release, arms)

    @final
    def widened(self, state: Statistics, arms: int) -> Statistics:
        return widened(state, arms)
