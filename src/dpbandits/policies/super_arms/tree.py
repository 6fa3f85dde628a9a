"""Combinatorial semi-bandits on continual counters: a binary tree for each arm, a release every
round.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from dpbandits.core.arrays import Floats
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import BinaryTree, EachArm
from dpbandits.policies.base import Statistics
from dpbandits.policies.contract import About, PrivatePolicy
from dpbandits.policies.super_arms.local import PAPER
from dpbandits.policies.super_arms.optimistic import (
    Optimistic,
    least_seen,
    noise_radius,
    per_gap,
    statistical,
)


@dataclass(frozen=True, kw_only=True)
class OnTrees(Optimistic, PrivatePolicy):
    """CUCB on one tree of T leaves an arm; `width` arms of a super arm feed theirs each round."""

    horizon: int

    def validate(self) -> None:
        self._horizon(required=True)

    @property
    @abstractmethod
    def width(self) -> int:
        """How many trees one round feeds, at most."""

    @property
    def tree_epsilon(self) -> Fraction:
        """What one tree costs its rewards."""
        return self.budget / self.width

    @final
    @property
    def node_scale(self) -> float:
        """Scale of a node's noise, in reward units."""
        return self.horizon.bit_length() / float(self.tree_epsilon)

    def mechanism(self) -> EachArm:
        return EachArm(
            inner=BinaryTree(
                epsilon=self.tree_epsilon, leaves=self.horizon, grid=Grid(steps=self.grid)
            ),
            width=self.width,
        )

    def radius(self, n: Floats, draws: Floats, t: int) -> Floats:
        return statistical(n, math.log(t)) + noise_radius(n, draws, self.node_scale, math.log(t))


@final
@dataclass(frozen=True, kw_only=True)
class CUCBDP(OnTrees):
    """CUCB on trees that see every reward of the super arm; the horizon must be known.

    Source: Chen et al. 2020, Algorithm 3 (CUCB-DP).
    Guarantee: "tight" (default): epsilon-DP, epsilon/K for each of the K trees that a round feeds,
    ⌊lg T⌋ + 1 levels each. "published":
    noise of scale 2K ln T/epsilon on a node: (⌊lg T⌋ + 1)/(2 ln T)·epsilon, about 0.76 epsilon for
        T = 10⁴, and above epsilon for T = 2, 4.
    Regret: O(Σ K ln T/Δ + m K ln² T/epsilon) up to ln ln factors ("tight", linear rewards); as
    published O(Σ K ln² T/Δ + m K ln³ T ln(K ln T)/epsilon).

    preset: "tight": radius √(3 ln t/(2n)) as CUCB's, and the Chan–Shi–Song radius of the noise at δ
        = t⁻³. "published": √(4 ln(mT)/n) + 12 K ln³ T/(epsilon n), the second term above 1 until an
        arm has 158 000 rewards at T = 10⁶, K = 5, epsilon = 1.
    horizon: T, rounds; an arm's tree has T leaves.

    >>> from dpbandits.oracles import TopK
    >>> str(CUCBDP(problem=TopK(arms=5, k=2), epsilon=1, horizon=1000).guarantee.epsilon)
    '1'
    """

    about: ClassVar[About] = About(
        paper=PAPER,
        algorithm="Algorithm 3 (CUCB-DP)",
        bound="O(Σ K B₁² ln T/Δ + m K B₁ ln² T/ε)",
        proof="cucb_dp",
        twin="CUCB",
        feedback="semi",
        needs_horizon=True,
        every_round=True,
    )
    preset: str = "tight"

    def validate(self) -> None:
        super().validate()
        self._one_of("preset", "tight", "published")

    @property
    def width(self) -> int:
        return self.problem.size

    @property
    def tree_epsilon(self) -> Fraction:
        if self.preset == "tight":
            return self.budget / self.width
        log_horizon = Fraction(str(round(math.log(max(2, self.horizon)), 6)))
        return self.budget * self.horizon.bit_length() / (2 * self.width * log_horizon)

    def mechanism(self) -> EachArm:
        claimed = self.budget / self.width if self.preset == "published" else None
        tree = BinaryTree(
            epsilon=self.tree_epsilon,
            leaves=self.horizon,
            claimed=claimed,
            grid=Grid(steps=self.grid),
        )
        return EachArm(inner=tree, width=self.width)

    def radius(self, n: Floats, draws: Floats, t: int) -> Floats:
        if self.preset == "tight":
            return super().radius(n, draws, t)
        log_h = math.log(max(2, self.horizon))
        extra = 12.0 * self.width * log_h**3 / (float(self.budget) * n)
        return np.asarray(np.sqrt(4.0 * (math.log(self.arms) + log_h) / n) + extra)

    def regret_bound(self, gaps: Sequence[float], rounds: int) -> float:
        log_t = math.log(rounds)
        more = log_t if self.preset == "published" else 1.0
        return per_gap(
            gaps, self.width * log_t * more, self.width * log_t**2 * more / float(self.budget)
        )


@final
@dataclass(frozen=True, kw_only=True)
class CUCBDPMax(OnTrees):
    """CUCB on trees of which a round feeds one, that of the super arm's least-seen arm; the horizon
    must be known.

    Source: Chen et al. 2020, section 3.2 (the form of Algorithm 2 for epsilon-DP, described there
    in words).
    Guarantee: epsilon-DP; one reward a round is read, so no factor K. Regret: O(Σ B∞² ln T/Δ + m B∞
    ln² T/epsilon), with B∞ as in CUCBLDP2.

    horizon: T, rounds; an arm's tree has T leaves.
    """

    about: ClassVar[About] = About(
        paper=PAPER,
        algorithm="section 3.2 (CUCB-DP for B∞)",
        bound="O(Σ B∞² ln T/Δ + m B∞ ln² T/ε)",
        proof="cucb_dp_max",
        twin="CUCB",
        feedback="semi",
        needs_horizon=True,
        every_round=True,
    )

    @property
    def width(self) -> int:
        return 1

    def observed(self, s: Statistics, action: tuple[int, ...]) -> tuple[int, ...]:
        return least_seen(s, action)

    def regret_bound(self, gaps: Sequence[float], rounds: int) -> float:
        smooth = float(self.problem.size) if self.problem.linear else 1.0
        return per_gap(
            gaps, smooth**2 * math.log(rounds), smooth * math.log(rounds) ** 2 / float(self.budget)
        )
