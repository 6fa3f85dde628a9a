"""Matroid bandits: optimistic and Thompson sampling policies that play a best basis."""

import math
from collections.abc import Sequence
from typing import ClassVar, NamedTuple, final

import numpy as np

from dpbandits.core.inputs import Floats, floats_of
from dpbandits.core.plan import Draw, Hold, Plan, PublicRng
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import EachArm, Exact, LazyCumulative, LazyForgetful
from dpbandits.oracles.base import DecisionSet
from dpbandits.oracles.matroids import Matroid
from dpbandits.policies.arm_bounds import (
    basis,
    best_gaps,
    kl_bound,
    lazy_bound,
    least_gaps,
    ucb1_bound,
)
from dpbandits.policies.base import PrivatePolicy, Statistics
from dpbandits.policies.contract import About, policy_dataclass
from dpbandits.policies.formulas.indices import crossing, dp_klucb, growing_batch, kl_level, kl_ucb
from dpbandits.policies.super_arms import FIRST, ExactArms, SuperArmPolicy

# Index policies on a matroid: play the greedy basis, and see every element of it. OMM, KL-OSM and
# DP-KLUCB's index (ours).


def matroid_of(problem: DecisionSet) -> Matroid:
    """Return the problem of a policy that plays matroids only."""
    assert isinstance(problem, Matroid)
    return problem


def first_cover(policy: SuperArmPolicy, s: Statistics) -> Hold | None:
    """Return the plan of a basis with an element that has no release; None if no basis has one."""
    if 0 not in s.rounds:
        return None
    loops = policy.problem.loops
    if all(n or arm in loops for arm, n in enumerate(s.rounds)):
        return None
    return policy.hold(s, policy.best([0.0 if n else FIRST for n in s.rounds]))


def rewards_behind(s: Statistics) -> Floats:
    """Return the rewards behind every element's mean, shape (arms,); NaN for none, which
    propagates.
    """
    n = floats_of(s.rounds)
    n[n == 0.0] = np.nan
    return n


@policy_dataclass
class OMM(ExactArms):
    """Optimistic matroid maximization: UCB1's index in the greedy algorithm, without privacy.

    Guarantee: none.

    Regret: at most Σ 16 ln T/Δ_min + O(1).

    Source: Kveton, Wen, Ashkan, Eydgahi and Eriksson 2014, OMM.

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

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        return self.hold_best(state, self.scores(state, state.t + 1), FIRST)

    def scores(self, s: Statistics, t: int) -> Floats:
        """Return every element's `ucb1` at round t, shape (arms,); NaN without a release."""
        n = rewards_behind(s)
        return np.asarray(floats_of(s.totals) / n + np.sqrt(2.0 * math.log(t) / n))

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return ucb1_bound(basis(self.problem, means), rounds)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        return math.fsum(math.log(rounds) / gap for gap in least_gaps(self.problem, means))


@policy_dataclass
class KLOSM(ExactArms):
    """KL-UCB's index, max{q: n·kl(mean, q) <= ln t + c ln ln t}, in the greedy algorithm, without
    privacy.

    Guarantee: none.

    Regret: Σ Δ ln T/kl + o(ln T), asymptotically optimal.

    Source: Talebi and Proutiere 2016, KL-OSM.

    Args:
        c: weight of ln ln t in the level (3 in the paper).

    >>> from dpbandits import UniformMatroid
    >>> KLOSM(problem=UniformMatroid(arms=4, rank=2)).c
    3.0
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
    c: float = 3.0

    def validate(self) -> None:
        self._number("c", -1e-300, 100)

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        return self.hold_best(state, self.scores(state, state.t + 1), FIRST)

    def scores(self, s: Statistics, t: int) -> list[float]:
        """Return every element's index at round t; NaN without a release."""
        level = kl_level(math.log(t), self.c)
        return [
            kl_ucb(total / n, n, level) if n else math.nan
            for total, n in zip(s.totals, s.rounds, strict=True)
        ]

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return kl_bound(basis(self.problem, means), rounds, self.c)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        # Pinsker: kl >= 2 Δ²
        return math.fsum(math.log(rounds) / (2 * gap) for gap in least_gaps(self.problem, means))


