"""Upper bounds of the regret of policies for single arms, with all constants: the sums in which
their proofs end.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dpbandits.core.inputs import Floats
from dpbandits.oracles.base import DecisionSet
from dpbandits.policies.formulas.indices import (
    comparison_noise,
    comparison_radius,
    d_eps,
    elimination_width,
    epoch,
    forced_rounds,
    growing_batch,
    kl_level,
    next_guess,
)

# Sums over many rounds by few terms, rounded up; and the means at which the evidence is sufficient.


RATIO = 1.01
"""The end of a cell is at most this factor times its start, so a sum of terms that fall like 1/n is
at most 1 % too large.
"""


class Cells(NamedTuple):
    """Whole numbers in order, divided into cells: first and last number of each, as floats."""

    first: Floats
    last: Floats

    @property
    def sizes(self) -> Floats:
        return self.last - self.first + 1.0


@lru_cache(maxsize=256)
def whole_cells(first: int, last: int) -> Cells:
    """Return cells of the whole numbers from `first` (at least 1) to `last`."""
    starts = [first] if first <= last else []
    while starts and (after := max(starts[-1] + 1, int(starts[-1] * RATIO))) <= last:
        starts.append(after)
    begin = np.array(starts, np.float64)
    return Cells(begin, np.append(begin[1:] - 1.0, float(last))[: len(begin)])


def falling_sum(term: Callable[[Floats], Floats], first: int, last: int) -> float:
    """Return an upper bound of the sum of `term` over first … last, for a term that never grows."""
    cells = whole_cells(first, last)
    return float(np.sum(cells.sizes * term(cells.first))) if len(cells.first) else 0.0


BISECTIONS = 60  # to the last bit of a mean


def reaches(target: float, levels: Floats, eps: float = math.inf) -> Floats:
    """Return the x <= target with d_eps(x, target) = level (kl for eps = inf), from below; −1 if
    d_eps(0, target) is not above the level.
    """
    low, high = np.zeros(levels.shape), np.full(levels.shape, target)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2.0
        far = evidence(middle, target, eps) > levels
        low, high = np.where(far, middle, low), np.where(far, high, middle)
    return np.asarray(np.where(evidence(np.zeros(1), target, eps) <= levels, -1.0, low))


def evidence(x: Floats, target: float, eps: float) -> Floats:
    """Return d_eps(x, target) for x <= target, the vectorised form of `formulas.indices.d_eps`."""
    if target >= 1.0:
        return np.asarray(eps * (1.0 - x)) if math.isfinite(eps) else np.full(x.shape, math.inf)
    return distances(x, np.array(target), None if math.isinf(eps) else eps)


def distances(x: Floats, y: Floats, epsilon: float | None) -> Floats:
    """Return kl(x, y), or d_eps(x, y); y >= x."""
    y = np.minimum(y, 1.0 - 1e-15)
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where(x > 0.0, x * np.log(x / y), 0.0)
        second = np.where(x < 1.0, (1.0 - x) * np.log((1.0 - x) / (1.0 - y)), 0.0)
    divergence = first + second
    if epsilon is None:
        return np.asarray(np.maximum(divergence, 0.0))
    shrunk = y * math.exp(-epsilon)
    near = x >= shrunk / (1.0 - y + shrunk)
    return np.asarray(
        np.where(near, divergence, -np.log1p(y * math.expm1(-epsilon)) - epsilon * x).clip(0.0)
    )


# Policies that play the largest upper confidence bounds: one arm, or the elements of a basis.
#
# If no bound is below its mean, an arm is played instead of a better one only if its bound reaches
# the better one's mean. With U the bound of an arm e at some number of its rewards, a wrong play
# costs the gap to the best arm whose mean U reaches. So, with gaps Δ_1 >= Δ_2 >= … > 0 of e to the
# best arms μ_1 >= μ_2 >= …, regret <= Σ_e Σ_k (Δ_k − Δ_{k+1}) · E[plays of e with U >= μ_k], plus
# for every best arm its largest gap times the rounds in which its bound is below its mean. On a
# matroid the pairs are those of Kveton et al. 2014, Lemma 1; one arm is a basis of rank 1 (Auer et
# al. 2002).


PlayCount = Callable[[float, float], float]
"""Expected plays of an arm with the first mean whose bound reaches the second."""
Level = Callable[[float, Floats], Floats]
"""The released means of n rewards from which on the bound reaches a target, by the target and n."""


class Playable(NamedTuple):
    """The choices of an optimistic policy.

    Args:
        means: of all arms.
        best: arms of the best action.
        playable: arms of any action.
        first: the first round in which bounds are compared.
        largest: loss of the worst action in a round.
    """

    means: tuple[float, ...]
    best: tuple[int, ...]
    playable: tuple[int, ...]
    first: int
    largest: float


def one_arm(means: Sequence[float]) -> Playable:
    """Return the choices with one arm a round; each arm is played once before bounds are
    compared.
    """
    best = (list(means).index(max(means)),)
    largest = max(means) - min(means)
    return Playable(tuple(means), best, tuple(range(len(means))), len(means) + 1, largest)


def basis(problem: DecisionSet, means: Sequence[float]) -> Playable:
    """Return the choices with a basis of a matroid; the first ones contain elements that were not
    seen yet.
    """
    playable = sorted(set(range(problem.arms)) - set(problem.loops))
    best, worst = problem.best(means), problem.best([-mean for mean in means])
    largest = math.fsum(means[k] for k in best) - math.fsum(means[k] for k in worst)
    return Playable(tuple(means), best, tuple(playable), 2, largest)


def positive_gaps(means: Sequence[float]) -> list[float]:
    """Return the best mean minus each smaller one."""
    return [max(means) - mean for mean in means if mean < max(means)]


def lazy_order(means: Sequence[float], rounds: int, eps: float) -> float:
    """Return Σ ln T/min(Δ, eps)."""
    return math.fsum(math.log(rounds) / min(gap, eps) for gap in positive_gaps(means))


def least_gaps(problem: DecisionSet, means: Sequence[float]) -> list[float]:
    """Return, for every element outside the best basis, the smallest positive gap to an element of
    it, Δ_{e,min}. Elements without such a gap, and loops, are omitted.
    """
    arms = basis(problem, means)
    outside = sorted(set(arms.playable) - set(arms.best))
    larger = [[means[k] - means[e] for k in arms.best if means[k] > means[e]] for e in outside]
    return [min(gaps) for gaps in larger if gaps]


def best_gaps(problem: DecisionSet, means: Sequence[float]) -> list[float]:
    """Return, for every element of the best basis, the smallest positive gap to an element outside
    it.
    """
    arms = basis(problem, means)
    outside = sorted(set(arms.playable) - set(arms.best))
    smaller = [[means[k] - means[e] for e in outside if means[k] > means[e]] for k in arms.best]
    return [min(gaps) for gaps in smaller if gaps]


def optimistic_bound(arms: Playable, rounds: int, count: PlayCount, low: float) -> float:
    """Return an upper bound of the regret in `rounds` rounds, at most the worst action's.

    Args:
        arms: the choices.
        rounds: number of rounds.
        count: expected plays.
        low: upper bound of the expected rounds in which the bound of one best arm is below its
            mean.
    """
    means = arms.means
    least = min(means[e] for e in arms.playable)
    targets = sorted((means[k] for k in arms.best), reverse=True)
    wrong: list[float] = []
    seen: dict[tuple[float, float], float] = {}
    for e in sorted(set(arms.playable) - set(arms.best)):
        for target, following in zip(targets, [*targets[1:], -math.inf], strict=True):
            step = target - max(following, means[e])
            if step <= 0.0:
                continue
            pair = (means[e], target)
            if pair not in seen:
                seen[pair] = min(float(rounds), count(*pair))
            wrong.append(step * seen[pair])
    missed = math.fsum(target - least for target in targets)
    return min(math.fsum(wrong) + low * missed, rounds * arms.largest)


# The probability that a noisy mean is far from the true one: Chernoff bounds, valid for every
# exponent.
#
# A released sum has n rewards of mean μ in [0, 1] and independent draws of discrete noise. For
# θ > 0, E e^{θ reward} <= 1 + μ(e^θ − 1) (convexity), and the noise has at most the moments of its
# continuous law (proofs/discrete_noise.md, 4). So P[sum/n >= x] <= exp(−θnx) times both, at any θ:
# a search over θ can lose accuracy, never validity.


INNER = np.logspace(-7.0, -0.3, 72)
SHARES = np.concatenate([INNER, 1.0 - np.logspace(-0.301, -6.0, 32)])
"""Exponents to try, as shares of the largest."""
STEEP = 60.0
"""The largest exponent per reward if there is no noise to bound it."""


class AddedNoise(NamedTuple):
    """The noise in a sum of rewards, in reward units.

    Args:
        draws: number of Laplace draws; a number, or one for each sum.
        scale: their scale.
        variance: variance of Gaussian noise.
    """

    draws: Floats | float = 0.0
    scale: float = 0.0
    variance: float = 0.0


SILENT = AddedNoise()


def upper_tail(n: Floats, mean: float, level: Floats, noise: AddedNoise = SILENT) -> Floats:
    """Return an upper bound of P[(n rewards of this mean + noise)/n >= level]; n and level have one
    shape.
    """
    n, level = np.broadcast_arrays(np.asarray(n, np.float64), np.asarray(level, np.float64))
    widest = STEEP if noise.scale == 0.0 else min(STEEP, 1.0 / noise.scale)
    theta = widest * SHARES
    rewards = np.log1p(mean * np.expm1(theta))
    shift = np.multiply.outer(level, theta) - rewards
    draws = np.broadcast_to(np.asarray(noise.draws, np.float64), n.shape)
    cost = np.multiply.outer(draws, -np.log1p(-np.square(theta * noise.scale)))
    exponent = cost + 0.5 * noise.variance * theta**2 - n[..., None] * shift
    chances = np.exp(np.minimum(0.0, exponent.min(axis=-1)))
    return np.asarray(np.where(level <= mean, 1.0, chances))


def lower_tail(n: Floats, mean: float, level: Floats, noise: AddedNoise = SILENT) -> Floats:
    """Return an upper bound of P[(n rewards of this mean + noise)/n <= level]."""
    return upper_tail(n, 1.0 - mean, 1.0 - np.asarray(level), noise)


def excess(eps: float, grid: int) -> float:
    """Return c in P[noise >= x] <= c·e^{−eps·x}, x > 0, for one discrete Laplace draw: ½(1 +
    tanh(eps/2g)) (proofs/discrete_noise.md, 6).
    """
    return float(0.5 * (1.0 + np.tanh(eps / (2.0 * grid))))


# Batches of 1, 2, 4, 8, … rewards, each released alone: expected plays, and rounds lost to a low
# bound.
#
# While an arm's newest batch has n rewards, the arm is played at most 2n times (AdaP: n or 2n), and
# only while the bound of that batch reaches the target. So the plays are at most the first one plus
# Σ_s (rounds in the batch after the s-th)·P[bound of 2^s rewards at the last round >= target]. The
# proofs bound this sum by 2^{d+2} − 1 up to the batch d where the probability becomes small, and by
# O(1) from there on (Hu, Huang, Mehta and Hegde 2024, Theorem 3 and Lemma 19).


def batches_bound(
    arms: Playable, rounds: int, level: Level, noise: AddedNoise, low: float, first: float = 1.0
) -> float:
    """Return the bound with `first` + 1 + Σ 2n·P[released mean of n = 1, 2, 4, … >= level] plays,
    at most `rounds` each.
    """
    n: Floats = np.asarray(2.0 ** np.arange(max(1, rounds.bit_length())), np.float64)

    def count(mean: float, target: float) -> float:
        chances = upper_tail(n, mean, level(target, n), noise)
        return first + (1.0 + float(np.sum(np.minimum(2.0 * n, rounds) * chances)))

    return optimistic_bound(arms, rounds, count, low)


def lazy_low(first: int, rounds: int, tail: float, rank: int = 1) -> float:
    """Return Σ_t (⌊lg t⌋ + 1)((Kt)⁻⁶ + c(Kt)⁻³): Hoeffding and one draw's tail, for each batch by
    round t. `tail` is c, the `excess` of the noise.
    """
    return falling_sum(
        lambda t: (np.log2(t) + 1.0) * ((rank * t) ** -6.0 + tail * (rank * t) ** -3.0),
        max(2, first),
        rounds,
    ) + (1.0 if first < 2 else 0.0)


def lazy_bound(arms: Playable, rounds: int, eps: float, grid: int) -> float:
    """Return the bound of Anytime-Lazy-UCB, and of DPUCB-MAT with eps = ε/K; K is the number of
    arms played at once. The radius is √(3 ln(KT)/n) + 3 ln(KT)/(εn).
    """
    rank = len(arms.best)
    log_t = math.log(rank * rounds)
    return batches_bound(
        arms,
        rounds,
        lambda target, n: target - np.sqrt(3.0 * log_t / n) - 3.0 * log_t / (eps * n),
        AddedNoise(1.0, 1.0 / eps),
        lazy_low(arms.first, rounds, excess(eps, grid), rank),
        first=0.0,
    )


def episode_low(first: int, rounds: int, a: float, tail: float) -> float:
    """Return Σ_t t(⌊lg t⌋ + 1)(1 + c)t^{−a}: an episode that starts at round t has fewer than t
    rounds.
    """
    return falling_sum(
        lambda t: np.minimum(t, (np.log2(t) + 1.0) * (1.0 + tail) * t ** (1.0 - a)),
        max(3, first),
        rounds,
    )


def adap_bound(
    arms: Playable, rounds: int, eps: float, a: float, grid: int, kl: bool = False
) -> float:
    """Return the bound of AdaP-UCB (Azize and Basu 2022), radius √(a ln T/(2n)) + a ln T/(εn). With
    `kl`, that of AdaP-KLUCB: an index reaches the target if kl(noisy mean + a ln T/(εn), target) <=
    a ln T/n, or if that lifted mean reaches it.
    """
    log_t = math.log(rounds)

    def level(target: float, n: Floats) -> Floats:
        far = reaches(target, a * log_t / n) if kl else target - np.sqrt(a * log_t / (2.0 * n))
        return np.asarray(far - a * log_t / (eps * n))

    low = episode_low(arms.first, rounds, a, excess(eps, grid))
    return batches_bound(arms, rounds, level, AddedNoise(1.0, 1.0 / eps), low)


def adac_bound(arms: Playable, rounds: int, rho: float, b: float) -> float:
    """Return the bound of AdaC-UCB (Azize and Basu 2024): the radius √((1/(2n) + 1/(ρn²)) b ln T),
    one Gaussian draw of variance 1/(2ρ). Discrete Gaussian noise has at most its moments.
    """
    log_t = math.log(rounds)
    return batches_bound(
        arms,
        rounds,
        lambda target, n: target - np.sqrt((0.5 / n + 1.0 / (rho * n * n)) * b * log_t),
        AddedNoise(variance=0.5 / rho),
        episode_low(arms.first, rounds, b, 0.0),
    )


# DP-KLUCB: batches that accumulate, and the index in d_eps. Ours, after Azize et al. 2025.
#
# Let y be below the best mean and above the others. An arm is played while its index reaches y, or
# while the best arm's index is below y. While the best arm has n rewards, m draws and released mean
# x, its index is below y only before round e^I, I = n·d_eps(x, y). A batch that starts then ends by
# round αe^I + 1. So the expected rounds lost in this state are at most the integral of P[I >= u]
# against that end, and P[I >= u] is a Chernoff bound at the mean where n·d_eps(x, y) = u. It falls
# like e^{−u − n·d_eps(y, μ*)}, so the sum over the states converges. Every y gives a valid bound.


SLACKS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8)  # positions of y between the best means
LAST_BIT = 1e-12  # error of the bisection
STEP = 0.1  # of u in the integral, which is rounded up


@lru_cache(maxsize=256)
def stages(rounds: int, first: int, alpha: float) -> tuple[int, ...]:
    """Return the rewards behind an arm's mean after its first, second, … batch, up to `rounds`."""
    sizes = [first]
    while sizes[-1] < rounds:
        sizes.append(sizes[-1] + growing_batch(sizes[-1], first, alpha))
    return tuple(sizes)


