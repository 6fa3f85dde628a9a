"""Subjects that several tests audit."""

import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpbandits.auditing import effort
from dpbandits.auditing.subjects import MechanismSubject
from dpbandits.auditing.tables import Neighbours, neighbouring
from dpbandits.core.inputs import Floats
from dpbandits.core.privacy import Grid, Guarantee
from dpbandits.mechanisms import Block, Mechanism
from dpbandits.noise import Noise

ONE = Fraction(1)


class Coin:
    """Private: it never looks. Its generator takes seeds below 2³² only."""

    def __init__(self, seed: int, arms: int = 2) -> None:
        self.rng: Any = np.random.RandomState(seed)
        self.arms = arms

    def select(self) -> int:
        return int(self.arms * self.rng.random())

    def update(self, arm: int, reward: float) -> None:
        pass


class Leader:
    """BROKEN: plays the arm with the larger exact sum."""

    def __init__(self) -> None:
        self.sums = [0.0, 0.0]

    def select(self) -> int:
        return int(self.sums[1] > self.sums[0])

    def update(self, arm: int, reward: float) -> None:
        self.sums[arm] += reward - 0.5


@dataclass(frozen=True, kw_only=True)
class HandNoisyMax(Mechanism):
    """Right: the index of the largest of noised sums, Lap(2/epsilon), and nothing else."""

    epsilon: Fraction = ONE
    grid: Grid = Grid(steps=1)
    actions: int = 3

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(measure="pure", epsilon=self.epsilon, grid=self.grid)

    def init(self, coordinates: int) -> None:
        return None

    def answer(self, memory: None, block: Block, noise: Noise) -> tuple[None, tuple[int, ...]]:
        noisy = [
            noise.laplace(int(total), sensitivity=2 * self.grid.steps, epsilon=self.epsilon)
            for total in block.sums
        ]
        return None, (int(np.argmax(noisy)),)


class OneRelease:
    """A mechanism on one pair of tables, so that all runs go into one question."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._all, self.name = MechanismSubject(mechanism), repr(mechanism)

    def pairs(self) -> list[Neighbours]:
        return [neighbouring(1, 1, whole=False)[0]]

    def outcomes(self, table: Floats, runs: int, seed: int) -> Floats:
        return self._all.outcomes(table, runs, seed)


class Clock:
    """Stands still while nothing is played."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now: Any = 1000.0
        for name in ("perf_counter", "monotonic"):
            monkeypatch.setattr(time, name, lambda: self.now)
        monkeypatch.setattr(effort, "waited", lambda: 0.0)
