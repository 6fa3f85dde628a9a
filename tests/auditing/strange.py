"""Mechanisms of unusual shape: what somebody might write who never saw this package's own."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from benchmarks.controls.parts import Dishonest

from dpbandits.core.privacy import Grid, Guarantee
from dpbandits.mechanisms import Answer, Block, Mechanism
from dpbandits.noise import Noise

ONE = Fraction(1)
COARSE: dict[str, Any] = {"epsilon": ONE, "grid": Grid(steps=1)}


@dataclass(frozen=True, kw_only=True)
class Custom(Dishonest):
    """Correct or not, as `step` says. Takes the exact sum, its records, the noise and the grid;
    returns what is told, in steps.
    """

    tell: Any = field(repr=False)

    def start(self) -> list[int]:
        return []

    def step(
        self, memory: list[int], total: int, count: int, noise: Noise
    ) -> tuple[list[int], Answer]:
        def draw(value: int, times: int = 1) -> int:
            return noise.laplace(value, sensitivity=self.grid.steps, epsilon=self.epsilon * times)

        return memory, self.said(self.tell(total, count, draw), count, 1)


@dataclass(frozen=True, kw_only=True)
class HandNoisyMax(Mechanism):
    """Correct: the index of the largest of noised sums, Lap(2/epsilon), and nothing else."""

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


@dataclass(frozen=True, kw_only=True)
class HandSparseVector(Dishonest):
    """Correct: the textbook's, by plain Laplace draws: stops at the first "above"."""

    def start(self) -> list[Any]:
        return [0, None, False]

    def step(
        self, memory: list[Any], total: int, count: int, noise: Noise
    ) -> tuple[list[Any], Answer]:
        summed, threshold, halted = memory[0] + total, memory[1], memory[2]
        if halted:
            return [summed, threshold, True], self.said(0, count, 0)
        if threshold is None:
            threshold = noise.laplace(0, sensitivity=self.grid.steps, epsilon=self.epsilon / 2)
        above = (
            noise.laplace(summed, sensitivity=self.grid.steps, epsilon=self.epsilon / 4)
            >= 3 * self.grid.steps + threshold
        )
        return [summed, threshold, above], self.said(int(above), count, 1)


class Leader:
    """BROKEN: select/update, plays the arm with the larger exact sum."""

    def __init__(self) -> None:
        self.sums = [0.0, 0.0]

    def select(self) -> int:
        return int(self.sums[1] > self.sums[0])

    def update(self, arm: int, reward: float) -> None:
        self.sums[arm] += reward - 0.5
