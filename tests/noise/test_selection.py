"""Exact laws of noisy selection: integrals, what it costs, and both noise sources."""

import math
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binomtest, chisquare

import dpbandits as dpb
from dpbandits.auditing.laws import published_loss, selection_law
from dpbandits.noise import Noise, Selection

ALARM = 1e-6
SELECTIONS: tuple[Selection, ...] = ("laplace", "exponential", "permute-and-flip")


def first_wins(lead: float, scale: float) -> float:
    """P[the first of two is named] under continuous Laplace noise: an integral."""

    def density(x: float) -> float:
        other = x + lead
        below = 0.5 * math.exp(-abs(other) / scale)
        return math.exp(-abs(x) / scale) / (2 * scale) * (below if other < 0 else 1 - below)

    ends = [-60 * scale, *sorted({0.0, -lead}), 60 * scale]
    return sum(quad(density, a, b, epsabs=0, epsrel=1e-12)[0] for a, b in pairwise(ends))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_published_loss_is_the_ratio_of_probabilities(epsilon: float) -> None:
    for rounds in (2, 4, 15):
        ratio = first_wins(2.0 - rounds, 1 / epsilon) / first_wins(-rounds, 1 / epsilon)
        assert published_loss(rounds, epsilon) == pytest.approx(math.log(ratio), abs=1e-7)
    assert epsilon < published_loss(10_000, epsilon) < 2 * epsilon


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_selection_costs_what_it_promises(selection: Selection, epsilon: float) -> None:
    """Over all replacements of one 0/1 record at most ε; ε/2 where rewards are only lost."""
    worst = {"replace": 0.0, "zero-out": 0.0}
    for base in product(range(0, 13, 4), repeat=3):
        rest = np.array(base)
        laws = {
            record: np.log(selection_law(rest + record, scale=2 / epsilon, selection=selection))
            for record in product((0, 1), repeat=3)
        }
        for one, other in product(laws, repeat=2):
            loss = float(np.abs(laws[one] - laws[other]).max())
            worst["replace"] = max(worst["replace"], loss)
            if not any(other):
                worst["zero-out"] = max(worst["zero-out"], loss)
    assert 0.85 * epsilon < worst["replace"] <= epsilon + 1e-9
    assert worst["zero-out"] <= epsilon / 2 + 1e-9


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize(
    "noise", [dpb.SimulatedNoise(3), dpb.SecureNoise(), dpb.SecureNoise(fresh=True)], ids=repr
)
def test_sources_have_the_exact_law(selection: Selection, noise: Noise) -> None:
    """Simulated and secure choices against the exact probabilities (chi-square)."""
    sums, draws = [5, 9, 7, 0], 4000
    law = selection_law(sums, scale=4.0, selection=selection)
    chosen = [
        noise.select(sums, sensitivity=3, epsilon=Fraction(3, 2), law=selection)
        for _ in range(draws)
    ]
    assert chisquare(np.bincount(chosen, minlength=4), draws * law).pvalue > ALARM


def exact_third_round(policy: Any, means: list[float], scale: float, selection: Selection) -> float:
    """P[action 0 is played in rounds 2 and 3], by enumeration."""
    total = 0.0
    for record in product((0, 1), repeat=len(means)):
        weight = math.prod(m if r else 1 - m for m, r in zip(means, record, strict=True))
        total += (
            weight
            * selection_law(
                np.array(record) * policy.grid, scale=scale * policy.grid, selection=selection
            )[0]
        )
    return total


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("compiled", [True, False])
def test_three_rounds_exactly(selection: Selection, compiled: bool) -> None:
    policy = dpb.RNMFTNL(actions=3, epsilon=2, grid=4, selection=selection)
    means = [0.7, 0.4, 0.2]
    p = exact_third_round(policy, means, 1.0, selection)
    runs = dpb.simulate(policy, dpb.Bernoulli(means), 3, runs=4000, seed=5, compiled=compiled)
    assert set(np.unique(runs.plays[:, 0])) <= {1, 3}
    assert binomtest(int((runs.plays[:, 0] == 3).sum()), 4000, p).pvalue > ALARM
