"""Lazy-DP-TS's player, which jumps over rounds, against a loop that draws every arm in every
round: equal in law at horizons where all arms are clipped, some are, and none is.
"""

from typing import Any

import numba
import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.checks.checks import smallest_p
from dpbandits.simulation.compiled.jit import lifted_mean
from dpbandits.simulation.compiled.parts import laplace

FALSE_ALARM = 1e-6
WORLDS = {
    "two": ([0.7, 0.4], 1.0),
    "five": ([0.75, 0.625, 0.5, 0.375, 0.25], 0.5),
    "nearly clipped": ([0.999, 0.99, 0.99, 0.1], 8.0),
    "near 0": ([0.03, 0.02, 0.0], 4.0),
    "many": (np.linspace(0.9, 0.1, 12), 1.0),
}
SIZES = [(60, 1500), (700, 1000), (6000, 600), (40_000, 300)]


@numba.njit(cache=False, error_model="numpy")
def round_by_round(means: Any, eps: float, rounds: int, rng: Any) -> Any:
    """Play counts, and how often was released."""
    arms = len(means)
    n, found, told = np.zeros(arms, np.int64), np.zeros(arms), np.zeros((2, arms), np.int64)
    counts = np.zeros(arms + 1, np.int64)
    for t in range(1, rounds + 1):
        arm, top = t - 1, -1.0
        if t > arms:
            for j in range(arms):
                c = lifted_mean(found[j], n[j], t, eps)
                x = rng.beta(c * n[j] + 1.0, (1.0 - c) * n[j] + 1.0)
                if x > top:
                    arm, top = j, x
        counts[arm] += 1
        told[0, arm] += 1
        told[1, arm] += rng.random() < means[arm]
        if told[0, arm] >= max(1, 2 * n[arm]):
            n[arm] = told[0, arm]
            found[arm] = (told[1, arm] + laplace(rng, 1.0 / eps)) / n[arm]
            told[:, arm] = 0
            counts[arms] += 1
    return counts


@pytest.mark.long
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize(("rounds", "runs"), SIZES)
def test_jumps_have_the_law_of_rounds(rounds: int, runs: int, world: str) -> None:
    """By `smallest_p`; all worlds and sizes raise a false alarm at most at 10⁻⁶."""
    means, eps = np.asarray(WORLDS[world][0]), WORLDS[world][1]
    policy = dpb.LazyDPTS(arms=len(means), epsilon=eps)
    fast = dpb.simulate(policy, dpb.Bernoulli(means), rounds, runs=runs, seed=5, at=[], workers=1)
    rng = np.random.default_rng(6)
    slow = np.array([round_by_round(means, eps, rounds, rng) for _ in range(runs)])
    told = np.column_stack([fast.plays, fast.releases])
    assert smallest_p(slow, told) > FALSE_ALARM / (len(WORLDS) * len(SIZES))