def plays_by_index(
    mean: float, y: float, rounds: int, eps: float, sizes: Sequence[int], level: float
) -> float:
    """Return the plays in the first batch, plus each later one times the probability that the index
    before it reaches y.
    """
    n = np.array(sizes, np.float64)
    levels = reaches(y, level / n, eps)
    draws = np.arange(1.0, len(n) + 1.0)
    chances = upper_tail(n[:-1], mean, levels[:-1], AddedNoise(draws[:-1], 1.0 / eps))
    return float(min(rounds, n[0] + np.sum(np.diff(n) * chances)))


def lost_rounds(
    best: float, y: float, arms: int, rounds: int, eps: float, sizes: Sequence[int], alpha: float
) -> float:
    """Return the expected rounds in which the best arm's index is below y, up to the end of their
    batches.
    """
    grids = [np.empty((4, 0))]
    # for each number of rewards that the best arm may have, from the first round with that number,
    # rising levels of its I, and the rounds that are lost more if I is below the next one
    for k, rewards in enumerate(sizes):
        start = rewards + (arms - 1) * sizes[0] + 1
        if start > rounds:
            break
        u = np.arange(math.log(start), min(math.log(rounds), rewards * d_eps(0.0, y, eps)), STEP)
        ends = np.minimum(float(rounds), alpha * np.exp(u + STEP) + 1.0) - start + 1.0
        alike = np.full(len(u), float(rewards)), np.full(len(u), k + 1.0)
        grids.append(np.stack([*alike, u, np.diff(ends, prepend=0.0)]))
    n, draws, u, steps = np.concatenate(grids, axis=1)
    levels = np.maximum(0.0, reaches(y, u / n, eps)) + LAST_BIT
    chances = lower_tail(n, best, levels, AddedNoise(draws, 1.0 / eps))
    return float(np.sum(steps * chances))


