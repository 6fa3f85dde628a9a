"""Means that change: laws of rewards, dynamic regret, and instances."""

import numpy as np
import pytest
from scipy import stats

import dpbandits as dpb
from dpbandits.core.privacy import Grid
from dpbandits.environments.laws import Reordered

FALSE_ALARM = 1e-6
GRID = Grid(steps=4)
PIECES = [[0.2, 0.8], [0.9, 0.1], [0.5, 0.4]]
PLACE = dpb.ChangingMeans(PIECES, starts=[0, 7, 30], rounds=50)
BY_ROUND = np.repeat(PIECES, [7, 23, 20], axis=0)


def test_sums_of_means_are_those_of_rounds() -> None:
    arms = np.arange(2)
    for start in range(0, 50, 3):
        for stop in range(start, 51, 4):
            expected = BY_ROUND[start:stop].sum(axis=0)
            assert np.allclose(PLACE.expected(start, stop, arms), expected)
    best = np.concatenate(([0], BY_ROUND.max(axis=1).cumsum()))
    assert np.allclose(PLACE.best_until(np.arange(51)), best)
    assert np.allclose(PLACE.means, BY_ROUND.mean(axis=0))


@pytest.mark.parametrize("sizes", [[50], [5, 2, 1, 40, 2], [3, 27, 20]])
def test_blocks_have_the_law_of_their_rounds(sizes: list[int]) -> None:
    """Sums of 4,000 blocks against the exact law of a sum of independent coins (chi-squared)."""
    rng, runs = np.random.default_rng(1), 4000
    sums = np.empty((runs, len(sizes)), np.int64)
    for run in range(runs):
        place = PLACE.fresh()
        sums[run] = [place.block(0, size, GRID, rng) for size in sizes]
    assert np.all(sums % GRID.steps == 0)
    start = 0
    for at, size in enumerate(sizes):
        law = np.ones(1)
        for chance in BY_ROUND[start : start + size, 0]:
            law = np.convolve(law, [1 - chance, chance])
        counts = np.bincount(sums[:, at] // GRID.steps, minlength=len(law))
        rare = law * runs < 5
        seen = np.append(counts[~rare], counts[rare].sum())
        wanted = np.append(law[~rare], law[rare].sum()) * runs
        keep = wanted > 0
        assert not seen[~keep].any()
        p = stats.chisquare(seen[keep], wanted[keep]).pvalue if keep.sum() > 1 else 1.0
        assert p > FALSE_ALARM / 8
        start += size


def test_single_rewards_follow_their_round() -> None:
    """2,000 runs of all rounds; each round's share within Hoeffding's radius."""
    rng = np.random.default_rng(2)
    total = np.zeros((50, 2))
    for _ in range(2000):
        place = PLACE.fresh()
        total += [place.draw_many(np.arange(2), rng) for _ in range(50)]
    radius = np.sqrt(np.log(2 * 100 / FALSE_ALARM) / (2 * 2000))
    assert np.abs(total / 2000 - BY_ROUND).max() < radius
    with pytest.raises(dpb.EnvironmentExhausted, match="All 50 rounds were played"):
        place.draw(0, rng)


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


def test_other_policies_and_renumbered_arms_are_played_in_it() -> None:
    place = dpb.ChangingMeans.drift(3, 600, seed=2)
    for policy in (dpb.DPRateIMED(arms=3, epsilon=2), dpb.RNMFTNL(actions=3, epsilon=2)):
        runs = dpb.simulate(policy, place, 600, runs=4, seed=1, shuffle=True)
        assert np.all(runs.regret() >= 0)
        assert np.all(runs.regret() < place.best_until(np.array(600)))
    late = dpb.simulate(dpb.KalmanTS(arms=3, lasting=200), place, 600, delay=20)
    assert late.plays.sum() == 600
    turned = Reordered(place, np.array([2, 0, 1]))
    assert np.allclose(
        turned.expected(3, 500, np.array([0])), place.expected(3, 500, np.array([2]))
    )


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
