"""Means that change: dynamic regret, and instances."""

import numpy as np
import pytest

import dpbandits as dpb


@pytest.mark.parametrize("compiled", [True, False])
def test_regret_is_against_the_best_arm_of_each_round(compiled: bool) -> None:
    """By the plays of every round, in every simulation."""
    place = dpb.ChangingMeans.abrupt(3, 400, 4, seed=5)
    policy = dpb.DPKalmanTS(arms=3, epsilon=2, lasting=100)
    at = list(range(1, 401))
    runs = dpb.simulate(policy, place, 400, runs=3, seed=1, at=at, compiled=compiled)
    played = np.diff(runs.counts, axis=1, prepend=0)
    by_round = np.repeat(place.pieces, place.lengths, axis=0)
    lost = by_round.max(axis=1) - (played * by_round).sum(axis=2)
    assert np.allclose(runs.regret(at), lost.cumsum(axis=1))
    assert np.allclose(runs.regret([37, 211]), runs.regret(at)[:, [36, 210]])


def test_instances_have_the_shape_they_promise() -> None:
    jumps = dpb.ChangingMeans.abrupt(5, 1000, 7, seed=3)
    assert jumps.pieces.shape == (7, 5)
    assert np.allclose(np.sort(jumps.pieces, axis=1), np.linspace(0.25, 0.75, 5))
    walk = dpb.ChangingMeans.drift(4, 10_000, seed=3, step=0.2, every=10)
    assert walk.pieces.shape == (1000, 4)
    assert walk.pieces.min() >= 0.1
    assert walk.pieces.max() <= 0.9
    year = dpb.ChangingMeans.seasonal(3, 1000, 200, seed=3, swing=0.3)
    assert np.allclose(year.pieces[:50], year.pieces[50:100])
    assert np.ptp(year.pieces, axis=0) == pytest.approx([0.6] * 3, abs=0.01)
    again = dpb.ChangingMeans.abrupt(5, 1000, 7, seed=3)
    assert np.array_equal(jumps.pieces, again.pieces)
    assert np.array_equal(jumps.starts, again.starts)
