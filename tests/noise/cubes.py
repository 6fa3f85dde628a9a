"""The exact law of one joint draw."""

import math

import numpy as np

from dpbandits.core.inputs import Floats

CUBE_TAIL = 60.0
"""Number of scales beyond a law's largest weight at which it is cut off (e^-60, 1e-26)."""


def norm_law(dimension: int, rate: float) -> Floats:
    """Return P[max|z_i| = r] for r = 0 … R − 1, shape (R,).

    Args:
        dimension: number of coordinates of z.
        rate: epsilon/sensitivity.

    >>> norm_law(1, 1.0)[:3].round(4).tolist()
    [0.4621, 0.34, 0.1251]
    """
    radius = np.arange(cut_off(dimension, rate))
    shell = (2.0 * radius + 1) ** dimension - (2.0 * radius - 1) ** dimension
    shell[0] = 1.0
    weights = shell * np.exp(-rate * radius)
    return np.asarray(weights / weights.sum())


def coordinate_law(dimension: int, rate: float) -> Floats:
    """P[z_1 = x], |x| < R: z uniform on {−m … m}, m by (2m + 1)^dimension e^(−rate·m)."""
    radius = np.arange(cut_off(dimension, rate))
    weights = (2.0 * radius + 1) ** dimension * np.exp(-rate * radius)
    shares = weights / weights.sum() / (2 * radius + 1)
    half = np.cumsum(shares[::-1])[::-1]
    return np.concatenate([half[:0:-1], half])


def cut_off(dimension: int, rate: float) -> int:
    """Return the radius within which all but e^-CUBE_TAIL of the law lies."""
    return math.ceil((2 * dimension + CUBE_TAIL + math.sqrt(2 * dimension * CUBE_TAIL)) / rate) + 2