def dp_klucb_bound(
    means: Sequence[float], rounds: int, eps: float, first: int, alpha: float, c: float
) -> float:
    """Return an upper bound of the regret for any laws on [0, 1] with these means."""
    best, worst = max(means), max(means) - min(means)
    others = [mean for mean in means if mean < best]
    if not others:
        return 0.0
    sizes, level = stages(rounds, first, alpha), kl_level(math.log(max(3, rounds)), c)
    bounds = [worst * rounds]
    for slack in SLACKS:
        y = best - slack * (best - max(others))
        plays = {
            mean: plays_by_index(mean, y, rounds, eps, sizes, level) for mean in sorted(set(others))
        }
        wrong = math.fsum((best - mean) * plays[mean] for mean in others)
        bounds.append(
            wrong + worst * lost_rounds(best, y, len(means), rounds, eps, sizes, alpha)
            if wrong < min(bounds)
            else math.inf
        )
    return min(bounds)


# UCB policies that release after every round: expected plays, and rounds lost to a low bound.
#
# Each count is Σ_n P[mean of n rewards + radius >= target], with the radius at the last round. Each
# `low` sums, over rounds t and the n <= t rewards that the best arm may have, the probability that
# its bound is below its mean.


def means_bound(
    arms: Playable,
    rounds: int,
    level: Level,
    low: float,
    *,
    noise: AddedNoise = SILENT,
    forced: int = 0,
    seen: Callable[[float], float] = float,
) -> float:
    """Return the bound with 1 + `forced` + Σ_n P[released mean of n > forced rewards >= level]
    plays, n in `whole_cells`.

    Args:
        arms: the choices.
        rounds: number of rounds.
        level: of a cell.
        low: as in `optimistic_bound`.
        noise: in the sums of the cells.
        forced: plays whatever the bound.
        seen: the mean of what the policy gets from an arm, by the arm's mean.
    """
    cells = whole_cells(forced + 1, rounds - 1)

    def count(mean: float, target: float) -> float:
        chances = upper_tail(cells.first, seen(mean), level(seen(target), cells.first), noise)
        return 1.0 + forced + float(np.sum(cells.sizes * chances))

    return optimistic_bound(arms, rounds, count, low)


