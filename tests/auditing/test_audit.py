"""The question as a user asks it in Python: of policies, mechanisms, foreign objects."""

from __future__ import annotations

import itertools
import json
import random
import time
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from benchmarks.controls import ours

import dpbandits as dpb
from dpbandits.auditing import audit as run
from dpbandits.auditing.report import AuditReport, LevelResult, conclusion, figure_of
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import EachArm, LazyForgetful
from dpbandits.policies.contract import Policy
from tests.auditing.strange import Leader


class Coin:
    """ask/tell, perfectly private: it never looks."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def ask(self) -> int:
        return self.rng.randrange(2)

    def tell(self, decision: int, reward: float) -> None:
        pass


def test_policy() -> None:
    report = dpb.audit(dpb.AnytimeLazyUCB(arms=2, epsilon="1/2"), levels=["transcript"], runs=1000)
    assert report.passed
    assert report.claim == Fraction(1, 2)
    assert report.lower_bound == 0.5
    assert report.confidence == 1.0
    assert [level.level for level in report.levels] == ["transcript"]


def test_claim_can_be_put_to_it() -> None:
    report = dpb.audit("AnytimeLazyUCB", "1/4", epsilon="1/2", levels=["transcript"], runs=1000)
    assert not report.passed
    assert "FAILED at transcript" in conclusion(report)


def test_foreign_objects() -> None:
    leaks = dpb.audit(Leader, 1, levels=["statistical"], runs=4000)
    assert not leaks.passed
    assert leaks.lower_bound > 5
    keeps = dpb.audit(Coin, "1/10", runs=2000)
    assert keeps.verdict == "not refuted"
    assert keeps.lower_bound < 0.1


def test_objects_that_cannot_be_audited() -> None:
    with pytest.raises(TypeError, match="fresh object for each run"):
        dpb.audit(Leader(), 1)
    with pytest.raises(TypeError, match="select\\(\\) and update"):
        dpb.audit(dict, 1)
    with pytest.raises(ValueError, match="did you mean AnytimeLazyUCB"):
        dpb.audit("AnytimeLazyUC")
    with pytest.raises(ValueError, match="Expected levels"):
        dpb.audit("AnytimeLazyUCB", levels=["hope"])


@pytest.mark.parametrize("budget", [0, -1, float("nan"), float("inf")])
def test_budgets_that_are_none(budget: float) -> None:
    with pytest.raises(ValueError, match="finite number of seconds > 0"):
        dpb.audit("AnytimeLazyUCB", budget=budget)


def test_an_epsilon_that_would_be_ignored_is_refused() -> None:
    policy, mechanism = (
        dpb.AnytimeLazyUCB(arms=2, epsilon="1/2"),
        LazyForgetful(epsilon=Fraction(1)),
    )
    for made, own in (
        (policy, "1/2"),
        (mechanism, "1"),
        (dpb.UCB1(arms=2), "none"),
        (lambda: policy, "1/2"),
    ):
        with pytest.raises(ValueError, match=f"audited as it is .*{own}"):
            dpb.audit(made, epsilon=3)
    assert dpb.audit(policy, epsilon=0.5, levels=["transcript"], runs=1000).claim == Fraction(1, 2)
    for name in ("UCB1", "AdaCUCB"):
        with pytest.raises(ValueError, match=f"{name} takes no epsilon"):
            dpb.audit(name, epsilon=1)
    with pytest.raises(ValueError, match="both are what it is held to"):
        dpb.audit(Leader, 1, epsilon=2)


def test_a_class_that_needs_more_is_named() -> None:
    with pytest.raises(
        TypeError, match=r"EachArm cannot be made from nothing alone .* Pass an instance"
    ):
        dpb.audit(EachArm)


@pytest.mark.long
def test_classes_and_functions_that_make_one() -> None:
    made = dpb.audit(LazyForgetful, epsilon="1/2", levels=["transcript"], runs=100)
    assert (made.passed, made.claim) == (True, Fraction(1, 2))
    factory = dpb.audit(
        lambda: dpb.AnytimeLazyUCB(arms=2, epsilon=1), levels=["transcript"], runs=100
    )
    assert (factory.passed, factory.claim) == (True, 1)


def test_what_a_level_leaves_the_next_ones_use(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, float] = {}

    def level(name: str) -> Any:
        def spend_nothing(*_: Any, budget: float, **__: Any) -> LevelResult:
            given[name] = budget
            return LevelResult(name, "passed")

        return spend_nothing

    monkeypatch.setattr(run, "statistical_level", level("statistical"))
    monkeypatch.setattr(run, "transcript_level", level("transcript"))
    monkeypatch.setattr(run, "clock", lambda: 0.0)  # no time passes
    dpb.audit(Coin, 1, budget=60)
    # white-box levels have no use for their shares
    assert given == {"statistical": pytest.approx(60)}
    dpb.audit(LazyForgetful(epsilon=Fraction(1)), budget=60)
    assert given["transcript"] == pytest.approx(60 * 25 / 95)
    assert given["statistical"] == pytest.approx(60)
    # others overran: there is a least
    assert run.share(["statistical"], -5, 60) == pytest.approx(21)


def test_conclusions_say_what_was_looked_at() -> None:
    def said(claim: int | None, *levels: LevelResult) -> str:
        return conclusion(AuditReport("x", None if claim is None else Fraction(claim), levels))

    some = LevelResult("transcript", "passed", 1.0, details={"pairs": 210, "of": 1345})
    assert said(1, some).endswith("The transcript level replayed 210 of 1,345 neighbours.")
    assert "neighbours" not in said(1, replace(some, details={"pairs": 9, "of": 9}))
    assert "nothing was seen" in said(1, LevelResult("statistical", "passed", confidence=0.9))
    assert "nothing was seen" not in said(1, some, LevelResult("statistical", "passed"))
    assert "no leak is certified" in said(1, LevelResult("statistical", "passed"))
    assert said(1, LevelResult("statistical", "not applicable")).startswith("No verdict")
    why = "A changed record changes a plan."
    leak, seen = (
        LevelResult("transcript", "failed", evidence=why),
        LevelResult("statistical", "not refuted", 0.9966),
    )
    assert said(1, leak, seen).endswith(f"What refutes the claim is no figure of ε: {why}")
    assert "no figure" not in said(1, leak, replace(seen, lower_bound=1.01))
    assert said(None, LevelResult("statistical", "not applicable", 2.0)).startswith(
        "Nothing to hold it to"
    )


def test_no_claim_is_no_pass() -> None:
    report = dpb.audit("UCB1", levels=["statistical"], runs=2000)
    assert report.claim is None
    assert not report.passed
    assert report.lower_bound > 1


@pytest.mark.long
def test_report_is_plain_data() -> None:
    report = dpb.audit(
        LazyForgetful(epsilon=Fraction(1), grid=Grid(steps=1)),
        levels=["transcript", "statistical"],
        runs=200,
        workers=1,
    )
    data = json.loads(report.to_json())
    assert data["passed"] is True
    assert data["claim"] == "1"
    assert [level["level"] for level in data["levels"]] == ["transcript", "statistical"]
    lines = str(report).splitlines()
    assert lines[-1] == conclusion(report)
    assert [line.split()[0] for line in lines[2:-1:2]] == ["transcript", "statistical"]


def test_everything_knows_all() -> None:
    """A registered private policy is among the controls; those that decide by contexts are in
    test_in_contexts.
    """
    made = [control.make() for control in ours()]
    names = {type(each).__name__ for each in made if isinstance(each, Policy)}
    private = [row for row in dpb.list_policies() if row.privacy != "none"]
    assert names == {row.name for row in private if not row.contexts}


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (0.0, "0"),
        (1.97199, "1.971"),
        (1 - 1e-14, "1"),
        (2.0, "2"),
        (31.0699, "31.06"),
        (1e-7, "1e-07"),
    ],
)
def test_a_bound_is_never_rounded_up(value: float, printed: str) -> None:
    assert figure_of(value) == printed


@pytest.mark.long
def test_with_a_number_of_runs_the_clock_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every level gives the same report though an hour seems to pass whenever somebody looks at the
    clock.
    """
    hours = itertools.count(0.0, 3600.0)
    policy = dpb.AnytimeLazyUCB(arms=2, epsilon=1, grid=1)
    quick = dpb.audit(policy, runs=2000, workers=1)
    for clock in ("perf_counter", "monotonic", "time"):
        monkeypatch.setattr(time, clock, lambda: next(hours))
    slow = dpb.audit(policy, runs=2000, workers=1)
    assert {level.level for level in slow.levels} == {"transcript", "statistical"}
    assert [replace(level, seconds=0.0) for level in slow.levels] == [
        replace(level, seconds=0.0) for level in quick.levels
    ]


@pytest.mark.parametrize("runs", [0, -1, 2.5, True])
def test_numbers_of_runs_that_are_none(runs: Any) -> None:
    with pytest.raises(ValueError, match=r"runs=.* whole number of at least 1"):
        dpb.audit("AnytimeLazyUCB", runs=runs)


@pytest.mark.long
def test_published_noise_of_a_noisy_maximum_is_refuted_by_runs() -> None:
    """It keeps 2 and was published as 1."""
    policy = dpb.RNMFTNL(actions=2, epsilon=1, preset="published")
    report = dpb.audit(policy, 1, levels=["statistical"], runs=20_000, workers=1)
    assert report.failed
    assert 1.1 <= report.lower_bound <= 2
