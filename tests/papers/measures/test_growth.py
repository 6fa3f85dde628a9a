"""Measures of rates on made-up runs of a known law of K, Δ and ε: each claim once true, and once
with the mutant that refutes it.
"""

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

from dpbandits.environments import Bernoulli, Environment
from papers.evidence import Evidence, contrast
from papers.measures import (
    brackets,
    ratio_growth,
    size_growth,
    size_growth_without_privacy,
    slope_growth,
    slope_weights,
)
from tests.papers.measures import TrueAndMutant, runs_of, word

SIZES = [(arms, gap) for arms in (4, 16, 64, 256) for gap in (0.2, 0.05)]
EQUAL: dict[str, Environment] = {
    f"K = {k}, Δ = {gap}": Bernoulli([0.5 + gap] + [0.5] * (k - 1)) for k, gap in SIZES
}
DOUBLING: dict[str, Environment] = {
    f"doubling, K = {k}": Bernoulli([0.9, *(0.9 - 0.01 * 2**i for i in range(k - 1))])
    for k in (3, 5, 7)
}
EPSILONS = (0.01, 0.1, 10.0)

Law = Callable[[int, float, float], float]
LAWS: dict[str, Law] = {
    "rate": lambda k, gap, epsilon: 5 * math.log(k) / min(gap, epsilon),
    "linear": lambda k, gap, epsilon: 5 * (k - 1) / min(gap, epsilon),
    "squared": lambda k, gap, epsilon: 5 * math.log(k) / min(gap, epsilon) ** 2,
    "tiny": lambda k, gap, epsilon: 0.5 * 0.0098 * math.log(k) / epsilon,
    "huge": lambda k, gap, epsilon: 600 * (1 + math.log(k)) / min(gap, epsilon),
}


def evidence(noise: float = 0.02, runs: int = 20) -> Evidence:
    rng, places, frames = np.random.default_rng(11), EQUAL | DOUBLING, list[pl.DataFrame]()
    for (name, place), epsilon, (label, law) in product(places.items(), EPSILONS, LAWS.items()):
        end = law(place.arms, float(np.sort(place.gaps)[1]), epsilon)
        ends = end * (1 + noise * rng.standard_normal(runs))
        frames.append(runs_of(label, ends, {100: 1.0}, name, epsilon))
    return Evidence(pl.concat(frames), places)


GIVEN = evidence()
WITHIN = {"environments": list(EQUAL)}
RATE, LINEAR = {"labels": ["rate"]}, {"labels": ["linear"]}
GAPS = RATE | {"of": "1/Δ"}
NEAR_ONE = {"at_least": 0.9, "at_most": 1.1}
PRIVATE = {"of": "1/ε", "epsilons": [0.01, 0.1], "environments": ["K = 4, Δ = 0.2"]}
FOUR = {"environments": ["K = 256, Δ = 0.2"], "against": ["K = 4, Δ = 0.2"], "at_most": 4.2}
SIZED = {"environments": [f"K = {k}, Δ = 0.2" for k in (4, 16)], "sizes": [4, 16]}
GREW, OVER = LINEAR | SIZED, {"over": "linear", "under": "rate", **SIZED}
GROWN, OUTGROWN = math.log(5, 4), math.log(2.5, 4)  # 15/3, and that over ln 16/ln 4
CASES: TrueAndMutant = [
    ("size_growth", GREW | {"at_least": GROWN - 0.1}, GREW | {"at_least": GROWN + 0.1}),
    (
        "ratio_growth",
        OVER | {"at_least": OUTGROWN - 0.1, "at_most": OUTGROWN + 0.1},
        OVER | {"at_most": OUTGROWN - 0.1},
    ),
    ("growth", RATE | NEAR_ONE | {"of": "ln K"}, LINEAR | {"of": "ln K", "at_most": 1.1}),
    ("growth", LINEAR | NEAR_ONE | {"of": "K"}, RATE | {"of": "K", "at_least": 0.9}),
    ("growth", GAPS | NEAR_ONE | {"epsilons": [10]}, GAPS | {"at_least": 0.9, "epsilons": [0.01]}),
    ("growth", RATE | NEAR_ONE | PRIVATE, PRIVATE | {"labels": ["squared"], "at_most": 1.1}),
    ("follows_rate", RATE | {"within": 1.1}, {"labels": ["rate", "linear"], "within": 3}),
    ("environment_ratio", RATE | FOUR | {"at_least": 3.8}, LINEAR | FOUR),
    ("between_bounds", RATE, {"labels": ["rate", "tiny"]}),
    ("between_bounds", {"labels": ["rate", "linear"]}, {"labels": ["huge"]}),
]
TRUE_AND_MUTANT = [(name, WITHIN | true, WITHIN | mutant) for name, true, mutant in CASES]


