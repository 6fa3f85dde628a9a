"""Combinatorial semi-bandits in the local model: what users send about their super arm is
randomised on their side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from dpbandits.core.arrays import Floats
from dpbandits.core.plan import Hold, Plan, PublicRng
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import EachArm, Exact, LocalLaplace
from dpbandits.policies.base import PrivatePolicy
from dpbandits.policies.bounds import super_arms
from dpbandits.policies.contract import About
from dpbandits.policies.formulas.reports import joint_level, report_square
from dpbandits.policies.statistics import Statistics
from dpbandits.policies.super_arms.base import (
    SuperArmPolicy,
    bounds,
    hold_optimistic,
    noise_radius,
    per_gap,
    statistical,
)
from dpbandits.policies.super_arms.roots import ceiling_factor, check_exact_sums, largest_rooted
from dpbandits.policies.super_arms.undecided import disputed

__all__ = ["CUCBLDP1", "CUCBLDP2"]

PAPER = "Chen, Zheng, Zhou, Yang, Chen and Wang 2020"


def report_radius(n: Floats, t: int, scale: float, published: int | None) -> Floats:
    """CUCB's radius and the noise's; published: the horizon, for the radius that was published."""
    if published is not None:
        return np.asarray(4.0 * scale * np.sqrt(2.0 * math.log(published) / n))
    return statistical(n, math.log(t)) + noise_radius(n, n, scale, math.log(t))


def report_bound(policy: CUCBLDP1 | CUCBLDP2, means: Sequence[float], rounds: int) -> float:
    """Chen et al. 2020, Theorems 2 and 4, by their sums, for the radius in use."""
    scale = policy.width / float(policy.budget)
    if policy.preset == "published":
        assert policy.horizon is not None
        width = super_arms.published_report_width(policy.horizon, scale)
        low = super_arms.published_report_failing(policy.arms, rounds, policy.horizon, scale)
    else:
        width = super_arms.noisy_width(math.log(rounds), scale, super_arms.report_draws)
        low = super_arms.failing_rounds(policy.arms, rounds, 3.0)
    narrow = policy.about.narrow
    return super_arms.smooth_bound(policy.problem, means, rounds, width, low, narrow=narrow)


def report_order(policy: CUCBLDP1 | CUCBLDP2, means: Sequence[float], rounds: int) -> float:
    """Σ B∞² (1 + scale)² ln T/Δ, B∞ = K·B₁."""
    cost = (1.0 + policy.width / float(policy.budget)) ** 2 * policy.problem.size**2
    return per_gap(policy.problem, means, cost * math.log(rounds))


@final
@dataclass(frozen=True, kw_only=True)
class CUCBLDP1(SuperArmPolicy, PrivatePolicy):
    """CUCB where every reward of the super arm is reported, K of them at epsilon/K each.

    Source: Chen et al. 2020, Algorithm 1 (CUCB-LDP1). Guarantee: epsilon-LDP for every report.
    Regret: O(Σ K² B∞² ln T/(epsilon² Δ)).

    Args:
        preset: "valid" (default): radius √(3 ln t/(2n)) plus the noise's at δ = t⁻³, any horizon.
            "published": 4√(2 K² ln T/(epsilon² n)), which needs T and is no confidence bound for
            large epsilon or few reports; the guarantee is the same.
        horizon: T, for "published".
    """

    about: ClassVar[About] = About(
        paper=PAPER,
        algorithm="Algorithm 1 (CUCB-LDP1)",
        bound="O(Σ K² B∞² ln T/(ε² Δ))",
        proof="cucb_ldp1",
        twin="CUCB",
        privacy="local",
        feedback="semi",
        every_round=True,
    )

    horizon: int | None = None
    preset: str = "valid"

    def validate(self) -> None:
        self._one_of("preset", "valid", "published")
        self._horizon(required=self.preset == "published")

    def mechanism(self) -> EachArm:
        return EachArm(inner=Exact(grid=Grid(steps=self.grid)), width=self.width)

    def randomizer(self) -> LocalLaplace:
        return LocalLaplace(epsilon=self.budget, grid=Grid(steps=self.grid), width=self.width)

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        return hold_optimistic(self, state, self.bonus)

    def bonus(self, n: Floats, draws: Floats, t: int) -> Floats:
        published = self.horizon if self.preset == "published" else None
        return report_radius(n, t, self.width / float(self.budget), published)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return report_bound(self, means, rounds)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        return report_order(self, means, rounds)


@final
@dataclass(frozen=True, kw_only=True)
class CUCBLDP2(SuperArmPolicy, PrivatePolicy):
    """CUCB where one reward of the super arm is reported, that of its least-reported arm, at the
    whole epsilon.

    Source: Chen et al. 2020, Algorithm 2 (CUCB-LDP2); `ask` and `radius` are ours. Guarantee:
    epsilon-LDP for every report; which arm is reported is public.
    Regret: O(Σ B∞² ln T/(epsilon² Δ)), optimal for rewards that are smooth in the largest error
    (B∞); with radius="joint" O(Σ K ln T/(epsilon² Δ)) for sums of rewards, lists and matroids.

    Args:
        preset: "valid" (default) or "published": as in CUCBLDP1, with 1 for K. "sharp": radius
            √(5 v ln t/(2n) + 5 (ln t/(epsilon n))²), v = 1/4 + 2/epsilon²; no proof.
        horizon: T, for "published".
        ask: "least" (default): the least-reported arm of the super arm is asked about. "undecided":
            the least-reported one of those that are in it only because of their radius.
        radius: "sum" (default): an arm's index is its mean plus its radius. "joint": a super arm's
            index is the sum of its arms' means plus one radius for that sum, the root of the sum of
            their squares; at a proved level where the preset is "valid".

    Raises:
        ValueError: radius="joint" with preset="published", with ask="undecided", or on a problem
            that is not solved exactly or whose value is not the sum of its arms' means.

    >>> from dpbandits.oracles import TopK
    >>> policy = CUCBLDP2(problem=TopK(arms=5, k=3), epsilon=1)
    >>> policy.randomizer().width, policy.guarantee.trust
    (1, 'local')
    """

    about: ClassVar[About] = About(
        paper=PAPER,
        algorithm="Algorithm 2 (CUCB-LDP2)",
        bound="O(Σ B∞² ln T/(ε² Δ))",
        proof="cucb_ldp2",
        twin="CUCB",
        privacy="local",
        feedback="semi",
        narrow=True,
        every_round=True,
    )

    horizon: int | None = None
    preset: str = "valid"
    ask: str = "least"
    radius: str = "sum"

    def validate(self) -> None:
        self._one_of("preset", "valid", "published", "sharp")
        self._one_of("ask", "least", "undecided")
        self._one_of("radius", "sum", "joint")
        self._horizon(required=self.preset == "published")
        if self.radius == "joint":
            if self.preset == "published" or self.ask != "least":
                raise ValueError(
                    'Expected preset="valid" or "sharp", and ask="least", with radius="joint"; got '
                    f"preset={self.preset!r}, ask={self.ask!r}."
                )
            check_exact_sums(self.problem)

    def mechanism(self) -> EachArm:
        return EachArm(inner=Exact(grid=Grid(steps=self.grid)), width=self.width)

    def randomizer(self) -> LocalLaplace:
        return LocalLaplace(epsilon=self.budget, grid=Grid(steps=self.grid), width=self.width)

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        if self.radius == "joint":
            return self.hold(state, self.rooted(state))
        if self.ask == "least":
            return hold_optimistic(self, state, self.bonus)
        upper, lower = (bound.tolist() for bound in bounds(state, self.bonus))
        if min(upper) <= 0.0:
            return hold_optimistic(self, state, self.bonus)
        action = self.best(upper)
        open_ = disputed(self.problem, self.best, action, upper, lower, state.rounds) or action
        asked = (min(open_, key=lambda arm: (state.rounds[arm], arm)),)
        return Hold(action, 1, asked, observe=asked)

    def rooted(self, s: Statistics) -> tuple[int, ...]:
        """The super arm with the largest sum of means and one radius for it; first of all those of
        a cover, until every arm was reported.
        """
        if 0 in s.rounds:  # perhaps a loop's
            for action in self.problem.cover():
                if any(not s.rounds[arm] for arm in action):
                    return action
        n = np.maximum(1.0, np.array(s.rounds, np.float64))
        squares = report_square(n, self.level(s.t + 1), float(self.budget))
        return largest_rooted(self.problem, self.best, np.array(s.totals) / n, squares)

    def level(self, t: int) -> float:
        """Of the joint radius in round t."""
        valid = self.preset == "valid"
        return joint_level(t, self.problem.size, float(self.budget)) if valid else math.log(t)

    def bonus(self, n: Floats, draws: Floats, t: int) -> Floats:
        """An arm's radius in round t, where every arm has its own."""
        if self.preset == "sharp":
            return np.asarray(np.sqrt(report_square(n, math.log(t), float(self.budget))))
        published = self.horizon if self.preset == "published" else None
        return report_radius(n, t, self.width / float(self.budget), published)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        exact = self.problem.linear and self.problem.alpha == 1
        if self.preset == "sharp" or (self.ask == "undecided" and not exact):
            return math.nan
        if self.radius == "sum":
            return report_bound(self, means, rounds)
        factor, eps = ceiling_factor(self.problem), float(self.budget)
        width = super_arms.joint_width(self.problem, rounds, eps, factor)
        low = super_arms.JOINT_FAILING
        return super_arms.smooth_bound(self.problem, means, rounds, width, low, narrow=True)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        if self.preset == "sharp":
            return math.nan
        order, size = report_order(self, means, rounds), self.problem.size
        joint = self.radius == "joint" and ceiling_factor(self.problem) <= 2.0 * math.sqrt(size)
        return order / size if joint else order