def ucb1_bound(arms: Playable, rounds: int) -> float:
    """Return the bound of UCB1 and OMM: the radius √(2 ln T/n), and Σ_t t·t⁻⁴ by Hoeffding for each
    n <= t. Below Σ 8 ln T/Δ + (1 + π²/3)Δ (Auer, Cesa-Bianchi and Fischer 2002, Theorem 1) and
    Σ 16 ln T/Δ + … (Kveton et al. 2014, Theorem 2).
    """
    width, low = 2.0 * math.log(rounds), falling_sum(lambda t: t**-3.0, arms.first, rounds)
    return means_bound(arms, rounds, lambda target, n: target - np.sqrt(width / n), low)


def kl_low(first: int, rounds: int, c: float) -> float:
    """Return Σ_t e⌈δ ln t⌉e^{−δ}, δ = ln t + c ln ln t, each at most 1 (Garivier and Cappé 2011,
    Theorem 10).
    """

    def missed(t: Floats) -> Floats:
        log_t = np.log(np.maximum(t, 3.0))
        delta = log_t + c * np.log(log_t)
        late = np.log(t * 1.02)  # at a cell's end, where ⌈δ ln t⌉ is largest
        ceiling = np.ceil((late + c * np.log(np.maximum(late, 1.0))) * late)
        return np.asarray(np.minimum(1.0, math.e * ceiling * np.exp(-delta)))

    return falling_sum(missed, first, rounds)


