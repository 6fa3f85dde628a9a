"""Leaks of many kinds that runs alone must find, tables and events included. All claim epsilon = 1.

What is certified is wrong with probability 1e-6. That a leak is found is a matter of power; each of these has an event that refutes the
claim in so many runs but for a chance below 1e-6, and seeds are fixed.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.audit.broken.specimen import Dishonest
from dpbandits.audit.counting.features import lattice
from dpbandits.audit.statistical import statistical_level
from dpbandits.audit.subjects import MechanismSubject
from dpbandits.mechanisms import Answer, Block, Mechanism
from dpbandits.noise import Noise
from dpbandits.privacy import Grid, Guarantee
from tests.audit.strange import ONE


@dataclass(frozen=True, kw_only=True)
class Placed(Mechanism):
    """BROKEN: the winner and the runner-up of noised sums, with the noise that the winner alone would need."""

    epsilon: Fraction = ONE
    grid: Grid = Grid(steps=1)
    actions: int = 4

    def promise(self) -> Guarantee:
        return Guarantee(measure="pure", epsilon=self.epsilon, grid=self.grid)

    def init(self, coordinates: int) -> None:
        return None

    def answer(self, memory: None, block: Block, noise: Noise) -> tuple[None, tuple[Any, ...]]:
        noisy = np.stack([noise.laplace(total, sensitivity=1, epsilon=self.epsilon) for total in block.sums])
        order = np.argsort(noisy, axis=0)
        return None, ((order[-1], order[-2]),)


@dataclass(frozen=True, kw_only=True)
class Releasing(Dishonest):
    """Numbers its releases; `told` makes the answer."""

    def start(self) -> list[Any]:
        return [0, 0]

    def step(self, memory: list[Any], total: int, count: int, noise: Noise) -> tuple[list[Any], Any]:
        honest = noise.laplace(total, sensitivity=self.grid.steps, epsilon=self.epsilon)
        return self.after(memory, total, count, honest, noise)

    def after(self, memory: list[Any], total: int, count: int, honest: Any, noise: Noise) -> tuple[list[Any], Any]:
        raise NotImplementedError


class AllOfIt(Releasing):
    """BROKEN: the exact sum stands where the number of draws should."""

    def after(self, memory: list[Any], total: int, count: int, honest: Any, noise: Noise) -> tuple[list[Any], Any]:
        return memory, Answer(honest / self.grid.steps, count, total)


class Reused(Releasing):
    """BROKEN: the noise of the first release is that of the fourth, too."""

    def after(self, memory: list[Any], total: int, count: int, honest: Any, noise: Noise) -> tuple[list[Any], Any]:
        at, first = memory[0] + 1, honest - total if memory[0] == 0 else memory[1]
        return [at, first], self.said(total + first if at == 4 else honest, count, 1)


class Late(Releasing):
    """BROKEN: from its release 3,000 on the exact sum."""

    def after(self, memory: list[Any], total: int, count: int, honest: Any, noise: Noise) -> tuple[list[Any], Any]:
        return [memory[0] + 1, 0], self.said(total if memory[0] >= 3000 else honest, count, 1)


class Seldom(Releasing):
    """BROKEN: once in a thousand releases the exact sum, marked as such."""

    def after(self, memory: list[Any], total: int, count: int, honest: Any, noise: Noise) -> tuple[list[Any], Any]:
        unlucky = np.asarray(noise.uniform()) < 1e-3
        return memory, self.said(np.where(unlucky, 1000 + total, honest), count, 1)  # type: ignore[arg-type]


class Floating(Releasing):
    """BROKEN in its last bits only: Laplace noise by inversion, in floating point, added to a float."""

    def after(self, memory: list[Any], total: int, count: int, honest: Any, noise: Noise) -> tuple[list[Any], Any]:
        coin = np.asarray(noise.uniform()) - 0.5
        return memory, Answer(total / self.grid.steps - np.sign(coin) * np.log1p(-2 * np.abs(coin)), count, 1)


ALL: Any = {"epsilon": ONE, "grid": Grid(steps=1)}


@pytest.mark.parametrize(
    ("subject", "runs"),
    [
        (Placed(), 20_000),
        (AllOfIt(**ALL), 2_000),
        (Reused(**ALL), 10_000),
        (Late(**ALL), 10_000),
        (Seldom(**ALL), 200_000),
        (Floating(**ALL), 10_000),
    ],
    ids=lambda x: type(x).__name__ if isinstance(x, Mechanism) else "",
)
def test_mechanisms_that_leak_by_their_answers(subject: Mechanism, runs: int) -> None:
    found = statistical_level(MechanismSubject(subject), ONE, workers=1, runs=runs)
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


class Honest(Releasing):
    """Right: what the others say they do."""

    def after(self, memory: list[Any], total: int, count: int, honest: Any, noise: Noise) -> tuple[list[Any], Any]:
        return [memory[0] + 1, 0], self.said(honest, count, 1)


def test_what_is_right_is_not_refuted() -> None:
    """The same shapes with noise enough: false alarm 1e-6 each."""
    for subject in (Honest(**ALL), Placed(epsilon=Fraction(1, 4))):
        assert statistical_level(MechanismSubject(subject), ONE, workers=1, runs=2_000).outcome == "not refuted"


def test_the_lattice_of_sums_is_coarser_than_that_of_noise() -> None:
    """Noise near 0 has bits that 1 + noise cannot have."""
    noise = np.random.default_rng(0).laplace(size=10_000)
    assert lattice(noise).min() < -54
    near = np.abs(noise + 1) > 0.5
    assert lattice((noise + 1)[near]).min() >= -53
