"""The exact law of a noisy maximum, for audits and teaching. No mechanism uses it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbandits.noise.protocol import Selection

TAIL = 40.0
"""Number of scales beyond which a Laplace tail (e^-40, 4e-18) is ignored."""


def selection_law(sums: ArrayLike, *, scale: float, selection: Selection) -> NDArray[np.float64]:
    """Return P[action j is selected], shape (actions,), accurate to about 1e-14.

    Args:
        sums: whole-number sums, shape (actions,), in grid steps.
        scale: scale of the noise, in grid steps.
        selection: law of the noise. "laplace" is discrete, with ties to the lowest action; its run
            time grows with actions · scale.

    >>> selection_law([0, 1], scale=1.0, selection="exponential").round(4).tolist()
    [0.2689, 0.7311]
    """
    exact = np.asarray(sums, dtype=np.int64)
    lag = (exact - exact.max()) / scale
    if selection == "exponential":
        weights: NDArray[np.float64] = np.exp(lag)
        return np.asarray(weights / weights.sum())
    if selection == "permute-and-flip":
        return permute_and_flip_law(np.exp(lag))
    return discrete_laplace_law(exact, scale)


def permute_and_flip_law(q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return q_j ∫ Π_{i≠j} (1 − x q_i) dx over [0, 1].

    Actions arrive at uniform times and are taken with probability q; the first one wins.
    """
    # exact for polynomials of degree actions − 1
    nodes, weights = np.polynomial.legendre.leggauss(len(q) // 2 + 1)
    missed = 1 - np.outer((nodes + 1) / 2, q)
    others = np.stack([np.delete(missed, j, axis=1).prod(axis=1) for j in range(len(q))])
    return np.asarray(q * (others @ weights) / 2)


def discrete_laplace_law(exact: NDArray[np.int64], scale: float) -> NDArray[np.float64]:
    """Sum over the winner's noisy value z: earlier actions stay below z, later ones do not exceed
    it.
    """
    reach = math.ceil(TAIL * scale) + 1
    z = np.arange(exact.min() - reach, exact.max() + reach + 1)
    r = math.exp(-1 / scale)
    away = z[None, :] - exact[:, None]
    mass = (1 - r) / (1 + r) * r ** np.abs(away)
    at_most = np.where(
        away >= 0, 1 - r ** np.maximum(away + 1, 0) / (1 + r), r ** np.maximum(-away, 0) / (1 + r)
    )
    below = at_most - mass
    first = np.cumprod(np.vstack([np.ones_like(z, dtype=float), below[:-1]]), axis=0)
    later = np.cumprod(np.vstack([np.ones_like(z, dtype=float), at_most[:0:-1]]), axis=0)[::-1]
    return np.asarray((mass * first * later).sum(axis=1))


def published_loss(rounds: int, epsilon: float) -> float:
    """Return the privacy loss of a noisy maximum with Laplace noise of scale 1/ε (as published) on
    two tables of two actions.

    All of `rounds` ≥ 2 rounds are (0, 1) except one, which is (1, 0) in one table and (0, 1) in the
    other. The loss is the logarithm of e^{2ε}(2 + ε(n − 2))/(2 + εn), which tends to 2ε.

    >>> [round(published_loss(n, 1.0), 3) for n in (2, 4, 64)]
    [1.307, 1.595, 1.969]
    """
    return 2 * epsilon + math.log((2 + epsilon * (rounds - 2)) / (2 + epsilon * rounds))
