"""A budget of seconds is kept, most of it counts, and with too little time nothing passes.

Time passes here by what is played, on a clock of the test's own.
"""

import itertools
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.controls.parts import BITS, ONE, Telling, lap

import dpbandits as dpb
from dpbandits.auditing import effort
from dpbandits.auditing.audit import GLANCE
from dpbandits.auditing.effort import GROWS, largest_in_time
from dpbandits.auditing.foreign import ForeignSubject
from dpbandits.auditing.report import LevelResult
from dpbandits.auditing.subjects import MOST_DRAWS, ManyNoise
from dpbandits.auditing.tables import Neighbours, neighbouring
from dpbandits.core.inputs import Floats
from tests.auditing.boxes import Clock, Coin


@pytest.mark.parametrize("each", [0.0, 1e-7, 1e-3, 0.1])
@pytest.mark.parametrize(("outcome", "confidence"), [("passed", 1.0), ("failed", 0.999)])
def test_amounts_grow_until_the_next_one_takes_too_long(
    outcome: Any, confidence: float, each: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an amount showed does not end the search, unless it is certain."""
    clock, played = Clock(monkeypatch), list[int]()

    def play(amount: int) -> LevelResult:
        clock.now += each * amount
        played.append(amount)
        return LevelResult("level", outcome, confidence=confidence)

    largest_in_time(play, 100, 60.0)
    assert clock.now - 1000 <= 60
    assert played[0] == 100
    assert all(2 * one <= other <= GROWS * one for one, other in itertools.pairwise(played))
    assert 2 * each * played[-1] > 0.8 * (1060 - clock.now) or played[-1] == effort.MOST
    largest_in_time(play, 5000, 0.0)
    assert played[-1] == 5000
    outcome, confidence, before = "failed", 1.0, len(played)
    largest_in_time(play, 1, 60.0)
    assert len(played) == before + 1


class Slow:
    """Leaks all of a reward with probability 1/2; every run takes so many seconds of the clock."""

    name = "slow"

    def __init__(self, clock: Clock, seconds: float) -> None:
        self.clock, self.seconds = clock, seconds

    def pairs(self) -> list[Neighbours]:
        return neighbouring(1, 8, whole=False)

    def outcomes(self, table: Floats, runs: int, seed: int) -> Floats:
        self.clock.now += runs * self.seconds
        told = np.random.default_rng(seed).random((runs, 1)) < 0.5
        return np.where(told, table[:, 0], -1.0)


@pytest.mark.parametrize(
    ("budget", "seconds"), [(4.0, 1e-3), (30.0, 0.1), (30.0, 1.0), (4.0, 20.0)]
)
def test_slow_runs_keep_the_budget(
    monkeypatch: pytest.MonkeyPatch, budget: float, seconds: float
) -> None:
    """Bets get a good part of it. What is too slow is not begun."""
    clock = Clock(monkeypatch)
    report = dpb.audit(Slow(clock, seconds), 1, budget=budget, workers=1)
    (level,) = report.levels
    if budget < 200 * seconds:
        assert clock.now - 1000 <= 2 * seconds + 1e-9
        assert report.verdict == "no verdict"
        assert f"a run takes {seconds:.2g} s; this budget allows " in level.evidence
        return
    assert clock.now - 1000 <= budget
    assert level.details["runs"] * seconds >= 0.4 * budget
    assert report.verdict == "failed"


class Slower:
    """Each round takes so many seconds of the clock."""

    name = "slower"

    def __init__(self, clock: Clock) -> None:
        self.clock, self.played = clock, dict[int, int]()

    def pairs(self) -> list[Neighbours]:
        short, long = (neighbouring(1, rounds, whole=False) for rounds in (8, 3200))
        return [pair for at in range(9) for pair in (*short[8 * at : 8 * at + 8], long[at])]

    def outcomes(self, table: Floats, runs: int, seed: int) -> Floats:
        self.clock.now += runs * len(table) * 5e-5
        self.played[len(table)] = self.played.get(len(table), 0) + runs
        return np.random.default_rng(seed).random((runs, 1))


@pytest.mark.parametrize(("budget", "rounds"), [(20.0, {8}), (60.0, {8, 3200})])
def test_what_was_skipped_was_not_tried(
    budget: float, rounds: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """How long a run takes is known from shorter ones."""
    clock = Clock(monkeypatch)
    subject = Slower(clock)
    report = dpb.audit(subject, 1, budget=budget, workers=1)
    assert set(report.levels[0].details["rounds"]) == set(subject.played) == rounds
    assert report.levels[0].details["tried"] >= 10
    assert clock.now - 1000 <= budget


def test_arrays_give_up_where_one_run_would_not() -> None:
    noise = ManyNoise(10, 0)
    for _ in range(MOST_DRAWS):
        noise.laplace(0, sensitivity=1, epsilon=Fraction(1))
    with pytest.raises(TypeError, match="One run at a time"):
        noise.laplace(0, sensitivity=1, epsilon=Fraction(1))


class Sluggish(Coin):
    """A black box that takes a second of the clock for a decision."""

    clock: Clock

    def select(self) -> int:
        self.clock.now += 1
        return super().select()


def test_a_slow_black_box_is_not_played_on_long_tapes(monkeypatch: pytest.MonkeyPatch) -> None:
    """One tape of 3,200 rounds took ten times the budget."""
    Sluggish.clock = Clock(monkeypatch)
    slow = ForeignSubject(Sluggish, "slow", patience=5.0)
    assert {pair.rounds for pair in slow.pairs()} == {8}
    assert slow.hint() == ""
    assert Sluggish.clock.now - 1000 <= 2 * 6 + 2 * 8 + 1
    patient = ForeignSubject(Sluggish, "patient")
    assert {pair.rounds for pair in patient.pairs()} == {8, 16, 32, 256, 3200}


def test_replays_of_a_slow_mechanism_stay_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundredth of a second a release: two thousand rounds would take hours."""
    clock = Clock(monkeypatch)

    def slowly(total: int, count: int, noise: Any) -> float:
        clock.now += 0.01
        return float(lap(noise, total))

    slow = Telling(epsilon=ONE, grid=BITS, tell=slowly)
    report = dpb.audit(slow, budget=5.0, levels=["transcript"])
    assert report.verdict == "no verdict"
    assert f"runs of {GLANCE} rounds alone, too little to pass" in report.levels[0].evidence
    assert clock.now - 1000 <= 900


def test_seconds_are_those_of_an_idle_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Not those for which another program had the processor. Without word of them all count."""
    shown, queued, waited = [100.0], [5.0], effort.waited
    monkeypatch.setattr(time, "perf_counter", lambda: shown[0])
    monkeypatch.setattr(effort, "waited", lambda: queued[0])
    clock = effort.AuditClock()
    began = clock()
    shown[0], queued[0] = 110.0, 9.0
    assert clock() - began == 6
    clock.waited_by_workers += 2
    assert clock() - began == 4
    monkeypatch.setattr(effort, "SCHEDULED", tmp_path / "none")
    assert waited() == 0.0
    (tmp_path / "none").write_text("no numbers", encoding="ascii")
    assert waited() == 0.0


@pytest.mark.parametrize(
    ("made", "seconds", "verdict"),
    [
        # of c records each pays c epsilon: with one record a block it keeps its claim
        (Telling(epsilon=ONE, grid=BITS, tell=lambda t, c, n: lap(n, t, c)), 1e-3, "failed"),
        (dpb.AnytimeLazyUCB(arms=2, epsilon=1, grid=1), 1e-3, "no verdict"),
        (dpb.AnytimeLazyUCB(arms=2, epsilon=1, grid=1), 1e9, "passed"),
    ],
)
def test_a_moment_is_too_short_to_pass_but_not_to_fail(
    made: Any, seconds: float, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a short run shows is found on a slow machine, too."""
    times = itertools.count(0.0, 1e7)  # the clock leaps whenever it is looked at
    monkeypatch.setattr(effort, "GROWS", 1)
    monkeypatch.setattr("dpbandits.auditing.effort.clock", lambda: next(times))
    monkeypatch.setattr("dpbandits.auditing.audit.clock", lambda: next(times))
    report = dpb.audit(made, budget=seconds, levels=["transcript"])
    assert report.verdict == verdict


@pytest.mark.long
def test_with_a_number_of_runs_the_clock_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though an hour seems to pass whenever somebody looks at it."""
    hours = itertools.count(0.0, 3600.0)
    policy = dpb.AnytimeLazyUCB(arms=2, epsilon=1, grid=1)
    quick = dpb.audit(policy, runs=100, workers=1)
    for clock in ("perf_counter", "monotonic", "time"):
        monkeypatch.setattr(time, clock, lambda: next(hours))
    slow = dpb.audit(policy, runs=100, workers=1)
    assert {level.level for level in slow.levels} == {"transcript", "statistical"}
    assert [replace(level, seconds=0.0) for level in slow.levels] == [
        replace(level, seconds=0.0) for level in quick.levels
    ]