def kl_bound(
    arms: Playable, rounds: int, c: float, seen: Callable[[float], float] = float
) -> float:
    """Return the bound of KL-UCB and KL-OSM: the index reaches the target if n·kl(mean of n,
    target) <= ln T + c ln ln T. With c = 3 the rounds lost to a low bound grow like ln ln T
    (Garivier and Cappé 2011); with c = 0 like ln³T.
    """
    level, low = kl_level(math.log(max(3, rounds)), c), kl_low(arms.first, rounds, c)
    return means_bound(arms, rounds, lambda target, n: reaches(target, level / n), low, seen=seen)


def bits_bound(arms: Playable, rounds: int, eps: float, c: float) -> float:
    """Return the bound of KL-UCB on randomised response: bits of mean (μe^ε + 1 − μ)/(1 + e^ε),
    with the gaps of μ.
    """
    return kl_bound(arms, rounds, c, lambda mean: 0.5 + (mean - 0.5) * math.tanh(eps / 2.0))


def reports_bound(arms: Playable, rounds: int, eps: float) -> float:
    """Return the bound of LDP-UCB-L (Ren, Zhou, Liu and Shroff 2020): the radius √(2 ln T/n) + √(32
    ln T/(ε² n)), n draws, and 4 ln(T + 1) forced rounds. Low bounds: Σ_t t(t⁻⁴ + t^{−4.69}),
    Hoeffding, and Chernoff for n >= 4 ln t draws (proofs/ldp_ucb.md).
    """
    forced, log_t = math.floor(forced_rounds(rounds)) + 1, math.log(rounds)
    return means_bound(
        arms,
        rounds,
        lambda target, n: target - np.sqrt(2.0 * log_t / n) - np.sqrt(32.0 * log_t / n) / eps,
        falling_sum(lambda t: t**-3.0 + t**-3.69, arms.first, rounds),
        noise=AddedNoise(whole_cells(forced + 1, rounds - 1).first, 1.0 / eps),
        forced=forced,
    )


