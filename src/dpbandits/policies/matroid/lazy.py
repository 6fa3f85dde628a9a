"""DPUCB-MAT and DPTS-MAT: forgetful batches of 1, 2, 4, 8, … for every element of a matroid, at
epsilon/K each.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, final

import numpy as np

from dpbandits.core.arrays import Floats, floats_of
from dpbandits.core.plan import Draw, Hold, Plan, PublicRng
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import EachArm, LazyForgetful
from dpbandits.oracles.base import DecisionSet
from dpbandits.oracles.matroids import Matroid
from dpbandits.policies.base import PrivatePolicy
from dpbandits.policies.bounds.batches import lazy_bound
from dpbandits.policies.bounds.optimism import basis, best_gaps, least_gaps
from dpbandits.policies.contract import About
from dpbandits.policies.formulas.indices import crossing
from dpbandits.policies.matroid.optimistic import FIRST, matroid_of, rewards_behind
from dpbandits.policies.statistics import Statistics
from dpbandits.policies.super_arms.base import SuperArmPolicy

__all__ = ["DPTSMAT", "DPUCBMAT"]

PAPER = "Chandak, Hu and Hegde 2023"


def least_gap_order(
    problem: DecisionSet, means: Sequence[float], rounds: int, share: float
) -> float:
    """Σ ln(KT)/Δ_min + min(K, ln(KT)) ln(KT)/eps₀ over the elements outside the best basis."""
    rank, log_n = problem.size, math.log(problem.size * rounds)
    each = min(rank, log_n) / share
    return log_n * math.fsum(1 / gap + each for gap in least_gaps(problem, means))


@final
@dataclass(frozen=True, kw_only=True)
class DPUCBMAT(SuperArmPolicy, PrivatePolicy):
    """Private UCB on a matroid: the greedy basis for mean + √(3 ln(Kt)/n) + 3 ln(Kt)/(eps₀ n), eps₀
    = epsilon/K.

    Source: Chandak, Hu and Hegde 2023, Algorithm 2 (DPUCB-MAT); started by bases that cover all
    elements but the loops.
    Guarantee: epsilon-DP for the whole sequence of decisions.
    Regret: O(Σ ln(KT)/Δ_min + min(K, ln(KT)) K ln(KT)/epsilon), the sum over the elements outside
    the best basis.

    | name         | paper |
    |--------------|-------|
    | problem.rank | K     |
    | share        | ε₀    |
    | rounds       | T_e   |

    >>> from dpbandits import UniformMatroid
    >>> policy = DPUCBMAT(problem=UniformMatroid(arms=4, rank=2), epsilon=1)
    >>> str(policy.guarantee.epsilon), policy.share
    ('1', 0.5)
    """

    about: ClassVar[About] = About(
        paper=PAPER,
        algorithm="Algorithm 2 (DPUCB-MAT)",
        bound="O(Σ ln(KT)/Δ + min(K, ln KT) K ln(KT)/ε)",
        proof="dp_ucb_mat",
        twin="OMM",
        feedback="semi",
        matroid=True,
    )

    def mechanism(self) -> EachArm:
        return EachArm(
            inner=LazyForgetful(epsilon=self.budget / self.width, grid=Grid(steps=self.grid)),
            width=self.width,
        )

    def batch(self, s: Statistics, arm: int) -> int:
        return max(1, 2 * s.rounds[arm])

    def batches(self, s: Statistics, arms: Sequence[int]) -> list[int]:
        rounds = s.rounds
        return [2 * rounds[arm] or 1 for arm in arms]

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return lazy_bound(basis(self.problem, means), rounds, self.share, self.grid)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        return least_gap_order(self.problem, means, rounds, self.share)

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        """Hold the greedy basis until a batch is full or, as ln t grows, an element overtakes one
        it can replace.
        """
        t = state.t + 1
        n = rewards_behind(state)
        means = floats_of(state.totals) / n
        scores = np.nan_to_num(self.indices(means, n, t), nan=FIRST)
        action = self.best(scores)
        hold = self.hold(state, action)
        end = self.first_swap(state, means, scores, action, hold.rounds)
        return hold if end == t + hold.rounds else Hold(action, end - t, ())

    def indices(self, means: Floats, n: Floats, t: int) -> Floats:
        """Every element's `lazy_ucb` at round t, shape (arms,); NaN where it has no release behind
        it.
        """
        log_t = math.log(self.problem.size * t)
        return np.asarray(means + np.sqrt(3.0 * log_t / n) + 3.0 * log_t / (self.share * n))

    def first_swap(
        self,
        s: Statistics,
        means: Sequence[float] | Floats,
        scores: Sequence[float] | Floats,
        action: tuple[int, ...],
        rounds: int,
    ) -> int:
        """The first round after this one, of the next `rounds`, whose greedy basis is another one;
        their end if none is.
        """
        t, end, rank = s.t + 1, s.t + 1 + rounds, self.problem.size
        if rounds == 1:
            return end
        n, means, scores, held = rewards_behind(s), *map(np.asarray, (means, scores, action))
        # Indices grow: an element overtakes only those of the basis that are not above its index at
        # the end already now. Nor those with a lower number, as high a mean and as few rounds:
        # their index stays at least as high, and they win a tie.
        tops = np.nan_to_num(self.indices(means, n, end - 1), nan=-math.inf)
        outside = np.ones(self.arms, bool)
        outside[held] = False
        rising = np.flatnonzero(outside & (tops >= scores[held].min())).tolist()
        circuits = matroid_of(self.problem).circuits(action, rising)
        for e, circuit in zip(rising, circuits, strict=True):
            others = np.array(circuit, np.intp)
            behind = (others < e) & (means[others] >= means[e]) & (n[others] <= n[e])
            rivals = others[(scores[others] <= tops[e]) & (n[others] > 0) & ~behind]
            for f in rivals.tolist():
                mine, its = (float(means[e]), int(n[e])), (float(means[f]), int(n[f]))
                end = crossing(f, *its, e, *mine, t, end, self.share, rank)
        return end


class LazyNormals(NamedTuple):
    """Law of DPTSMAT's draw at round t: the greedy basis for samples of N(mean + 3 ln(Kt)/(eps₀ n),
    1/n); n = 0: a loop.
    """

    matroid: Matroid
    means: tuple[float, ...]
    rounds: tuple[int, ...]
    share: float

    def sample(self, round: int, rng: PublicRng) -> tuple[int, ...]:
        n = np.maximum(1, np.array(self.rounds))
        centre = np.array(self.means) + 3.0 * math.log(self.matroid.rank * round) / (self.share * n)
        return self.matroid.best(centre + rng.generator.standard_normal(len(n)) / np.sqrt(n))


@final
@dataclass(frozen=True, kw_only=True)
class DPTSMAT(SuperArmPolicy, PrivatePolicy):
    """Private Thompson sampling on a matroid: the greedy basis for samples of N(mean + 3
    ln(Kt)/(eps₀ n), 1/n), fresh every round.

    Source: Chandak, Hu and Hegde 2023, Algorithm 3 (DPTS-MAT); started by bases that cover all
    elements but the loops.
    Guarantee: epsilon-DP. Regret: as DPUCB-MAT's, with Σ ln(KT)/Δ over the elements of the best
    basis added.
    """

    about: ClassVar[About] = About(
        paper=PAPER,
        algorithm="Algorithm 3 (DPTS-MAT)",
        bound="O(Σ ln(KT)/Δ + min(K, ln KT) K ln(KT)/ε + Σ over the best basis of ln(KT)/Δ)",
        proof="dp_ts_mat",
        twin="CTSGaussian",
        feedback="semi",
        matroid=True,
        randomised=True,
    )

    def mechanism(self) -> EachArm:
        return EachArm(
            inner=LazyForgetful(epsilon=self.budget / self.width, grid=Grid(steps=self.grid)),
            width=self.width,
        )

    def batch(self, s: Statistics, arm: int) -> int:
        return max(1, 2 * s.rounds[arm])

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        second = math.fsum(1 / gap for gap in best_gaps(self.problem, means))
        first = least_gap_order(self.problem, means, rounds, self.share)
        return first + math.log(self.problem.size * rounds) * second

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        action = self.best([0.0 if n else FIRST for n in state.rounds])
        if 0 in (state.rounds[arm] for arm in action):
            return self.hold(state, action)
        means = tuple(m / n if n else 0.0 for m, n in zip(state.totals, state.rounds, strict=True))
        limits = tuple(self.batch_left(state, arm) for arm in range(self.arms))
        return Draw(LazyNormals(matroid_of(self.problem), means, state.rounds, self.share), limits)
