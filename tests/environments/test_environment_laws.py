"""A block is the law of summed draws, exactly.

Sums of 6 rounds have a known law, the lattice convolved with itself. Single blocks and sums of
single draws are both held to it by a chi-square test. False-alarm rate of each test: 1e-6; seeds
are fixed, so a run that passes always passes.
"""

import numpy as np
import pytest
from scipy.stats import beta, chi2

import dpbandits as dpb
from dpbandits.environments.base import Environment, Lattice

FALSE_ALARM = 1e-6
ROUNDS = 6  # in a block
BLOCKS = 8_000

ENVIRONMENTS = {
    "bernoulli": dpb.Bernoulli([0.3, 0.85]),
    "categorical": dpb.Categorical([0, 0.1, 0.5, 1], [[0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1]]),
    "uniform": dpb.Uniform([0, 0.2], [1, 0.65]),
    "beta": dpb.Beta([2, 0.5], [3, 0.5]),
    "resampled": dpb.Table([[0, 0.5], [0.3, 1], [1, 1], [0.9, 0.25]], resample=True),
}
GRIDS = {
    "one step": dpb.Grid(steps=1),
    "four steps": dpb.Grid(steps=4),
    "coins": dpb.Grid(steps=1, rounding="bernoulli"),
    "coins of four": dpb.Grid(steps=4, rounding="bernoulli"),
}


@pytest.fixture(params=ENVIRONMENTS)
def environment(request: pytest.FixtureRequest) -> Environment:
    return ENVIRONMENTS[request.param]


@pytest.fixture(params=GRIDS)
def grid(request: pytest.FixtureRequest) -> dpb.Grid:
    return GRIDS[request.param]


def lattice(environment: Environment, grid: dpb.Grid) -> Lattice:
    law = environment.lattice(grid)
    assert law is not None
    return law


def sum_law(law: Lattice, arm: int, steps: int) -> np.ndarray:
    """Probabilities of the sum of ROUNDS rewards, from 0 to ROUNDS·steps."""
    one = np.zeros(steps + 1)
    one[law.values] = law.probabilities[arm]
    total = np.ones(1)
    for _ in range(ROUNDS):
        total = np.convolve(total, one)
    return total


def p_value(sums: np.ndarray, law: np.ndarray) -> float:
    """Pearson's chi-square; neighbouring sums are merged until 50 are expected in every cell."""
    counts = np.bincount(sums, minlength=len(law))
    assert not counts[law == 0].any(), "an impossible sum"
    starts, waiting = [0], 0.0
    for i, expected in enumerate(law * len(sums)):
        waiting += expected
        if waiting >= 50:
            starts.append(i + 1)
            waiting = 0.0
    starts = starts[:-1]  # what comes after the last full cell is part of it
    seen, wanted = np.add.reduceat(counts, starts), np.add.reduceat(law * len(sums), starts)
    return float(chi2.sf(((seen - wanted) ** 2 / wanted).sum(), len(starts) - 1))


@pytest.mark.parametrize("environment", ["categorical", "resampled"], indirect=True)
def test_a_block_has_the_law_of_the_lattice(environment: Environment, grid: dpb.Grid) -> None:
    """An arm's own, and those of whole records; all `Independent` ones draw them in one way."""
    rng, arms = np.random.default_rng(1), np.arange(2)
    whole = np.array([environment.block_many(arms, ROUNDS, grid, rng) for _ in range(BLOCKS)])
    alone = np.array([environment.block(1, ROUNDS, grid, rng) for _ in range(BLOCKS)])
    for sums, arm in ((whole[:, 0], 0), (whole[:, 1], 1), (alone, 1)):
        law = sum_law(lattice(environment, grid), arm, grid.steps)
        assert p_value(sums, law) > FALSE_ALARM / 3


@pytest.mark.parametrize("arm", [0, 1])
def test_summed_draws_have_the_law_of_the_lattice(environment: Environment, arm: int) -> None:
    """The same draws, rounded to every grid."""
    rng = np.random.default_rng([2, arm])
    half = BLOCKS * ROUNDS // 2
    many = [environment.draw_many(np.arange(2), rng)[arm] for _ in range(half)]
    rewards = np.array([*(environment.draw(arm, rng) for _ in range(half)), *many])
    for grid in GRIDS.values():
        coins = grid.rounding == "bernoulli"
        steps = (
            grid.steps * (rng.random(len(rewards)) < rewards)
            if coins
            else np.rint(rewards * grid.steps)
        )
        sums = steps.reshape(BLOCKS, ROUNDS).sum(axis=1).astype(int)
        law = sum_law(lattice(environment, grid), arm, grid.steps)
        assert p_value(sums, law) > FALSE_ALARM / len(GRIDS), grid


