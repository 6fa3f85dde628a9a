"""Draws against the exact law: counts in cells of equal probability, false alarm 10⁻⁶ a law."""

import numba
import numpy as np
import pytest
from scipy.stats import beta as exact
from scipy.stats import chi2, chisquare

from dpbandits.core.inputs import Floats
from dpbandits.simulation.compiled.thompson import beta

DRAWS, CELLS = 200_000, 50


@numba.njit
def draws(a: float, b: float, n: int, rng: np.random.Generator) -> Floats:
    found = np.empty(n)
    for i in range(n):
        found[i] = beta(a, b, rng)
    return found


@pytest.mark.parametrize(
    ("a", "b"), [(1.0, 1.0), (1.0, 40.0), (1.5, 1.0), (2.2, 7.9), (30.7, 900.0), (1e6, 3e4)]
)
def test_draws_have_the_law_of_beta(a: float, b: float) -> None:
    drawn = draws(a, b, DRAWS, np.random.default_rng(5))
    edges = exact(a, b).ppf(np.arange(1, CELLS) / CELLS)
    counts = np.bincount(np.searchsorted(edges, drawn), minlength=CELLS)
    assert chisquare(counts).statistic < chi2(CELLS - 1).isf(1e-6)


def test_a_slightly_other_law_is_seen() -> None:
    drawn = draws(30.7, 900.0, DRAWS, np.random.default_rng(5))
    edges = exact(31.2, 900.0).ppf(np.arange(1, CELLS) / CELLS)
    counts = np.bincount(np.searchsorted(edges, drawn), minlength=CELLS)
    assert chisquare(counts).statistic > chi2(CELLS - 1).isf(1e-6)
