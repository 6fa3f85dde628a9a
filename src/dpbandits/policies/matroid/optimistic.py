"""Matroid bandits, policies by index: play the greedy basis, see every element of it. OMM, KL-OSM
and DP-KLUCB's index (ours).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dpbandits.core.inputs import shown
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import EachArm, Exact, LazyCumulative
from dpbandits.oracles.matroids.matroid import Matroid
from dpbandits.policies.bandit.cumulative import growing_batch
from dpbandits.policies.base import Statistics
from dpbandits.policies.contract import About, PrivatePolicy
from dpbandits.policies.formulas import indices
from dpbandits.policies.super_arms.base import SuperArmIndex, SuperArmPolicy

FIRST = 1e15
"""Weight of an element without a release: above every index at the smallest budget, so the first
bases cover all but the loops.
"""


@dataclass(frozen=True, kw_only=True)
class MatroidPolicy(SuperArmPolicy):
    """Plays bases of a matroid.

    problem: the matroid.

    Raises:
        TypeError: `problem` is no matroid.
    """

    def __post_init__(self) -> None:
        if not isinstance(self.problem, Matroid):
            given = (
                shown(self.problem)
                if isinstance(self.problem, type)
                else f"a {type(self.problem).__name__}"
            )
            raise TypeError(
                "Expected problem= to be a matroid such as dpbandits.UniformMatroid(arms=5, "
                f"rank=2), got {given}. "
                "For other decision sets use the semi-bandit policies, such as CUCB and DPKLCUCB."
            )
        super().__post_init__()

    @property
    def matroid(self) -> Matroid:
        assert isinstance(self.problem, Matroid)
        return self.problem

    def least_gaps(self, gaps: Sequence[float]) -> list[float]:
        """Of every element outside the best basis, the smallest positive gap to an element of it,
        Δ_{e,min}.

        gaps: best mean less each element's. Elements without such a gap, and loops, are left out.
        """
        best = self.best([-gap for gap in gaps])
        outside = set(range(self.arms)) - set(best) - set(self.matroid.loops)
        larger = [[gaps[e] - gaps[a] for a in best if gaps[e] > gaps[a]] for e in sorted(outside)]
        return [min(found) for found in larger if found]


@dataclass(frozen=True, kw_only=True)
class PrivateMatroidPolicy(MatroidPolicy, PrivatePolicy):
    """A record is the rewards of one basis; each of its K elements pays epsilon/K (K: the rank,
    computed).
    """

    @property
    def price(self) -> Fraction:
        """What one element's rewards cost."""
        return self.budget / self.problem.size

    @property
    def share(self) -> float:
        """`price` as a float, for indices."""
        return float(self.price)


@dataclass(frozen=True, kw_only=True)
class MatroidIndex(MatroidPolicy, SuperArmIndex):
    """Plays the greedy basis for the elements' indices until the batch of one of its elements is
    full.
    """

    unseen: ClassVar[float] = FIRST


@dataclass(frozen=True, kw_only=True)
class ExactIndex(MatroidIndex):
    """Without privacy: every element of the basis is read after every round."""

    grid: int = 1024

    def mechanism(self) -> EachArm:
        return EachArm(inner=Exact(grid=Grid(steps=self.grid)), width=self.problem.size)

    def batch(self, s: Statistics, arm: int) -> int:
        return 1


@dataclass(frozen=True, kw_only=True)
class OMM(ExactIndex):
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
        every_round=True,
    )

    def scores(self, s: Statistics, t: int) -> list[float]:
        log_t = math.log(t)
        return [
            indices.ucb1(total / n, n, log_t) if n else math.nan
            for total, n in zip(s.totals, s.rounds, strict=True)
        ]

    def regret_bound(self, gaps: Sequence[float], rounds: int) -> float:
        return math.fsum(16 * math.log(rounds) / gap for gap in self.least_gaps(gaps))


@dataclass(frozen=True, kw_only=True)
class KLOSM(ExactIndex):
    """KL-UCB's index, max{q: n·kl(mean, q) <= ln t + c ln ln t}, in the greedy algorithm, without
    privacy.

    Source: Talebi and Proutiere 2016, KL-OSM. Guarantee: none. Regret: Σ Δ ln T/kl + o(ln T),
    asymptotically optimal.

    c: weight of ln ln t in the level (3 in the paper).
    """

    about: ClassVar[About] = About(
        paper="Talebi and Proutiere 2016",
        algorithm="KL-OSM",
        bound="Σ Δ ln T/kl(μ, μ*) + o(ln T)",
        privacy="none",
        feedback="semi",
        every_round=True,
    )
    c: float = 3.0

    def validate(self) -> None:
        self._number("c", -1e-300, 100)

    def scores(self, s: Statistics, t: int) -> list[float]:
        level = indices.kl_level(math.log(t), self.c)
        return [
            indices.kl_ucb(total / n, n, level) if n else math.nan
            for total, n in zip(s.totals, s.rounds, strict=True)
        ]

    def regret_bound(self, gaps: Sequence[float], rounds: int) -> float:
        # Pinsker: kl >= 2 Δ²
        return math.fsum(math.log(rounds) / (2 * gap) for gap in self.least_gaps(gaps))


@dataclass(frozen=True, kw_only=True)
class GrowingBatches(PrivateMatroidPolicy):
    """Batches whose noisy sums all stay in an element's mean; each makes its rounds grow by the
    factor alpha.

    first: rounds in an element's first batch; None stands for ⌈24 K/epsilon⌉. alpha: growth of an
        element's rounds.
    """

    first: int | None = None
    alpha: float = 1.5

    def validate(self) -> None:
        self._number("alpha", 1.001, 1000)
        self._first(24 / self.price)

    def mechanism(self) -> EachArm:
        return EachArm(
            inner=LazyCumulative(epsilon=self.price, grid=Grid(steps=self.grid)),
            width=self.problem.size,
        )

    def batch(self, s: Statistics, arm: int) -> int:
        return growing_batch(s.rounds[arm], self.first or 1, self.alpha)

    def regret_bound(self, gaps: Sequence[float], rounds: int) -> float:
        return math.nan


@dataclass(frozen=True, kw_only=True)
class DPKLMAT(GrowingBatches, MatroidIndex):
    """The DP-KLUCB index of every element at epsilon/K, max{q: n·d_eps(Clip01 mean, q) <= level·ln
    t}, in the greedy algorithm (ours).

    Source: ours, on the index of Azize, Wu, Honda, Orabona, Ito and Basu 2025. Guarantee:
    epsilon-DP for all decisions.
    Regret: none proved. Measured figures, and how the constants were found: decisions/.

    first: rounds in an element's first batch; None stands for ⌈24 K/epsilon⌉. alpha: growth of its
        rounds. level: factor on ln t.
    """

    about: ClassVar[About] = About(
        paper="dpbandits",
        algorithm="DP-KLUCB index in the greedy (ours)",
        bound="none proved",
        proof="dp_kl_mat",
        twin="KLOSM",
        feedback="semi",
        theory=False,
    )
    level: float = 0.4

    def validate(self) -> None:
        super().validate()
        self._number("level", 0, 100)

    def scores(self, s: Statistics, t: int) -> list[float]:
        level, share = self.level * math.log(t), self.share
        return [
            indices.dp_klucb(total / n, n, level, share) if n else math.nan
            for total, n in zip(s.totals, s.rounds, strict=True)
        ]
