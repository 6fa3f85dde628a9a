"""What stopping rules promise: confidence, the papers' bars and stopping times, and the cap."""

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import dpbandits as dpb
from dpbandits.policies.formulas.stopping import private_bar, stopping_time_bound
from tests.policies.stopping.rules import EVERY

WORLDS = [(-1, 1, 0.75), (-1, 1, 0.05), (0, 1, 0.5), (2, 10, 0.3)]


@EVERY
@pytest.mark.parametrize(("low", "high", "p"), WORLDS)
def test_halts_right_with_confidence(rule: Any, low: float, high: float, p: float) -> None:
    """2,000 runs; coverage below 1 − beta is refuted at level 1e-6."""
    rule = replace(rule, low=low, high=high)
    found = dpb.estimates(rule, dpb.Bernoulli([p]), runs=2000, seed=5)
    wrong = int((~found.right).sum())
    assert not found.capped.any()
    assert binom.cdf(wrong, 2000, rule.beta) < 1e-6


def test_bars_are_the_papers_formulas() -> None:
    """In units of values: t·h_t(1 + 1/α) (+ c_t), for R = 3, ε = 0.7."""
    big, eps, a, b = 3.0, 0.7, 0.3, 0.02
    own = {"alpha": a, "beta": b, "cap": 10**6, "low": -big, "high": big}
    private, doubling, plain = (
        dpb.DPNAS(epsilon=eps, **own),
        dpb.DPExponentialNAS(epsilon=eps, **own),
        dpb.NAS(**own),
    )
    s1, s3 = 12 * big / eps, 4 * big / eps

    def bar(t: int, i: int) -> float:
        c = s1 * math.log(4 / b) + s1 * math.log(8 * i * i / b) + s3 / a * math.log(4 / b)
        return t * big * math.sqrt(2 / t * math.log(16 * i * i / b)) * (1 + 1 / a) + c

    for t in (1, 7, 1000):
        assert 2 * big * private.bar(t) == pytest.approx(bar(t, t))
        assert 2 * big * plain.bar(t) == pytest.approx(
            t * big * math.sqrt(2 / t * math.log(4 * t * t / b)) * (1 + 1 / a)
        )
    for t, k in ((2, 1), (4, 2), (1024, 10), (5, 3), (1, 1)):
        assert 2 * big * doubling.bar(t) == pytest.approx(bar(t, k))
    assert [doubling.following(t) for t in range(9)] == [2, 2, 4, 4, 8, 8, 8, 8, 16]


def test_stops_within_the_theorem_on_a_grid() -> None:
    """dp_exponential_nas: |μ| >= h(2 + 1/α) + … comes before 2000(t₀ + t₁ + t₂), exactly."""
    for alpha, beta, eps, ratio in itertools.product(
        (0.9, 0.3, 0.01), (0.08, 1e-3, 1e-9), (0.01, 0.5, 1, 5), (1.0, 2.0, 30.0, 1e4)
    ):
        inverse = max(ratio, math.e * alpha)  # R/|μ|
        bound = stopping_time_bound(1 / inverse, 1.0, alpha=alpha, beta=beta, epsilon=eps)
        for k in range(1, 200):
            t = 2**k
            noise = (6 * math.log(4 / beta) + 6 * math.log(8 * k * k / beta)) / eps
            need = (
                private_bar(t, math.log(k), alpha, beta, eps)
                + math.sqrt(0.5 * t * math.log(16 * k * k / beta))
                + noise
                + 2
            )
            if t / inverse / 2 >= need:  # in ranges 2R, grid 1
                break
        assert t <= bound, (alpha, beta, eps, inverse)
    with pytest.raises(ValueError, match="mean"):  # [D] as printed: below one value here
        stopping_time_bound(1.0, 1.0, alpha=0.99, beta=0.08, epsilon=1)
    assert stopping_time_bound(0.0, 1.0, alpha=0.5, beta=0.05, epsilon=1) == math.inf


def test_long_streams_cost_questions_only() -> None:
    """10¹² values cost 41 questions a run; fair coins never halt it but with chance below beta."""
    rule = dpb.DPExponentialNAS(alpha=0.1, beta=0.01, epsilon="1/10", cap=10**12, grid=1)
    found = dpb.estimates(rule, dpb.Bernoulli([0.5]), runs=500, seed=1)
    assert found.capped.mean() > 0.9
    assert set(found.rounds[found.capped].tolist()) == {10**12}
    assert np.abs(found.value).max() < 1e-4
    assert found.coverage > 0.9
    slow = dpb.estimates(rule, dpb.Bernoulli([0.5]), runs=3, seed=1, compiled=False)
    assert slow.rounds.tolist() == [10**12] * 3


@pytest.mark.parametrize("compiled", [True, False])
def test_a_bar_beyond_whole_numbers_is_never_reached(compiled: bool) -> None:
    rule = dpb.NAS(alpha=1e-18, beta=0.1, cap=50)
    found = dpb.estimates(rule, dpb.Bernoulli([1.0]), runs=2, compiled=compiled)
    assert found.capped.all()


@EVERY
def test_mean_zero_is_stopped_by_the_cap(rule: Any) -> None:
    found = dpb.estimates(replace(rule, cap=777), dpb.Bernoulli([0.5]), runs=50, seed=3)
    assert found.capped.all()
    assert set(found.rounds.tolist()) == {777}
    assert found.coverage == 1.0
    if rule.guarantee:
        assert found.guarantee.noise == "simulated"  # type: ignore[union-attr]
        assert len(set(found.value.tolist())) > 20  # the capped answer is noised, too
