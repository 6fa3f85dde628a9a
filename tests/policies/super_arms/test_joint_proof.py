"""What can be computed of proofs/joint_release.md: the bound, Lemma A and honest sizes."""

import math
import re

import numpy as np
import pytest

from dpbandits.policies.formulas.indices import d_eps
from dpbandits.policies.formulas.joint import joint_variance, rate_index
from dpbandits.simulation.compiled.jit import rate_index as compiled
from tests.noise.cubes import coordinate_law
from tests.places import REPOSITORY

PAGE = (REPOSITORY / "proofs" / "joint_release.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("k", "times"), [(1, 1), (1, 4), (3, 2), (17, 1)])
def test_the_best_theta_costs_nothing(k: int, times: int) -> None:
    """Sizes fixed in advance: the bound lies below the mean with probability e^−u at most."""
    n, mean, eps, steps = 60, 0.4, 1.0, k
    one = coordinate_law(k, eps / steps)
    law = one
    for _ in range(times - 1):
        law = np.convolve(law, one)
    coins = np.zeros(n * steps + 1)
    coins[::steps] = [math.comb(n, j) * mean**j * (1 - mean) ** (n - j) for j in range(n + 1)]
    whole = np.convolve(law, coins)
    totals = (np.arange(len(whole)) - times * (len(one) // 2)) / steps
    inside = (totals >= 0) & (totals <= n * mean)
    drawn = [0] * k + [times]
    for u in (0.5, 1.0, 2.0, 4.0):
        bounds = np.array([rate_index(float(x), n, drawn, u, eps) for x in totals[inside]])
        assert np.diff(bounds).min() >= -1e-9
        failing = totals[inside][bounds < mean]
        if len(failing):  # what lies below 0 is clipped, so fails with it
            assert whole[totals <= failing.max()].sum() <= math.exp(-u)


@pytest.mark.long
def test_lemma_a_holds_where_sizes_are_chosen_from_answers() -> None:
    """At level 8; wrongly refuted with probability 1e-6. Random, with a seed."""
    rng, runs, mean, eps, k, rounds = np.random.default_rng(12), 3_000, 0.4, 1.0, 3, 600
    failed = 0
    for _ in range(runs):
        total, n, drawn = 0.0, 0, np.zeros(k + 1, np.int64)
        wrong = False
        while n < rounds:
            block = 8 if n and total < mean * n else max(8, n // 2)
            total += rng.binomial(block, mean) + rng.gamma(k + 1, 1 / eps) * rng.uniform(-1, 1)
            n += block
            drawn[k] += 1
            wrong = wrong or compiled(total, n, drawn, 8.0, eps) < mean
        failed += wrong
    most = math.exp(1 - 8.0) * (8.0 * math.log(2 + (eps + 2 * k) * 1.5 * rounds / 8.0) + 2)
    assert most < 0.06
    assert failed / runs <= most + math.sqrt(math.log(1e6) / (2 * runs))


def let_go(dimension: int, deviation: float, eps: float) -> float:
    """Rounds until a bound at ln 10⁶ lets go of .6: mean over first batches of 14–16 deviations."""
    found = []
    for times in np.linspace(14, 16, 40):
        first, n, releases = math.ceil(times * deviation), 0, 0
        index = 1.0
        while index > 0.6:
            n += max(first, math.ceil(n / 2))
            releases += 1
            drawn = [0] * dimension + [releases]
            index = rate_index(n / 2, n, drawn, math.log(10**6), eps)
        found.append(n)
    return float(np.mean(found))


@pytest.mark.long  # numbers of a page: code changes seldom move them
def test_honest_sizes() -> None:
    """The page's numbers: K = 17, epsilon 1."""
    sizes = (
        let_go(17, math.sqrt(joint_variance(17, 1.0)), 1.0),
        let_go(1, math.sqrt(2) * 17, 1 / 17),
        let_go(1, math.sqrt(2), 1.0),
        math.log(10**6) / d_eps(0.5, 0.6, 1.0),
    )
    said = re.search(
        r"T = 10⁶: ([\d,]+) with joint noise, ([\d,]+) with Laplace\(K/ε\) and its own rate, (\d+) "
        r"for a single arm, ln T/d = (\d+) ",
        PAGE,
    )
    assert said
    assert [f"{size:,.0f}" for size in sizes] == list(said.groups())
