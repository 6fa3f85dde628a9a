"""Posteriors of noisy means: of each arm alone, and under a prior that all arms together give."""

from __future__ import annotations

import math
from collections.abc import Sequence

NARROWEST = 0.02
"""Least standard deviation of the prior: elements are never taken for equal."""


def noisy_variance(mean: float, n: int, draws: int, eps: float) -> float:
    """p(1 − p)/n + 2m/(eps² n²): sampling and privacy variance of a mean of n rewards with m noise
    draws. p: a rough mean, in [0, 1].
    """
    return mean * (1.0 - mean) / n + 2.0 * draws / (eps * eps * n * n)


def posterior_sd(mean: float, n: int, draws: int, eps: float, c: float) -> float:
    """√(c·(p(1 − p)/n + 2m/(eps² n²))), p = mean held in [.5/n, 1 − .5/n]: sampling and privacy
    variance of a noisy mean.
    """
    p = min(1.0 - 0.5 / n, max(0.5 / n, mean))
    return math.sqrt(c * noisy_variance(p, n, draws, eps))


def pooled(
    means: Sequence[float], rounds: Sequence[int], draws: Sequence[int], eps: float
) -> tuple[float, float]:
    """Mean and variance of a normal prior, fitted to the released means of all elements with a
    release (rounds above 0).

    Moments, weighted by precision and refined four times from the flat law's 1/2 and 1/12 (Paule
    and Mandel's estimate, in few steps).
    """
    centre, spread = 0.5, 1.0 / 12.0
    for _ in range(4):
        weights, first, second = 0.0, 0.0, 0.0
        for arm in range(len(means)):
            if rounds[arm] > 0:
                variance = noisy_variance(centre, rounds[arm], draws[arm], eps)
                weight = 1.0 / (variance + spread)
                weights += weight
                first += weight * means[arm]
                second += weight * ((means[arm] - centre) ** 2 - variance)
        if weights == 0.0:
            return centre, spread
        centre = min(1.0 - 1e-3, max(1e-3, first / weights))
        spread = max(NARROWEST * NARROWEST, second / weights)
    return centre, min(1.0 / 12.0, spread)


def shrunk(
    mean: float, n: int, draws: int, eps: float, centre: float, spread: float
) -> tuple[float, float]:
    """Mean and standard deviation of an element's posterior under the normal prior (centre, spread:
    its variance).
    """
    rough, variance = mean, 0.0
    for _ in range(2):  # the sampling variance at the posterior mean, not at a noisy one
        rough = min(1.0 - 0.5 / (n + 1.0), max(0.5 / (n + 1.0), rough))
        variance = noisy_variance(rough, n, draws, eps)
        rough = (mean * spread + centre * variance) / (spread + variance)
    return rough, math.sqrt(spread * variance / (spread + variance))
