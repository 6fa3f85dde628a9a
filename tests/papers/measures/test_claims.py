"""Verdicts on made-up runs whose truth is known: each claim once true, and once with the mutant
that refutes it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from papers.evidence import CellSetting, Evidence, mean_of, ratio_of
from papers.paper import MEASURES, Claim, judge
from tests.papers.measures import (
    TrueAndMutant,
    runs_of,
    test_growth,
    test_returns,
    test_theorems,
    word,
)

ENDS = {
    ("A", 0.1): 1000.0,
    ("A", 1.0): 500.0,
    ("B", 0.1): 6000.0,
    ("B", 1.0): 3500.0,
    ("Level", 0.1): 410.0,
    ("Level", 1.0): 400.0,
}
SHARES = {250: 0.5, 500: 0.9, 750: 1.0, 1000: 1.0}


def evidence(runs: int = 20, noise: float = 0.02) -> Evidence:
    """Regrets that end at `ENDS`, with relative noise, in two environments."""
    rng = np.random.default_rng(7)
    return Evidence(
        pl.concat(
            runs_of(label, end * (1 + noise * rng.standard_normal(runs)), SHARES, place, epsilon)
            for place in ("one", "two")
            for (label, epsilon), end in ENDS.items()
        )
    )


NAMED = {"id": "c", "statement": "s", "where": "w"}
LOWEST = Claim(
    **NAMED, measure="lowest", arguments={"label": "A", "others": ["B"]}, differs="because"
)
B_OVER_A, A_OVER_B = {"over": ["B"], "under": "A"}, {"over": ["A"], "under": "B"}
RULE = {"means": [0.5], "alphas": [0.5], "budgets": [1], "beta": 0.05, "runs": 300}
ZERO = RULE | {"means": [0.0]}
SLOPE = {"along": "budget", "values": [1, 0.1], "at_least": 0.1, "runs": 100}
LATE = {"label": "A", "at_most": 0.001}, {"label": "A", "at_least": 0.05}
ONE_RULE, BOTH_RULES = ["DPExponentialNAS"], ["DPNAS", "DPExponentialNAS"]
TRUE_AND_MUTANT: TrueAndMutant = [
    ("regret_ratio", B_OVER_A | {"at_least": 5}, B_OVER_A | {"at_least": 6.5}),
    ("regret_ratio", A_OVER_B | {"at_most": 0.2}, A_OVER_B | {"at_most": 0.15}),
    ("lowest", {"label": "A", "others": ["B"]}, {"label": "B", "others": ["A"]}),
    ("similar", {"one": "B", "other": "A", "within": 8}, {"one": "A", "other": "B", "within": 5}),
    ("late_share", LATE[0] | {"last": 0.25}, LATE[0] | {"last": 0.5}),
    ("late_share", LATE[1] | {"last": 0.5}, LATE[1] | {"last": 0.25}),
    (
        "spread_over_epsilon",
        {"labels": ["Level"], "at_most": 1.2},
        {"labels": ["Level", "A"], "at_most": 1.2},
    ),
    (
        "falls_with_epsilon",
        {"labels": ["A", "B"], "rise": 0.05},
        {"labels": ["A", "Level"], "rise": -0.4},
    ),
    ("halts_right", RULE | {"rules": BOTH_RULES}, ZERO | {"rules": ONE_RULE}),
    ("stops_in_time", RULE | {"rule": ONE_RULE[0]}, ZERO | {"rule": ONE_RULE[0]}),
    ("extra_values_slope", SLOPE | {"at_most": 1.2}, SLOPE | {"at_most": 0.6}),
]


TABLES: list[tuple[Callable[[], Evidence], TrueAndMutant]] = [
    (evidence, TRUE_AND_MUTANT),
    (test_growth.evidence, test_growth.TRUE_AND_MUTANT),
    (test_returns.evidence, test_returns.TRUE_AND_MUTANT),
    (test_theorems.evidence, test_theorems.TRUE_AND_MUTANT),
]
CASES = [(given, *case) for given, cases in TABLES for case in cases]


@pytest.mark.parametrize(("given", "measure", "true", "mutant"), CASES)
def test_true_claim_is_reproduced_and_mutant_differs(
    given: Callable[[], Evidence], measure: str, true: dict[str, Any], mutant: dict[str, Any]
) -> None:
    assert word(given(), measure, **true) == "reproduced"
    assert word(given(), measure, **mutant) == "differs"


def test_every_measure_is_tried_above() -> None:
    # with the settings they are made for, in files of their own
    elsewhere = {"ratio_growth", "size_growth", "size_growth_without_privacy", "slope_growth"}
    elsewhere |= {"shared_with_best", "way_to_oracle", "over_paths_bound", "pulls_within"}
    assert {measure for _, measure, *_ in CASES} | elsewhere == set(MEASURES)


def test_one_bad_setting_refutes_a_claim_on_every_setting() -> None:
    claim = {"over": ["B"], "under": "A", "at_least": 5.0}
    given = evidence()
    bad = (pl.col("environment") == "two") & (pl.col("epsilon") == 1.0) & (pl.col("label") == "B")
    halved = pl.when(bad).then(pl.col("regret") / 2).otherwise(pl.col("regret"))
    worse = Evidence(given.curves.with_columns(regret=halved))
    assert word(given, "regret_ratio", **claim) == "reproduced"
    assert word(worse, "regret_ratio", **claim) == "differs"
    assert word(worse, "regret_ratio", **claim, epsilons=[0.1]) == "reproduced"
    assert word(worse, "regret_ratio", **claim, environments=["one"]) == "reproduced"


def test_straddling_interval_is_undecided_and_more_runs_decide() -> None:
    claim = {"over": ["B"], "under": "A", "at_least": 5.8}
    assert word(evidence(runs=3, noise=0.3), "regret_ratio", **claim) == "undecided"
    assert word(evidence(runs=20_000, noise=0.3), "regret_ratio", **claim) == "reproduced"
    # one run says nothing of the spread
    assert word(evidence(runs=1), "regret_ratio", **claim) == "undecided"


def test_a_run_that_lost_nothing_has_lost_nothing_late() -> None:
    """0 of 0 is no number that a verdict could be made of."""
    given = evidence()
    lucky = (pl.col("label") == "A") & (pl.col("run") == 3)
    none = pl.when(lucky).then(0.0).otherwise(pl.col("regret"))
    claim = {"label": "A", "last": 0.25, "at_most": 0.001}
    assert word(Evidence(given.curves.with_columns(regret=none)), "late_share", **claim) == (
        "reproduced"
    )


def test_a_claim_may_have_other_arguments_at_quick_sizes() -> None:
    claim = LOWEST.model_copy(update={"quick": {"others": ["Level"]}})
    assert claim.sized(full=True) == claim
    assert claim.sized(full=False).arguments == {"label": "A", "others": ["Level"]}


def test_unequal_horizons_and_unknown_labels_are_errors_not_verdicts() -> None:
    short = evidence().curves.filter((pl.col("label") != "A") | (pl.col("round") < 1000))
    with pytest.raises(ValueError, match="equally long"):
        word(Evidence(short), "regret_ratio", over=["B"], under="A", at_least=5)
    with pytest.raises(LookupError, match="No setting"):
        word(evidence(), "lowest", label="A", others=["Nobody"])


def test_reason_is_given_only_where_it_is_needed() -> None:
    mutant = LOWEST.model_copy(update={"arguments": {"label": "B", "others": ["A"]}})
    for claim, said, reason in (
        (LOWEST, "reproduced", ""),
        (mutant, "differs", "because"),
        (mutant.model_copy(update={"differs": ""}), "differs", "No reason is known yet."),
        (Claim(**NAMED, later="later release: x"), "not attempted", "later release: x"),
        (Claim(**NAMED, unasked="a limit"), "not asked", "a limit"),
    ):
        verdict = judge(claim, evidence())
        assert (verdict.word, verdict.reason) == (said, reason)


def test_claims_that_cannot_be_are_refused() -> None:
    lowest, later = {"measure": "lowest"}, {"later": "x"}
    two = [lowest | later, {"unasked": "a limit"} | later]
    for bad in [{}, *two, {"measure": "vibes"}, lowest | {"verdict": "reproduced"}]:
        with pytest.raises(ValueError, match=r"expected one of|no measure|[Ee]xtra"):
            Claim.model_validate(NAMED | bad)


def test_intervals_cover_the_truth() -> None:
    """800 ratios at 95 %: fewer than 710 or more than 799 has probability below 1e-6."""
    rng = np.random.default_rng(3)
    ratios = [ratio_of(rng.normal(10, 1, 6), rng.normal(5, 0.2, 12)) for _ in range(800)]
    intervals = [ratio.interval(0.05) for ratio in ratios]
    assert 710 <= sum(low <= 2.0 <= high for low, high in intervals) <= 799
    assert mean_of(np.array([2.0, 2.0])).interval(0.05) == (2.0, 2.0)


def test_regret_is_read_at_the_last_kept_round_of_the_share() -> None:
    given, setting = evidence(noise=0.0), CellSetting("one", 0.1)
    assert given.at("A", setting)[0] == 1000
    assert given.at("A", setting, 0.5)[0] == given.at("A", setting, 0.74)[0] == 900
