"""The steps of proofs/dp_rate_imed.md that can be computed. Nothing here is random."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpbandits.core.inputs import Floats
from dpbandits.policies.formulas.indices import best_share, d_eps, discounted, exact_rate, exponent

pytestmark = pytest.mark.long  # numbers of a proof: code changes seldom move them

MEAN = 0.5
STEPS = 8
"""Of the grid, a reward."""

REACH = 100
"""Of one noise draw, in scales: what is beyond has probability e^−100."""

shares = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(1e-6, 1 - 1e-6))
rounds = st.integers(1, 10**5)
draws = st.integers(1, 20)
epsilons = st.floats(0.01, 30)


def rounding(n: int, eps: float) -> float:
    return 1e-7 * (1.0 + n * eps)


@given(shares, shares, shares, rounds, draws, epsilons)
@settings(max_examples=400, derandomize=True)
def test_slack(x: float, y: float, q: float, n: int, count: int, eps: float) -> None:
    """Step 3: I(x; q) >= I(x; y) + I(y; q) for x <= y <= q."""
    x, y, q = sorted((x, y, q))
    parts = exact_rate(x, y, n, count, eps) + exact_rate(y, q, n, count, eps)
    assert exact_rate(x, q, n, count, eps) >= parts - rounding(n, eps)


def hidden(n: int, count: int, counted: int, eps: float) -> float:
    """D of step 4: what draws that do not count can hide."""
    return count * (1.0 + max(0.0, math.log(eps * n / count))) if counted < count else 0.0


@given(shares, shares, rounds, draws, draws, epsilons)
@settings(max_examples=400, derandomize=True)
def test_draws_that_do_not_count(
    x: float, q: float, n: int, count: int, counted: int, eps: float
) -> None:
    """Step 4: J <= I <= J + D."""
    counted = min(counted, count)
    every, some = (exact_rate(x, q, n, m, eps) for m in (count, counted))
    most = every + hidden(n, count, counted, eps)
    assert every - rounding(n, eps) <= some <= most + rounding(n, eps)


def released(n: int, count: int, eps: float) -> tuple[Floats, Floats]:
    """Means of a release, and their chances: n coins of mean 1/2, discrete Laplace draws."""
    reach = math.ceil(REACH * STEPS / eps)
    one = np.exp(-np.abs(np.arange(-reach, reach + 1)) * eps / STEPS)
    law = one / one.sum()
    for _ in range(count - 1):
        law = np.convolve(law, one / one.sum())
    coins = np.zeros(n * STEPS + 1)
    coins[::STEPS] = [math.comb(n, k) * MEAN**n for k in range(n + 1)]
    whole = np.convolve(law, coins)
    return (np.arange(len(whole)) - count * reach) / (n * STEPS), whole


def rates(x: Floats, y: float, n: int, counted: int, eps: float) -> Floats:
    """`exact_rate` of each, clipped; those below 0 all have one."""
    found = {mean: exact_rate(mean, y, n, counted, eps) for mean in np.unique(np.clip(x, 0.0, y))}
    return np.array([found[mean] for mean in np.clip(x, 0.0, y)])


CASES = [(8, 0.5), (32, 1.0), (200, 0.2)]


@pytest.mark.parametrize(("n", "eps"), CASES)
@pytest.mark.parametrize("count", [1, 4])
def test_chernoff(n: int, eps: float, count: int) -> None:
    """Step 1, at every level that is reached."""
    x, law = released(n, count, eps)
    below = x <= MEAN
    x, law = x[below], law[below]
    every = rates(x, MEAN, n, count, eps)
    for u in np.unique(every):
        assert law[every >= u].sum() <= math.exp(-u) * (1 + 1e-9)


def test_chernoff_fails_where_draws_are_not_counted() -> None:
    """So preset "mean" needs the factor e^D of step 4, and keeps to it."""
    n, eps, count = 200, 0.2, 12
    x, law = released(n, count, eps)
    x, law = x[x <= MEAN], law[x <= MEAN]
    one = rates(x, MEAN, n, 1, eps)
    over = [law[one >= u].sum() * math.exp(u) for u in np.unique(one)]
    assert 1.0 < max(over) <= math.exp(hidden(n, count, 1, eps))


@pytest.mark.parametrize("c", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("counted", [1, 4])
@pytest.mark.parametrize(("n", "eps"), CASES)
def test_what_is_lost_while_the_best_arm_lies_low(
    n: int, eps: float, counted: int, c: float
) -> None:
    """(b): E[e^(I/c); x < y] <= (1 + min(U, 1/(c − 1))) e^(D − J(y; mean)), U = I(0; y)."""
    for count in (1, 2, 4):
        every, y = min(counted, count), 0.4
        x, law = released(n, count, eps)
        x, law = x[x < y], law[x < y]
        lost = float((law * np.exp(rates(x, y, n, every, eps) / c)).sum())
        largest = exact_rate(0.0, y, n, every, eps)
        assert largest <= n * d_eps(0.0, y, eps) * (1 + 1e-9) <= eps * y * n * (1 + 1e-9)
        factor = 1.0 + (largest if c == 1.0 else min(largest, 1.0 / (c - 1.0)))
        power = hidden(n, count, every, eps) - exact_rate(y, MEAN, n, count, eps)
        assert lost <= factor * math.exp(power)


@pytest.mark.parametrize(("doubt", "trust"), [(0.0, 1.0), (1.0, 0.6), (4.0, 0.6), (4.0, 0.1)])
@pytest.mark.parametrize(("n", "eps"), CASES)
def test_a_doubt_makes_it_rarer_that_much_is_lost(
    n: int, eps: float, doubt: float, trust: float
) -> None:
    """P(x < y, B(I) >= v) <= e^(−min(v + doubt, v/trust) − J(y; mean)); and (b) with B(I)."""
    c, y = 1.5, 0.4
    for count in (1, 4):
        x, law = released(n, count, eps)
        x, law = x[x < y], law[x < y]
        rate, ahead = rates(x, y, n, count, eps), exact_rate(y, MEAN, n, count, eps)
        counts = np.array([discounted(value, doubt, trust) for value in rate])
        for v in np.unique(counts):
            most = math.exp(-min(v + doubt, v / trust) - ahead)
            assert law[counts >= v].sum() <= most * (1 + 1e-9)
        factor = 1.0 + min(exact_rate(0.0, y, n, count, eps), 1.0 / (c - 1.0))
        assert float((law * np.exp(counts / c)).sum()) <= factor * math.exp(-ahead)


def test_without_clipping_that_sum_grows_with_the_horizon() -> None:
    """.5 held against .4: by as much whenever ln T doubles, so like ln ln T; clipped it stays."""
    n, y = 32, 0.4
    x, law = released(n, 1, 1.0)
    x, law = x[x < y], law[x < y]
    free = np.array([exponent(best_share(m, y, n, 1, 1.0), m, y, n, 1, 1.0) for m in x])
    horizons = (5, 10, 20, 40, 80)
    grown, kept = (
        [float((law * np.exp(np.minimum(rate, t))).sum()) for t in horizons]
        for rate in (free, rates(x, y, n, 1, 1.0))
    )
    assert np.diff(grown) == pytest.approx([0.0146] * 4, abs=3e-4)
    assert np.diff(kept)[1:] == pytest.approx([0.0] * 3, abs=1e-9)
