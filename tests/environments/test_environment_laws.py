"""Laws of rewards on a grid against distribution functions and counts. That draws and blocks have
these laws is for `check_environment`, which tests/checks runs on all of them.
"""

from typing import Any, Literal

import numpy as np
import pytest
from scipy.stats import beta, uniform

import dpbandits as dpb

VALUES, CHANCES = [0, 0.1, 0.5, 1], [[0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1]]
ROWS = np.array([[0, 0.5], [0.3, 1], [1, 1], [0.9, 0.25]])
LAWS: list[tuple[Any, list[Any]]] = [
    (dpb.Bernoulli([0.3, 0.85]), [([0, 1], [0.7, 0.3]), ([0, 1], [0.15, 0.85])]),
    (dpb.Categorical(VALUES, CHANCES), [(VALUES, row) for row in CHANCES]),
    (dpb.Table(ROWS, resample=True), [(column, [0.25] * 4) for column in ROWS.T]),
    (
        dpb.Uniform([0, 0.2, 0.25], [1, 0.65, 0.25]),
        [uniform(0, 1), uniform(0.2, 0.45), ([0.25], [1.0])],
    ),
    (dpb.Beta([2, 0.5, 0.3], [3, 0.5, 4.5]), [beta(2, 3), beta(0.5, 0.5), beta(0.3, 4.5)]),
]
"""By arm, a distribution, or values with their probabilities."""


@pytest.mark.parametrize("steps", [1, 2, 4, 1024])
@pytest.mark.parametrize(("environment", "laws"), LAWS, ids=lambda x: type(x).__name__)
def test_a_lattice_is_the_law_of_rewards_on_the_grid(
    environment: Any, laws: list[Any], steps: int
) -> None:
    """Coins keep the mean. The sum of 10¹² rounds takes one draw, and lies within four millionths
    of the range (Hoeffding's radius at 10⁻⁶ is 2.7).
    """
    rng, rounds, levels = np.random.default_rng(4), 10**12, np.arange(steps + 1)
    for arm, law in enumerate(laws):
        if isinstance(law, tuple):
            mean = np.dot(*law)
            exact = np.bincount(np.rint(np.multiply(law[0], steps)).astype(int), law[1], steps + 1)
        else:
            mean, exact = law.mean(), np.diff(law.cdf((np.arange(steps + 2) - 0.5) / steps))
        coin = np.where(levels == 0, 1 - mean, np.where(levels == steps, mean, 0.0))
        assert environment.means[arm] == pytest.approx(mean, rel=1e-15)
        assert environment.gap(arm) == environment.gaps[arm] == environment.means.max() - mean
        rounding: Literal["nearest", "bernoulli"]
        for rounding, wanted in (("nearest", exact), ("bernoulli", coin)):
            grid = dpb.Grid(steps=steps, rounding=rounding)
            values, rows = environment.lattice(grid)
            assert (np.diff(values) > 0).all()
            assert np.bincount(values, rows[arm], steps + 1) == pytest.approx(wanted, abs=1e-12)
            total = environment.block(arm, rounds, grid, rng)
            assert abs(total / rounds - wanted @ levels) < 4e-6 * steps


def test_reprs_show_no_rewards() -> None:
    assert repr(dpb.Table([[0.123, 0.456]])) == "Table(rounds=1, arms=2, resample=False)"
    assert (
        repr(dpb.LoggedReplay([0, 0], [0.123, 0.456], arms=1)) == "LoggedReplay(entries=2, arms=1)"
    )
    assert repr(dpb.Bernoulli([0.25, 1 / 3])) == "Bernoulli([0.25, 0.333333])"
