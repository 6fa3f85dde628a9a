"""A report says how far its runs could have seen, and can be recounted by somebody who does not
trust it.
"""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import dpbandits as dpb
from dpbandits.auditing.events import bound, reach
from dpbandits.auditing.page import picture
from dpbandits.auditing.recounting.recount import replay
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


@pytest.mark.long
def test_reach_is_the_largest_bound_of_so_many_runs() -> None:
    for runs in (30, 300, 5000):
        assert reach(runs, 1e-6) == bound([runs, 0, 0, runs], runs, 1e-6).epsilon
        assert reach(runs, 1e-6) >= max(
            bound([k, 0, 0, 0], runs, 1e-6).epsilon for k in range(runs + 1)
        )


def test_a_claim_out_of_reach_gets_no_verdict() -> None:
    """500 runs on either table can show 3.5 at most: of a claim of 8 they say nothing, of a claim
    of 1 something.
    """
    report = audit(Coin, 8)
    assert (report.verdict, report.passed, report.failed) == ("no verdict", False, False)
    assert report.levels[0].reach == reach(500, 1e-6) < 8
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
    assert seen["runs"] == 500
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
    }
    for text in (
        "pairs of tables",
        "500 runs",
        "rounds",
        "could have shown ε = 3.4",
        f"dpbandits {dpb.__version__}",
        "seed 7",
    ):
        assert text in said, said


def test_the_bar_shows_the_reach() -> None:
    def drawn(far: float) -> str:
        report = audit(Coin)
        return picture(replace(report, levels=(replace(report.levels[0], reach=far),))).split(
            "</metadata>"
        )[1]

    assert drawn(0.5) != drawn(1.2)


def test_coins_of_its_own_are_in_the_headline() -> None:
    report = audit(Tossing, runs=100)
    assert "warning: noise of its own" in heading(report)
    assert "Warning: " in conclusion(report)
    assert "warning" not in heading(audit(Coin, runs=100))


def written(report: AuditReport) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(report.to_json())
    return data


def test_a_stranger_recounts_the_bound() -> None:
    data = written(audit(Leader))
    found = replay(data)
    assert found.verdict == "failed"
    assert f"{data['lower_bound']:.6g}" in found.lines[0]
    assert "not played again" in found.lines[1]


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda level: level.update(lower_bound=9.0), "Do not trust it"),
        (lambda level: level["details"].update(counts=[600, 0, 0, 600]), "between 0 and 500"),
        (lambda level: level["details"].update(alpha=0.5), "wrong with probability"),
        (
            lambda level: level["details"].update(tables=[[[0.0, 0.0]], [[0.0, 0.0]]]),
            "differ in one record",
        ),
    ],
)
def test_a_report_that_does_not_add_up_is_refused(spoil: Any, says: str) -> None:
    data = written(audit(Leader))
    spoil(data["levels"][0])
    with pytest.raises(ValueError, match=says):
        replay(data)


def test_the_event_is_played_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By name, on the command line: other runs of the same event refute the claim, too. The exit
    codes are those of an audit.
    """
    (tmp_path / "leading.py").write_text(
        "class Leader:\n"
        "    def __init__(self): self.sums = [0.0, 0.0]\n"
        "    def select(self): return int(self.sums[1] > self.sums[0])\n"
        "    def update(self, arm, reward): self.sums[arm] += reward - 0.5\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    asked = CliRunner().invoke(
        app, ["audit", "leading:Leader", "--claim", "1", "--runs", "500", "--json"]
    )
    assert asked.exit_code == 1, asked.output
    (tmp_path / "report.json").write_text(asked.output, encoding="utf-8")
    alone = CliRunner().invoke(app, ["audit", "--replay", "report.json"])
    # a stranger's file names no code to be run
    assert "not played again: that would run 'leading:Leader'" in alone.output, alone.output
    again = CliRunner().invoke(app, ["audit", "leading:Leader", "--replay", "report.json"])
    assert again.exit_code == 1, again.output
    assert "recounted: ε ≥" in again.output
    assert "played again, 1,000 runs with seed " in again.output
    assert "more than the claim that the report states (ε = 1, the subject states none)" in (
        again.output
    )
    given = ["audit", "leading:Leader", "--replay", "report.json", "--seed", "7"]
    assert "with seed 7: ε ≥" in CliRunner().invoke(app, given).output


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
    assert "--replay" in nothing.output


def test_progress_is_told_when_asked_for() -> None:
    lines: list[str] = []
    audit(Coin, runs=100, progress=lines.append)
    assert any("pair" in line for line in lines)
    assert any("counting 100 runs" in line for line in lines)


def test_infinite_thresholds_survive_json() -> None:
    """Of an object that shows nothing no event comes; the file is still JSON, and adds up."""
    data = written(audit(Coin, runs=50))
    event = data["levels"][0]["details"]["event"]
    assert all(
        isinstance(event[name], str) and not math.isnan(float(event[name]))
        for name in ("high", "low")
    )
    assert replay(data).verdict == "not refuted"


def test_policies_keep_their_exact_pass() -> None:
    report = dpb.audit(
        dpb.AnytimeLazyUCB(arms=2, epsilon=1, grid=1), levels=["transcript"], runs=100
    )
    assert report.verdict == "passed"
    assert report.claim == Fraction(1)
    assert "dpbandits" in conclusion(report)
