"""Verdicts on made-up runs whose truth is known: each claim once true, and once with the mutant
that refutes it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import dpbandits as dpb
from dpbandits.policies.named import POLICIES
from papers.evidence import CellSetting, Evidence, mean_of, ratio_of
from papers.paper import MEASURES, Claim, judge
from tests.papers.measures import TrueAndMutant, runs_of, test_growth, word

QUARTERS = {250: 0.5, 500: 0.9, 750: 1.0, 1000: 1.0}
LOGS = {100: 2 / 3, 1000: 1.0}  # regret in proportion to ln T
ADDED = {"one": (400.0, 100.0), "two": (460.0, 160.0), "three": (1000.0, 160.0)}
"""Of a private policy and its twin, by environment: privacy adds 300, 300 and 840."""

Played = tuple[str, str, float | None, float, dict[int, float]]
PLAYED: list[Played] = [
    *(
        (label, place, epsilon, end, QUARTERS)
        for place in ("one", "two")
        for label, ends in {"A": (1000, 500), "B": (6000, 3500), "Level": (410, 400)}.items()
        for epsilon, end in zip((0.1, 1.0), ends, strict=True)
    ),
    *(("Line", "one", epsilon, 200 / epsilon, LOGS) for epsilon in (0.5, 1.0, 2.0, 4.0)),
    *(
        ("Bent", "one", epsilon, end, {100: 0.1, 1000: 1.0})
        for epsilon, end in {0.5: 100, 1.0: 300, 2.0: 90, 4.0: 310}.items()
    ),
    ("Open", "one", None, 100, LOGS),
    *(("Added", place, 0.5, ends[0], LOGS) for place, ends in ADDED.items()),
    *(("Free", place, None, ends[1], LOGS) for place, ends in ADDED.items()),
    *(
        (label, "one", 0.1, end, {500: 0.9, 1000: 1.0})
        for label, end in {"Tiny": 1, "Low": 50, "High": 900}.items()
    ),
]
"""Labels, environments, epsilons, regrets at the end, and shares of them at rounds."""


def evidence(runs: int = 20, noise: float = 0.02) -> Evidence:
    """Regrets that end at what `PLAYED` says, with relative noise."""
    rng, lazy = np.random.default_rng(7), dpb.AnytimeLazyUCB(arms=2, epsilon="1/10")
    frames = [
        runs_of(label, end * (1 + noise * rng.standard_normal(runs)), shares, place, epsilon)
        for label, place, epsilon, end, shares in PLAYED
    ]
    policies = {(label, CellSetting("one", 0.1)): lazy for label in ("Tiny", "Low", "High")}
    return Evidence(pl.concat(frames), {"one": dpb.Bernoulli([0.7, 0.5])}, policies)


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
LINE, BENT = {"labels": ["Line"]}, {"labels": ["Bent"]}
PRICE = {"labels": ["Added"], "without": "Free", "against": ["one"], "within": 1.2}
OVER, TWO = LINE | {"under": "Open"}, {"environments": ["two"]}
RATIO = {"over": "Line", "under": "Open", "optimum": 2.0}
SHARE = LINE | {"optimum": 2.0}
LOW = {"labels": ["Low"]}
HALF = LOW | {"share": 0.5}
FIRST = {"arms": 2, "beta": 0.1, "runs": 100, "along": "gap", "values": [0.2, 0.1]}
GROWS = FIRST | {"at_least": 1.0, "at_most": 4.0}
FLOOR = {"means": [0.5], "alphas": [0.5], "beta": 0.05, "runs": 100}
PRIVATE = {"rules": ["DPNAS"], "budgets": [1.0]}
WITHIN = {"environments": ["one"]}
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
    # 1 − 400/2000 = 0.8 at the smallest ε
    ("share_of_optimum", SHARE | {"at_least": 0.78}, SHARE | {"at_least": 0.85}),
    ("return_ratio", RATIO | {"at_least": 0.8}, RATIO | {"at_least": 0.9}),  # 1.6 over 1.9
    ("price_ratio", OVER | {"at_most": 4.5}, OVER | {"at_most": 3.5}),  # 400 to 50 over 100
    ("price_between_environments", PRICE | TWO, PRICE | {"environments": ["three"]}),
    ("log_rate", LINE | {"share": 0.1, "within": 1.1}, BENT | {"share": 0.1, "within": 1.1}),
    ("straight_line", LINE | {"at_least": 0.9}, BENT | {"at_least": 0.9}),
    ("log_growth", HALF | {"at_least": 0.75, "at_most": 1.25}, HALF | {"at_most": 0.75}),
    ("below_bound", LOW, {"labels": ["High"]}),
    ("within_minimax", LOW | WITHIN, {"labels": ["Tiny"], **WITHIN}),
    ("identification_growth", GROWS, GROWS | {"at_least": 0.1, "at_most": 0.8}),
    ("takes_more_than_floor", FLOOR | PRIVATE, FLOOR | {"rules": ["NAS"], "budgets": [0.0001]}),
]
CASES = [(evidence, *case) for case in TRUE_AND_MUTANT]
CASES += [(test_growth.evidence, *case) for case in test_growth.TRUE_AND_MUTANT]


@pytest.mark.parametrize(("given", "measure", "true", "mutant"), CASES)
def test_true_claim_is_reproduced_and_mutant_differs(
    given: Callable[[], Evidence], measure: str, true: dict[str, Any], mutant: dict[str, Any]
) -> None:
    assert word(given(), measure, **true) == "reproduced"
    assert word(given(), measure, **mutant) == "differs"


def test_every_measure_is_tried_above() -> None:
    # with the settings they are made for, in files of their own
    elsewhere = {"size_growth_without_privacy", "slope_growth", "pulls_within"}
    elsewhere |= {"shared_with_best", "way_to_oracle", "over_paths_bound"}
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


def test_a_claim_whose_data_is_missing_is_not_attempted() -> None:
    for what in ({"environments": ["films"]}, {"under": "Nobody"}):
        arguments = RATIO | {"at_least": 0.8} | what
        assert word(evidence(), "return_ratio", needs="films", **arguments) == "not attempted"
        with pytest.raises(LookupError):
            word(evidence(), "return_ratio", **arguments)


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
