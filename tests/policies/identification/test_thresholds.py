"""Thresholds of best-arm identification, against brute force, integrals and exact sums."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom

from dpbandits.policies import AdaPTT
from dpbandits.policies.formulas import stopping as th
from tests.policies.identification.instances import pmf_of_windows


@pytest.mark.parametrize(
    ("n", "m", "eps", "cost"),
    [(5, 5, 1.0, 3.0), (40, 10, 0.3, 8.0), (300, 700, 2.0, 12.0), (10**6, 10**5, 0.01, 15.0)],
)
@pytest.mark.parametrize("interval", [(0.0, 1.0), (0.02, 0.1), (0.6, 0.6)])
def test_the_gap_is_the_optimum(
    n: int, m: int, eps: float, cost: float, interval: tuple[float, float]
) -> None:
    """Against grids of means and of thetas."""
    thetas = min(n, m) * eps * np.geomspace(1e-7, 1 - 1e-6, 4000)
    values = [th.gap_at(theta, n, 3, m, 2, eps, cost, *interval) for theta in thetas.tolist()]
    found = th.least_gap(n, 3, m, 2, eps, cost, *interval)
    assert found <= min(values) * (1 + 1e-9)
    assert found == pytest.approx(min(values), rel=1e-4)
    theta = float(thetas[2500])
    p, q = math.expm1(theta / n), math.expm1(-theta / m)
    means = np.linspace(*interval, 2001)
    noise = -3 * math.log1p(-((theta / (eps * n)) ** 2)) - 2 * math.log1p(
        -((theta / (eps * m)) ** 2)
    )
    worst = float(np.max(n * np.log1p(means * p) + m * np.log1p(means * q)))
    assert th.gap_at(theta, n, 3, m, 2, eps, cost, *interval) == pytest.approx(
        (cost + worst + noise) / theta, rel=1e-5
    )


@pytest.mark.parametrize(
    ("n", "m", "eps", "draws"), [(6, 6, 1.0, 1), (12, 4, 0.7, 2), (30, 30, 3.0, 3)]
)
def test_a_wrong_comparison_passes_no_more_often_than_its_price(
    n: int, m: int, eps: float, draws: int
) -> None:
    """Exact: P[z_a − z_b > max(0, G)] <= e^−cost for μ_a <= μ_b, and the bound is not idle."""
    cost, most, reach = 1.0, 0.0, int(40 / eps)
    values = {size: pmf_of_windows(size, 0.5, eps, draws, reach)[0] for size in (n, m)}
    # beyond: mass below 1e-9
    near = {size: v[(v >= -25 / eps) & (v <= size + 25 / eps)] for size, v in values.items()}
    passes = np.array(
        [
            [
                x / n - y / m > max(0.0, th.tight_gap(x / n, n, draws, y / m, m, draws, eps, cost))
                for y in near[m].tolist()
            ]
            for x in near[n].tolist()
        ]
    )
    for low, high in [(mu, mu) for mu in np.linspace(0, 1, 21)] + [
        (0.2, 0.3),
        (0.45, 0.55),
        (0.0, 1.0),
    ]:
        a = pmf_of_windows(n, low, eps, draws, reach)[1][np.isin(values[n], near[n])]
        b = pmf_of_windows(m, high, eps, draws, reach)[1][np.isin(values[m], near[m])]
        probability = float(a @ passes @ b)
        assert probability <= math.exp(-cost)
        most = max(most, probability)
    assert most > math.exp(-cost) / 50


def test_prices_are_probabilities() -> None:
    """Weights of phases and of late rewards sum to 1; rivals share the failure probability."""
    lates = np.arange(1, 10**6)
    assert math.exp(-th.late_cost(0)) + np.sum(th.LATE / (lates * (lates + 1.0))) == pytest.approx(
        1, abs=1e-6
    )
    assert math.exp(-th.late_cost(7)) == pytest.approx(th.LATE / 56)
    weights = [
        math.exp(-th.comparison_cost(k, 1, 0, 0, 2, 1.0) + th.comparison_cost(1, 1, 0, 0, 2, 1.0))
        for k in range(1, 4000)
    ]
    assert sum(weights) / 2 == pytest.approx(1, abs=1e-3)  # phase 1 has weight 1/2
    assert math.exp(-th.comparison_cost(1, 1, 0, 0, 5, 0.04)) == pytest.approx(
        0.01 / 4 * (1 - th.LATE) ** 2
    )


def test_limits_of_a_mean_against_a_grid() -> None:
    for mean, n, draws, eps, doubt in (
        (0.3, 50, 1, 1.0, 5.0),
        (0.9, 1000, 3, 0.2, 12.0),
        (0.01, 10**5, 2, 2.0, 15.0),
    ):
        x = eps * np.geomspace(1e-6, 1 - 1e-6, 5000)
        grid = max(0.0, max(th.excluded_mean(v, mean, n, draws, eps, doubt) for v in x.tolist()))
        assert th.least_mean(mean, n, draws, eps, doubt) == pytest.approx(grid, rel=1e-4, abs=1e-9)
        assert th.least_mean(mean, n, draws, eps, doubt) < mean


def test_published_threshold_is_its_formula() -> None:
    n, m, k, arms, delta, eps = 64, 256, 9, 5, 0.01, 0.5
    zeta = math.pi**2 / 6
    x = 0.5 * math.log((arms - 1) * zeta * k**2 / delta)
    level = 2 * (x + math.log(x)) + 2 * math.log(4 + math.log(n)) + 2 * math.log(4 + math.log(m))
    level += (1 / n + 1 / m) * math.log(2 * arms * zeta * k**2 / delta) ** 2 / eps**2
    gap = th.published_gap(n, m, k, arms, delta, eps)
    assert gap**2 / (2 * (1 / n + 1 / m)) == pytest.approx(level)


def test_first_batch_is_the_smallest() -> None:
    for arms, delta, eps in ((2, 0.1, 10.0), (5, 0.01, 1.0), (20, 1e-6, 0.01)):
        n = th.first_batch(arms, delta, eps)
        cost = th.comparison_cost(1, 1, 0, 0, arms, delta)
        assert (
            th.least_gap(n, 1, n, 1, eps, cost, 0.0, 1.0)
            <= 0.5
            < th.least_gap(n - 1, 1, n - 1, 1, eps, cost, 0.0, 1.0)
        )
        assert AdaPTT(arms=arms, delta=delta, epsilon=eps).start == n


def test_bits_against_integrals_and_exact_sums() -> None:
    """The mixture is a law; W is the infimum over p_a <= p_b; wrong pairs pass at most at δ."""
    for n in (1, 7, 40):
        s = np.arange(n + 1)
        mixture = [math.exp(th.log_likelihood(k, n) - th.bit_regret(k, n)) for k in s.tolist()]
        assert sum(math.comb(n, k) * mixture[k] for k in s.tolist()) == pytest.approx(1)
        k = n // 3
        assert mixture[k] == pytest.approx(
            quad(lambda p, k=k, n=n: p**k * (1 - p) ** (n - k), 0, 1)[0]
        )
    grid = np.linspace(1e-6, 1 - 1e-6, 20001)
    for a, n, b, m in ((5, 9, 3, 20), (10, 10, 0, 4), (2, 10, 5, 10)):
        at = np.max((a + b) * np.log(grid) + (n + m - a - b) * np.log1p(-grid))
        expected = th.log_likelihood(a, n) + th.log_likelihood(b, m) - at if a / n > b / m else 0.0
        assert th.bit_evidence(a / n, n, b / m, m) == pytest.approx(expected, abs=1e-4)
    n, m, delta = 40, 25, 0.3
    passes = np.array(
        [
            [th.settled_bits([x / n, y / m], [n, m], delta) == 0 for y in range(m + 1)]
            for x in range(n + 1)
        ]
    )
    for p, q in ((0.1, 0.1), (0.5, 0.5), (0.7, 0.75), (0.99, 0.99)):
        assert (
            binom.pmf(np.arange(n + 1), n, p) @ passes @ binom.pmf(np.arange(m + 1), m, q) <= delta
        )
    assert passes[n, 0]
    assert th.settled_bits([0.5, 0.5], [10**6, 10**6], 0.9) == -1
