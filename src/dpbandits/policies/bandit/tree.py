"""UCB on continual counters: a tree or a hybrid counter an arm, a release every round. Baselines of
the lazy policies.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import BinaryTree, Hybrid
from dpbandits.policies.base import IndexPolicy, PrivatePolicy
from dpbandits.policies.bounds import trees
from dpbandits.policies.bounds.optimism import one_arm, positive_gaps
from dpbandits.policies.contract import About
from dpbandits.policies.formulas import rules
from dpbandits.policies.formulas.rules import IndexNumbers, IndexRule

__all__ = ["DPUCB", "DPUCBBound", "HybridUCB"]


@dataclass(frozen=True, kw_only=True)
class DPUCB(IndexPolicy, PrivatePolicy):
    """UCB1 on one binary tree an arm; the horizon must be known.

    Source: Mishra and Thakurta 2015 (DP-UCB), the baseline of Sajed and Sheffet 2019.
    Guarantee: "tight" (default): epsilon a tree, which is enough because a replaced reward touches
    one arm: epsilon-DP.
    "published": epsilon/K a tree, so it holds epsilon/K-DP, K times more than it claims, at the
    price of its regret.
    Regret: O(Σ ln T/Δ + K ln² T/epsilon) ("tight"); as published O(Σ ln T/Δ + K² ln² T ln(K T ln
    T)/epsilon).

    Args:
        horizon: T, rounds; an arm's tree has T leaves.
        gamma: failure probability in the published width.
        preset: "tight" or "published" (see the guarantee).
    """

    about: ClassVar[About] = About(
        paper="Mishra and Thakurta 2015",
        algorithm="DP-UCB",
        bound="O(Σ ln T/Δ + K ln² T/ε)",
        proof="dp_ucb",
        twin="UCB1",
        needs_horizon=True,
        every_round=True,
    )
    horizon: int
    gamma: float = 0.1
    preset: str = "tight"

    def validate(self) -> None:
        self._horizon(required=True)
        self._number("gamma", 0, 1)
        self._one_of("preset", "tight", "published")

    @property
    def tree_epsilon(self) -> Fraction:
        return self.budget / self.arms if self.preset == "published" else self.budget

    def mechanism(self) -> BinaryTree:
        claimed = self.budget if self.preset == "published" else None
        return BinaryTree(
            epsilon=self.tree_epsilon,
            leaves=self.horizon,
            claimed=claimed,
            grid=Grid(steps=self.grid),
        )

    @cached_property
    def rule(self) -> IndexRule:
        scale = self.horizon.bit_length() / float(self.tree_epsilon)
        published = self.preset == "published"
        return IndexRule(
            rules.dp_ucb_published_score if published else rules.dp_ucb_tight_score,
            IndexNumbers(
                eps=float(self.epsilon),
                arms=self.arms,
                horizon=self.horizon,
                gamma=float(self.gamma),
                scale=scale,
            ),
        )

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        scale, horizon = self.horizon.bit_length() / float(self.tree_epsilon), self.horizon
        if self.preset == "tight":
            return trees.tree_bound(one_arm(means), rounds, scale)
        log_h = math.log(max(2, horizon))
        union = math.log(self.arms * max(2, horizon) * log_h / self.gamma)
        width = self.arms * log_h * log_h * union / float(self.epsilon)
        return trees.wide_tree_bound(one_arm(means), rounds, scale, width, horizon.bit_length())

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        log_t = math.log(rounds)
        price = log_t**2 / float(self.epsilon)
        if self.preset == "published":
            price *= self.arms * math.log(self.arms * rounds * max(1.0, log_t) / self.gamma)
        return math.fsum(log_t / gap + price for gap in positive_gaps(means))


@dataclass(frozen=True, kw_only=True)
class DPUCBBound(IndexPolicy, PrivatePolicy):
    """UCB on hybrid counters with the width of Tossou and Dimitrakakis.

    Source: Tossou and Dimitrakakis 2016, DP-UCB-Bound, on the hybrid mechanism of Chan, Shi and
    Song 2011.
    Guarantee: epsilon-DP (with noise on every increment; variants with exact increments are not
    private at all).
    Regret: O(Σ ln T/Δ + ln T ln ln T/epsilon) as claimed; Hu, Huang and Mehta 2021, App. E, found
    gaps in the proof.
    """

    about: ClassVar[About] = About(
        paper="Tossou and Dimitrakakis 2016",
        algorithm="DP-UCB-Bound",
        bound="O(Σ ln T/Δ + K ln T ln ln T/ε) as claimed",
        proof="dp_ucb_bound",
        twin="UCB1",
        every_round=True,
        theory=False,
    )

    def mechanism(self) -> Hybrid:
        return Hybrid(epsilon=self.budget, segments="powers", grid=Grid(steps=self.grid))

    @cached_property
    def rule(self) -> IndexRule:
        return IndexRule(rules.dp_ucb_bound_score, IndexNumbers(eps=float(self.epsilon)))


@dataclass(frozen=True, kw_only=True)
class HybridUCB(IndexPolicy, PrivatePolicy):
    """UCB on hybrid counters that double their segments.

    Source: Hu, Huang and Mehta 2021, Appendix E, Algorithm 4 (Hybrid-UCB).
    Guarantee: "corrected" (default): epsilon-DP, a full segment is answered from the array side.
    "published": as printed, the full tree's root is released, too, with too little noise:
    3·epsilon/2 holds, and that is what `guarantee` reports.
    Regret: O(Σ max(ln T/Δ, (ln T/epsilon) ln(ln T/(epsilon Δ)))).

    Args:
        preset: "corrected" or "published" (see the guarantee).
    """

    about: ClassVar[About] = About(
        paper="Hu, Huang and Mehta 2021",
        algorithm="Appendix E, Algorithm 4 (Hybrid-UCB)",
        bound="O(Σ max(ln T/Δ, (ln T/ε) ln(ln T/(εΔ))))",
        proof="hybrid_ucb",
        twin="UCB1",
        every_round=True,
    )
    preset: str = "corrected"

    def validate(self) -> None:
        self._one_of("preset", "corrected", "published")

    def mechanism(self) -> Hybrid:
        return Hybrid(
            epsilon=self.budget,
            segments="doubling",
            root=self.preset == "published",
            grid=Grid(steps=self.grid),
        )

    @cached_property
    def rule(self) -> IndexRule:
        return IndexRule(rules.hybrid_ucb_score, IndexNumbers(eps=float(self.epsilon)))

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return trees.hybrid_bound(one_arm(means), rounds, float(self.epsilon))

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        log_t, eps = math.log(rounds), float(self.epsilon)
        return math.fsum(
            max(log_t / g, log_t / eps * math.log(max(math.e, log_t / (eps * g))))
            for g in positive_gaps(means)
        )
