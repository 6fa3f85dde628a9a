"""The exact rate of one arm: against a slow optimiser, between its bounds, and at the ends."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from dpbandits.policies.formulas.indices import d_eps, discounted, exact_rate, exponent
from dpbandits.simulation.compiled.jit import exact_rate as compiled

means = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(1e-6, 1 - 1e-6))
epsilons = st.floats(0.001, 100)
rounds = st.integers(1, 10**6)
draws = st.integers(1, 60)


def rounding(n: int, eps: float) -> float:
    """What the last digits of sums of n terms of size eps may do."""
    return 1e-9 + 1e-14 * n * (1.0 + eps)


@pytest.mark.parametrize("eps", [0.01, 0.1, 1.0, 5.0, 60.0])
@pytest.mark.parametrize("n", [1, 32, 10**4])
def test_it_is_the_supremum(n: int, eps: float) -> None:
    for x in (0.0, 1e-4, 0.3, 0.95):
        for q in (x + 1e-3 * (1.0 - x), 0.5 * (x + 1.0), 1.0 - 1e-9, 1.0):
            for count in (1, 3, 25):
                slow = minimize_scalar(
                    lambda y, x=x, q=q, count=count: -exponent(y, x, q, n, count, eps),
                    bounds=(0.0, 1.0 - 1e-12),
                    method="bounded",
                    options={"xatol": 1e-14, "maxiter": 500},
                )
                value = exact_rate(x, q, n, count, eps)
                found = max(0.0, -float(slow.fun))
                assert value == pytest.approx(found, rel=1e-7, abs=rounding(n, eps))
                assert value >= found - rounding(n, eps)


@pytest.mark.parametrize(("n", "eps"), [(8, 0.5), (32, 1.0), (200, 0.2)])
@pytest.mark.parametrize("count", [1, 4])
def test_evidence_is_as_rare_as_it_says(n: int, eps: float, count: int) -> None:
    """P(x <= 1/2, I(x; 1/2) >= u) <= e^−u, exactly, for n coins of mean 1/2 and discrete Laplace
    draws on eighths of a reward: step 1 of proofs/dp_rate_imed.md.
    """
    reach = math.ceil(100 * 8 / eps)  # what is beyond has probability e^−100
    one = np.exp(-np.abs(np.arange(-reach, reach + 1)) * eps / 8)
    law = np.zeros(8 * n + 1)
    law[::8] = [math.comb(n, k) * 0.5**n for k in range(n + 1)]
    for _ in range(count):
        law = np.convolve(law, one / one.sum())
    x = (np.arange(len(law)) - count * reach) / (8 * n)
    x, law = np.clip(x[x <= 0.5], 0.0, 0.5), law[x <= 0.5]
    rates = {mean: exact_rate(mean, 0.5, n, count, eps) for mean in np.unique(x)}
    every = np.array([rates[mean] for mean in x])
    for u in np.unique(every):
        assert law[every >= u].sum() <= math.exp(-u) * (1 + 1e-9)


@given(means, means, rounds, draws, epsilons)
@settings(max_examples=400, derandomize=True)
def test_how_far_it_is_from_the_divergence(
    x: float, q: float, n: int, count: int, eps: float
) -> None:
    """n·d_eps − m(1 + ln⁺(eps·n(q − x)/m)) <= I <= n·d_eps, m draws (proofs/dp_rate_imed.md)."""
    value = exact_rate(x, q, n, count, eps)
    if x >= q:
        assert value == 0.0
        return
    most = n * d_eps(x, q, eps)
    lost = count * (1.0 + max(0.0, math.log(eps * n * (q - x) / count)))
    slack = rounding(n, eps) + 1e-9 * most
    assert most - lost - slack <= value <= most + slack


@pytest.mark.parametrize("eps", [1e-9, 1.0, 800.0, 1e6])
@pytest.mark.parametrize(
    ("x", "q"), [(0.0, 1.0), (0.0, 1e-300), (-3.0, 0.5), (0.5, 1.0), (2.0, 1.0)]
)
def test_at_extremes(x: float, q: float, eps: float) -> None:
    """Means are clipped inside; the compiled formula says the same, up to 10¹² rounds."""
    for n in (1, 10**6, 10**12):
        value = exact_rate(x, q, n, 2, eps)
        assert math.isfinite(value)
        assert value >= 0.0
        assert value == exact_rate(min(1.0, max(0.0, x)), q, n, 2, eps)
        assert compiled(x, q, n, 2, eps) == pytest.approx(value, rel=1e-9, abs=rounding(n, eps))


@given(st.floats(0, 1e6), st.floats(0, 50), st.floats(0.01, 1))
@settings(max_examples=200, derandomize=True)
def test_evidence_counts_for_no_more_than_there_is(rate: float, doubt: float, trust: float) -> None:
    """A rising convex function that is 0 at 0: what bounds of many arms stand on."""
    found = discounted(rate, doubt, trust)
    assert discounted(0.0, doubt, trust) == 0.0
    assert max(0.0, trust * rate) <= found <= rate
    assert found >= rate - doubt
    assert discounted(0.5 * rate, doubt, trust) <= 0.5 * found * (1 + 1e-12)
    assert discounted(rate, 0.0, 1.0) == rate
