"""Environments that play given rounds once: whatever is asked, of however many rounds, comes from
the next ones.
"""

from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.environments.laws import Reordered

ROUNDS, ORDER, GRID = 60, np.array([2, 0, 1]), dpb.Grid(steps=8)
EIGHTHS = np.random.default_rng(1).integers(0, 9, (ROUNDS, 3)) / 8
SURE = np.random.default_rng(2).integers(0, 2, (ROUNDS, 3)).astype(float)
PIECES = dpb.ChangingMeans(SURE[:5], [0, 7, 8, 30, 58], ROUNDS)
GIVEN: list[tuple[Any, Any, dpb.Grid]] = [
    (dpb.Table(EIGHTHS), EIGHTHS, GRID),
    (dpb.Table(SURE), SURE, dpb.Grid(steps=4, rounding="bernoulli")),
    (PIECES, np.repeat(SURE[:5], [7, 1, 22, 28, 2], axis=0), GRID),
    (dpb.ContextTable(np.full((ROUNDS, 2), 0.5), SURE, logged=True), SURE, GRID),
]
GIVEN += [(Reordered(each, ORDER), rows[:, ORDER], grid) for each, rows, grid in GIVEN[:3]]


@pytest.mark.parametrize(("environment", "rows", "grid"), GIVEN, ids=lambda x: type(x).__name__)
def test_what_comes_is_in_the_next_rounds(environment: Any, rows: Any, grid: dpb.Grid) -> None:
    """Rewards that are certain; a block that is longer than what is left takes nothing."""
    assert environment.means == pytest.approx(rows.mean(axis=0))
    assert environment.lattice(grid) is None
    total = environment.expected if environment.changing else environment.between
    best = rows.max(axis=1) if environment.changing else np.full(ROUNDS, environment.means.max())
    until = np.arange(ROUNDS + 1)
    assert environment.best_until(until) == pytest.approx(np.append(0, best.cumsum()))
    for seed in range(10):
        rng, played, t = np.random.default_rng(seed), environment.fresh(), 0
        while t < ROUNDS:
            arms = rng.permutation(3)[: rng.integers(1, 4)]
            with pytest.raises(dpb.EnvironmentExhausted, match=f"{ROUNDS} (rows|rounds|visitors)"):
                played.block(0, ROUNDS - t + 1, grid, rng)
            kind = rng.integers(2 if isinstance(environment, dpb.ContextTable) else 4)
            many = int(rng.integers(1, min(20, ROUNDS - t) + 1)) if kind % 2 else 1
            if kind == 0:
                found = [grid.steps * played.draw(arms[0], rng)]
            elif kind == 1:
                found = [played.block(arms[0], many, grid, rng)]
            elif kind == 2:
                found = grid.steps * played.draw_many(arms, rng)
            else:
                found = played.block_many(arms, many, grid, rng)
            wanted = rows[t : t + many, arms[: len(found)]].sum(axis=0)
            assert np.array_equal(found, grid.steps * wanted)
            assert total(t, t + many, arms[: len(found)]) == pytest.approx(wanted)
            t += many
        with pytest.raises(dpb.EnvironmentExhausted):
            played.draw(0, rng)


@pytest.mark.parametrize("together", [False, True])
def test_coins_of_each_round_are_thrown(together: bool) -> None:
    """The sums of 4,000 blocks of each kind have the exact law of sums of independent coins, within
    the radius of Dvoretzky, Kiefer and Wolfowitz at 10⁻⁶ for all of them; of a table's coins, too.
    """
    rng, runs, sizes = np.random.default_rng(3), 4000, (5, 1, 1, 40, 3)
    chances = np.array([[0.2, 0.8], [0.9, 0.1], [0.5, 0.4]])
    rows, coin = np.repeat(chances, [7, 23, 20], axis=0), dpb.Grid(steps=4, rounding="bernoulli")
    for environment in (dpb.ChangingMeans(chances, [0, 7, 30], 50), dpb.Table(rows)):
        sums = np.empty((runs, len(sizes)), np.int64)
        for run in range(runs):
            place = environment.fresh()
            sums[run] = [
                place.block_many(np.array([1, 0]), size, coin, rng)[1]
                if together
                else place.block(0, size, coin, rng)
                for size in sizes
            ]
        assert not (sums % 4).any()
        start, radius = 0, np.sqrt(np.log(2 * 20 / 1e-6) / (2 * runs))
        for at, size in enumerate(sizes):
            exact = np.ones(1)
            for chance in rows[start : start + size, 0]:
                exact = np.convolve(exact, [1 - chance, chance])
            seen = np.bincount(sums[:, at] // 4, minlength=len(exact)) / runs
            assert np.abs(np.cumsum(seen - exact)).max() < radius
            start += size
