"""Joint releases: a super arm's rewards are released together, with one draw of ℓ∞ noise."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, ClassVar, NamedTuple, final

import numpy as np

from dpbandits.core.inputs import Floats, floats_of
from dpbandits.core.plan import Action, Hold, Plan, PublicRng
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import JointBatch
from dpbandits.mechanisms.joint import JointAnswer
from dpbandits.oracles.base import DecisionSet
from dpbandits.oracles.matroids import Matroid
from dpbandits.policies.base import PrivatePolicy
from dpbandits.policies.contract import About, ArmsField, Release, policy_dataclass
from dpbandits.policies.formulas.joint import (
    AT_ONCE,
    FITTED,
    WIDEST_PRIOR,
    block_precision,
    explored_at_once,
    hoped_for,
    joint_variance,
    rate_index,
    rate_lower,
    summed_bound,
)
from dpbandits.policies.super_arms import (
    FIRST,
    check_problem,
    checked_answer,
    contested,
    outbid,
)

# The constants of joint releases, by preset, chosen on separate instances (decision 7).


class JointConstants(NamedTuple):
    """The constants of a preset."""

    level: float  # factor on the preset's level
    first: float  # rounds in a first batch, in standard deviations of its noise


JOINT_PRESETS = {
    "sharp": JointConstants(0.5, 14.0),
    "level": JointConstants(1.0, 16.0),
    "proved": JointConstants(1.0, 16.0),
}

WIDE = JointConstants(0.5, 12.0)
"""Preset "sharp" for super arms of more than four arms, where first batches cost most."""

SUMMED = 38.0
"""Preset "sharp" for super arms that are not bases: a first batch has at most SUMMED/√size standard
deviations, because the errors of a sum's arms partly cancel. It grows as √size then, not as size.
"""


def joint_constants(preset: str, problem: DecisionSet) -> JointConstants:
    """Return the constants of a preset on this problem."""
    if preset != "sharp" or problem.size <= AT_ONCE:
        return JOINT_PRESETS[preset]
    if isinstance(problem, Matroid):
        return WIDE
    return WIDE._replace(first=min(WIDE.first, SUMMED / math.sqrt(problem.size)))


# Statistics of arms that are released together, normal bounds of all arms, and the statistics as
# if all pending rewards had been recorded. Public values only.
#
# The functions for all arms equal those for one arm in `formulas/joint.py`, which the simulator
# compiles, bit for bit. A Python call for each arm would be too slow.


class JointStatistics(NamedTuple):
    """Released statistics, one entry per arm unless stated. Public.

    Args:
        totals: released sum of rewards.
        rounds: rounds behind it; 0: nothing released yet.
        drawn: number of its releases whose noise was drawn for k arms together, k = 0 … K.
        precisions: precision of the mean of all releases, each weighted by one over its variance.
        weighted: the sum of weight times mean.
        t: number of rounds recorded.
    """

    totals: tuple[float, ...]
    rounds: tuple[int, ...]
    drawn: tuple[tuple[int, ...], ...]
    precisions: tuple[float, ...]
    weighted: tuple[float, ...]
    t: int


def fitted_to(s: JointStatistics) -> tuple[float, float]:
    """Return `fitted_prior` of the released means."""
    precisions, weighted = floats_of(s.precisions), floats_of(s.weighted)
    released = precisions > 0.0
    precisions, weighted = precisions[released], weighted[released]
    means, variances = weighted / precisions, 1.0 / precisions
    centre, spread = WIDEST_PRIOR
    for _ in range(FITTED if len(means) else 0):
        weights, gaps = 1.0 / (variances + spread), means - centre
        second = summed_in_order(weights * (gaps * gaps - variances))
        total = summed_in_order(weights)
        centre = min(0.999, max(0.001, summed_in_order(weights * means) / total))
        spread = min(1.0 / 12.0, max(4e-4, second / total))
    return centre, spread


def summed_in_order(numbers: Floats) -> float:
    """Return the sum of the numbers, added one after the other as in a loop; NumPy's own sum adds
    in pairs.
    """
    return float(np.add.accumulate(numbers)[-1])


def normal_bounds(
    s: JointStatistics,
    arms: Sequence[int],
    factor: float,
    centre: float,
    spread: float,
    side: float,
) -> list[float]:
    """Return `normal_bound` at `shrinking_level` for these arms, which have releases."""
    if not arms:
        return []
    both = floats_of([s.precisions[arm] for arm in arms]) + 1.0 / spread
    weighted = floats_of([s.weighted[arm] for arm in arms])
    logs = floats_of([math.log((s.t + 1) / s.rounds[arm]) for arm in arms])
    width = np.sqrt(2.0 * (factor * np.maximum(1.0, logs)) / both)
    return ((weighted + centre / spread) / both + side * width).tolist()


def expected_means(s: JointStatistics, centre: float, spread: float) -> list[float]:
    """Return `normal_bound` at level 0 for all arms; the prior's mean without a release."""
    both = floats_of(s.precisions) + 1.0 / spread
    return ((floats_of(s.weighted) + centre / spread) / both).tolist()


