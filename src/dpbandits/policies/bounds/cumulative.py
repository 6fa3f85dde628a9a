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
from typing import NamedTuple

import numpy as np

from dpbandits.core.arrays import Floats
from dpbandits.policies.bounds.sums import reaches
from dpbandits.policies.bounds.tails import AddedNoise, lower_tail, upper_tail
from dpbandits.policies.formulas.divergences import d_eps
from dpbandits.policies.formulas.indices import kl_level
from dpbandits.policies.formulas.schedules import growing_batch

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


def own_plays(
    mean: float, y: float, rounds: int, eps: float, sizes: Sequence[int], level: float
) -> float:
    """The first batch, and each later one by the chance that the index before it reaches y."""
    n = np.array(sizes, np.float64)
    levels = reaches(y, level / n, eps)
    draws = np.arange(1.0, len(n) + 1.0)
    chances = upper_tail(n[:-1], mean, levels[:-1], AddedNoise(draws[:-1], 1.0 / eps))
    return float(min(rounds, n[0] + np.sum(np.diff(n) * chances)))


class Levels(NamedTuple):
    """States of the best arm and levels of its I: one entry for each pair, and the rounds lost up
    to that level; state by state, levels rising.
    """

    n: Floats
    draws: Floats
    u: Floats
    ends: Floats  # rounds lost if I is below the next level


def states(
    best_reach: float, arms: int, rounds: int, eps: float, sizes: Sequence[int], alpha: float
) -> list[Levels]:
    """A grid for each number of rewards that the best arm may have, from the first round at which
    it has so many; best_reach: y.
    """
    found = []
    for k, n in enumerate(sizes):
        start = n + (arms - 1) * sizes[0] + 1
        if start > rounds:
            break
        end = min(math.log(rounds), n * d_eps(0.0, best_reach, eps))
        u = np.arange(math.log(start), end, STEP)
        ends = np.minimum(float(rounds), alpha * np.exp(u + STEP) + 1.0) - start + 1.0
        found.append(Levels(np.full(len(u), float(n)), np.full(len(u), k + 1.0), u, ends))
    return [grid for grid in found if len(grid.u)]


def lost(
    best: float, y: float, arms: int, rounds: int, eps: float, sizes: Sequence[int], alpha: float
) -> float:
    """Rounds in which the best arm's index is expected below y, to the end of their batches."""
    grids = states(y, arms, rounds, eps, sizes, alpha)
    if not grids:
        return 0.0
    n, draws, u, _ = (np.concatenate(part) for part in zip(*grids, strict=True))
    levels = np.maximum(0.0, reaches(y, u / n, eps)) + LAST_BIT
    chances = lower_tail(n, best, levels, AddedNoise(draws, 1.0 / eps))
    steps = np.concatenate([np.diff(grid.ends, prepend=0.0) for grid in grids])
    return float(np.sum(steps * chances))


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
