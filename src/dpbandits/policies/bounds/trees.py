"""UCB on continual counters: expected plays, and rounds lost to a low bound.

An arm with n rewards has the noise of at most n.bit_length() nodes of a tree in its sum; under the
hybrid counter that of at most r closed segments and r nodes of the open one, r the bit length of n.
"""

from __future__ import annotations

import math

import numpy as np

from dpbandits.core.arrays import Floats
from dpbandits.policies.bounds.optimism import Playable, optimistic_bound
from dpbandits.policies.bounds.sums import falling_sum, whole_cells
from dpbandits.policies.bounds.tails import AddedNoise, upper_tail


def bit_lengths(n: Floats) -> Floats:
    """The bit length of whole numbers."""
    return np.asarray(np.floor(np.log2(n)) + 1.0)


def sum_radii(draws: Floats, scale: float, log_term: float) -> Floats:
    """`sum_radius` of many: Chan, Shi and Song 2011, Corollary 2.9."""
    widest = np.maximum(np.sqrt(draws), math.sqrt(log_term))
    return np.asarray(scale * widest * math.sqrt(8.0 * log_term))


def noise_chance(draws: float, scale: float, level: float) -> float:
    """P[sum of Laplace draws >= level] is at most this."""
    return float(upper_tail(np.array([1.0]), 0.0, np.array([level]), AddedNoise(draws, scale))[0])


def tree_plays(mean: float, target: float, rounds: int, scale: float) -> float:
    """DP-UCB, tight: √(2 ln T/n) and the Chan–Shi–Song radius at 2T⁻⁴, nodes of this scale."""
    found, log_t = whole_cells(1, rounds - 1), math.log(rounds)
    if not len(found.first):
        return 1.0
    n, draws = found.first, bit_lengths(found.last)
    level = target - np.sqrt(2.0 * log_t / n) - sum_radii(draws, scale, 4.0 * log_t) / n
    return 1.0 + float(np.sum(found.sizes * upper_tail(n, mean, level, AddedNoise(draws, scale))))


def tree_low(first: int, rounds: int) -> float:
    """Σ_t t(t⁻⁴ + t⁻⁴): Hoeffding, and Chan, Shi and Song, on one side each."""
    return falling_sum(lambda t: 2.0 * t**-3.0, first, rounds)


def tree_bound(arms: Playable, rounds: int, scale: float) -> float:
    """DP-UCB, tight, with nodes of this scale."""
    low = tree_low(arms.first, rounds)
    return optimistic_bound(arms, rounds, lambda mean, y: tree_plays(mean, y, rounds, scale), low)


def wide_tree_plays(
    mean: float, target: float, rounds: int, scale: float, width: float, levels: int
) -> float:
    """DP-UCB as published: √(2 ln T/n) + width/n, nodes of this scale."""
    found, log_t = whole_cells(1, rounds - 1), math.log(rounds)
    if not len(found.first):
        return 1.0
    n = found.first
    level = target - np.sqrt(2.0 * log_t / n) - width / n
    return 1.0 + float(
        np.sum(found.sizes * upper_tail(n, mean, level, AddedNoise(float(levels), scale)))
    )


def wide_tree_low(first: int, rounds: int, scale: float, width: float, levels: int) -> float:
    """Σ_t t(t⁻⁴ + P[noise of `levels` nodes >= width]), each at most 1."""
    chance = noise_chance(float(levels), scale, width)
    noisy = min(float(rounds), chance * rounds * (rounds + 1.0) / 2.0)
    return falling_sum(lambda t: t**-3.0, first, rounds) + noisy


def wide_tree_bound(arms: Playable, rounds: int, scale: float, width: float, levels: int) -> float:
    """DP-UCB as published (Mishra and Thakurta 2015), trees of so many levels."""

    def count(mean: float, target: float) -> float:
        return wide_tree_plays(mean, target, rounds, scale, width, levels)

    low = wide_tree_low(arms.first, rounds, scale, width, levels)
    return optimistic_bound(arms, rounds, count, low)


def hybrid_plays(mean: float, target: float, rounds: int, eps: float) -> float:
    """Hybrid-UCB: √(3 lg T/n) + 6√8 s lg T/(εn), s = ⌊lg(n + 1)⌋, and 2s draws of scale 2s/ε."""
    found, lg_t = whole_cells(1, rounds - 1), math.log2(max(2, rounds))
    if not len(found.first):
        return 1.0
    n, sizes = found.first, found.sizes
    levels = np.floor(np.log2(found.last + 1.0))
    wide = 6.0 * math.sqrt(8.0) * lg_t * levels / (eps * n)
    target_less = target - np.sqrt(3.0 * lg_t / n) - wide
    total = 1.0
    for s in np.unique(levels).tolist():
        at = levels == s
        noise = AddedNoise(2.0 * s, 2.0 * s / eps)
        total += float(np.sum(sizes[at] * upper_tail(n[at], mean, target_less[at], noise)))
    return total


def hybrid_low(first: int, rounds: int) -> float:
    """Σ_t t(t^−8.65 + t^−6.84): Hoeffding, and Chernoff at .8 for 2s <= 2 lg t draws
    (proofs/hybrid_ucb.md).
    """
    return falling_sum(lambda t: t**-7.65 + t**-5.84, first, rounds)


def hybrid_bound(arms: Playable, rounds: int, eps: float) -> float:
    """Hybrid-UCB (Hu, Huang and Mehta 2021, Theorem 5)."""
    low = hybrid_low(arms.first, rounds)
    return optimistic_bound(arms, rounds, lambda mean, y: hybrid_plays(mean, y, rounds, eps), low)
