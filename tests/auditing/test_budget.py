"""A budget of seconds is kept, and most of it is left for the runs that count.

What is asserted does not depend on the machine: time passes here by what is played, on a clock of
the test's own.
"""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.controls.parts import Telling

import dpbandits as dpb
from dpbandits.auditing import effort
from dpbandits.auditing.effort import Seconds, Work
from dpbandits.auditing.foreign import ForeignSubject
from dpbandits.auditing.statistical import statistical_level
from dpbandits.auditing.subjects import MOST_DRAWS, ManyNoise, MechanismSubject, feed
from dpbandits.auditing.tables import Neighbours, TwoTables, neighbouring
from dpbandits.auditing.transcript import transcript_level
from dpbandits.core.inputs import Floats
from dpbandits.core.privacy import Grid
from tests.auditing.strange import COARSE, Custom


class Clock:
    """Stands still while nothing is played."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        for name in ("perf_counter", "monotonic"):
            monkeypatch.setattr(time, name, lambda: self.now)
        monkeypatch.setattr(effort, "waited", lambda: 0.0)


class Slow:
    """Leaks all of a reward with probability 1/2; every run takes so many seconds of the clock."""

    name = "slow"

    def __init__(self, clock: Clock, seconds: float) -> None:
        self.clock, self.seconds, self.played = clock, seconds, 0

    def pairs(self) -> list[Neighbours]:
        return neighbouring(1, 8, whole=False)

    def outcomes(self, table: Floats, runs: int, seed: int) -> Floats:
        self.clock.now += runs * self.seconds
        self.played += runs
        told = np.random.default_rng(seed).random((runs, 1)) < 0.5
        return np.where(told, table[:, 0], -1.0)


@pytest.mark.parametrize("seconds", [1e-4, 1e-2])
@pytest.mark.parametrize("budget", [10.0, 30.0])
def test_the_budget_is_kept_and_most_of_it_counts(
    monkeypatch: pytest.MonkeyPatch, budget: float, seconds: float
) -> None:
    clock = Clock(monkeypatch)
    subject = Slow(clock, seconds)
    found = statistical_level(subject, Fraction(1), budget=budget, workers=1)
    assert clock.now - 1000 <= budget
    assert 2 * found.details["runs"] * seconds >= 0.2 * budget
    assert found.outcome == "failed"


@pytest.mark.parametrize("seconds", [0.04, 0.1, 1.0, 20.0])
@pytest.mark.parametrize("budget", [4.0, 30.0])
def test_slow_runs_keep_the_budget(
    monkeypatch: pytest.MonkeyPatch, budget: float, seconds: float
) -> None:
    """A tenth of a second a run: a budget of 4 took 26 seconds. What is too slow is not begun."""
    clock = Clock(monkeypatch)
    found = statistical_level(Slow(clock, seconds), Fraction(1), budget=budget, workers=1)
    assert clock.now - 1000 <= max(budget, 2 * seconds) + 1e-9
    if budget < 200 * seconds:
        assert clock.now - 1000 <= 2 * seconds + 1e-9
        assert found.outcome == "no verdict"
        assert f"a run takes {seconds:.2g} s; this budget allows " in found.evidence
        assert found.details["why"] == found.evidence
    else:
        assert found.details["runs"] >= 20


@pytest.mark.parametrize("seconds", [0.1, 1.0])
def test_a_slow_function_gets_no_verdict_at_once(seconds: float) -> None:
    """By the real clock, at any load, which can only make it slower: it is played twice."""
    played = list[int]()

    def slow(rewards: Any, seed: int) -> float:
        played.append(seed)
        time.sleep(seconds)
        return float(seed % 2)

    report = dpb.audit(slow, 1, workers=1, budget=4)
    assert (report.verdict, len(played)) == ("no verdict", 2)
    assert "this budget allows" in str(report)


def plausible(total: int, count: int, draw: Any) -> int:
    while True:
        noisy = draw(total)
        if 0 <= noisy <= count:
            return int(noisy)


def all_plausible(total: Any, count: int, draw: Any) -> Any:
    """The same for arrays of runs: all at once, which is never."""
    noisy = draw(total)
    while np.any((noisy < 0) | (noisy > count)):
        noisy = draw(total)
    return noisy


@pytest.mark.parametrize("tell", [plausible, all_plausible])
def test_noise_that_is_redrawn_until_plausible_does_not_hang(tell: Any) -> None:
    subject = Custom(**COARSE, tell=tell)
    assert transcript_level(feed(subject), rounds=32, replays=12).outcome in (
        "failed",
        "not applicable",
    )
    found = statistical_level(MechanismSubject(subject), Fraction(1), workers=1, runs=300)
    # one record, and either answer twice as likely as the other: ln 2
    assert found.outcome != "failed"


def test_arrays_give_up_where_one_run_would_not() -> None:
    noise = ManyNoise(10, 0)
    for _ in range(MOST_DRAWS):
        noise.laplace(0, sensitivity=1, epsilon=Fraction(1))
    with pytest.raises(TypeError, match="One run at a time"):
        noise.laplace(0, sensitivity=1, epsilon=Fraction(1))


def test_work_is_counted_and_seconds_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    work, seconds = Work(10), Seconds(10)
    clock.now += 4
    work.spend(3)
    seconds.spend(3)
    assert (work.left(), seconds.left()) == (7, 6)


class Sluggish:
    """A black box that takes a second of the clock for a decision."""

    clock: Clock

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def select(self) -> int:
        self.clock.now += 1
        return int(self.rng.integers(2))

    def update(self, arm: int, reward: float) -> None:
        pass


def test_a_slow_black_box_is_not_played_on_long_tapes(monkeypatch: pytest.MonkeyPatch) -> None:
    """One tape of 3,200 rounds took ten times the budget."""
    Sluggish.clock = Clock(monkeypatch)
    slow = ForeignSubject(Sluggish, "slow", patience=5.0)
    assert {pair.rounds for pair in slow.pairs()} == {8}
    assert slow.hint() == ""
    assert Sluggish.clock.now - 1000 <= 2 * 6 + 2 * 8 + 1
    patient = ForeignSubject(Sluggish, "patient")
    assert {pair.rounds for pair in patient.pairs()} == {8, 16, 32, 256, 3200}


def test_replays_of_a_slow_mechanism_keep_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundredth of a second a release: nine runs, the programmes of their sums and twenty
    repetitions took no notice of the clock.
    """
    clock = Clock(monkeypatch)

    def slowly(total: int, count: int, noise: Any) -> float:
        clock.now += 0.01
        return float(
            total
            + noise.laplace(0, sensitivity=1, epsilon=Fraction(1))
            + noise.laplace(0, sensitivity=1, epsilon=Fraction(1))
        )

    found = transcript_level(
        feed(Telling(epsilon=Fraction(1), grid=Grid(steps=1), tell=slowly)), budget=5.0
    )
    assert found.outcome == "not applicable"
    # the first run is written, and replayed a few times, whatever it takes
    assert clock.now - 1000 <= 5 + 15