def test_the_chi_square_test_notices_a_wrong_law() -> None:
    rng = np.random.default_rng(3)
    grid = GRIDS["four steps"]
    sums = np.array([dpb.Uniform([0], [1]).block(0, ROUNDS, grid, rng) for _ in range(BLOCKS)])
    assert p_value(sums, sum_law(lattice(dpb.Uniform([0], [0.95]), grid), 0, 4)) < FALSE_ALARM


def test_a_lattice_is_a_law_on_the_grid(environment: Environment, grid: dpb.Grid) -> None:
    law = lattice(environment, grid)
    assert law.probabilities.shape == (environment.arms, len(law.values))
    assert (law.probabilities >= 0).all()
    np.testing.assert_allclose(law.probabilities.sum(axis=1), 1, rtol=1e-14)
    assert (np.diff(law.values) > 0).all()
    assert law.values[0] >= 0
    assert law.values[-1] <= grid.steps


def test_coins_keep_the_mean_and_nearest_rounding_moves_it_by_half_a_step_at_most(
    environment: Environment,
) -> None:
    for steps in (1, 4, 1024):
        coins = lattice(environment, dpb.Grid(steps=steps, rounding="bernoulli"))
        np.testing.assert_allclose(
            coins.probabilities @ coins.values / steps, environment.means, rtol=1e-15
        )
        nearest = lattice(environment, dpb.Grid(steps=steps))
        assert (
            abs(nearest.probabilities @ nearest.values / steps - environment.means)
            <= 0.5 / steps + 1e-15
        ).all()


def test_means_are_the_closed_forms() -> None:
    np.testing.assert_allclose(ENVIRONMENTS["bernoulli"].means, [0.3, 0.85], rtol=0)
    np.testing.assert_allclose(ENVIRONMENTS["categorical"].means, [0.57, 0.16], rtol=1e-15)
    np.testing.assert_allclose(ENVIRONMENTS["uniform"].means, [0.5, 0.425], rtol=1e-15)
    np.testing.assert_allclose(ENVIRONMENTS["beta"].means, [0.4, 0.5], rtol=1e-15)
    np.testing.assert_allclose(ENVIRONMENTS["resampled"].means, [0.55, 0.6875], rtol=1e-15)
    assert ENVIRONMENTS["uniform"].gap(1) == pytest.approx(0.075, rel=1e-14)
    assert ENVIRONMENTS["bernoulli"].gaps.tolist() == [0.55, 0.0]


@pytest.mark.parametrize("steps", [1, 2, 5, 1024])
def test_the_uniform_lattice_is_its_closed_form(steps: int) -> None:
    whole = lattice(dpb.Uniform([0], [1]), dpb.Grid(steps=steps)).probabilities[0]
    inner = np.full(steps + 1, 1 / steps)
    inner[[0, -1]] /= 2  # half a step's width at either end
    np.testing.assert_allclose(whole, inner, rtol=1e-9)


def test_the_beta_lattice_is_its_closed_form() -> None:
    law = lattice(dpb.Beta([2], [1]), dpb.Grid(steps=8))
    edges = np.clip((np.arange(10) - 0.5) / 8, 0, 1)
    np.testing.assert_allclose(law.probabilities[0], np.diff(edges**2), rtol=1e-12)
    law = lattice(dpb.Beta([0.3], [4.5]), dpb.Grid(steps=8))
    np.testing.assert_allclose(law.probabilities[0], np.diff(beta.cdf(edges, 0.3, 4.5)), rtol=1e-9)


def test_a_long_block_costs_one_draw_and_stays_in_range() -> None:
    rng, grid = np.random.default_rng(4), dpb.Grid(steps=1024)
    for environment in ENVIRONMENTS.values():
        total = environment.block(0, 10**12, grid, rng)
        mean = (lattice(environment, grid).probabilities @ lattice(environment, grid).values)[0]
        assert abs(total / 10**12 - mean) < 1024 * 4e-6  # Hoeffding at 1e-6 is 2.7e-6 of the range


def test_reprs_show_no_rewards() -> None:
    assert repr(dpb.Table([[0.123, 0.456]])) == "Table(rounds=1, arms=2, resample=False)"
    assert (
        repr(dpb.LoggedReplay([0, 0], [0.123, 0.456], arms=1)) == "LoggedReplay(entries=2, arms=1)"
    )
    assert repr(dpb.Bernoulli([0.25, 1 / 3])) == "Bernoulli([0.25, 0.333333])"
