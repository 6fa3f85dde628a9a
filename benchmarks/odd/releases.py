"""Leaks that begin late, come seldom, or stand where nobody looks: in a runner-up, in a number of
draws, in the last bits of a float.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from benchmarks.odd.parts import Odd
from dpbandits.auditing.broken.specimen import Dishonest
from dpbandits.auditing.subjects import feed
from dpbandits.core.privacy import Grid, Guarantee
from dpbandits.mechanisms import Answer, Block, Mechanism
from dpbandits.noise import Noise

ONE = Fraction(1)


@dataclass(frozen=True, kw_only=True)
class Placed(Mechanism):
    """BROKEN: the winner and the runner-up of noised sums, with the noise that the winner alone
    would need.
    """

    epsilon: Fraction = ONE
    grid: Grid = Grid(steps=1)
    actions: int = 4

    def promise(self) -> Guarantee:
        return Guarantee(measure="pure", epsilon=self.epsilon, grid=self.grid)

    def init(self, coordinates: int) -> None:
        return None

    def answer(self, memory: None, block: Block, noise: Noise) -> tuple[None, tuple[Any, ...]]:
        noisy = np.stack(
            [noise.laplace(total, sensitivity=1, epsilon=self.epsilon) for total in block.sums]
        )
        order = np.argsort(noisy, axis=0)
        return None, ((order[-1], order[-2]),)


@dataclass(frozen=True, kw_only=True)
class Releasing(Dishonest):
    """Numbers its releases; `told` makes the answer."""

    def start(self) -> list[Any]:
        return [0, 0]

    def step(
        self, memory: list[Any], total: int, count: int, noise: Noise
    ) -> tuple[list[Any], Any]:
        honest = noise.laplace(total, sensitivity=self.grid.steps, epsilon=self.epsilon)
        return self.after(memory, total, count, honest, noise)

    @abstractmethod
    def after(
        self, memory: list[Any], total: int, count: int, honest: Any, noise: Noise
    ) -> tuple[list[Any], Any]:
        """The new memory, and what is told; `honest`: the sum with noise enough."""


class AllOfIt(Releasing):
    """BROKEN: the exact sum stands where the number of draws should."""

    def after(
        self, memory: list[Any], total: int, count: int, honest: Any, noise: Noise
    ) -> tuple[list[Any], Any]:
        return memory, Answer(honest / self.grid.steps, count, total)


class Reused(Releasing):
    """BROKEN: the noise of the first release is that of the fourth, too."""

    def after(
        self, memory: list[Any], total: int, count: int, honest: Any, noise: Noise
    ) -> tuple[list[Any], Any]:
        at, first = memory[0] + 1, honest - total if memory[0] == 0 else memory[1]
        return [at, first], self.said(total + first if at == 4 else honest, count, 1)


class Late(Releasing):
    """BROKEN: from its release 3,000 on the exact sum."""

    def after(
        self, memory: list[Any], total: int, count: int, honest: Any, noise: Noise
    ) -> tuple[list[Any], Any]:
        return [memory[0] + 1, 0], self.said(total if memory[0] >= 3000 else honest, count, 1)


class Seldom(Releasing):
    """BROKEN: once in a thousand releases the exact sum, marked as such."""

    def after(
        self, memory: list[Any], total: int, count: int, honest: Any, noise: Noise
    ) -> tuple[list[Any], Any]:
        unlucky = np.asarray(noise.uniform()) < 1e-3
        told: Any = np.where(unlucky, 1000 + total, honest)
        return memory, self.said(told, count, 1)


class Floating(Releasing):
    """BROKEN in its last bits only: Laplace noise by inversion, in floating point, added to a
    float.
    """

    def after(
        self, memory: list[Any], total: int, count: int, honest: Any, noise: Noise
    ) -> tuple[list[Any], Any]:
        coin = np.asarray(noise.uniform()) - 0.5
        return memory, Answer(
            total / self.grid.steps - np.sign(coin) * np.log1p(-2 * np.abs(coin)), count, 1
        )


class Honest(Releasing):
    """Right: what the others say they do."""

    def after(
        self, memory: list[Any], total: int, count: int, honest: Any, noise: Noise
    ) -> tuple[list[Any], Any]:
        return [memory[0] + 1, 0], self.said(honest, count, 1)


ALL: Any = {"epsilon": ONE, "grid": Grid(steps=1)}

SPECIMENS = (
    Odd("runner-up told with the winner", math.nan, lambda: feed(Placed()), 20_000),
    Odd("exact sum as the number of draws", math.inf, lambda: feed(AllOfIt(**ALL)), 2_000),
    Odd("noise used twice, three releases later", math.inf, lambda: feed(Reused(**ALL)), 10_000),
    Odd("exact from release 3,000 on", math.inf, lambda: feed(Late(**ALL)), 10_000),
    Odd("marked and exact with chance 10⁻³", math.inf, lambda: feed(Seldom(**ALL)), 200_000),
    Odd("Laplace noise in floating point", math.inf, lambda: feed(Floating(**ALL)), 10_000),
)
