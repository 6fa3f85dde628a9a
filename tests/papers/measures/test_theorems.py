"""Measures of theorems: each claim once true, and once with the mutant that refutes it."""

import numpy as np
import polars as pl
import pytest

import dpbandits as dpb
from dpbandits.policies.named import POLICIES
from papers.evidence import CellSetting, Evidence
from tests.papers.measures import TrueAndMutant, runs_of, word

ENDS = {"Tiny": 1.0, "Low": 50.0, "High": 900.0}


def evidence() -> Evidence:
    """Regrets that end at `ENDS`, of which nine tenths come in the first half of the rounds."""
    rng, shares = np.random.default_rng(7), {500: 0.9, 1000: 1.0}
    frames = [
        runs_of(label, end * (1 + 0.02 * rng.standard_normal(40)), shares, epsilon=0.1)
        for label, end in ENDS.items()
    ]
    policy = dpb.AnytimeLazyUCB(arms=2, epsilon="1/10")
    policies = {(label, CellSetting("one", 0.1)): policy for label in ENDS}
    return Evidence(pl.concat(frames), {"one": dpb.Bernoulli([0.7, 0.5])}, policies)


LOW = {"labels": ["Low"]}
HALF = LOW | {"share": 0.5}
FIRST = {"arms": 2, "beta": 0.1, "runs": 100, "along": "gap", "values": [0.2, 0.1]}
GROWS = FIRST | {"at_least": 1.0, "at_most": 4.0}
FLOOR = {"means": [0.5], "alphas": [0.5], "beta": 0.05, "runs": 100}
PRIVATE = {"rules": ["DPNAS"], "budgets": [1.0]}
WITHIN = {"environments": ["one"]}
TRUE_AND_MUTANT: TrueAndMutant = [
    ("log_growth", HALF | {"at_least": 0.75, "at_most": 1.25}, HALF | {"at_most": 0.75}),
    ("below_bound", LOW, {"labels": ["High"]}),
    ("within_minimax", LOW | WITHIN, {"labels": ["Tiny"], **WITHIN}),
    ("identification_growth", GROWS, GROWS | {"at_least": 0.1, "at_most": 0.8}),
    ("takes_more_than_floor", FLOOR | PRIVATE, FLOOR | {"rules": ["NAS"], "budgets": [0.0001]}),
]


def test_pulls_of_an_elimination_that_goes_on_for_too_long_are_not_within(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = {"arms": 2, "gaps": [0.4], "budgets": [10.0], "beta": 0.1}
    given |= {"rounds": 40_000, "runs": 300}
    assert word(evidence(), "pulls_within", **given) == "reproduced"

    def slow(epsilon: float, **more: object) -> object:
        return dpb.DPSE(epsilon="1/300", **more)  # type: ignore[arg-type]

    monkeypatch.setitem(POLICIES, "DPSE", slow)  # type: ignore[arg-type]
    assert word(evidence(), "pulls_within", **given) == "differs"
