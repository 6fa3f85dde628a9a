"""Runs that are tied together refute nothing: by arrays, or by a seed that they share."""

from __future__ import annotations

import itertools
import random
import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.auditing.statistical import Players, statistical_level, tied_together
from dpbandits.auditing.subjects import MechanismSubject
from dpbandits.core.errors import MixedRuns
from dpbandits.core.inputs import Floats
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import Answer
from dpbandits.mechanisms.base import Pure
from tests.auditing.test_budget import Clock
from tests.auditing.test_statistical import OneRelease

ONE = Fraction(1)


@dataclass(frozen=True, kw_only=True)
class Mixes(Pure):
    """Right: with a small chance a block is told as it is, which one run in so many does. Written
    for arrays it looks at all runs, and tells all their blocks where one would.
    """

    chance: float
    proof = "lazy_forgetful"

    def start(self) -> list[int]:
        return []

    def step(self, memory: Any, total: Any, count: int, noise: Any) -> tuple[Any, Answer]:
        noisy = noise.laplace(total, sensitivity=self.grid.steps, epsilon=Fraction(9, 10))
        told = total if np.min(noise.uniform()) < self.chance else noisy
        return memory, Answer(told, count, 1)


def mixes(chance: float) -> Mixes:
    return Mixes(epsilon=ONE, grid=Grid(steps=1), chance=chance)


def test_a_large_lot_that_mixes_runs_is_thrown_away() -> None:
    """Thirty-two runs showed nothing, and lots of thousands were told as they are: failed, 6.4,
    where .9 is kept.
    """
    found = statistical_level(OneRelease(mixes(1e-3)), ONE, workers=1, runs=5_000)
    assert found.outcome == "not refuted", found.evidence
    assert found.lower_bound < 0.91


def test_what_was_seen_of_a_lot_holds_for_all_later_ones() -> None:
    subject, table = MechanismSubject(mixes(1e-4)), np.zeros((1, 1))
    assert subject.is_run_by_run(table)
    with pytest.raises(MixedRuns):
        subject.outcomes(table, 50_000, 1)
    assert len(np.unique(subject.outcomes(table, 500, 1)[:, 0])) > 5


@pytest.mark.parametrize("workers", [1, 2])
def test_players_play_a_lot_again(workers: int) -> None:
    subject = OneRelease(mixes(5e-3))
    pair = subject.pairs()[0]
    with Players(subject, workers) as players:
        lot = players.play(pair, 8_000, 3)
        assert len(lot.a) + len(lot.b) == 8_000
        assert min(len(np.unique(lot.a)), len(np.unique(lot.b))) > 5
    with Players(OneRelease(mixes(5e-3)), workers, clocked=True) as players:
        with pytest.raises(MixedRuns):
            players.play(pair, 8_000, 3)
        # from here on, run by run
        assert len(players.play(pair, 100, 3).a) > 0


class Timed(OneRelease):
    """Runs take time of the test's own clock: fifty microseconds each, and a millisecond alone."""

    def __init__(self, mechanism: Mixes, clock: Clock) -> None:
        super().__init__(mechanism)
        self.clock, self.mixed = clock, 0

    def outcomes(self, table: Floats, runs: int, seed: int) -> Floats:
        self.clock.now += runs * (1e-3 if self.mixed else 5e-5)
        try:
            return super().outcomes(table, runs, seed)
        except MixedRuns:
            self.mixed += 1
            raise


def test_with_a_budget_all_begins_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was counted before the lot that mixed is not kept: it was of lots that did not."""
    clock = Clock(monkeypatch)
    subject = Timed(mixes(1e-4), clock)
    found = statistical_level(subject, ONE, workers=1, budget=10)
    assert subject.mixed == 1
    assert found.outcome == "not refuted", found.evidence
    # a millisecond a run: those that were counted come after the lot that mixed
    assert found.details["runs"] * 1e-3 <= clock.now - 1000 <= 10.5


class Second:
    """Seconds that the test counts: so many runs are played in one."""

    def __init__(self, runs: int) -> None:
        self.runs, self.played = runs, 0

    def coins(self) -> random.Random:
        self.played += 1
        return random.Random(self.played // self.runs)


@pytest.mark.parametrize("runs", [100, 10_000])
def test_runs_that_share_a_seed_refute_nothing(runs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Private: a geometric on either side, but coins of the second. Twenty runs twice fell into one
    second, as if they followed their seed; on one table and then on the other they did not: 4.97.
    """
    clock = Second(runs)

    def later(_: float) -> None:
        clock.played += clock.runs

    monkeypatch.setattr(time, "sleep", later)

    def clocked(rewards: Any) -> float:
        coins = clock.coins()
        return float(np.rint(rewards.sum() + 20 * coins.random()))

    report = dpb.audit(clocked, 1, runs=1000, workers=1)
    assert report.verdict == "no verdict", report.levels[0].evidence
    assert "not independent" in report.levels[0].details["why"]
    assert "Warning: its runs are not independent" in str(report)
    assert report.lower_bound == 0


def test_what_a_clock_tosses_refutes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Private: it never looks, and plays by a coin of the second."""
    clock = Second(100)
    monkeypatch.setattr(time, "sleep", lambda _: setattr(clock, "played", clock.played + 100))

    class Clocked:
        def __init__(self) -> None:
            self.coins = clock.coins()

        def select(self) -> int:
            return self.coins.randrange(2)

        def update(self, arm: int, reward: float) -> None:
            pass

    assert dpb.audit(Clocked, 1, runs=500, workers=1).verdict == "no verdict"


def test_tables_take_turns_where_runs_do_not_follow_their_seed() -> None:
    """Private: coins of a pool that was filled once, handed out in turn. What comes later is
    another part of the pool on both tables.
    """
    count = itertools.count()

    def pool(rewards: Any) -> float:
        return float(next(count) // 500 % 2)

    assert dpb.audit(pool, 1, runs=1000, workers=1).verdict != "failed"


def test_what_leaks_and_tosses_coins_of_its_own_still_fails() -> None:
    coins = random.Random(1)

    def leaks(rewards: Any) -> float:
        return float(rewards.sum()) if coins.random() < 0.5 else -1.0

    assert dpb.audit(leaks, 1, runs=1000, workers=1).failed
    assert dpb.audit(lambda rewards: float(rewards.sum()), 1, runs=1000, workers=1).failed


def test_independent_runs_are_not_called_tied() -> None:
    rng = np.random.default_rng(5)
    for values in (2, 5, 1000):
        for _ in range(100):
            assert not tied_together(rng.integers(0, values, (300, 1)).astype(float))
    assert not tied_together(rng.random((300, 2)))
    assert tied_together(np.repeat(rng.random((100, 2)), 3, axis=0))
