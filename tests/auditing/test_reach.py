"""A report says how far its runs could have seen, and can be recounted by somebody who does not
trust it.
"""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import dpbandits as dpb
from dpbandits.auditing import verify
from dpbandits.auditing.evidence import reach
from dpbandits.auditing.report import AuditReport, conclusion, heading
from dpbandits.terminal.cli import app
from tests.auditing.strange import Leader


class Coin:
    """Private: never looks."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def select(self) -> int:
        return self.rng.randrange(2)

    def update(self, arm: int, reward: float) -> None:
        pass


class Tossing:
    """Its coins are not those it is given a seed for."""

    def __init__(self, seed: int) -> None:
        self.rng = random.SystemRandom()

    def select(self) -> int:
        return self.rng.randrange(2)

    def update(self, arm: int, reward: float) -> None:
        pass


def audit(make: Any, claim: Any = 1, runs: int = 500, **more: Any) -> AuditReport:
    return dpb.audit(make, claim, runs=runs, workers=1, **more)


def test_a_claim_out_of_reach_gets_no_verdict() -> None:
    """1,000 bets can show 4.3 at most: of a claim of 8 they say nothing, of a claim
    of 1 something.
    """
    report = audit(Coin, 8)
    assert (report.verdict, report.passed, report.failed) == ("no verdict", False, False)
    assert report.levels[0].reach == reach(1000) < 8
    assert conclusion(report).startswith("No verdict: the claim is out of reach")
    assert audit(Coin, 1).verdict == "not refuted"
    # what it leaks is more, but cannot be shown by so few
    assert audit(Leader, 8).verdict == "no verdict"


def test_runs_never_earn_a_bold_pass() -> None:
    report = audit(Coin)
    assert report.levels[0].outcome == "not refuted"
    assert conclusion(report).startswith("Not refuted: ")
    assert "Passed" not in str(report)


def test_a_report_says_what_was_looked_at() -> None:
    report = audit(Leader, 1, arms=2, seed=7)
    seen, said = report.levels[0].details, conclusion(report)
    assert seen["runs"] == 1000
    assert {8, 32} <= set(seen["rounds"])
    assert seen["arms"] == 2
    assert {0.0, 0.25, 0.5, 1.0} <= set(seen["rewards"])
    assert report.setting | {"version": 0} == {
        "version": 0,
        "seed": 7,
        "runs": 500,
        "budget": None,
        "arms": 2,
        "rounds": 8,
        "delta": 0.0,
        "rho": None,
    }
    for text in (
        "pairs of tables",
        "1,000 runs",
        "rounds",
        "could have shown ε = 4.2",
        f"dpbandits {dpb.__version__}",
        "seed 7",
    ):
        assert text in said, said


def test_coins_of_its_own_are_in_the_headline() -> None:
    report = audit(Tossing, runs=100)
    assert "warning: noise of its own" in heading(report)
    assert "Warning: " in conclusion(report)
    assert "warning" not in heading(audit(Coin, runs=100))


def written(report: AuditReport) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(report.to_json())
    return data


def test_exit_codes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "still.py").write_text(
        "import random\n"
        "class Coin:\n"
        "    def __init__(self, seed): self.rng = random.Random(seed)\n"
        "    def select(self): return self.rng.randrange(2)\n"
        "    def update(self, arm, reward): pass\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    for claim, code in (("1", 0), ("9", 3)):
        done = CliRunner().invoke(app, ["audit", "still:Coin", "--claim", claim, "--runs", "100"])
        assert done.exit_code == code, done.output
    nothing = CliRunner().invoke(app, ["audit"])
    assert nothing.exit_code == 2
    assert "--verify" in nothing.output


def test_progress_is_told_when_asked_for() -> None:
    lines: list[str] = []
    audit(Coin, runs=100, progress=lines.append)
    assert any("pair" in line for line in lines)
    assert any("bet on 200 runs" in line for line in lines)


def test_policies_keep_their_exact_pass() -> None:
    report = dpb.audit(
        dpb.AnytimeLazyUCB(arms=2, epsilon=1, grid=1), levels=["transcript"], runs=100
    )
    assert report.verdict == "passed"
    assert report.claim == Fraction(1)
    assert "dpbandits" in conclusion(report)


def test_a_third_party_verifies_the_bound() -> None:
    data = written(audit(Leader))
    found = verify(data)
    assert (found.verdict, found.lower_bound) == ("failed", data["lower_bound"])
    assert "verified: ε ≥" in found.lines[0]
    data["levels"].append({"level": "transcript", "outcome": "failed", "lower_bound": 517})
    assert "not verified: transcript" in verify(data).lines
    data["verdict"] = "passed"
    assert any("'passed', rests on more: failed" in line for line in verify(data).lines)
    assert verify(written(audit(Coin))).verdict == "not refuted"
    assert verify(written(audit(Coin, 8))).verdict == "no verdict"


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda data: data["levels"][0].update(lower_bound=9.0), "Do not trust it"),
        (lambda data: data["levels"][0]["details"]["bets"][0].__setitem__(1, 10**6), "trust"),
        (lambda data: data["levels"][0]["details"].update(bets=[[0, 1, -1]]), "whole numbers"),
        (lambda data: data["levels"][0]["details"].update(bets=[[0.5, 1, 1]]), "whole numbers"),
        (lambda data: data["levels"][0]["details"].update(bets="x"), "list of rows"),
        (lambda data: data["levels"][0]["details"].pop("bets"), "made bets"),
        (lambda data: data["levels"].append(data["levels"][0]), "one statistical level"),
        (lambda data: data.update(levels={"a": 1}), "list of levels"),
        (lambda data: data.pop("claim"), "with a claim"),
        (lambda data: data.update(claim="1/0"), "with a claim"),
        (lambda data: data["levels"][0].update(reach=99.0), "Do not trust it"),
        (lambda data: data["levels"][0].update(outcome="not refuted"), "Do not trust it"),
        (lambda data: data["levels"][0]["details"]["curve"][0].__setitem__(1, 7.0), "trust"),
        (lambda data: data["levels"][0]["details"].update(curve=[]), "a curve"),
        (lambda data: data["levels"][0]["details"].update(claimed_rho="1/2"), "of ρ alone"),
        (lambda data: data["levels"][0]["details"].update(delta=2), "of ρ alone"),
        (lambda data: data["levels"][0]["details"].update(runs=3), "Do not trust it"),
    ],
)
def test_a_report_that_does_not_add_up_is_refused(spoil: Any, says: str) -> None:
    data = written(audit(Leader))
    spoil(data)
    with pytest.raises(ValueError, match=says):
        verify(data)