def folded(
    s: JointStatistics, blocks: Iterable[tuple[int, JointAnswer]], epsilon: float, t: int
) -> JointStatistics:
    """Return the statistics with these answers, each about an arm, after t rounds."""
    totals, rounds = list(s.totals), list(s.rounds)
    drawn = list(s.drawn)
    precisions, weighted = list(s.precisions), list(s.weighted)
    for arm, (total, count, k) in blocks:
        totals[arm] += total
        rounds[arm] += count
        precision = block_precision(totals[arm], rounds[arm], count, k, epsilon)
        drawn[arm] = (*drawn[arm][:k], drawn[arm][k] + 1, *drawn[arm][k + 1 :])
        precisions[arm] += precision
        weighted[arm] += precision * total / count
    means = tuple(precisions), tuple(weighted)
    return JointStatistics(tuple(totals), tuple(rounds), tuple(drawn), *means, t)


def as_if_released(
    s: JointStatistics, asked: Mapping[Any, int], epsilon: float
) -> tuple[JointStatistics, Counter[int]]:
    """Return the statistics as if all open blocks had been released and had left the means
    unchanged, and the requested rounds of arms without a release.

    Args:
        s: the statistics.
        asked: requested rounds, by number of the block and the arms that will be released.
        epsilon: ε of one record.
    """
    in_flight, t = Counter[int](), s.t
    for (_, released), rounds in asked.items():
        t += rounds
        in_flight.update({arm: rounds for arm in released if not s.rounds[arm]})
        known = [arm for arm in released if s.rounds[arm]]
        means = [(arm, s.weighted[arm] / s.precisions[arm]) for arm in known]
        answers = [(arm, JointAnswer(m * rounds, rounds, len(released))) for arm, m in means]
        s = folded(s, answers, epsilon, t)
    return s._replace(t=t), in_flight


# Explore only a few arms in each plan, beside the best known arms (ours).
#
# A basis of unknown arms loses on all of them at once, and noise that is drawn for all of them is
# wide. With a few of them in an otherwise good basis, less is lost in each round, and the noise of
# the release is narrow, so that the batch is short.


def explored_arms(s: JointStatistics, released: Sequence[int], size: int) -> tuple[int, ...]:
    """Return the arms to explore in the next plan: the least known of the arms to release, lower
    numbers first.

    Args:
        s: the statistics.
        released: the arms to release.
        size: the most arms of a super arm.
    """
    order = sorted(released, key=lambda arm: (s.precisions[arm], arm))
    return tuple(order[: explored_at_once(size)])


def weights_for(
    s: JointStatistics,
    upper: Sequence[float],
    explored: Collection[int],
    centre: float,
    spread: float,
) -> list[float]:
    """Return weights whose best basis explores few arms: upper bounds for `explored` arms, expected
    means for other arms, and `hoped_for` for arms without a release.

    Args:
        s: the statistics.
        upper: upper bounds of all arms.
        explored: arms that keep their upper bounds.
        centre: mean of the prior.
        spread: variance of the prior.
    """
    unknown, expected = hoped_for(centre, spread), expected_means(s, centre, spread)
    return [
        upper[arm] if arm in explored else expected[arm] if rounds else unknown
        for arm, rounds in enumerate(s.rounds)
    ]


# Joint releases: one noise draw for all rewards of a record, on the arms that are undecided (ours).
#
# A record of K rewards is charged epsilon once, for any K, because the cost of the noise depends on
# its largest coordinate only. Only undecided arms are released, so the draw has few dimensions.


class Shared(NamedTuple):
    """The level, and mean and variance of the prior ("sharp"), for all arms."""

    level: float
    centre: float
    spread: float


