"""Combinatorial semi-bandits in the local model: what users send about their super arm is
randomised on their side.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from dpbandits.core.arrays import Floats
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import EachArm, Exact, LocalLaplace
from dpbandits.policies.base import Statistics
from dpbandits.policies.contract import About, PrivatePolicy
from dpbandits.policies.super_arms.optimistic import (
    Optimistic,
    least_seen,
    noise_radius,
    per_gap,
    statistical,
)

PAPER = "Chen, Zheng, Zhou, Yang, Chen and Wang 2020"


@dataclass(frozen=True, kw_only=True)
class OnSuperArmReports(Optimistic, PrivatePolicy):
    """CUCB on Laplace reports; `width` of a super arm's rewards go into one report, each at
    epsilon/width.
    """

    horizon: int | None = None
    preset: str = "valid"

    def validate(self) -> None:
        self._one_of("preset", "valid", "published")
        self._horizon(required=self.preset == "published")

    @property
    @abstractmethod
    def width(self) -> int:
        """How many rewards one report is about, at most."""

    @final
    def mechanism(self) -> EachArm:
        return EachArm(inner=Exact(grid=Grid(steps=self.grid)), width=self.width)

    @final
    def randomizer(self) -> LocalLaplace:
        return LocalLaplace(epsilon=self.budget, grid=Grid(steps=self.grid), width=self.width)

    @final
    def radius(self, n: Floats, draws: Floats, t: int) -> Floats:
        scale = self.width / float(self.budget)
        if self.horizon is not None and self.preset == "published":
            return np.asarray(4.0 * scale * np.sqrt(2.0 * math.log(self.horizon) / n))
        return statistical(n, math.log(t)) + noise_radius(n, n, scale, math.log(t))

    @final
    def regret_bound(self, gaps: Sequence[float], rounds: int) -> float:
        # Bonus below the smallest gap per arm, B∞ = 1 (with linear rewards B∞ = K: the paper's Fact
        # 1).
        smooth = float(self.problem.size) if self.problem.linear else 1.0
        return per_gap(
            gaps, (1.0 + self.width / float(self.budget)) ** 2 * smooth**2 * math.log(rounds)
        )


@final
@dataclass(frozen=True, kw_only=True)
class CUCBLDP1(OnSuperArmReports):
    """CUCB where every reward of the super arm is reported, K of them at epsilon/K each.

    Source: Chen et al. 2020, Algorithm 1 (CUCB-LDP1). Guarantee: epsilon-LDP for every report.
    Regret: O(Σ K² B∞² ln T/(epsilon² Δ)).

    preset: "valid" (default): radius √(3 ln t/(2n)) plus the noise's at δ = t⁻³, any horizon.
        "published": 4√(2 K² ln T/(epsilon² n)), which needs T and is no confidence bound for large
        epsilon or few reports; the guarantee is the same.
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

    @property
    def width(self) -> int:
        return self.problem.size


@final
@dataclass(frozen=True, kw_only=True)
class CUCBLDP2(OnSuperArmReports):
    """CUCB where one reward of the super arm is reported, that of its least-reported arm, at the
    whole epsilon.

    Source: Chen et al. 2020, Algorithm 2 (CUCB-LDP2). Guarantee: epsilon-LDP for every report;
    which arm is reported is public.
    Regret: O(Σ B∞² ln T/(epsilon² Δ)), optimal for rewards that are smooth in the largest error
    (B∞).

    preset, horizon: as in CUCBLDP1, with 1 for K.

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
        every_round=True,
    )

    @property
    def width(self) -> int:
        return 1

    def observed(self, s: Statistics, action: tuple[int, ...]) -> tuple[int, ...]:
        return least_seen(s, action)
