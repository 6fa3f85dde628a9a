"""UCB policies that release after every round: expected plays, and rounds lost to a low bound.

Each count is Σ_n P[mean of n rewards + radius >= target], radius at the last round; each `low` sums
over rounds t and over the n <= t that the best arm may have the chance that its bound is below its
mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dpbandits.core.arrays import Floats
from dpbandits.policies.bounds.optimism import Playable, optimistic_bound
from dpbandits.policies.bounds.sums import falling_sum, reaches, whole_cells
from dpbandits.policies.bounds.tails import AddedNoise, upper_tail
from dpbandits.policies.formulas.indices import forced_rounds, kl_level


def mean_plays(
    mean: float, target: float, rounds: int, radius: Callable[[Floats, Floats], Floats]
) -> float:
    """1 + Σ_n P[mean of n + radius >= target]; `radius` of the first and the last n of a cell."""
    found = whole_cells(1, rounds - 1)
    if not len(found.first):
        return 1.0
    level = target - radius(found.first, found.last)
    return 1.0 + float(np.sum(found.sizes * upper_tail(found.first, mean, level)))


def ucb1_plays(mean: float, target: float, rounds: int) -> float:
    """The radius √(2 ln T/n)."""
    width = 2.0 * math.log(rounds)
    return mean_plays(mean, target, rounds, lambda n, _: np.sqrt(width / n))


def ucb1_low(first: int, rounds: int) -> float:
    """Σ_t t·t⁻⁴ from round `first` on: Hoeffding for each n <= t (Auer et al. 2002)."""
    return falling_sum(lambda t: t**-3.0, first, rounds)


def ucb1_bound(arms: Playable, rounds: int) -> float:
    """UCB1 and OMM; below Σ 8 ln T/Δ + (1 + π²/3)Δ (Auer, Cesa-Bianchi and Fischer 2002, Theorem
    1) and Σ 16 ln T/Δ + … (Kveton et al. 2014, Theorem 2).
    """
    low = ucb1_low(arms.first, rounds)
    return optimistic_bound(arms, rounds, lambda mean, y: ucb1_plays(mean, y, rounds), low)


def kl_plays(mean: float, target: float, rounds: int, c: float) -> float:
    """The index reaches the target where n·kl(mean of n, target) <= ln T + c ln ln T."""
    found, level = whole_cells(1, rounds - 1), kl_level(math.log(max(3, rounds)), c)
    if not len(found.first):
        return 1.0
    reach = reaches(target, level / found.first)
    return 1.0 + float(np.sum(found.sizes * upper_tail(found.first, mean, reach)))


def kl_low(first: int, rounds: int, c: float) -> float:
    """Σ_t e⌈δ ln t⌉e^{−δ}, δ = ln t + c ln ln t, each at most 1 (Garivier and Cappé 2011, Theorem
    10).
    """

    def missed(t: Floats) -> Floats:
        log_t = np.log(np.maximum(t, 3.0))
        delta = log_t + c * np.log(log_t)
        late = np.log(t * 1.02)  # of a cell's end, where ⌈δ ln t⌉ is largest
        ceiling = np.ceil((late + c * np.log(np.maximum(late, 1.0))) * late)
        return np.asarray(np.minimum(1.0, math.e * ceiling * np.exp(-delta)))

    return falling_sum(missed, first, rounds)


def kl_bound(arms: Playable, rounds: int, c: float) -> float:
    """KL-UCB and KL-OSM. With c = 3 the rounds lost to a low bound grow like ln ln T (Garivier and
    Cappé 2011); with c = 0 like ln³T.
    """
    low = kl_low(arms.first, rounds, c)
    return optimistic_bound(arms, rounds, lambda mean, y: kl_plays(mean, y, rounds, c), low)


def bits_bound(arms: Playable, rounds: int, eps: float, c: float) -> float:
    """KL-UCB on randomised response: bits of mean (μe^ε + 1 − μ)/(1 + e^ε), the gaps of μ."""

    def bit(mean: float) -> float:
        return 0.5 + (mean - 0.5) * math.tanh(eps / 2.0)

    def count(mean: float, target: float) -> float:
        return kl_plays(bit(mean), bit(target), rounds, c)

    return optimistic_bound(arms, rounds, count, kl_low(arms.first, rounds, c))


def reports_plays(mean: float, target: float, rounds: int, eps: float) -> float:
    """LDP-UCB-L: √(2 ln T/n) + √(32 ln T/(ε² n)), n draws; 4 ln(T + 1) rounds are forced."""
    forced = math.floor(forced_rounds(rounds)) + 1
    found, log_t = whole_cells(forced + 1, rounds - 1), math.log(rounds)
    if not len(found.first):
        return float(forced + 1)
    n = found.first
    level = target - np.sqrt(2.0 * log_t / n) - np.sqrt(32.0 * log_t / n) / eps
    return (
        1.0
        + forced
        + float(np.sum(found.sizes * upper_tail(n, mean, level, AddedNoise(n, 1.0 / eps))))
    )


def reports_low(first: int, rounds: int) -> float:
    """Σ_t t(t⁻⁴ + t^{−4.69}): Hoeffding, and Chernoff for n >= 4 ln t draws (proofs/ldp_ucb.md)."""
    return falling_sum(lambda t: t**-3.0 + t**-3.69, first, rounds)


def reports_bound(arms: Playable, rounds: int, eps: float) -> float:
    """LDP-UCB-L (Ren, Zhou, Liu and Shroff 2020)."""
    low = reports_low(arms.first, rounds)
    return optimistic_bound(arms, rounds, lambda mean, y: reports_plays(mean, y, rounds, eps), low)
