"""Regret over a lower bound, on made-up runs of a known regret."""

from __future__ import annotations

import math

import polars as pl
import pytest

from dpbandits.environments import Environment, SharedCoins
from papers.evidence import Evidence
from papers.measures import over_paths_bound

PATHS: dict[str, Environment] = {
    "two": SharedCoins([0.4, 0.4, 0.5], [0, 0, 1, 1, 2, 2]),
    "far": SharedCoins([0.1, 0.5], [0, 1]),
}
BOUND = (6 - 2) * 2 * math.log(1000) / (64 * math.expm1(0.5) ** 2 * 0.2)
"""Theorem 6 of Chen et al. 2020: m = 6, K = 2, Δ = .2, ε = ½, T = 1000."""


def played(regret: float) -> Evidence:
    rows = [
        {
            "label": "some",
            "environment": name,
            "epsilon": 0.5,
            "run": run,
            "round": 1000,
            "regret": regret,
        }
        for name in PATHS
        for run in range(3)
    ]
    return Evidence(pl.DataFrame(rows), PATHS)


def test_regret_is_divided_by_the_bound_with_its_constant() -> None:
    for share, holds in ((1.5, True), (0.5, False)):
        (check,) = over_paths_bound(
            played(share * BOUND), labels=["some"], environments=["two"], sizes=[2]
        )
        assert check.estimate.value == pytest.approx(share)
        assert check.holds is holds


def test_what_the_theorem_does_not_speak_of_is_refused() -> None:
    for name, size in (("two", 4), ("far", 1)):
        with pytest.raises(ValueError, match=f"{name} to have paths of {size} arms"):
            over_paths_bound(played(1.0), labels=["some"], environments=[name], sizes=[size])
    with pytest.raises(ValueError, match="a size for each of 1"):
        over_paths_bound(played(1.0), labels=["some"], environments=["two"], sizes=[])
