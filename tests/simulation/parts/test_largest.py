"""Probabilities of the largest sample, against a dense quadrature with numpy's own functions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import erf, ndtr

from dpbandits import NoiseAwareTS
from dpbandits.checks import CHECKS
from dpbandits.core.arrays import Floats
from dpbandits.simulation.parts.largest import arm_changed, empty_table, set_weights


def dense(means: Floats, sds: Floats, optimistic: bool) -> Floats:
    """Twelve nodes between every quarter of every arm's standard deviation."""
    low = means.max() if optimistic else (means - 9 * sds).max()
    high = (means + 9 * sds).max()
    knots = means[:, None] + sds[:, None] * np.arange(-9, 9.01, 0.25)
    cuts = np.unique(np.clip(np.append(knots.ravel(), [low, high]), low, high))
    nodes, spread = np.polynomial.legendre.leggauss(12)
    half = np.diff(cuts)[:, None] / 2
    x = ((cuts[1:] + cuts[:-1])[:, None] / 2 + half * nodes).ravel()
    u = (x[:, None] - means) / sds
    density, below = np.exp(-u * u / 2) / sds, ndtr(u)
    if optimistic:
        density, below = np.where(u < 0, 0, density), erf(np.maximum(u, 0) / np.sqrt(2))
    below = np.maximum(below, 1e-300)
    product = np.exp(np.log(below).sum(axis=1)) * (half * spread).ravel()
    weights: Floats = (density / below * product[:, None]).sum(axis=0)
    return weights / weights.sum()


@pytest.mark.parametrize("optimistic", [False, True])
@pytest.mark.parametrize("arms", [1, 2, 3, 5, 60])
def test_weights_after_every_change(arms: int, optimistic: bool) -> None:
    rng = np.random.default_rng(arms)
    for spread in (0.0, 4.0):
        means, sds = rng.uniform(0.2, 0.8, arms), 10 ** rng.uniform(-1 - spread, -1, arms)
        table, weights = empty_table(arms), np.zeros(arms)
        for step in range(12):
            set_weights(table, means, sds, optimistic, weights)
            np.testing.assert_allclose(weights, dense(means, sds, optimistic), rtol=0, atol=1e-10)
            arm = int(rng.integers(arms)) if step % 3 else int(weights.argmax())
            sds[arm] *= rng.uniform(0.7, 1.05)
            means[arm] += rng.normal() * sds[arm] / 2
            arm_changed(table, arm, means, sds, optimistic)


@pytest.mark.long
def test_law_with_many_arms() -> None:
    """False alarms: 10⁻⁶."""
    CHECKS["compiled_law"](NoiseAwareTS(arms=30, epsilon=1, first=1))
