"""The question as a user asks it in Python: of policies, mechanisms, foreign objects."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.audit import run
from dpbandits.audit.everything import instances, one_audit, row
from dpbandits.audit.report import AuditReport, LevelResult
from dpbandits.audit.show import write_page
from dpbandits.audit.words import conclusion
from dpbandits.mechanisms import EachArm, LazyForgetful


class Greedy:
    """select/update, no privacy: plays the arm with the larger sum."""

    def __init__(self) -> None:
        self.sums = [0.0, 0.0]

    def select(self) -> int:
        return int(self.sums[1] > self.sums[0])

    def update(self, arm: int, reward: float) -> None:
        self.sums[arm] += reward - 0.5


class Coin:
    """ask/tell, perfectly private: it never looks."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def ask(self) -> int:
        return self.rng.randrange(2)

    def tell(self, decision: int, reward: float) -> None:
        pass


def test_policy() -> None:
    report = dpb.audit(dpb.AnytimeLazyUCB(arms=2, epsilon="1/2"), levels=["transcript", "exact law"], budget=10)
    assert report.passed
    assert report.claim == Fraction(1, 2)
    assert report.lower_bound == 0.5
    assert report.confidence == 1.0
    assert [level.level for level in report.levels] == ["transcript", "exact law"]


def test_claim_can_be_put_to_it() -> None:
    report = dpb.audit("AnytimeLazyUCB", "1/4", epsilon="1/2", levels=["transcript"])
    assert not report.passed
    assert "FAILED at transcript" in conclusion(report)


def test_foreign_objects() -> None:
    leaks = dpb.audit(Greedy, 1, levels=["statistical"], budget=2)
    assert not leaks.passed
    assert leaks.lower_bound > 5
    keeps = dpb.audit(Coin, "1/10", budget=2)
    assert keeps.passed
    assert keeps.lower_bound < 0.1


def test_objects_that_cannot_be_audited() -> None:
    with pytest.raises(TypeError, match="fresh object for each run"):
        dpb.audit(Greedy(), 1)
    with pytest.raises(TypeError, match="select\\(\\) and update"):
        dpb.audit(dict, 1)
    with pytest.raises(ValueError, match="Did you mean AnytimeLazyUCB"):
        dpb.audit("AnytimeLazyUC")
    with pytest.raises(ValueError, match="Expected levels"):
        dpb.audit("AnytimeLazyUCB", levels=["hope"])


@pytest.mark.parametrize("budget", [0, -1, float("nan"), float("inf")])
def test_budgets_that_are_none(budget: float) -> None:
    with pytest.raises(ValueError, match="finite number of seconds > 0"):
        dpb.audit("AnytimeLazyUCB", budget=budget)


def test_an_epsilon_that_would_be_ignored_is_refused() -> None:
    policy, mechanism = dpb.AnytimeLazyUCB(arms=2, epsilon="1/2"), LazyForgetful(epsilon=Fraction(1))
    for made, own in ((policy, "1/2"), (mechanism, "1"), (dpb.UCB1(arms=2), "none"), (lambda: policy, "1/2")):
        with pytest.raises(ValueError, match=f"audited as it is .*{own}"):
            dpb.audit(made, epsilon=3)
    assert dpb.audit(policy, epsilon=0.5, levels=["transcript"], budget=1).claim == Fraction(1, 2)
    for name in ("UCB1", "AdaCUCB"):
        with pytest.raises(ValueError, match=f"{name} takes no epsilon"):
            dpb.audit(name, epsilon=1)
    with pytest.raises(ValueError, match="both are what it is held to"):
        dpb.audit(Greedy, 1, epsilon=2)


def test_classes_and_functions_that_make_one() -> None:
    made = dpb.audit(LazyForgetful, epsilon="1/2", levels=["transcript"], budget=1)
    assert (made.passed, made.claim) == (True, Fraction(1, 2))
    factory = dpb.audit(lambda: dpb.AnytimeLazyUCB(arms=2, epsilon=1), levels=["transcript"], budget=1)
    assert (factory.passed, factory.claim) == (True, 1)
    with pytest.raises(TypeError, match=r"EachArm cannot be made from nothing alone .* Pass an instance"):
        dpb.audit(EachArm)


def test_what_a_level_leaves_the_next_ones_use(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, float] = {}

    def level(name: str) -> Any:
        def spend_nothing(*_: Any, budget: float, **__: Any) -> LevelResult:
            given[name] = budget
            return LevelResult(name, "passed")

        return spend_nothing

    monkeypatch.setattr(run, "statistical_level", level("statistical"))
    monkeypatch.setattr(run, "transcript_level", level("transcript"))
    dpb.audit(Coin, 1, budget=60)
    assert given == {"statistical": pytest.approx(60, abs=0.5)}  # white-box levels have no use for their shares
    dpb.audit(LazyForgetful(epsilon=Fraction(1)), budget=60)
    assert given["transcript"] == pytest.approx(60 * 15 / 95, abs=0.5)
    assert given["statistical"] == pytest.approx(60, abs=0.5)
    assert run.share(["statistical"], -5, 60) == pytest.approx(16.5)  # others overran: there is a least


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
    assert said(None, LevelResult("statistical", "not applicable", 2.0)).startswith("Nothing to hold it to")


def test_no_claim_is_no_pass() -> None:
    report = dpb.audit("UCB1", levels=["statistical"], budget=1)
    assert report.claim is None
    assert not report.passed
    assert report.lower_bound > 1


def test_report_is_plain_data(tmp_path: Path) -> None:
    report = dpb.audit(LazyForgetful(epsilon=Fraction(1)), levels=["transcript", "statistical"], budget=2)
    data = json.loads(report.to_json())
    assert data["passed"] is True
    assert data["claim"] == "1"
    assert [level["level"] for level in data["levels"]] == ["transcript", "statistical"]
    text = write_page(report, tmp_path / "audit.html").read_text()
    assert "data:image/svg+xml;base64," in text
    assert conclusion(report) in text
    lines = str(report).splitlines()
    assert lines[-1] == conclusion(report)
    assert [line.split()[0] for line in lines[2:-1:2]] == ["transcript", "statistical"]


def test_everything_knows_all() -> None:
    """A registered private policy is in `make audit`."""
    names = {type(policy).__name__ for policy in instances()}
    assert names == {row.name for row in dpb.policies() if row.privacy != "none"}


def test_short_full_audit() -> None:
    report = one_audit((instances()[0], None, ("transcript", "exact law", "statistical"), 1.0))
    assert len(row(report)) == 6
