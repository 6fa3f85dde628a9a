"""Which pairs of tables are compared, and what is said of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from benchmarks.controls.parts import BITS, ONE, Telling, lap

import dpbandits as dpb
from dpbandits.auditing.foreign import ForeignSubject
from dpbandits.auditing.statistical import Players, RunPlan, pilot, statistical_level
from dpbandits.auditing.subjects import MechanismSubject
from dpbandits.auditing.tables import Neighbours, neighbouring, with_drawn_levels
from dpbandits.core.inputs import Floats
from dpbandits.mechanisms import LazyForgetful
from dpbandits.noise import Noise
from tests.auditing.test_budget import Clock
from tests.auditing.test_tables import Coin


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


def test_what_was_skipped_was_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """The report said 8 to 3,200 rounds where two runs got that far, to see how long they take.
    How long is known from shorter ones.
    """
    clock = Clock(monkeypatch)
    subject = Slower(clock)
    with Players(subject, 1) as players:
        plan = RunPlan(20.0, None, 0, lambda _: None, clock.now)
        found = pilot(players, subject.pairs(), plan, 5.0)
    assert {pair.rounds for pair in found.tried} == {8}
    assert 10 <= len(found.tried) < len(subject.pairs())
    assert 3200 not in subject.played
    assert clock.now - 1000 <= 5.5


def test_tapes_of_many_lengths() -> None:
    rounds = [pair.rounds for pair in ForeignSubject(Coin, "coin", arms=2).pairs()]
    assert set(rounds) == {8, 16, 32, 256, 3200}
    assert {256, 3200} <= set(rounds[:80])
    streams = [pair.rounds for pair in MechanismSubject(LazyForgetful(epsilon=1)).pairs()[:80]]
    assert {1, 2, 8, 16, 40, 120, 3200} <= set(streams)


def less_noise_for_more(total: int, count: int, noise: Noise) -> float:
    """BROKEN: the cost grows with the block; right where a block is one record."""
    return lap(noise, total, count)


@pytest.mark.long
def test_blocks_of_several_records_are_tried() -> None:
    """On blocks of eight this leaks 8, on blocks of one it keeps 1. All runs but a share
    of e⁻⁸ tell the tables apart: the bound of 10,000 is above 5 but for a chance below 1e-6.
    """
    subject = MechanismSubject(Telling(epsilon=ONE, grid=BITS, tell=less_noise_for_more))
    found = statistical_level(subject, ONE, workers=1, runs=10_000)
    assert found.outcome == "failed", found.evidence
    assert found.lower_bound > 5


def narrow(rewards: Any, seed: int) -> float:
    """BROKEN: tells whether a reward lies between .3 and .36."""
    told = ((rewards >= 0.3) & (rewards <= 0.36)).any()
    return float(told if np.random.default_rng(seed).random() < 0.9 else not told)


def test_a_narrow_band_of_rewards_is_hit() -> None:
    """Records moved between 0, 1/4, 1/2, 1, .02 and .97: not refuted. It leaks ln 9."""
    assert dpb.audit(narrow, 1, runs=10_000, workers=1).failed


def test_drawn_levels_are_those_of_the_seed() -> None:
    pairs = neighbouring(2, 8, whole=False, apart=True)
    some, again, others = (
        [pair.label for pair in with_drawn_levels(pairs, seed)] for seed in (1, 1, 2)
    )
    assert some == again != others
    assert len(some) == len(pairs) + len(pairs) // 8
    for pair in with_drawn_levels(pairs, 1):
        moved = np.argwhere(pair.a != pair.b)
        assert len(moved) == 1, pair.label
        assert (np.abs(100 * pair.a - np.rint(100 * pair.a)) < 1e-9).all()
