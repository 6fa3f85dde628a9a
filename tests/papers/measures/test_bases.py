"""What is recommended at the end, on instances where that is sure."""

from __future__ import annotations

import polars as pl
import pytest

import dpbandits as dpb
from papers.evidence import CellSetting, Evidence
from papers.paper import Claim, judge

PROBLEM = dpb.UniformMatroid(arms=4, rank=2)
ROUNDS = 400


def evidence(policy: dpb.Policy, means: list[float]) -> Evidence:
    rows = {"label": "P", "environment": "one", "epsilon": 50.0, "run": 0, "round": ROUNDS}
    curves = pl.DataFrame([{**rows, "regret": 1.0}])
    setting = CellSetting("one", 50.0)
    return Evidence(curves, {"one": dpb.Bernoulli(means)}, {("P", setting): policy})


def measured(found: Evidence, **asked: float) -> tuple[str, float]:
    arguments = {"label": "P", "runs": 5, **asked}
    claim = Claim(id="c", statement="s", where="w", measure="shared_with_best", arguments=arguments)
    verdict = judge(claim, found)
    return verdict.word, verdict.checks[0].estimate.value


@pytest.mark.parametrize("means", [[1.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0]])
def test_a_policy_that_learned_shares_all(means: list[float]) -> None:
    policy = dpb.DPKLMAT(problem=PROBLEM, epsilon=50)
    assert measured(evidence(policy, means), at_least=2) == ("reproduced", 2.0)
    assert measured(evidence(policy, means), at_most=1) == ("differs", 2.0)
