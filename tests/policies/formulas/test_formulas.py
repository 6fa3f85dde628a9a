"""Closed forms against numerical optimisation and brute force (1e-10)."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize_scalar

from dpbandits.policies.arm_bounds import evidence
from dpbandits.policies.formulas import indices
from dpbandits.policies.formulas.indices import (
    d_eps,
    d_eps_upper,
    elimination_width,
    epoch,
    kl,
    kl_upper,
    next_guess,
)
from dpbandits.simulation.compiled import jit

inside = st.floats(1e-6, 1 - 1e-6)
epsilons = st.floats(0.01, 20)


def numeric_d_eps(x: float, y: float, eps: float) -> float:
    low, high = min(x, y), max(x, y)
    best = min(kl(x, y), eps * abs(y - x))
    found = minimize_scalar(
        lambda z: eps * abs(z - x) + kl(z, y),
        bounds=(low, high),
        method="bounded",
        options={"xatol": 1e-13},
    )
    return min(best, float(found.fun))


@given(inside, inside, epsilons)
@settings(max_examples=300, derandomize=True)
def test_d_eps_is_the_infimum(x: float, y: float, eps: float) -> None:
    exact = numeric_d_eps(x, y, eps)
    assert d_eps(x, y, eps) == pytest.approx(exact, abs=1e-10, rel=1e-10)
    if x <= y:  # the vectorised form
        assert evidence(np.array([x]), y, eps) == pytest.approx(exact, abs=1e-10, rel=1e-10)


@given(inside, st.floats(1e-9, 30), epsilons)
@settings(max_examples=300, derandomize=True)
def test_d_eps_upper_is_its_inverse(x: float, level: float, eps: float) -> None:
    q = d_eps_upper(x, level, eps)
    assert x <= q <= 1
    if q < 1 - 1e-9:
        assert d_eps(x, q, eps) == pytest.approx(level, abs=1e-10, rel=1e-9)
    if d_eps(x, 1 - 1e-12, eps) > level:
        root = brentq(lambda y: d_eps(x, y, eps) - level, x, 1 - 1e-12, xtol=1e-15)
        assert q == pytest.approx(root, abs=1e-10)


@pytest.mark.parametrize("eps", [1e-9, 40.0, 800.0, 1e6])
@pytest.mark.parametrize("x", [0.0, 1e-300, 0.5, 1.0])
def test_d_eps_upper_at_extremes(x: float, eps: float) -> None:
    """Also where e^-eps vanishes and the mean is 0; the compiled formula says the same."""
    from dpbandits.simulation.compiled.jit import d_eps_upper as compiled

    for level in (0.0, 0.1, 3.0):
        q = d_eps_upper(x, level, eps)
        assert x <= q <= 1
        assert compiled(x, level, eps) == pytest.approx(q, abs=1e-12)


@given(st.floats(-16, 0), st.sampled_from((0.0, 1.0)), st.floats(-9, 2.4), st.floats(0.001, 0.999))
@settings(max_examples=1000, derandomize=True)
def test_kl_upper_leaves_no_more_than_rounding(
    power: float, end: float, level_power: float, middle: float
) -> None:
    """It is the inverse of kl: also for means next to 0 and to 1, and levels far apart."""
    level = 10.0**level_power
    for p in (abs(end - 10.0**power), middle):
        q = kl_upper(p, level)
        if 0 < p < 1 and q < 1 - 1e-12:
            slope = (q - p) / (q * (1 - q))
            assert abs(kl(p, q) - level) <= 1e-9 * level + 1e-14 + slope * math.ulp(q)
        elif 0 < p < 1:
            assert kl(p, 1 - 1e-11) <= level


def test_kl_at_the_edges() -> None:
    assert [kl(p, q) for p, q in ((0, 0), (1, 1), (0, 1), (1, 0))] == [0, 0, math.inf, math.inf]
    assert kl(0, 0.5) == kl(1, 0.5) == pytest.approx(math.log(2))


RELEASED = st.integers(-(2**19), 3 * 2**19).map(lambda steps: steps / 2**20)
"""Means of up to 1,024 rewards in steps of 1/1024."""


@given(
    RELEASED,
    RELEASED,
    st.integers(0, 10),
    st.integers(0, 10),
    st.integers(2, 2000),
    st.floats(0.05, 10),
    st.integers(1, 19),
)
@settings(max_examples=400, derandomize=True)
def test_crossing_equals_round_by_round_comparison(
    mean_i: float, gap: float, log_i: int, log_j: int, t: int, eps: float, rank: int
) -> None:
    """Half of the pairs have equal indices at a round nearby."""
    n_i, n_j, i, j, end, mean_j = 2**log_i, 2**log_j, 0, 1, t + 1500, gap
    if t % 2 and n_i != n_j:
        level = math.log(rank * max(1.0, t + 750 * gap))
        mean_j = (
            mean_i + indices.lazy_ucb(0, n_i, level, eps) - indices.lazy_ucb(0, n_j, level, eps)
        )
    if indices.overtakes_at(t, i, mean_i, n_i, j, mean_j, n_j, eps, rank):
        i, j, mean_i, mean_j, n_i, n_j = j, i, mean_j, mean_i, n_j, n_i
    brute = next(
        (
            s
            for s in range(t + 1, end)
            if indices.overtakes_at(s, i, mean_i, n_i, j, mean_j, n_j, eps, rank)
        ),
        end,
    )
    assert indices.crossing(i, mean_i, n_i, j, mean_j, n_j, t, end, eps, rank) == brute


def test_crossing_at_a_trillion_rounds() -> None:
    """Far out, too: just before the crossing arm 0 leads, after it arm 1."""
    n = (2**30, 2**24)
    t = 10**6
    assert not indices.overtakes_at(t, 0, 0.7, n[0], 1, 0.6985, n[1], 0.5)
    s = indices.crossing(0, 0.7, n[0], 1, 0.6985, n[1], t, 10**12, 0.5)
    assert t < s < 10**12
    assert not indices.overtakes_at(int(s * 0.999), 0, 0.7, n[0], 1, 0.6985, n[1], 0.5)
    assert indices.overtakes_at(int(s * 1.001), 0, 0.7, n[0], 1, 0.6985, n[1], 0.5)


def test_epoch_is_the_papers() -> None:
    beta, eps, alive, stage = 1e-3, 0.25, 4, 3
    gap, l8, l4 = 1 / 8, math.log(8 * 4 * 9 / 1e-3), math.log(4 * 4 * 9 / 1e-3)
    pulls, width = epoch(stage, alive, beta, eps)
    assert pulls == math.ceil(max(32 * l8 / gap**2, 8 * l4 / (eps * gap)) + 1)
    assert width == pytest.approx(2 * math.sqrt(l8 / (2 * pulls)) + 2 * l4 / (pulls * eps))
    assert width < gap  # so that an arm with a gap above 2·2^-e is dropped
    assert elimination_width(100, 5, 0.01) == pytest.approx(
        2 * math.sqrt(math.log(4 * 5 * 1e4 / 0.01) / 200)
    )


@pytest.mark.parametrize(
    ("guess", "t", "squared", "next_one"),
    [
        (10, 9, True, 10),
        (10, 10, True, 100),
        (10, 10, False, 20),
        (10, 100, True, 10_000),
        (10, 100, False, 160),
        (2**31 - 1, 2**31, True, (2**31 - 1) ** 2),
        (2**31, 2**31, True, 2**62),
        (2**61 + 1, 2**62, False, 2**62),
        (2**62, 2**62, True, 2**62),
    ],
)
def test_the_next_guess_of_a_horizon(guess: int, t: int, squared: bool, next_one: int) -> None:
    compiled = getattr(jit, "next_guess")  # noqa: B009  # made from the formula when it is asked for
    assert next_guess(guess, t, squared) == compiled(guess, t, squared) == next_one


def test_sum_radius_holds() -> None:
    """Chan–Shi–Song: exceeded with probability at most δ. False-alarm rate below 1e-6."""
    rng, delta, runs = np.random.default_rng(1), 0.05, 40_000
    for m in (1, 5, 40):
        radius = indices.sum_radius(m, 2.0, math.log(2 / delta))
        above = (np.abs(rng.laplace(0, 2.0, (runs, m)).sum(axis=1)) > radius).mean()
        assert above < delta + 5 * math.sqrt(delta / runs)
