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
from dpbandits.core.plan import Plan, PublicRng
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import EachArm, Exact, LocalLaplace
from dpbandits.policies.base import PrivatePolicy
from dpbandits.policies.bounds import super_arms
from dpbandits.policies.contract import About
from dpbandits.policies.statistics import Statistics
from dpbandits.policies.super_arms.base import (
    SuperArmPolicy,
    hold_optimistic,
    noise_radius,
    per_gap,
    statistical,
)

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
        return hold_optimistic(self, state, self.radius)

    def radius(self, n: Floats, draws: Floats, t: int) -> Floats:
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

    Source: Chen et al. 2020, Algorithm 2 (CUCB-LDP2). Guarantee: epsilon-LDP for every report;
    which arm is reported is public.
    Regret: O(Σ B∞² ln T/(epsilon² Δ)), optimal for rewards that are smooth in the largest error
    (B∞).

    Args:
        preset: "valid" (default) or "published": as in CUCBLDP1, with 1 for K.
        horizon: T, for "published".

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

    def validate(self) -> None:
        self._one_of("preset", "valid", "published")
        self._horizon(required=self.preset == "published")

    def mechanism(self) -> EachArm:
        return EachArm(inner=Exact(grid=Grid(steps=self.grid)), width=self.width)

    def randomizer(self) -> LocalLaplace:
        return LocalLaplace(epsilon=self.budget, grid=Grid(steps=self.grid), width=self.width)

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        return hold_optimistic(self, state, self.radius)

    def radius(self, n: Floats, draws: Floats, t: int) -> Floats:
        published = self.horizon if self.preset == "published" else None
        return report_radius(n, t, self.width / float(self.budget), published)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return report_bound(self, means, rounds)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        return report_order(self, means, rounds)
