"""A budget of seconds is kept, and most of it is left for the runs that count; with too little time
nothing passes.

What is asserted does not depend on the machine: time passes here by what is played, on a clock of
the test's own.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.controls.odd import plausible
from benchmarks.controls.parts import BITS, ONE, Telling, lap

import dpbandits as dpb
from dpbandits.auditing import effort
from dpbandits.auditing.effort import Seconds, Work
from dpbandits.auditing.foreign import ForeignSubject
from dpbandits.auditing.replays import NO_TIME, Witness
from dpbandits.auditing.statistical import statistical_level
from dpbandits.auditing.subjects import MOST_DRAWS, ManyNoise, MechanismSubject, feed
from dpbandits.auditing.tables import Neighbours, neighbouring
from dpbandits.auditing.transcript import transcript_level
from dpbandits.core.errors import NoTime
from dpbandits.core.inputs import Floats
from dpbandits.mechanisms import Answer, LazyForgetful
from dpbandits.mechanisms.base import SeparableDP
from tests.auditing.boxes import Clock
from tests.auditing.test_replays import interim


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


@pytest.mark.parametrize(("budget", "seconds"), [(10.0, 1e-4), (30.0, 1e-2)])
def test_the_budget_is_kept_and_most_of_it_counts(
    monkeypatch: pytest.MonkeyPatch, budget: float, seconds: float
) -> None:
    clock = Clock(monkeypatch)
    subject = Slow(clock, seconds)
    found = statistical_level(subject, Fraction(1), budget=budget, workers=1)
    assert clock.now - 1000 <= budget
    assert 2 * found.details["runs"] * seconds >= 0.2 * budget
    assert found.outcome == "failed"


@pytest.mark.parametrize(
    ("budget", "seconds"), [(4.0, 0.04), (4.0, 20.0), (30.0, 0.1), (30.0, 1.0)]
)
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


def all_plausible(total: Any, count: int, noise: Any) -> Any:
    """Redrawn for arrays of runs: until all are at once, which is never."""
    while np.any(((noisy := lap(noise, total)) < 0) | (noisy > count)):
        pass
    return noisy


@pytest.mark.long
@pytest.mark.parametrize("tell", [plausible, all_plausible])
def test_noise_that_is_redrawn_until_plausible_does_not_hang(tell: Any) -> None:
    subject = Telling(epsilon=ONE, grid=BITS, tell=tell)
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
        return float(total + lap(noise, 0) + lap(noise, 0))

    found = transcript_level(feed(Telling(epsilon=ONE, grid=BITS, tell=slowly)), budget=5.0)
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


@dataclass(frozen=True, kw_only=True)
class CountDivided(SeparableDP):
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
class Annealed(SeparableDP):
    """Half the noise at every release."""

    def start(self) -> int:
        return 0

    def step(self, memory: int, total: int, count: int, noise: Any) -> tuple[int, Answer]:
        noisy = noise.laplace(total, sensitivity=self.grid.steps, epsilon=self.epsilon * 2**memory)
        return memory + 1, Answer(noisy / self.grid.steps, count, 1)


def leaping(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """The clock moves whenever it is looked at, and not otherwise."""
    times = itertools.count(0.0, seconds)
    monkeypatch.setattr(effort, "clock", lambda: next(times))


def test_what_a_tiny_run_shows_is_found_on_a_slow_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """At every look at the clock a fortieth of the time has passed: too little to move each of
    some hundred draws.
    """
    leaping(monkeypatch, 1 / 40)
    found = transcript_level(feed(CountDivided(epsilon=Fraction(1))), budget=1.0)
    assert found.outcome == "failed", found.evidence


@pytest.mark.parametrize("made", [CountDivided, LazyForgetful])
def test_a_moment_is_too_short_to_pass(made: Any) -> None:
    """It passed on the neighbours of the first run, which has one record a block."""
    report = dpb.audit(made(epsilon=Fraction(1)), budget=1e-3, levels=["transcript"])
    assert report.verdict == "no verdict"
    assert "runs, too few to pass" in report.levels[0].evidence


@pytest.mark.parametrize("seconds", [0.0, 1 / 100, 10.0])
def test_a_pass_does_not_hang_on_the_clock(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """However fast time goes by: what looks past its vault once, in a block that no single record
    of the first neighbours changes, does not pass; with no time at all it did.
    """
    leaping(monkeypatch, seconds)
    for policy, ends in (
        (interim(at=20), ("failed", "not applicable")),
        (interim(), ("passed", "not applicable")),
    ):
        assert transcript_level(policy, rounds=40, budget=1.0).outcome in ends


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
