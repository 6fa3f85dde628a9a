"""How likely a noised mean is far from the true one: Chernoff bounds that hold for every exponent.

A released sum has n rewards of mean μ in [0, 1] and independent draws of discrete noise in it. For
θ > 0, E e^{θ reward} <= 1 + μ(e^θ − 1) (convexity), and noise has at most the moments of its
continuous law (proofs/discrete_noise.md, 4). So P[sum/n >= x] <= exp(−θnx) times both, at any θ:
a search over θ can lose accuracy, never validity.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dpbandits.core.arrays import Floats

INNER = np.logspace(-7.0, -0.3, 72)
SHARES = np.concatenate([INNER, 1.0 - np.logspace(-0.301, -6.0, 32)])
"""Exponents to try, as shares of the largest."""
STEEP = 60.0
"""The largest exponent a reward where there is no noise to bound it."""


class AddedNoise(NamedTuple):
    """What is added to a sum of rewards, in reward units.

    draws: of Laplace laws of this scale; a number, or one for each sum. variance: of Gaussian laws.
    """

    draws: Floats | float = 0.0
    scale: float = 0.0
    variance: float = 0.0


SILENT = AddedNoise()


def upper_tail(n: Floats, mean: float, level: Floats, noise: AddedNoise = SILENT) -> Floats:
    """P[(n rewards of this mean + noise)/n >= level] is at most this; n and level of one shape."""
    n, level = np.broadcast_arrays(np.asarray(n, np.float64), np.asarray(level, np.float64))
    widest = STEEP if noise.scale == 0.0 else min(STEEP, 1.0 / noise.scale)
    theta = widest * SHARES
    rewards = np.log1p(mean * np.expm1(theta))
    shift = np.multiply.outer(level, theta) - rewards
    draws = np.broadcast_to(np.asarray(noise.draws, np.float64), n.shape)
    cost = np.multiply.outer(draws, -np.log1p(-np.square(theta * noise.scale)))
    exponent = cost + 0.5 * noise.variance * theta**2 - n[..., None] * shift
    found = np.exp(np.minimum(0.0, exponent.min(axis=-1)))
    return np.asarray(np.where(level <= mean, 1.0, found))


def lower_tail(n: Floats, mean: float, level: Floats, noise: AddedNoise = SILENT) -> Floats:
    """P[(n rewards of this mean + noise)/n <= level] is at most this."""
    return upper_tail(n, 1.0 - mean, 1.0 - np.asarray(level), noise)


def excess(eps: float, grid: int) -> float:
    """c in P[noise >= x] <= c·e^{−eps·x}, x > 0, for one discrete Laplace draw: ½(1 + tanh(eps/2g))
    (proofs/discrete_noise.md, 6).
    """
    return float(0.5 * (1.0 + np.tanh(eps / (2.0 * grid))))