# UCB on continual counters: expected plays, and rounds lost to a low bound.
#
# The sum of an arm with n rewards has the noise of at most n.bit_length() nodes of a tree. With the
# hybrid counter it has that of at most r closed segments and r nodes of the open one, r the bit
# length of n.


def counted(most: Callable[[int], int], n: Floats) -> Floats:
    """Return `most` of each of these whole numbers."""
    return np.array([most(int(each)) for each in n], np.float64)


def sum_radii(draws: Floats, scale: float, log_term: float) -> Floats:
    """Return `sum_radius` of arrays: Chan, Shi and Song 2011, Corollary 2.9."""
    widest = np.maximum(np.sqrt(draws), math.sqrt(log_term))
    return np.asarray(scale * widest * math.sqrt(8.0 * log_term))


def noise_chance(draws: float, scale: float, level: float) -> float:
    """Return an upper bound of P[sum of Laplace draws >= level]."""
    return float(upper_tail(np.array([1.0]), 0.0, np.array([level]), AddedNoise(draws, scale))[0])


def tree_bound(arms: Playable, rounds: int, scale: float, most: Callable[[int], int]) -> float:
    """Return the bound of DP-UCB on its own trees ("tight", "signed"): √(2 ln T/n) and the
    Chan–Shi–Song radius at 2T⁻⁴, nodes of this scale, at most `most(n)` of them. Low bounds:
    Σ_t t(t⁻⁴ + t⁻⁴), Hoeffding, and Chan, Shi and Song, on one side each.
    """
    log_t, draws = math.log(rounds), counted(most, whole_cells(1, rounds - 1).last)
    radius = sum_radii(draws, scale, 4.0 * log_t)
    return means_bound(
        arms,
        rounds,
        lambda target, n: target - np.sqrt(2.0 * log_t / n) - radius / n,
        falling_sum(lambda t: 2.0 * t**-3.0, arms.first, rounds),
        noise=AddedNoise(draws, scale),
    )