@policy_dataclass
class JointReleases(PrivatePolicy):
    """Base class of policies with joint releases: play the best super arm for the upper bounds for
    a batch, then release the sums of its undecided arms together.

    If the super arm would also be best with the lower bounds of all its arms, nothing is released
    for a while. Otherwise its undecided arms are released: those that would leave it with their
    lower bound in place of their upper one. If the problem is not a matroid and these contribute
    too little, the widest of the disputed arms are added.

    Args:
        problem: the feasible super arms, and the oracle that returns the best one for given
            weights.
        preset: "sharp" (default): a normal index on precision-weighted blocks, at ln(t/n) for an
            arm with n released rounds; not proved. On a matroid it explores few elements at a time
            (`explored_arms`). Other problems are treated as sums (`summed_bound`): a larger
            `problem.size` means a lower level and shorter first batches, so give bases as a
            matroid, and no size larger than needed. "level": the index with the noise's exact law,
            at ln t. "proved": at ln t + 4 ln ln t, valid for any history.
        first: rounds in a first batch, in standard deviations of its noise. None means 14 ("sharp";
            12 for more than four arms, min(12, 38/√K) if not a matroid) or 16.
        alpha: growth factor of the rounds of the least known undecided arm.
        level: factor on the preset's level; None means .5 ("sharp") or 1.
        epsilon: ε for one round's rewards.
        grid: public steps per unit of reward; 1 for 0/1 rewards.

    Raises:
        TypeError: `problem` is not a decision set, or not a matroid for a policy that plays
            matroids only.
    """

    presets: ClassVar[dict[str, JointConstants]] = JOINT_PRESETS
    problem: DecisionSet
    arms: ArmsField = field(init=False, repr=False, compare=False)
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
    def plan(self, state: JointStatistics, rng: PublicRng) -> Hold:
        return self.planned(state, {})

    @final
    def ahead(
        self,
        state: JointStatistics,
        asked: Mapping[Action, int],
        rng: PublicRng,
        eligible: Sequence[int] | None = None,
    ) -> Plan:
        """Return the plan as if all open blocks were released and had left the means unchanged."""
        expected, in_flight = as_if_released(state, asked, float(self.budget))
        plan = self.planned(expected, in_flight)
        if asked and not plan.release:  # the next release ends it
            plan = replace(plan, rounds=max(plan.rounds, self.batch(1)))
        return plan

    @final
    def worth_reading(self, plan: Plan) -> int:
        released = plan.release if isinstance(plan, Hold) else ()
        return self.batch(len(released)) if released else 1

    @final
    def planned(self, state: JointStatistics, in_flight: Mapping[int, int]) -> Hold:
        """Return the plan. Arms in `in_flight` (requested rounds of arms without a release) are not
        covered again before others are.
        """
        shared = self.shared(state)
        upper = self.bounds(state, range(self.arms), shared, 1.0)
        for arm, rounds in in_flight.items():
            upper[arm] = self.awaited(any(state.rounds), rounds)
        action = self.best(upper)
        unseen = tuple(arm for arm in action if not state.rounds[arm] and arm not in in_flight)
        released = unseen or self.undecided(action, upper, self.bounds(state, action, shared, -1.0))
        if in_flight and not unseen:  # pending arms are not released twice, unless nothing is known
            known = tuple(arm for arm in released if arm not in in_flight)
            released = known if any(state.rounds) else action
        if not released:
            return Hold(action, max(1, int((self.alpha - 1) * state.t)), ())
        if self.too_many(state, released):
            explored = explored_arms(state, released, self.problem.size)
            action = self.best(weights_for(state, upper, {*explored, *in_flight}, *shared[1:]))
            released = tuple(
                arm
                for arm in action
                if arm in explored or not (state.rounds[arm] or arm in in_flight)
            )
        least = min(state.rounds[arm] for arm in released)
        rounds = max(self.batch(len(released)), math.ceil((self.alpha - 1) * least))
        return Hold(action, rounds, released)

    @final
    def too_many(self, state: JointStatistics, released: tuple[int, ...]) -> bool:
        """Return whether to explore fewer arms than these, which requires known arms."""
        few_enough = len(released) <= explored_at_once(self.problem.size)
        restrained = self.preset == "sharp" and isinstance(self.problem, Matroid)
        return restrained and not few_enough and any(state.rounds)

    @final
    def awaited(self, something_known: bool, rounds: int) -> float:
        """Return the weight of an arm whose first block is pending: below all known arms; if no arm
        is known, lower for arms that were requested more often.
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
        """Return the rounds in a first batch whose release has `released` arms."""
        return math.ceil(
            (self.first or 0.0) * math.sqrt(joint_variance(released, float(self.budget)))
        )

    @final
    def undecided(
        self, action: tuple[int, ...], upper: Sequence[float], lower: Sequence[float]
    ) -> tuple[int, ...]:
        """Return the arms of the best super arm that are in it only because of their width. `lower`
        has the super arm's arms.
        """
        if isinstance(self.problem, Matroid):
            return outbid(self.problem, action, upper, lower)
        return contested(self.best, action, upper, lower)

    @final
    def best(self, weights: Sequence[float]) -> tuple[int, ...]:
        """Return the oracle's super arm, validated before it is played."""
        return checked_answer(self.problem, self.problem.best(weights))

    @final
    def shared(self, s: JointStatistics) -> Shared:
        """Return the level and the prior of all arms' bounds in the next round."""
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
        """Return upper (side 1) or lower (−1) confidence bounds of these arms' means; an arm
        without a release gets a value above all bounds, or 0.
        """
        matroid, prior = isinstance(self.problem, Matroid), shared[1:]
        released = [arm for arm in arms if s.rounds[arm]]
        if matroid and self.preset == "sharp":
            known = iter(normal_bounds(s, released, self.level or 0.0, *prior, side))
        else:
            known = iter([self.bound(s, arm, shared, side) for arm in released])
        unknown = 0.0 if side < 0.0 else FIRST if matroid else 1.0
        return [next(known) if s.rounds[arm] else unknown for arm in arms]

    @final
    def bound(self, s: JointStatistics, arm: int, shared: Shared, side: float) -> float:
        """Return the bound of one arm with a release."""
        if self.preset != "sharp":
            rate = rate_index if side > 0.0 else rate_lower
            known = s.totals[arm], s.rounds[arm], s.drawn[arm]
            return rate(*known, shared.level, float(self.budget))
        read, prior = (s.weighted[arm], s.precisions[arm], s.rounds[arm]), shared[1:]
        return summed_bound(*read, self.level or 0.0, s.t + 1, self.problem.size, *prior, side)


