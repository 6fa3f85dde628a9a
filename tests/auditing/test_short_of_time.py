"""With too little time nothing passes, whatever was seen meanwhile; and what was played here weighs
more than a report's counts.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.auditing import effort
from dpbandits.auditing.replays import NO_TIME, Witness
from dpbandits.auditing.report import AuditReport, LevelResult
from dpbandits.auditing.subjects import feed
from dpbandits.auditing.transcript import transcript_level
from dpbandits.core.errors import NoTime
from dpbandits.mechanisms import Answer, LazyForgetful
from dpbandits.mechanisms.base import Pure


@dataclass(frozen=True, kw_only=True)
class CountDivided(Pure):
    """Less noise the more records a block has: of c records each pays c epsilon. With one record a
    block it keeps its claim.
    """

    def start(self) -> None:
        return None

    def step(self, memory: None, total: int, count: int, noise: Any) -> tuple[None, Answer]:
        sensitivity = max(1, self.grid.steps // count)
        noisy = noise.laplace(total, sensitivity=sensitivity, epsilon=self.epsilon)
        return memory, Answer(noisy / self.grid.steps, count, 1)


@dataclass(frozen=True, kw_only=True)
class Annealed(Pure):
    """Half the noise at every release."""

    def start(self) -> int:
        return 0

    def step(self, memory: int, total: int, count: int, noise: Any) -> tuple[int, Answer]:
        noisy = noise.laplace(total, sensitivity=self.grid.steps, epsilon=self.epsilon * 2**memory)
        return memory + 1, Answer(noisy / self.grid.steps, count, 1)


@dataclass(frozen=True, kw_only=True)
class Antithetic(Pure):
    """Every other release has the noise of the one before, with the other sign."""

    def start(self) -> list[int]:
        return [0, 0]

    def step(
        self, memory: list[int], total: int, count: int, noise: Any
    ) -> tuple[list[int], Answer]:
        drawn, nth = memory
        if nth % 2:
            return [0, nth + 1], Answer((total - drawn) / self.grid.steps, count, 1)
        noisy = noise.laplace(total, sensitivity=self.grid.steps, epsilon=self.epsilon)
        return [noisy - total, nth + 1], Answer(noisy / self.grid.steps, count, 1)


@pytest.mark.parametrize("made", [CountDivided, Antithetic])
def test_what_a_tiny_run_shows_is_found_on_a_slow_machine(
    made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every look at the clock a fortieth of the time has passed: too little to move each of
    some hundred draws.
    """
    now = [0.0]

    def clock() -> float:
        now[0] += 1 / 40
        return now[0]

    monkeypatch.setattr(effort, "clock", clock)
    found = transcript_level(feed(made(epsilon=Fraction(1))), budget=1.0)
    assert found.outcome == "failed", found.evidence


@pytest.mark.parametrize("made", [CountDivided, LazyForgetful])
def test_a_moment_is_too_short_to_pass(made: Any) -> None:
    """It passed on the neighbours of the first run, which has one record a block."""
    report = dpb.audit(made(epsilon=Fraction(1)), budget=1e-3, levels=["transcript"])
    assert report.verdict == "no verdict"
    assert "runs, too few to pass" in report.levels[0].evidence


@pytest.mark.long
def test_with_counted_replays_they_pass_and_fail() -> None:
    keeps = dpb.audit(LazyForgetful(epsilon=Fraction(1)), levels=["transcript"], runs=200)
    leaks = dpb.audit(CountDivided(epsilon=Fraction(1)), levels=["transcript"], runs=200)
    assert (keeps.verdict, leaks.verdict) == ("passed", "failed")
    assert leaks.lower_bound > 3


@pytest.mark.long
def test_an_epsilon_beyond_every_float_is_audited() -> None:
    """It ended in an OverflowError. Its loss doubles at every release, exactly as counted."""
    report = dpb.audit(Annealed(epsilon=Fraction(1)), runs=500, levels=["transcript"])
    assert report.failed
    assert report.lower_bound == sys.float_info.max
    assert "largest loss more than 1e308 epsilon" in report.levels[0].evidence


def test_runs_without_a_finding_are_no_pass() -> None:
    report = AuditReport("some policy", Fraction(1), (LevelResult("statistical", "not refuted"),))
    assert (report.verdict, report.passed, report.failed) == ("not refuted", False, False)


@pytest.mark.parametrize(
    ("made", "rounds", "outcome"),
    [(Annealed, 48, "failed"), (LazyForgetful, 0, "not applicable")],
)
def test_short_runs_refute_where_long_ones_cannot_be_repeated(
    made: Any, rounds: int, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There was no verdict on noise that is drawn anew in every round, which sixteen rounds
    show. Nothing passes by short runs alone.
    """
    always = Witness.always

    def in_time(self: Witness, *args: Any, **how: Any) -> None:
        if self.rounds > rounds:
            raise NoTime(NO_TIME)
        always(self, *args, **how)

    monkeypatch.setattr(Witness, "always", in_time)
    found = transcript_level(feed(made(epsilon=Fraction(1))), rounds=64, replays=12)
    assert found.outcome == outcome
    assert outcome == "failed" or found.evidence == NO_TIME
