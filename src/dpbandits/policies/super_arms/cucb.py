"""Combinatorial semi-bandits in the central model: any decision set with its oracle, the reward of
every arm of a super arm seen.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from dpbandits.core.arrays import Floats
from dpbandits.core.plan import Plan, PublicRng
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import EachArm, Exact, LazyCumulative, LazyForgetful
from dpbandits.oracles.matroids import Matroid
from dpbandits.policies.base import PrivatePolicy
from dpbandits.policies.bounds import super_arms
from dpbandits.policies.bounds.tails import excess
from dpbandits.policies.contract import About
from dpbandits.policies.formulas import indices
from dpbandits.policies.formulas.schedules import growing_batch
from dpbandits.policies.statistics import Statistics
from dpbandits.policies.super_arms.base import SuperArmPolicy, hold_optimistic, per_gap, statistical

__all__ = ["CUCB", "DPKLCUCB", "LazyCUCB"]


@final
@dataclass(frozen=True, kw_only=True)
class CUCB(SuperArmPolicy):
    """Combinatorial UCB, without privacy.

    Source: Chen, Wang, Yuan and Wang 2016, CUCB. Guarantee: none.
    Regret: O(Σ K ln T/Δ) for linear rewards, against αβ times the optimum for an (α, β) oracle.
    """

    about: ClassVar[About] = About(
        paper="Chen, Wang, Yuan and Wang 2016",
        algorithm="CUCB",
        bound="O(Σ K ln T/Δ)",
        privacy="none",
        feedback="semi",
        every_round=True,
    )
    grid: int = 1024

    def mechanism(self) -> EachArm:
        return EachArm(inner=Exact(grid=Grid(steps=self.grid)), width=self.width)

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        return hold_optimistic(self, state, self.bonus)

    def bonus(self, n: Floats, draws: Floats, t: int) -> Floats:
        return statistical(n, math.log(t))

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        low = super_arms.failing_rounds(self.arms, rounds, 2.0)
        width = super_arms.statistical_width(math.log(rounds))
        return super_arms.smooth_bound(self.problem, means, rounds, width, low)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        return per_gap(self.problem, means, self.problem.size * math.log(rounds))


@final
@dataclass(frozen=True, kw_only=True)
class LazyCUCB(SuperArmPolicy, PrivatePolicy):
    """CUCB on the newest full batch of each arm; batch sizes double, each reward is read once
    (ours).

    Source: ours, on the batches of Hu, Huang and Mehta 2021. Guarantee: epsilon-DP; a record of up
    to K rewards pays epsilon/K for each.
    Regret: O(Σ K ln(mT)/Δ + m K ln(mT)/epsilon) for linear rewards; the horizon need not be known.

    Index: mean of the newest batch of n + √(3 ln(mt)/(2n)) + 3 K ln(mt)/(epsilon n), clipped at 1:
    each term fails with probability about (mt)⁻³. A super arm is held until the batch of one of its
    arms is full.

    >>> from dpbandits.oracles import TopK
    >>> str(LazyCUCB(problem=TopK(arms=5, k=2), epsilon=1).mechanism().inner.epsilon)
    '1/2'
    """

    about: ClassVar[About] = About(
        paper="dpbandits",
        algorithm="CUCB on lazy-forgetful batches (ours)",
        bound="O(Σ K ln(mT)/Δ + m K ln(mT)/ε)",
        proof="lazy_cucb",
        twin="CUCB",
        feedback="semi",
    )

    def mechanism(self) -> EachArm:
        return EachArm(
            inner=LazyForgetful(epsilon=self.budget / self.width, grid=Grid(steps=self.grid)),
            width=self.width,
        )

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        return hold_optimistic(self, state, self.bonus)

    def bonus(self, n: Floats, draws: Floats, t: int) -> Floats:
        log_mt = math.log(self.arms) + math.log(t)
        return np.asarray(
            np.sqrt(1.5 * log_mt / n) + 3.0 * self.problem.size * log_mt / (float(self.budget) * n)
        )

    def batch(self, s: Statistics, arm: int) -> int:
        return max(1, 2 * s.rounds[arm])

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        log_mt, eps = math.log(self.arms * rounds), float(self.budget)
        width = super_arms.lazy_width(log_mt, eps, self.problem.size)
        low = super_arms.lazy_failing(self.arms, rounds, excess(self.share, self.grid))
        return super_arms.smooth_bound(self.problem, means, rounds, width, low, batches=True)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        cost = self.problem.size * math.log(self.arms * rounds)
        return per_gap(self.problem, means, cost, cost / float(self.budget))


@dataclass(frozen=True, kw_only=True)
class DPKLCUCB(SuperArmPolicy, PrivatePolicy):
    """The DP-KLUCB index on every arm with its share of the budget, and any oracle (ours).

    Source: ours, on the index of Azize, Wu, Honda, Orabona, Ito and Basu 2025. Guarantee:
    epsilon-DP; a record of up to K rewards pays epsilon/K for each. Regret: none proved.

    Args:
        first: rounds in an arm's first batch; None stands for ⌈32 K/epsilon⌉.
        alpha: growth of an arm's rounds.
        level: factor on ln t.

    Both defaults belong together (60 runs each on top 5 of 20, top 3 of 10 with gaps .1, and paths
    in a 5 × 5 grid, epsilon = .5 and 2): at T = 10⁶ level ½ has .53 to .64 of the mean regret of
    level 1, and a better worst run; with a first batch a fourth as long single runs lock on a wrong
    super arm (top 5, epsilon = 2: worst 24,646 against 977), with a sixteenth several do. Paths on
    the Sioux Falls roads (30 runs): .56 of level 1's at both epsilons.
    """

    about: ClassVar[About] = About(
        paper="dpbandits",
        algorithm="DP-KLUCB index with an oracle (ours)",
        bound="none proved",
        proof="dp_klcucb",
        twin="CUCB",
        feedback="semi",
        theory=False,
    )
    first: int | None = None
    alpha: float = 1.5
    level: float = 0.5

    def validate(self) -> None:
        self._growing(32 * self.problem.size / self.budget)
        self._number("level", 0, 100)

    def mechanism(self) -> EachArm:
        return EachArm(
            inner=LazyCumulative(epsilon=self.budget / self.width, grid=Grid(steps=self.grid)),
            width=self.width,
        )

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        unseen = 1e9 if isinstance(self.problem, Matroid) else 1.0  # first bases cover all arms
        return self.hold_best(state, self.scores(state, state.t + 1), unseen)

    def scores(self, s: Statistics, t: int) -> list[float]:
        """Every arm's index at round t; NaN where an arm has no release behind it."""
        level, share = self.level * math.log(t), self.share
        return [
            indices.dp_klucb(total / n, n, level, share) if n else math.nan
            for total, n in zip(s.totals, s.rounds, strict=True)
        ]

    def batch(self, s: Statistics, arm: int) -> int:
        return growing_batch(s.rounds[arm], self.first or 1, self.alpha)
