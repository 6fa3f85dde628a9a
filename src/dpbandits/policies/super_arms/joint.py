"""Joint releases: one noise draw for all rewards of a record, on the arms that still matter (ours).

A record of K rewards pays epsilon once, whatever K is: its sums get noise whose largest coordinate
is what costs. Only undecided arms are released, so the draw is of few dimensions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple, final

from dpbandits.core.plan import Action, Hold, Plan, PublicRng
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import JointBatch
from dpbandits.mechanisms.joint import JointAnswer
from dpbandits.oracles.base import DecisionSet
from dpbandits.oracles.matroids import Matroid
from dpbandits.policies.base import PrivatePolicy
from dpbandits.policies.contract import Release
from dpbandits.policies.formulas import joint
from dpbandits.policies.formulas.summed import ReadArm, summed_bound
from dpbandits.policies.super_arms import few
from dpbandits.policies.super_arms.base import check_problem, checked_answer
from dpbandits.policies.super_arms.joint_constants import (
    JOINT_PRESETS,
    JointConstants,
    joint_constants,
)
from dpbandits.policies.super_arms.joint_statistics import (
    JointStatistics,
    as_if_all_read,
    fitted_to,
    folded,
    normal_bounds,
)
from dpbandits.policies.super_arms.undecided import contested, outbid

FIRST = 1e15
"""Weight of an element without a release: the first bases cover all but the loops."""


class Shared(NamedTuple):
    """The level, and mean and variance of the prior ("sharp")."""

    level: float
    centre: float
    spread: float


@dataclass(frozen=True, kw_only=True)
class JointReleases(PrivatePolicy):
    """Hold the best super arm for the upper bounds for a batch, then release the sums of its
    undecided arms together.

    Where the super arm would be the best one with the lower bounds of all its arms, too, nothing is
    released for a while. Else its undecided arms are: those that would leave it with their lower
    bound in place of their upper one and, where the problem is no matroid and these say too little,
    the widest of those in dispute.

    Args:
        problem: which super arms are feasible, and the oracle that finds the best one for given
            weights.
        preset: "sharp" (default): a normal index on precision-weighted blocks, at ln(t/n) for an
            arm with n released rounds, unproved. On a matroid it explores few elements at a time
            (`few.py`). Others are taken for sums (`formulas/summed.py`): the larger `problem.size`,
            the lower the level and the shorter first batches; so give bases as a matroid, and no
            size larger than needed. "level": the index that knows the noise's exact law, at ln t.
            "proved": at ln t + 4 ln ln t, valid whatever came before.
        first: rounds in a first batch, in standard deviations of its noise; None stands for 14
            ("sharp"; for more than four arms 12, if no matroid min(12, 38/√K)) or 16.
        alpha: growth of the rounds of the least known undecided arm.
        level: factor on the preset's level; None stands for .5 ("sharp") or 1.

    Raises:
        TypeError: `problem` is no decision set, or no matroid where the policy plays matroids only.
    """

    presets: ClassVar[dict[str, JointConstants]] = JOINT_PRESETS
    problem: DecisionSet
    arms: int = field(init=False, repr=False, compare=False)
    preset: str = "sharp"
    first: float | None = None
    alpha: float = 1.5
    level: float | None = None

    def __post_init__(self) -> None:
        check_problem(self.problem, matroid=self.about.matroid)
        object.__setattr__(self, "arms", self.problem.arms)
        super().__post_init__()

    @final
    def validate(self) -> None:
        self._one_of("preset", *self.presets)
        for name, value in joint_constants(self.preset, self.problem)._asdict().items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)
        self._number("first", 0, 10**6)
        self._number("alpha", 1.001, 1000)
        self._number("level", 0, 100)

    @final
    def mechanism(self) -> JointBatch:
        return JointBatch(epsilon=self.budget, size=self.problem.size, grid=Grid(steps=self.grid))

    @final
    def init(self) -> JointStatistics:
        zeros, none = (0.0,) * self.arms, (0,) * (self.problem.size + 1)
        return JointStatistics(zeros, (0,) * self.arms, (none,) * self.arms, zeros, zeros, 0)

    @final
    def plan(self, state: JointStatistics, rng: PublicRng) -> Plan:
        return self.planned(state, {})

    @final
    def ahead(
        self,
        state: JointStatistics,
        asked: Mapping[Action, int],
        rng: PublicRng,
        eligible: Sequence[int] | None = None,
    ) -> Plan:
        """The plan as it would be if all open blocks were answered, and had left the means where
        they are.
        """
        expected, flying = as_if_all_read(state, asked, float(self.budget))
        plan = self.planned(expected, flying)
        if asked and not plan.release:  # a release that comes meanwhile ends it
            plan = replace(plan, rounds=max(plan.rounds, self.batch(1)))
        return plan

    @final
    def worth_reading(self, plan: Plan) -> int:
        released = plan.release if isinstance(plan, Hold) else ()
        return self.batch(len(released)) if released else 1

    @final
    def planned(self, state: JointStatistics, flying: Mapping[int, int]) -> Hold:
        """flying: rounds asked for of arms without a release, which are not covered once more
        before others are.
        """
        shared = self.shared(state)
        upper = self.bounds(state, range(self.arms), shared, 1.0)
        for arm, rounds in flying.items():
            upper[arm] = self.awaited(any(state.rounds), rounds)
        action = self.best(upper)
        unseen = tuple(arm for arm in action if not state.rounds[arm] and arm not in flying)
        released = unseen or self.undecided(action, upper, self.bounds(state, action, shared, -1.0))
        if flying and not unseen:  # what is on its way is not read twice, unless nothing is known
            known = tuple(arm for arm in released if arm not in flying)
            released = known if any(state.rounds) else action
        if not released:
            return Hold(action, max(1, int((self.alpha - 1) * state.t)), ())
        if self.too_many(state, released):
            kept = few.kept_of(state, released, self.problem.size)
            prior = shared.centre, shared.spread
            action = self.best(few.weights_for(state, upper, {*kept, *flying}, *prior))
            released = tuple(
                arm for arm in action if arm in kept or not (state.rounds[arm] or arm in flying)
            )
        least = min(state.rounds[arm] for arm in released)
        rounds = max(self.batch(len(released)), math.ceil((self.alpha - 1) * least))
        return Hold(action, rounds, released)

    @final
    def too_many(self, state: JointStatistics, released: tuple[int, ...]) -> bool:
        """Whether to explore fewer arms than these, which needs others that are known."""
        few_enough = len(released) <= joint.explored_at_once(self.problem.size)
        restrained = self.preset == "sharp" and isinstance(self.problem, Matroid)
        return restrained and not few_enough and any(state.rounds)

    @final
    def awaited(self, something_known: bool, rounds: int) -> float:
        """Weight of an arm whose first block is awaited: below all that are known; where nothing
        is, the less the more it was asked for.
        """
        if not something_known:
            return 1.0 / (1.0 + rounds)
        return -FIRST if isinstance(self.problem, Matroid) else 0.0

    @final
    def update(self, state: JointStatistics, plan: Plan, release: Release) -> JointStatistics:
        answers = zip(release.coordinates, release.answers, strict=True)
        blocks = [(arm, JointAnswer(*answer)) for arm, answer in answers]
        return folded(state, blocks, float(self.budget), release.round)

    @final
    def batch(self, released: int) -> int:
        """Rounds of the first batch of so many arms that are released together."""
        return math.ceil(
            (self.first or 0.0) * math.sqrt(joint.joint_variance(released, float(self.budget)))
        )

    @final
    def undecided(
        self, action: tuple[int, ...], upper: Sequence[float], lower: Sequence[float]
    ) -> tuple[int, ...]:
        """The arms of the best super arm that are in it only because of their width. lower: of the
        super arm's.
        """
        if isinstance(self.problem, Matroid):
            return outbid(self.problem, action, upper, lower)
        return contested(self.best, action, upper, lower)

    @final
    def best(self, weights: Sequence[float]) -> tuple[int, ...]:
        """The oracle's answer, checked before anything is played."""
        return checked_answer(self.problem, self.problem.best(weights))

    @final
    def shared(self, s: JointStatistics) -> Shared:
        """What all arms' bounds at the coming round are made with."""
        log_t, factor = math.log(s.t + 1), self.level or 1.0
        level = factor * log_t
        if self.preset == "proved" and log_t > 1.0:
            level += 4.0 * factor * math.log(log_t)
        if self.preset != "sharp":
            return Shared(level, 0.5, 0.0)
        return Shared(level, *fitted_to(s))

    @final
    def bounds(
        self, s: JointStatistics, arms: Sequence[int], shared: Shared, side: float
    ) -> list[float]:
        """Upper (side 1) or lower (−1) confidence bounds of these arms' means; of one without a
        release more than any, or 0.
        """
        matroid, prior = isinstance(self.problem, Matroid), (shared.centre, shared.spread)
        released = [arm for arm in arms if s.rounds[arm]]
        if matroid and self.preset == "sharp":
            known = iter(normal_bounds(s, released, self.level or 0.0, *prior, side))
        else:
            known = iter([self.bound(s, arm, shared, side) for arm in released])
        unknown = 0.0 if side < 0.0 else FIRST if matroid else 1.0
        return [next(known) if s.rounds[arm] else unknown for arm in arms]

    @final
    def bound(self, s: JointStatistics, arm: int, shared: Shared, side: float) -> float:
        """The same of one arm with a release, where each is for itself."""
        if self.preset != "sharp":
            rate = joint.rate_index if side > 0.0 else joint.rate_lower
            known = s.totals[arm], s.rounds[arm], s.drawn[arm]
            return rate(*known, shared.level, float(self.budget))
        told = ReadArm(s.weighted[arm], s.precisions[arm], s.rounds[arm])
        prior = shared.centre, shared.spread
        return summed_bound(told, self.level or 0.0, s.t + 1, self.problem.size, *prior, side)
