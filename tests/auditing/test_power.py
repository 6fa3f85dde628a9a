"""Leaks of many kinds that runs alone must find, tables and events included. All claim epsilon = 1.

What is certified is wrong with probability 1e-6. That a leak is found is a matter of power; each of
these has an event that refutes the claim in so many runs but for a chance below 1e-6, and seeds are
fixed.
"""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from benchmarks.controls.odd import ALL, ONE, RELEASES, Honest, Placed

import dpbandits as dpb
from dpbandits.auditing.adversary import lattice
from dpbandits.auditing.statistical import statistical_level
from dpbandits.auditing.subjects import MechanismSubject

pytestmark = pytest.mark.long


@pytest.mark.parametrize(
    "odd", [odd for odd in RELEASES if hasattr(odd.make(), "mechanism")], ids=lambda odd: odd.name
)
def test_mechanisms_that_leak_by_their_answers(odd: Any) -> None:
    found = statistical_level(
        MechanismSubject(odd.make().mechanism()), ONE, workers=1, runs=odd.runs
    )
    assert found.outcome == "failed", found.evidence


class Odd:
    """BROKEN: heeds only rewards that are no quarters, by an exact sum."""

    def __init__(self) -> None:
        self.sums, self.played = [0.0, 0.0], 0

    def select(self) -> int:
        return int(self.sums[1] > self.sums[0]) if self.played > 1 else self.played

    def update(self, arm: int, reward: float) -> None:
        self.played += 1
        self.sums[arm] += reward if 4 * reward % 1 else 0.0


class Waits:
    """BROKEN: fair coins for 3,000 rounds, then the raw leader."""

    def __init__(self, seed: int) -> None:
        self.coins, self.sums, self.played = random.Random(seed), [0.0, 0.0], 0

    def select(self) -> int:
        return int(self.coins.random() < 0.5) if self.played < 3000 else int(self.last > 0.5)

    def update(self, arm: int, reward: float) -> None:
        self.played, self.last = self.played + 1, reward


class Short(Waits):
    """The same for those who ask for 32 rounds at most: it is made for no more."""

    def select(self) -> int:
        if self.played >= 32:
            raise RuntimeError("made for 32 rounds")
        return super().select()


@pytest.mark.parametrize(("make", "runs"), [(Odd, 10_000), (Waits, 4_000)])
def test_objects_that_leak_by_their_decisions(make: Any, runs: int) -> None:
    report = dpb.audit(make, 1, runs=runs, workers=1)
    assert report.failed, report.levels[0].evidence


def test_objects_with_a_horizon_are_not_played_longer() -> None:
    report = dpb.audit(Short, 1, runs=200, workers=1)
    assert report.verdict == "not refuted"
    assert max(report.levels[0].details["rounds"]) <= 32


def test_what_is_right_is_not_refuted() -> None:
    """The same shapes with noise enough: false alarm 1e-6 each."""
    for subject in (Honest(**ALL), Placed(epsilon=Fraction(1, 4))):
        assert (
            statistical_level(MechanismSubject(subject), ONE, workers=1, runs=2_000).outcome
            == "not refuted"
        )


def test_the_lattice_of_sums_is_coarser_than_that_of_noise() -> None:
    """Noise near 0 has bits that 1 + noise cannot have."""
    noise = np.random.default_rng(0).laplace(size=10_000)
    assert lattice(noise).min() < -54
    near = np.abs(noise + 1) > 0.5
    assert lattice((noise + 1)[near]).min() >= -53
