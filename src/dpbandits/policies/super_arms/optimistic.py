"""CUCB's way of playing, shared by its private forms: means plus radii, clipped at 1, handed to the
oracle.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpbandits.core.arrays import Floats
from dpbandits.core.plan import Hold
from dpbandits.policies.base import Statistics
from dpbandits.policies.super_arms.base import SuperArmPolicy

Radius = Callable[[Floats, Floats, int], Floats]
"""What is added to the means at round t: of the rewards and the noise draws behind each arm's mean,
each of shape (arms,) and the rewards at least 1, and of t.
"""


def upper_bounds(s: Statistics, radius: Radius) -> Floats:
    """min(1, mean + radius) of every arm in the next round, shape (arms,); 1 for an arm without a
    release.
    """
    n = np.array(s.rounds, np.float64)
    seen = n > 0
    n[~seen] = 1.0
    index = np.array(s.totals) / n + radius(n, np.array(s.draws, np.float64), s.t + 1)
    return np.where(seen, np.minimum(1.0, index), 1.0)


def hold_optimistic(policy: SuperArmPolicy, s: Statistics, radius: Radius) -> Hold:
    """Hold the best super arm for the upper bounds.

    Where an index is not above 0 any super arm will do (Chen et al. 2020); here one with such arms,
    so that they are seen again.
    """
    index = upper_bounds(s, radius)
    lost = index <= 0.0
    weights: Any = np.where(lost, 1.0, 0.0) if lost.any() else index
    return policy.hold(s, policy.best(weights))


def statistical(n: Floats, log_t: float) -> Floats:
    """√(3 ln t / (2n)), CUCB's radius: exceeded with probability at most t⁻³ on a side. Chen, Wang,
    Yuan and Wang 2016.
    """
    return np.asarray(np.sqrt(1.5 * log_t / n))


def noise_radius(n: Floats, draws: Floats, scale: float, log_t: float) -> Floats:
    """What `draws` Laplace draws of this scale add to a mean of n, at δ = t⁻³. Chan, Shi and Song
    2011, Corollary 2.9.
    """
    log_term = math.log(2.0) + 3.0 * log_t
    return np.asarray(
        scale * np.maximum(np.sqrt(draws), math.sqrt(log_term)) * math.sqrt(8.0 * log_term) / n
    )


def per_gap(gaps: Sequence[float], cost: float, each: float = 0.0) -> float:
    """Σ over gaps of cost/Δ + each."""
    return math.fsum(cost / gap + each for gap in gaps if gap > 0)
