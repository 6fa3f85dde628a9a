"""DP-KLUCB: batches that do not forget, and the index in d_eps. Ours, after Azize et al. 2025.

For any y below the best mean (and above the others): an arm is played while its own index reaches
y, or while the best arm's is below y. While the best arm has n rewards, m draws and released mean
x, its index is below y before round e^I only, I = n·d_eps(x, y). A batch begun then ends by round
αe^I + 1. So the rounds lost in this state are expected to be at most the integral of P[I >= u]
against that end, and P[I >= u] is a Chernoff bound at the mean where n·d_eps(x, y) = u. It falls
like e^{−u − n·d_eps(y, μ*)}, so the sum over the states converges. Every y gives a valid bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from dpbandits.core.arrays import Floats
from dpbandits.policies.bounds.tails import Noise, above, below
from dpbandits.policies.formulas.divergences import d_eps
from dpbandits.policies.formulas.indices import kl_level
from dpbandits.policies.formulas.schedules import growing_batch

STEPS = 60  # bisections, to the last bit of a mean
SLACKS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8)  # where y lies between the best means
LAST_BIT = 1e-12  # what bisection leaves
STEP = 0.1  # of u in the integral, which is rounded up


@lru_cache(maxsize=256)
def stages(rounds: int, first: int, alpha: float) -> tuple[int, ...]:
    """Rewards behind an arm's mean after its first, second, … batch, up to `rounds`."""
    sizes = [first]
    while sizes[-1] < rounds:
        sizes.append(sizes[-1] + growing_batch(sizes[-1], first, alpha))
    return tuple(sizes)


def reach(target: float, level: float, eps: float) -> float:
    """The x <= target with d_eps(x, target) = level, from below; below 0 where there is none."""
    if d_eps(0.0, target, eps) <= level:
        return -math.inf
    low, high = 0.0, target
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if d_eps(middle, target, eps) > level else (low, middle)
    return low


def own_plays(
    mean: float, y: float, rounds: int, eps: float, sizes: Sequence[int], level: float
) -> float:
    """The first batch, and each later one by the chance that the index before it reaches y."""
    n = np.array(sizes, np.float64)
    levels = np.array([reach(y, level / size, eps) for size in sizes])
    draws = np.arange(1.0, len(n) + 1.0)
    chances = above(n[:-1], mean, levels[:-1], Noise(draws[:-1], 1.0 / eps))
    return float(min(rounds, n[0] + np.sum(np.diff(n) * chances)))


def lost(
    best: float, y: float, arms: int, rounds: int, eps: float, sizes: Sequence[int], alpha: float
) -> float:
    """Rounds in which the best arm's index is expected below y, to the end of their batches."""
    total = 0.0
    for k, n in enumerate(sizes):
        start = n + (arms - 1) * sizes[0] + 1
        if start > rounds:
            break
        end = min(math.log(rounds), n * d_eps(0.0, y, eps))
        u = np.arange(math.log(start), end, STEP)
        if not len(u):
            continue
        levels = np.array([max(0.0, reach(y, value / n, eps)) + LAST_BIT for value in u.tolist()])
        chances = below(np.full(len(u), float(n)), best, levels, Noise(k + 1.0, 1.0 / eps))
        ends: Floats = np.minimum(float(rounds), alpha * np.exp(u + STEP) + 1.0) - start + 1.0
        total += float(ends[0] * chances[0] + np.sum(np.diff(ends) * chances[1:]))
    return total


def dp_klucb_bound(
    means: Sequence[float], rounds: int, eps: float, first: int, alpha: float, c: float
) -> float:
    """At most this regret, whatever the rewards' laws on [0, 1] with these means."""
    best, worst = max(means), max(means) - min(means)
    others = [mean for mean in means if mean < best]
    if not others:
        return 0.0
    sizes, level = stages(rounds, first, alpha), kl_level(math.log(max(3, rounds)), c)
    found = [worst * rounds]
    for slack in SLACKS:
        y = best - slack * (best - max(others))
        own = {mean: own_plays(mean, y, rounds, eps, sizes, level) for mean in sorted(set(others))}
        wrong = math.fsum((best - mean) * own[mean] for mean in others)
        found.append(
            wrong + worst * lost(best, y, len(means), rounds, eps, sizes, alpha)
            if wrong < min(found)
            else math.inf
        )
    return min(found)
