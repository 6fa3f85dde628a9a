"""Forgetful batches of 1, 2, 4, 8, … rewards: expected plays, and rounds lost to a low bound.

While an arm's newest batch has n rewards it is played 2n times at most (AdaP: n or 2n), and only
while the bound made of that batch reaches the target. So the plays are at most the first one and
Σ_s (rounds in the batch after the s-th)·P[bound of 2^s rewards at the last round >= target], the
sum that the proofs bound by 2^{d+2} − 1 up to the batch d where the chance becomes small, and by
O(1) from there on (Hu, Huang, Mehta and Hegde 2024, Theorem 3 and Lemma 19).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dpbandits.core.arrays import Floats
from dpbandits.policies.bounds.optimism import Playable, optimistic_bound
from dpbandits.policies.bounds.sums import falling_sum, reaches
from dpbandits.policies.bounds.tails import AddedNoise, excess, upper_tail


def batch_plays(
    mean: float, rounds: int, level: Callable[[Floats], Floats], noise: AddedNoise, growth: int
) -> float:
    """1 + Σ growth·n·P[released mean of n = 1, 2, 4, … >= level(n)], at most `rounds` each.

    growth: rounds in the next batch over n.
    """
    n: Floats = np.asarray(2.0 ** np.arange(max(1, rounds.bit_length())), np.float64)
    chances = upper_tail(n, mean, level(n), noise)
    return 1.0 + float(np.sum(np.minimum(growth * n, rounds) * chances))


def lazy_plays(mean: float, target: float, rounds: int, eps: float, rank: int = 1) -> float:
    """Anytime-Lazy-UCB: the radius √(3 ln T/n) + 3 ln T/(εn), ln(KT) on a matroid of rank K."""
    log_t = math.log(rank * rounds)
    return batch_plays(
        mean,
        rounds,
        lambda n: target - np.sqrt(3.0 * log_t / n) - 3.0 * log_t / (eps * n),
        AddedNoise(1.0, 1.0 / eps),
        2,
    )


def lazy_low(first: int, rounds: int, tail: float, rank: int = 1) -> float:
    """Σ_t (⌊lg t⌋ + 1)((Kt)⁻⁶ + c(Kt)⁻³): Hoeffding and one draw's tail, for each batch by round t.

    tail: c, `excess` of the noise.
    """
    return falling_sum(
        lambda t: (np.log2(t) + 1.0) * ((rank * t) ** -6.0 + tail * (rank * t) ** -3.0),
        max(2, first),
        rounds,
    ) + (1.0 if first < 2 else 0.0)


def lazy_bound(arms: Playable, rounds: int, eps: float, grid: int) -> float:
    """Anytime-Lazy-UCB, and DPUCB-MAT with eps = ε/K; K is the number of arms played at once."""
    rank = len(arms.best)

    def count(mean: float, target: float) -> float:
        return lazy_plays(mean, target, rounds, eps, rank)

    low = lazy_low(arms.first, rounds, excess(eps, grid), rank)
    return optimistic_bound(arms, rounds, count, low)


def adap_plays(mean: float, target: float, rounds: int, eps: float, a: float) -> float:
    """AdaP-UCB: the radius √(a ln T/(2n)) + a ln T/(εn)."""
    log_t = math.log(rounds)
    return 1.0 + batch_plays(
        mean,
        rounds,
        lambda n: target - np.sqrt(a * log_t / (2.0 * n)) - a * log_t / (eps * n),
        AddedNoise(1.0, 1.0 / eps),
        2,
    )


def adap_kl_plays(mean: float, target: float, rounds: int, eps: float, a: float) -> float:
    """AdaP-KLUCB: the bound reaches the target where kl(noised mean + a ln T/(εn), target) <=
    a ln T/n, or that lifted mean reaches it by itself.
    """
    log_t = math.log(rounds)

    def level(n: Floats) -> Floats:
        return reaches(target, a * log_t / n) - a * log_t / (eps * n)

    return 1.0 + batch_plays(mean, rounds, level, AddedNoise(1.0, 1.0 / eps), 2)


def adac_plays(mean: float, target: float, rounds: int, rho: float, b: float) -> float:
    """AdaC-UCB: the radius √((1/(2n) + 1/(ρn²)) b ln T), one Gaussian draw of variance 1/(2ρ)."""
    log_t = math.log(rounds)
    return 1.0 + batch_plays(
        mean,
        rounds,
        lambda n: target - np.sqrt((0.5 / n + 1.0 / (rho * n * n)) * b * log_t),
        AddedNoise(variance=0.5 / rho),
        2,
    )


def episode_low(first: int, rounds: int, a: float, tail: float) -> float:
    """Σ_t t(⌊lg t⌋ + 1)(1 + c)t^{−a}: an episode begun at round t lasts less than t rounds."""
    return falling_sum(
        lambda t: np.minimum(t, (np.log2(t) + 1.0) * (1.0 + tail) * t ** (1.0 - a)),
        max(3, first),
        rounds,
    )


def adap_bound(arms: Playable, rounds: int, eps: float, a: float, grid: int) -> float:
    """AdaP-UCB (Azize and Basu 2022)."""
    low = episode_low(arms.first, rounds, a, excess(eps, grid))
    return optimistic_bound(arms, rounds, lambda mean, y: adap_plays(mean, y, rounds, eps, a), low)


def adap_kl_bound(arms: Playable, rounds: int, eps: float, a: float, grid: int) -> float:
    """AdaP-KLUCB (Azize and Basu 2022)."""

    def count(mean: float, target: float) -> float:
        return adap_kl_plays(mean, target, rounds, eps, a)

    low = episode_low(arms.first, rounds, a, excess(eps, grid))
    return optimistic_bound(arms, rounds, count, low)


def adac_bound(arms: Playable, rounds: int, rho: float, b: float) -> float:
    """AdaC-UCB (Azize and Basu 2024); discrete Gaussian noise has no more than its moments."""
    low = episode_low(arms.first, rounds, b, 0.0)
    return optimistic_bound(arms, rounds, lambda mean, y: adac_plays(mean, y, rounds, rho, b), low)