@final
@policy_dataclass
class DPJointCUCB(JointReleases):
    """Optimism on jointly released sums, with any oracle (ours). A record is charged ε once, not
    ε/K for each of its K rewards.

    Guarantee: ε-DP for the whole sequence of decisions.

    Regret: no bound proved for general oracles.

    Source: ours; the noise is the K-norm mechanism of the cube (Hardt and Talwar 2010).

    >>> from dpbandits import TopK
    >>> str(DPJointCUCB(problem=TopK(arms=4, k=2), epsilon=1).guarantee.epsilon)
    '1'
    """

    about: ClassVar[About] = About(
        paper="dpbandits",
        algorithm="optimism on joint releases (ours)",
        bound="none proved",
        proof="joint_release",
        baseline="CUCB",
        feedback="semi",
        drops=True,
        theory=False,
    )


@final
@policy_dataclass
class DPJointMAT(JointReleases):
    """Optimism on jointly released sums, in the greedy algorithm of a matroid (ours). A record is
    charged ε once, not ε/K for each of the K elements of a basis.

    Guarantee: ε-DP for the whole sequence of decisions.

    Regret: with the preset "proved", a sketched proof of alpha·Σ Δ_e ln T/d_eps(μ_e, μ_σ(e)) + o(ln
    T) over the elements outside the best basis, where σ(e) is its least element that e can replace:
    no factor K (proofs/joint_release.md). Other presets have no proof.

    Source: ours; the noise is the K-norm mechanism of the cube (Hardt and Talwar 2010).

    >>> from dpbandits import UniformMatroid
    >>> DPJointMAT(problem=UniformMatroid(arms=4, rank=2), epsilon=1).batch(2)
    28
    """

    about: ClassVar[About] = About(
        paper="dpbandits",
        algorithm="joint releases in the greedy (ours)",
        bound="α Σ Δ ln T/d_ε(μ, μ_σ) + o(ln T), preset proved, sketched; else none proved",
        proof="joint_release",
        baseline="KLOSM",
        feedback="semi",
        matroid=True,
        drops=True,
        theory=False,
    )
