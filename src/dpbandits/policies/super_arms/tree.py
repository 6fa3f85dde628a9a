"""Combinatorial semi-bandits on continual counters: a binary tree for each arm, a release every
round.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from dpbandits.core.arrays import Floats
from dpbandits.core.plan import Plan, PublicRng
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import BinaryTree, EachArm
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
from dpbandits.policies.super_arms.local import PAPER

__all__ = ["CUCBDP", "CUCBDPMax"]


def tree_radius(n: Floats, draws: Floats, t: int, scale: float) -> Floats:
    """CUCB's radius and the noise's, for nodes of this scale."""
    return statistical(n, math.log(t)) + noise_radius(n, draws, scale, math.log(t))


@final
@dataclass(frozen=True, kw_only=True)
class CUCBDP(SuperArmPolicy, PrivatePolicy):
    """CUCB on trees that see every reward of the super arm; the horizon must be known.

    Source: Chen et al. 2020, Algorithm 3 (CUCB-DP).
    Guarantee: "tight" (default): epsilon-DP, epsilon/K for each of the K trees that a round feeds,
    ⌊lg T⌋ + 1 levels each. "published": noise of scale 2K ln T/epsilon on a node: (⌊lg T⌋ + 1)/(2
    ln T)·epsilon, about 0.76 epsilon for T = 10⁴, and above epsilon for T = 2, 4.
    Regret: O(Σ K ln T/Δ + m K ln² T/epsilon) up to ln ln factors ("tight", linear rewards); as
    published O(Σ K ln² T/Δ + m K ln³ T ln(K ln T)/epsilon).

    Args:
        preset: "tight": radius √(3 ln t/(2n)) as CUCB's, and the Chan–Shi–Song radius of the noise
            at δ = t⁻³. "published": √(4 ln(mT)/n) + 12 K ln³ T/(epsilon n), the second term above 1
            until an arm has 158 000 rewards at T = 10⁶, K = 5, epsilon = 1.
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
    horizon: int
    preset: str = "tight"

    def validate(self) -> None:
        self._horizon(required=True)
        self._one_of("preset", "tight", "published")

    @property
    def tree_epsilon(self) -> Fraction:
        """What one tree costs its rewards."""
        if self.preset == "tight":
            return self.budget / self.width
        log_horizon = Fraction(str(round(math.log(max(2, self.horizon)), 6)))
        return self.budget * self.horizon.bit_length() / (2 * self.width * log_horizon)

    @property
    def node_scale(self) -> float:
        """Scale of a node's noise, in reward units."""
        return self.horizon.bit_length() / float(self.tree_epsilon)

    def mechanism(self) -> EachArm:
        claimed = self.budget / self.width if self.preset == "published" else None
        tree = BinaryTree(
            epsilon=self.tree_epsilon,
            leaves=self.horizon,
            claimed=claimed,
            grid=Grid(steps=self.grid),
        )
        return EachArm(inner=tree, width=self.width)

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        return hold_optimistic(self, state, self.bonus)

    def bonus(self, n: Floats, draws: Floats, t: int) -> Floats:
        if self.preset == "tight":
            return tree_radius(n, draws, t, self.node_scale)
        log_h = math.log(max(2, self.horizon))
        extra = 12.0 * self.width * log_h**3 / (float(self.budget) * n)
        return np.asarray(np.sqrt(4.0 * (math.log(self.arms) + log_h) / n) + extra)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        if self.preset == "tight":
            width = super_arms.noisy_width(math.log(rounds), self.node_scale, super_arms.tree_draws)
            low = super_arms.failing_rounds(self.arms, rounds, 3.0)
        else:
            eps, size = float(self.budget), self.width
            width = super_arms.published_tree_width(self.arms, self.horizon, size, eps)
            low = super_arms.published_tree_failing(
                self.arms, rounds, self.horizon, self.node_scale, eps, size
            )
        return super_arms.smooth_bound(self.problem, means, rounds, width, low)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        log_t = math.log(rounds)
        more = log_t if self.preset == "published" else 1.0
        price = self.width * log_t**2 * more / float(self.budget)
        return per_gap(self.problem, means, self.width * log_t * more, price)


@final
@dataclass(frozen=True, kw_only=True)
class CUCBDPMax(SuperArmPolicy, PrivatePolicy):
    """CUCB on trees of which a round feeds one, that of the super arm's least-seen arm; the horizon
    must be known.

    Source: Chen et al. 2020, section 3.2 (the form of Algorithm 2 for epsilon-DP, described there
    in words).
    Guarantee: epsilon-DP; one reward a round is read, so no factor K. Regret: O(Σ B∞² ln T/Δ + m B∞
    ln² T/epsilon), with B∞ as in CUCBLDP2.

    Args:
        horizon: T, rounds; an arm's tree has T leaves.
    """

    about: ClassVar[About] = About(
        paper=PAPER,
        algorithm="section 3.2 (CUCB-DP for B∞)",
        bound="O(Σ B∞² ln T/Δ + m B∞ ln² T/ε)",
        proof="cucb_dp_max",
        twin="CUCB",
        feedback="semi",
        narrow=True,
        needs_horizon=True,
        every_round=True,
    )

    horizon: int

    def validate(self) -> None:
        self._horizon(required=True)

    @property
    def node_scale(self) -> float:
        """Scale of a node's noise, in reward units."""
        return self.horizon.bit_length() / float(self.budget)

    def mechanism(self) -> EachArm:
        tree = BinaryTree(epsilon=self.budget, leaves=self.horizon, grid=Grid(steps=self.grid))
        return EachArm(inner=tree, width=self.width)

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        return hold_optimistic(self, state, self.bonus)

    def bonus(self, n: Floats, draws: Floats, t: int) -> Floats:
        return tree_radius(n, draws, t, self.node_scale)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        width = super_arms.noisy_width(math.log(rounds), self.node_scale, super_arms.tree_draws)
        low = super_arms.failing_rounds(self.arms, rounds, 3.0)
        return super_arms.smooth_bound(self.problem, means, rounds, width, low, narrow=True)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        most, log_t = self.problem.size, math.log(rounds)  # B∞ = K·B₁
        price = most * log_t**2 / float(self.budget)
        return per_gap(self.problem, means, most**2 * log_t, price)