def test_seconds_are_those_of_an_idle_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten seconds pass, of which another program had the processor for four; then workers wait."""
    shown, queued = [100.0], [5.0]
    monkeypatch.setattr(time, "perf_counter", lambda: shown[0])
    monkeypatch.setattr(effort, "waited", lambda: queued[0])
    clock = effort.AuditClock()
    began, effort_left = clock(), Seconds(10)
    shown[0], queued[0] = 110.0, 9.0
    assert (clock() - began, effort_left.left()) == (6, 4)
    clock.waited_by_workers += 2
    assert clock() - began == 4


def test_without_word_from_the_system_all_seconds_count(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(effort, "SCHEDULED", tmp_path / "none")
    assert effort.waited() == 0.0
    (tmp_path / "none").write_text("no numbers", encoding="ascii")
    assert effort.waited() == 0.0


class OneOfThree(Slow):
    """Three pairs of tables, of which the last one shows what 1-privacy allows."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock, 1e-4)

    def pairs(self) -> list[Neighbours]:
        tables = [np.full((1, 1), reward) for reward in (0.0, 0.25, 0.5, 1.0)]
        return [TwoTables(tables[0], table, f"0 against {table[0, 0]}") for table in tables[1:]]

    def outcomes(self, table: Floats, runs: int, seed: int) -> Floats:
        self.clock.now += runs * self.seconds
        told = np.random.default_rng(seed).random((runs, 1)) < 1 / (1 + np.exp(-1))
        return np.where(told, table[:, 0] == 1, table[:, 0] < 1).astype(float)


@pytest.mark.parametrize("seed", range(5))
def test_few_pairs_get_more_than_a_glance(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """The pair that leaks was dropped after twenty runs, for two of which nothing can be said."""
    subject = OneOfThree(Clock(monkeypatch))
    found = statistical_level(subject, Fraction(1), budget=4.0, workers=1, seed=seed)
    assert found.details["pair"] == "0 against 1.0"
    assert 0.7 < found.lower_bound <= 1
