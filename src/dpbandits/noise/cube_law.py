"""The exact law of one joint draw: P[z] proportional to e^(−max|z_i|·rate) on the whole numbers.

For tests, audits and teaching. A mechanism never calls it.
"""

from __future__ import annotations

import math

import numpy as np

from dpbandits.core.arrays import Floats

TAIL = 60.0
"""How many scales beyond its largest weight a law is cut off (e^-60, 1e-26)."""


def norm_law(dimension: int, rate: float) -> Floats:
    """P[max|z_i| = r], shape (R,), r = 0 … R − 1.

    rate: epsilon/sensitivity, a whole step's price.

    >>> norm_law(1, 1.0)[:3].round(4).tolist()
    [0.4621, 0.34, 0.1251]
    """
    radius = np.arange(cut_off(dimension, rate))
    shell = (2.0 * radius + 1) ** dimension - (2.0 * radius - 1) ** dimension
    shell[0] = 1.0
    weights = shell * np.exp(-rate * radius)
    return np.asarray(weights / weights.sum())


def coordinate_law(dimension: int, rate: float) -> Floats:
    """P[z_1 = x], shape (2R − 1,), x = −(R − 1) … R − 1.

    z is uniform on {−m … m} for a random m with weights (2m + 1)^dimension e^(−rate·m).
    """
    radius = np.arange(cut_off(dimension, rate))
    weights = (2.0 * radius + 1) ** dimension * np.exp(-rate * radius)
    shares = weights / weights.sum() / (2 * radius + 1)
    half = np.cumsum(shares[::-1])[::-1]
    return np.concatenate([half[:0:-1], half])


def cut_off(dimension: int, rate: float) -> int:
    """Radii up to here hold all but e^-TAIL of the law."""
    return math.ceil((2 * dimension + TAIL + math.sqrt(2 * dimension * TAIL)) / rate) + 2