def wide_tree_bound(arms: Playable, rounds: int, scale: float, width: float, levels: int) -> float:
    """Return the bound of DP-UCB as published (Mishra and Thakurta 2015): √(2 ln T/n) + width/n,
    trees of `levels` levels with nodes of this scale. Low bounds: Σ_t t(t⁻⁴ + P[noise of `levels`
    nodes >= width]), each at most 1.
    """
    log_t, noise = math.log(rounds), AddedNoise(float(levels), scale)
    noisy = noise_chance(float(levels), scale, width) * rounds * (rounds + 1.0) / 2.0
    return means_bound(
        arms,
        rounds,
        lambda target, n: target - np.sqrt(2.0 * log_t / n) - width / n,
        falling_sum(lambda t: t**-3.0, arms.first, rounds) + min(float(rounds), noisy),
        noise=noise,
    )


def hybrid_bound(arms: Playable, rounds: int, eps: float) -> float:
    """Return the bound of Hybrid-UCB (Hu, Huang and Mehta 2021, Theorem 5): √(3 lg T/n) + 6√8 s lg
    T/(εn), s = ⌊lg(n + 1)⌋, and 2s draws of scale 2s/ε. Low bounds: Σ_t t(t^−8.65 + t^−6.84),
    Hoeffding, and Chernoff at .8 for 2s <= 2 lg t draws (proofs/hybrid_ucb.md).
    """
    lg_t, cells = math.log2(max(2, rounds)), whole_cells(1, rounds - 1)
    n, levels = cells.first, np.floor(np.log2(cells.last + 1.0))
    radius = np.sqrt(3.0 * lg_t / n), 6.0 * math.sqrt(8.0) * lg_t * levels / (eps * n)

    def count(mean: float, target: float) -> float:
        total, level = 1.0, target - radius[0] - radius[1]
        for s in np.unique(levels).tolist():
            at = levels == s
            chances = upper_tail(n[at], mean, level[at], AddedNoise(2.0 * s, 2.0 * s / eps))
            total += float(np.sum(cells.sizes[at] * chances))
        return total

    low = falling_sum(lambda t: t**-7.65 + t**-5.84, arms.first, rounds)
    return optimistic_bound(arms, rounds, count, low)


# Successive elimination: the pulls of a run in which every confidence bound holds, and the cost of
# other runs (Even-Dar, Mannor and Mansour 2006, Theorem 8; Sajed and Sheffet 2019, Lemma 4.2).
#
# DP-SE's Lemma 4.2 rounds the sum of its epochs up to constants 1024 and 96; here it is the sum.


BASEL = math.pi**2 / 6.0


def passes(gap: float, arms: int, beta: float, rounds: int) -> int:
    """Return the passes after which an arm with this gap is surely eliminated: two widths below
    it. With two arms or more the width falls from the first pass on.
    """
    return 1 + bisect_left(
        range(1, rounds), True, key=lambda n: 2.0 * elimination_width(n, arms, beta) < gap
    )