@policy_dataclass
class DPKLMAT(SuperArmPolicy, PrivatePolicy):
    """The DP-KLUCB index of every element at ε/K, max{q: n·d_eps(Clip01 mean, q) <= level·ln t}, in
    the greedy algorithm (ours).

    Guarantee: ε-DP for the whole sequence of decisions.

    Regret: no bound proved. Measured figures and the choice of the constants are in decisions/.

    Source: ours, with the index of Azize, Wu, Honda, Orabona, Ito and Basu 2025.

    Args:
        first: rounds in an element's first batch; None means ⌈24 K/epsilon⌉.
        alpha: growth factor of its rounds.
        level: factor on ln t.

    >>> from dpbandits import UniformMatroid
    >>> DPKLMAT(problem=UniformMatroid(arms=4, rank=2), epsilon=1).first
    48
    """

    about: ClassVar[About] = About(
        paper="dpbandits",
        algorithm="DP-KLUCB index in the greedy (ours)",
        bound="none proved",
        proof="dp_kl_mat",
        baseline="KLOSM",
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
        """Return every element's index at round t; NaN without a release."""
        level, share = self.level * math.log(t), self.share
        return [
            dp_klucb(total / n, n, level, share) if n else math.nan
            for total, n in zip(s.totals, s.rounds, strict=True)
        ]

    def batch(self, s: Statistics, arm: int) -> int:
        return growing_batch(s.rounds[arm], self.first or 1, self.alpha)


# DPUCB-MAT and DPTS-MAT: batches of 1, 2, 4, 8, … for every element of a matroid, each released
# alone, at epsilon/K each.


PAPER = "Chandak, Hu and Hegde 2023"


def least_gap_order(
    problem: DecisionSet, means: Sequence[float], rounds: int, share: float
) -> float:
    """Return Σ ln(KT)/Δ_min + min(K, ln(KT)) ln(KT)/eps₀ over the elements outside the best
    basis.
    """
    rank, log_n = problem.size, math.log(problem.size * rounds)
    each = min(rank, log_n) / share
    return log_n * math.fsum(1 / gap + each for gap in least_gaps(problem, means))


@policy_dataclass
class LazyMatroidPolicy(SuperArmPolicy, PrivatePolicy):
    """Base class of policies that release each element's newest batch alone, at epsilon/K."""

    @final
    def mechanism(self) -> EachArm:
        return EachArm(
            inner=LazyForgetful(epsilon=self.budget / self.width, grid=Grid(steps=self.grid)),
            width=self.width,
        )

    @final
    def batch(self, s: Statistics, arm: int) -> int:
        return max(1, 2 * s.rounds[arm])


@final
@policy_dataclass
class DPUCBMAT(LazyMatroidPolicy):
    """Private UCB on a matroid: the greedy basis for mean + √(3 ln(Kt)/n) + 3 ln(Kt)/(eps₀ n), eps₀
    = epsilon/K.

    The first bases cover all elements except loops.

    Guarantee: ε-DP for the whole sequence of decisions.

    Regret: O(Σ ln(KT)/Δ_min + min(K, ln(KT)) K ln(KT)/epsilon), the sum over the elements outside
    the best basis.

    Source: Chandak, Hu and Hegde 2023, Algorithm 2 (DPUCB-MAT).

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
        baseline="OMM",
        feedback="semi",
        matroid=True,
    )

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return lazy_bound(basis(self.problem, means), rounds, self.share, self.grid)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        return least_gap_order(self.problem, means, rounds, self.share)

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        """Play the greedy basis until a batch is full or, as ln t grows, an element overtakes one
        that it can replace.
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
        """Return every element's `lazy_ucb` at round t, shape (arms,); NaN without a release."""
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
        """Return the first of the next `rounds` rounds whose greedy basis is another one, or their
        end.
        """
        t, end, rank = s.t + 1, s.t + 1 + rounds, self.problem.size
        if rounds == 1:
            return end
        n, means, scores, played = rewards_behind(s), *map(np.asarray, (means, scores, action))
        # Indices grow. An element cannot overtake one of the basis whose index is already above the
        # element's index at the end. Nor can it overtake one with a lower number, as high a mean
        # and as few rounds: that index remains at least as high, and it wins a tie.
        tops = np.nan_to_num(self.indices(means, n, end - 1), nan=-math.inf)
        outside = np.ones(self.arms, bool)
        outside[played] = False
        rising = np.flatnonzero(outside & (tops >= scores[played].min())).tolist()
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
    """DPTSMAT's law at round t: the greedy basis for samples of N(mean + 3 ln(Kt)/(eps₀ n), 1/n); n
    = 0 for a loop.
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
@policy_dataclass
class DPTSMAT(LazyMatroidPolicy):
    """Private Thompson sampling on a matroid: the greedy basis for samples of N(mean + 3
    ln(Kt)/(eps₀ n), 1/n), drawn every round.

    The first bases cover all elements except loops.

    Guarantee: ε-DP for the whole sequence of decisions.

    Regret: that of DPUCB-MAT plus Σ ln(KT)/Δ over the elements of the best basis.

    Source: Chandak, Hu and Hegde 2023, Algorithm 3 (DPTS-MAT).

    >>> from dpbandits import UniformMatroid
    >>> DPTSMAT(problem=UniformMatroid(arms=4, rank=2), epsilon=1).share
    0.5
    """

    about: ClassVar[About] = About(
        paper=PAPER,
        algorithm="Algorithm 3 (DPTS-MAT)",
        bound="O(Σ ln(KT)/Δ + min(K, ln KT) K ln(KT)/ε + Σ over the best basis of ln(KT)/Δ)",
        proof="dp_ucb_mat",
        baseline="CTSGaussian",
        feedback="semi",
        matroid=True,
        randomised=True,
    )

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        second = math.fsum(1 / gap for gap in best_gaps(self.problem, means))
        first = least_gap_order(self.problem, means, rounds, self.share)
        return first + math.log(self.problem.size * rounds) * second

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        if (first := first_cover(self, state)) is not None:
            return first
        means = tuple(m / n if n else 0.0 for m, n in zip(state.totals, state.rounds, strict=True))
        limits = tuple(self.batch_left(state, arm) for arm in range(self.arms))
        return Draw(LazyNormals(matroid_of(self.problem), means, state.rounds, self.share), limits)


# Thompson sampling on a matroid without privacy: CTS with Beta and Gaussian posteriors.


class Betas(NamedTuple):
    """The greedy basis for one sample of Beta(successes + 1, failures + 1) per element."""

    matroid: Matroid
    successes: tuple[float, ...]
    failures: tuple[float, ...]

    def sample(self, round: int, rng: PublicRng) -> tuple[int, ...]:
        return self.matroid.best(
            rng.generator.beta(np.array(self.successes) + 1.0, np.array(self.failures) + 1.0)
        )


class Normals(NamedTuple):
    """The greedy basis for one sample of N(mean, sd²) per element."""

    matroid: Matroid
    means: tuple[float, ...]
    sds: tuple[float, ...]

    def sample(self, round: int, rng: PublicRng) -> tuple[int, ...]:
        z = rng.generator.standard_normal(len(self.means))
        return self.matroid.best(np.array(self.means) + np.array(self.sds) * z)


@policy_dataclass
class CTSBeta(SuperArmPolicy):
    """Combinatorial Thompson sampling with Beta(1, 1) priors, without privacy. Rewards are first
    rounded to Bernoulli.

    `regret_order` is the first term of the bound alone: the second does not grow with T, and its
    constant and logarithms are not stated.

    Guarantee: none.

    Regret: O(Σ ln T/Δ) + Õ(L/Δ⁴) on a matroid.

    Source: Wang and Chen 2018, CTS.

    >>> from dpbandits import UniformMatroid
    >>> CTSBeta(problem=UniformMatroid(arms=4, rank=2)).guarantee is None
    True
    """

    about: ClassVar[About] = About(
        paper="Wang and Chen 2018",
        algorithm="CTS",
        bound="O(Σ ln T/Δ) + Õ(L/Δ⁴)",
        privacy="none",
        feedback="semi",
        matroid=True,
        every_round=True,
        randomised=True,
    )

    def mechanism(self) -> EachArm:
        return EachArm(inner=Exact(grid=Grid(steps=1, rounding="bernoulli")), width=self.width)

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        failures = tuple(n - s for s, n in zip(state.totals, state.rounds, strict=True))
        return Draw(Betas(matroid_of(self.problem), state.totals, failures), (1,) * self.arms)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        return math.fsum(math.log(rounds) / gap for gap in least_gaps(self.problem, means))


@policy_dataclass
class CTSGaussian(ExactArms):
    """Combinatorial Thompson sampling with samples of N(mean, 1/n), without privacy. The first
    bases cover the elements.

    Guarantee: none.

    Regret: O(Σ ln T/Δ), as for DPTS-MAT without noise.

    Source: Chandak, Hu and Hegde 2023, the reference in its figures (CTS with Gaussian priors).

    >>> from dpbandits import UniformMatroid
    >>> CTSGaussian(problem=UniformMatroid(arms=4, rank=2)).guarantee is None
    True
    """

    about: ClassVar[About] = About(
        paper="Chandak, Hu and Hegde 2023",
        algorithm="CTS with Gaussian priors",
        bound="O(Σ ln T/Δ)",
        privacy="none",
        feedback="semi",
        matroid=True,
        every_round=True,
        randomised=True,
    )

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        if (first := first_cover(self, state)) is not None:
            return first
        n = [max(1, rounds) for rounds in state.rounds]
        means = tuple(total / m for total, m in zip(state.totals, n, strict=True))
        sds = tuple(1.0 / math.sqrt(m) for m in n)
        return Draw(Normals(matroid_of(self.problem), means, sds), (1,) * self.arms)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        return math.fsum(math.log(rounds) / gap for gap in least_gaps(self.problem, means))
