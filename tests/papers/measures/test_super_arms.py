"""Measures of super arms, on made-up runs: what is recommended at the end, regret over a lower
bound, and the way from blind play to the oracle.
"""

import math

import numpy as np
import polars as pl
import pytest

import dpbandits as dpb
from dpbandits.checks.checks import blind_regret
from papers.evidence import CellSetting, Evidence
from papers.measures import over_paths_bound, way_to_oracle
from tests.papers.measures import runs_of, word


@pytest.mark.parametrize("means", [[1.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0]])
def test_a_policy_that_learned_shares_all(means: list[float]) -> None:
    policy = dpb.DPKLMAT(problem=dpb.UniformMatroid(arms=4, rank=2), epsilon=50)
    curves = runs_of("P", [1.0], {400: 1.0}, epsilon=50.0)
    found = Evidence(
        curves, {"one": dpb.Bernoulli(means)}, {("P", CellSetting("one", 50.0)): policy}
    )
    asked = {"label": "P", "runs": 5}
    assert word(found, "shared_with_best", **asked, at_least=2, at_most=2) == "reproduced"
    assert word(found, "shared_with_best", **asked, at_most=1) == "differs"


PATHS: dict[str, dpb.Environment] = {
    "two": dpb.SharedCoins([0.4, 0.4, 0.5], [0, 0, 1, 1, 2, 2]),
    "far": dpb.SharedCoins([0.1, 0.5], [0, 1]),
}
BOUND = (6 - 2) * 2 * math.log(1000) / (64 * math.expm1(0.5) ** 2 * 0.2)
"""Theorem 6 of Chen et al. 2020: m = 6, K = 2, Δ = .2, ε = ½, T = 1000."""


def test_regret_is_divided_by_the_bound_with_its_constant() -> None:
    """And what the theorem does not speak of is refused."""
    for share in (1.5, 0.5):
        played = pl.concat(
            runs_of("some", [share * BOUND] * 3, {1000: 1.0}, name, 0.5) for name in PATHS
        )
        found = Evidence(played, PATHS)
        (check,) = over_paths_bound(found, labels=["some"], environments=["two"], sizes=[2])
        assert check.estimate.value == pytest.approx(share)
        assert check.holds is (share > 1)
    for name, sizes, said in (
        ("two", [4], "two to have paths of 4 arms"),
        ("far", [1], "far to have paths of 1 arms"),
        ("two", [], "a size for each of 1"),
    ):
        with pytest.raises(ValueError, match=said):
            over_paths_bound(found, labels=["some"], environments=[name], sizes=sizes)


COVER = dpb.Coverage([("a", 1), ("a", 2), ("b", 2), ("c", 3), ("d", 1)], k=2)
MEANS = np.array([0.9, 0.2, 0.6, 0.3, 0.7])
HALF = CellSetting("one", 8.0)
POLICY = dpb.DPKLCUCB(problem=COVER, epsilon=8)


def way(early: float, late: float) -> float:
    """Where 60 rounds have this value each, then 40 that one."""
    benchmark = COVER.alpha * COVER.optimum(MEANS)
    earned = {t: early * min(t, 60) + late * max(0, t - 60) for t in (10, 60, 95, 100)}
    regret = {t: benchmark * t - won for t, won in earned.items()}
    curves = runs_of("P", [1.0, 1.0], regret, epsilon=8.0)
    found = Evidence(curves, {"one": dpb.Bernoulli(MEANS)}, {("P", HALF): POLICY})
    (check,) = way_to_oracle(found, labels=["P"], last=0.4, at_least=0.5)
    assert check.holds == (check.estimate.value >= 0.5)
    assert found.kept("P", HALF, 0.7) == 60
    return check.estimate.value


def test_from_blind_to_knowing() -> None:
    best = COVER.value(COVER.best(MEANS), MEANS)
    blind = COVER.alpha * COVER.optimum(MEANS) - blind_regret(POLICY, dpb.Bernoulli(MEANS))
    assert blind < best
    assert way(best, blind) == pytest.approx(0, abs=1e-9)
    assert way(blind, best) == pytest.approx(1)
    assert way(0, (best + blind) / 2) == pytest.approx(0.5)