def passes_bound(means: Sequence[float], rounds: int, beta: float) -> float:
    """Return the bound of SuccessiveElimination: a mean is ever further from its arm's than its
    radius with probability at most βπ²/12.
    """
    gaps = positive_gaps(means)
    wrong = math.fsum(gap * passes(gap, len(means), beta, rounds) for gap in gaps)
    worst = max(gaps, default=0.0)
    return min(wrong + worst * rounds * min(1.0, beta * BASEL / 2.0), worst * rounds)


def last_epoch(gap: float) -> int:
    """Return the arm's last epoch, the first with 2^−e <= gap: its radii add up to less than the
    gap.
    """
    return max(1, math.ceil(-math.log2(gap) - 1e-12))


def epochs_cost(gaps: Sequence[float], beta: float, eps: float, rounds: int) -> float:
    """Return Σ Δ · (pulls of the arm up to its last epoch), where the remaining arms are those
    without an earlier last epoch.
    """
    arms = len(gaps)
    wrong = [(gap, last_epoch(gap)) for gap in gaps if gap > 0.0]
    cost, pulled = 0.0, 0.0
    for stage in range(1, max((last for _, last in wrong), default=0) + 1):
        alive = arms - sum(1 for _, last in wrong if last < stage)
        planned, _ = epoch(stage, alive, beta, eps)
        pulls = min(float(planned), max(0.0, rounds - pulled))
        cost += pulls * math.fsum(gap for gap, last in wrong if last >= stage)
        pulled += pulls
        if pulled >= rounds:
            break
    return cost


def elimination_bound(
    means: Sequence[float], rounds: int, beta: float, eps: float, tail: float
) -> float:
    """Return the bound of DP-SE with β: some width fails with probability at most β(2 + 2c −
    1)π²/24, c `tail`.
    """
    gaps = [max(means) - mean for mean in means]
    worst = max(gaps)
    fails = min(1.0, beta * (1.0 + 2.0 * tail) * BASEL / 4.0)
    return min(epochs_cost(gaps, beta, eps, rounds) + worst * rounds * fails, worst * rounds)


def guessing_bound(
    means: Sequence[float], rounds: int, first: int, squared: bool, eps: float, tail: float
) -> float:
    """Return the bound of DP-SE that guesses the horizon: the sum over guesses G of a phase with β
    = 1/G.

    The phase of a guess starts when the previous guess is reached, or later. It ends by round 6G,
    or after the first epoch: later epochs start before G, and the next is at most five times as
    long as all before.
    """
    gaps = [max(means) - mean for mean in means]
    worst, total, guess, begins = max(gaps), 0.0, first, 0
    while begins < rounds:
        pulls, _ = epoch(1, len(means), 1.0 / guess, eps)
        length = min(float(rounds), max(6.0 * guess, float(len(means) * pulls)))
        fails = min(1.0, (1.0 + 2.0 * tail) * BASEL / 4.0 / guess)
        cost = epochs_cost(gaps, 1.0 / guess, eps, rounds)
        total += min(cost + worst * length * fails, worst * length)
        begins, guess = guess, next_guess(guess, guess, squared)
    return min(total, worst * rounds)


def comparisons_bound(
    means: Sequence[float], rounds: int, beta: float, share: float, tail: float
) -> float:
    """Return the bound of SparseVectorSE: an arm is eliminated at the first test at which its gap
    adds up to four radii, twice the noise and a unit of rounding. Some radius fails with
    probability at most βπ²/24, some draw of noise with at most 2c(π²/6 + 1)β/16, c `tail`.
    """
    worst = max(means) - min(means)

    def pulls(gap: float) -> int:
        number, n = 1, 2
        while n < rounds and gap * n < 1.0 + 2.0 * (
            2.0 * comparison_radius(n, number, len(means), beta)
            + comparison_noise(number, len(means), beta, share)
        ):
            number, n = number + 1, 2 * n
        return min(n, rounds)

    gaps = positive_gaps(means)
    fails = beta * (BASEL / 4.0 + tail * (BASEL + 1.0) / 8.0)
    cost = math.fsum(gap * pulls(gap) for gap in gaps)
    return min(cost + worst * rounds * min(1.0, fails), worst * rounds)
