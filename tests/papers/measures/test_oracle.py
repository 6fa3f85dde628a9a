"""The way from blind play to the oracle that knows the means, on regret that is made up."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import dpbandits as dpb
from dpbandits.checks.law import blind_regret
from papers.evidence import CellSetting, Evidence
from papers.measures import way_to_oracle

PROBLEMS = [
    dpb.Coverage([("a", 1), ("a", 2), ("b", 2), ("c", 3), ("d", 1)], k=2),
]
MEANS = np.array([0.9, 0.2, 0.6, 0.3, 0.7])
HALF = CellSetting("one", 8.0)


def way(problem: dpb.DecisionSet, early: float, late: float) -> float:
    """Where 60 rounds have this value each, then 40 that one."""
    policy = dpb.DPKLCUCB(problem=problem, epsilon=8)
    benchmark = problem.alpha * problem.optimum(MEANS)
    rows = [
        {
            "run": run,
            "round": t,
            "regret": benchmark * t - early * min(t, 60) - late * max(0, t - 60),
        }
        for run in (0, 1)
        for t in (10, 60, 95, 100)
    ]
    same = {"label": "P", "environment": "one", "epsilon": 8.0}
    curves = pl.DataFrame([same | row for row in rows])
    found = Evidence(curves, {"one": dpb.Bernoulli(MEANS)}, {("P", HALF): policy})
    (check,) = way_to_oracle(found, labels=["P"], last=0.4, at_least=0.5)
    assert check.holds == (check.estimate.value >= 0.5)
    assert found.kept("P", HALF, 0.7) == 60
    return check.estimate.value


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: type(problem).__name__)
def test_from_blind_to_knowing(problem: dpb.DecisionSet) -> None:
    policy = dpb.DPKLCUCB(problem=problem, epsilon=8)
    best = problem.value(problem.best(MEANS), MEANS)
    blind = problem.alpha * problem.optimum(MEANS) - blind_regret(policy, dpb.Bernoulli(MEANS))
    assert blind < best
    assert way(problem, best, blind) == pytest.approx(0, abs=1e-9)
    assert way(problem, blind, best) == pytest.approx(1)
    assert way(problem, 0, (best + blind) / 2) == pytest.approx(0.5)