def test_one_run_or_much_noise_leaves_a_rate_undecided() -> None:
    claim = {"labels": ["rate"], "of": "ln K", "at_least": 0.95, "at_most": 1.05, **WITHIN}
    assert word(evidence(noise=0.4), "growth", **claim) == "undecided"
    assert word(evidence(runs=1), "growth", **claim) == "undecided"


def test_exponent_on_doubling_gaps_tells_ln_k_from_the_number_of_brackets() -> None:
    law = {"rate": 1.0, "linear": 1.9}  # the exponent of ln K that K = 3, 5, 7 make of either
    for label, p in law.items():
        claim = {"labels": [label], "of": "ln K", "at_least": 0.8 * p, "at_most": 1.2 * p}
        assert word(GIVEN, "growth", environments=list(DOUBLING), **claim) == "reproduced"


def test_environments_of_one_size_are_not_mixed() -> None:
    twins = Evidence(
        GIVEN.curves, GIVEN.environments | {"doubling, K = 3": EQUAL["K = 4, Δ = 0.2"]}
    )
    with pytest.raises(ValueError, match="differ in ln K"):
        word(twins, "growth", labels=["rate"], of="ln K", environments=[*EQUAL, "doubling, K = 3"])


def test_brackets_are_the_papers() -> None:
    gaps = DOUBLING["doubling, K = 5"].gaps
    found = brackets(gaps[gaps > 0])
    assert found == [(pytest.approx(0.01 * 2**level), 1) for level in range(4)]
    assert brackets(np.array([0.1, 0.15, 0.2, 0.35, 0.8])) == [(0.1, 2), (0.2, 2), (0.8, 1)]


def test_slopes_are_exact_without_noise_and_cover_the_truth_with_it() -> None:
    """400 slopes at 95 %: fewer than 342, or all, has probability below 1e-6 and 2e-9."""
    x, rng = np.array([2.0, 8.0, 32.0, 128.0]), np.random.default_rng(5)

    def slope(noise: float) -> Any:
        runs = [3.0 * v**1.5 * rng.normal(1, noise, 12) for v in x]
        return contrast(runs, slope_weights(list(x)), log=False)

    assert slope(0.0).value == pytest.approx(1.5)
    intervals = [slope(0.1).interval(0.05) for _ in range(400)]
    assert 342 <= sum(low <= 1.5 <= high for low, high in intervals) < 400


def in_size(power: float, early: float, epsilon: float | None) -> Evidence:
    """Regret of `early` at round 1,000, the same at every size, and then size**power · ln T."""
    rng, frames = np.random.default_rng(12), list[pl.DataFrame]()
    for k in (2, 4, 8):
        later = k**power * math.log(1000) * (1 + 0.02 * rng.standard_normal(20))
        for t, ends in ((1_000, np.full(20, early)), (10**6, early + later)):
            frames.append(runs_of("some", ends, {t: 1.0}, f"K = {k}", epsilon))
    return Evidence(pl.concat(frames), {})


def test_slopes_leave_out_what_was_paid_early() -> None:
    """Exponents are of the growth with ln T; regret's is hidden by what was paid before."""
    sized = {"environments": ["K = 2", "K = 4", "K = 8"], "sizes": [2, 4, 8]}
    for power, holds in ((1.0, True), (0.5, False)):
        given = in_size(power, 10_000.0, 1.0)
        (check,) = slope_growth(given, labels=["some"], since=0.001, at_least=0.8, **sized)
        assert (check.holds, check.fails(1)) == (holds, not holds)
        assert check.estimate.value == pytest.approx(power, abs=0.05)
        given = in_size(power, 0.0, None)
        (check,) = size_growth_without_privacy(given, label="some", at_least=0.8, **sized)
        assert (check.holds, check.fails(1)) == (holds, not holds)
    (hidden,) = size_growth(in_size(1.0, 10_000.0, 1.0), labels=["some"], **sized)
    assert hidden.estimate.value < 0.1
    one: dict[str, Any] = {"environments": ["K = 2"], "sizes": []}
    for refused in (
        lambda: slope_growth(given, labels=["some"], since=0.1, **one),
        lambda: size_growth(given, labels=["some"], **one),
        lambda: ratio_growth(given, over="some", under="some", **one),
    ):
        with pytest.raises(ValueError, match="a size for each of 1"):
            refused()
