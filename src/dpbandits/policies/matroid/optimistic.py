"""Matroid bandits, policies by index: play the greedy basis, see every element of it. OMM, KL-OSM
and DP-KLUCB's index (ours).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpbandits.core.arrays import Floats, floats_of
from dpbandits.core.plan import Plan, PublicRng
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import EachArm, Exact, LazyCumulative
from dpbandits.oracles.base import DecisionSet
from dpbandits.oracles.matroids import Matroid
from dpbandits.policies.base import PrivatePolicy
from dpbandits.policies.bounds.every_round import kl_bound, ucb1_bound
from dpbandits.policies.bounds.optimism import basis, least_gaps
from dpbandits.policies.contract import About
from dpbandits.policies.formulas import indices
from dpbandits.policies.formulas.schedules import growing_batch
from dpbandits.policies.statistics import Statistics
from dpbandits.policies.super_arms.base import SuperArmPolicy

__all__ = ["DPKLMAT", "KLOSM", "OMM"]


FIRST = 1e15
"""Weight of an element without a release: above every index at the smallest budget, so the first
bases cover all but the loops.
"""


def matroid_of(problem: DecisionSet) -> Matroid:
    """The problem of a policy that plays matroids only."""
    assert isinstance(problem, Matroid)
    return problem


def rewards_behind(s: Statistics) -> Floats:
    """The rewards behind every element's mean, shape (arms,); NaN in place of none, and so in what
    is made of it.
    """
    n = floats_of(s.rounds)
    n[n == 0.0] = np.nan
    return n


@dataclass(frozen=True, kw_only=True)
class OMM(SuperArmPolicy):
    """Optimistic matroid maximization: UCB1's index in the greedy algorithm, without privacy.

    Source: Kveton, Wen, Ashkan, Eydgahi and Eriksson 2014, OMM. Guarantee: none. Regret: at most Σ
    16 ln T/Δ_min + O(1).

    >>> from dpbandits import UniformMatroid
    >>> OMM(problem=UniformMatroid(arms=4, rank=2)).guarantee is None
    True
    """

    about: ClassVar[About] = About(
        paper="Kveton, Wen, Ashkan, Eydgahi and Eriksson 2014",
        algorithm="OMM",
        bound="Σ 16 ln T/Δ_min + O(1)",
        privacy="none",
        feedback="semi",
        matroid=True,
        every_round=True,
    )
    grid: int = 1024

    def mechanism(self) -> EachArm:
        return EachArm(inner=Exact(grid=Grid(steps=self.grid)), width=self.width)

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        return self.hold_best(state, self.scores(state, state.t + 1), FIRST)

    def scores(self, s: Statistics, t: int) -> Floats:
        """Every element's `ucb1` at round t, shape (arms,); NaN where it has no release behind
        it.
        """
        n = rewards_behind(s)
        return np.asarray(floats_of(s.totals) / n + np.sqrt(2.0 * math.log(t) / n))

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return ucb1_bound(basis(self.problem, means), rounds)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        return math.fsum(math.log(rounds) / gap for gap in least_gaps(self.problem, means))


@dataclass(frozen=True, kw_only=True)
class KLOSM(SuperArmPolicy):
    """KL-UCB's index, max{q: n·kl(mean, q) <= ln t + c ln ln t}, in the greedy algorithm, without
    privacy.

    Source: Talebi and Proutiere 2016, KL-OSM. Guarantee: none. Regret: Σ Δ ln T/kl + o(ln T),
    asymptotically optimal.

    Args:
        c: weight of ln ln t in the level (3 in the paper).
    """

    about: ClassVar[About] = About(
        paper="Talebi and Proutiere 2016",
        algorithm="KL-OSM",
        bound="Σ Δ ln T/kl(μ, μ*) + o(ln T)",
        privacy="none",
        feedback="semi",
        matroid=True,
        every_round=True,
    )
    grid: int = 1024
    c: float = 3.0

    def validate(self) -> None:
        self._number("c", -1e-300, 100)

    def mechanism(self) -> EachArm:
        return EachArm(inner=Exact(grid=Grid(steps=self.grid)), width=self.width)

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        return self.hold_best(state, self.scores(state, state.t + 1), FIRST)

    def scores(self, s: Statistics, t: int) -> list[float]:
        """Every element's index at round t; NaN where it has no release behind it."""
        level = indices.kl_level(math.log(t), self.c)
        return [
            indices.kl_ucb(total / n, n, level) if n else math.nan
            for total, n in zip(s.totals, s.rounds, strict=True)
        ]

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return kl_bound(basis(self.problem, means), rounds, self.c)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        # Pinsker: kl >= 2 Δ²
        return math.fsum(math.log(rounds) / (2 * gap) for gap in least_gaps(self.problem, means))


@dataclass(frozen=True, kw_only=True)
class DPKLMAT(SuperArmPolicy, PrivatePolicy):
    """The DP-KLUCB index of every element at epsilon/K, max{q: n·d_eps(Clip01 mean, q) <= level·ln
    t}, in the greedy algorithm (ours).

    Source: ours, on the index of Azize, Wu, Honda, Orabona, Ito and Basu 2025. Guarantee:
    epsilon-DP for all decisions.
    Regret: none proved. Measured figures, and how the constants were found: decisions/.

    Args:
        first: rounds in an element's first batch; None stands for ⌈24 K/epsilon⌉.
        alpha: growth of its rounds.
        level: factor on ln t.
    """

    about: ClassVar[About] = About(
        paper="dpbandits",
        algorithm="DP-KLUCB index in the greedy (ours)",
        bound="none proved",
        proof="dp_kl_mat",
        twin="KLOSM",
        feedback="semi",
        matroid=True,
        theory=False,
    )
    first: int | None = None
    alpha: float = 1.5
    level: float = 0.4

    def validate(self) -> None:
        self._growing(24 * self.problem.size / self.budget)
        self._number("level", 0, 100)

    def mechanism(self) -> EachArm:
        return EachArm(
            inner=LazyCumulative(epsilon=self.budget / self.width, grid=Grid(steps=self.grid)),
            width=self.width,
        )

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        return self.hold_best(state, self.scores(state, state.t + 1), FIRST)

    def scores(self, s: Statistics, t: int) -> list[float]:
        """Every element's index at round t; NaN where it has no release behind it."""
        level, share = self.level * math.log(t), self.share
        return [
            indices.dp_klucb(total / n, n, level, share) if n else math.nan
            for total, n in zip(s.totals, s.rounds, strict=True)
        ]

    def batch(self, s: Statistics, arm: int) -> int:
        return growing_batch(s.rounds[arm], self.first or 1, self.alpha)
