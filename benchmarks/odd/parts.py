"""What odd subjects are made of. Their rewards are 0 or 1, and all claim epsilon = 1."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from dpbandits.auditing.broken.specimen import Dishonest
from dpbandits.auditing.subjects import feed
from dpbandits.core.plan import Hold, Plan, PublicRng
from dpbandits.core.privacy import Grid, Guarantee
from dpbandits.mechanisms import Answer, Block, Mechanism
from dpbandits.noise import Noise
from dpbandits.policies.base import PrivatePolicy, Statistics, StatisticsPolicy, first_unseen
from dpbandits.policies.contract import About, Policy, Release

ONE, BITS = Fraction(1), Grid(steps=1)
Told = Callable[[int, int, Noise], float]
"""What is told of a block: its exact sum, its records, the noise source."""


class Odd(NamedTuple):
    """A subject.

    true: the epsilon it keeps (inf: none; nan: more than 1). runs: by which a wrong one is caught;
        0: its replays show it.
    """

    name: str
    true: float
    make: Callable[[], Policy]
    runs: int = 0


@dataclass(frozen=True, kw_only=True)
class Telling(Dishonest):
    tell: Told = field(repr=False)

    def start(self) -> list[int]:
        return []

    def step(
        self, memory: list[int], total: int, count: int, noise: Noise
    ) -> tuple[list[int], Answer]:
        return memory, Answer(self.tell(total, count, noise), count, 1)


@dataclass(frozen=True, kw_only=True)
class Whole(Mechanism):
    """Records of two actions. tell: both sums and the noise to all that is told."""

    tell: Callable[[list[int], Noise], tuple[float, ...]] = field(repr=False)
    grid: Grid = BITS
    actions: int = 2

    def promise(self) -> Guarantee:
        return Guarantee(measure="pure", epsilon=ONE, grid=self.grid)

    def init(self, coordinates: int) -> None:
        return None

    def answer(self, memory: None, block: Block, noise: Noise) -> tuple[None, tuple[float, ...]]:
        return None, self.tell([int(total) for total in block.sums], noise)


@dataclass(frozen=True, kw_only=True)
class EveryThird(Dishonest):
    """Noised once for three blocks; until then it tells nothing."""

    def start(self) -> list[int]:
        return [0, 0]

    def step(
        self, memory: list[int], total: int, count: int, noise: Noise
    ) -> tuple[list[int], Answer]:
        total, blocks = memory[0] + total, memory[1] + 1
        if blocks < 3:
            return [total, blocks], Answer(0.0, count, 0)
        return [0, 0], Answer(lap(noise, total), count, 1)


@dataclass(frozen=True, kw_only=True)
class Ahead(Dishonest):
    """Each release adds what the one before drew, and draws for the next."""

    def start(self) -> list[int]:
        return []

    def step(
        self, memory: list[int], total: int, count: int, noise: Noise
    ) -> tuple[list[int], Answer]:
        drawn = memory or [lap(noise, 0)]
        return [lap(noise, 0)], Answer(total + drawn[0], count, 1)


@dataclass(frozen=True, kw_only=True)
class Tossing(StatisticsPolicy, PrivatePolicy):
    """Its own coins choose what is played: `plan` or `update` tosses them; what it is told is
    noised as it should be.
    """

    about = About(paper="", algorithm="", bound="")
    coin: Callable[[], float] = field(repr=False)
    where: str = "plan"
    chance: float = 0.5
    each: int = 4
    told: Told = field(repr=False, default=lambda total, count, noise: lap(noise, total))

    def mechanism(self) -> Mechanism:
        return Telling(epsilon=self.budget, grid=Grid(steps=self.grid), tell=self.told)

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        arm = first_unseen(state)
        if arm is None:
            arm = int(state.totals[0] < state.totals[1])
            if self.where == "plan" and self.coin() < self.chance:
                arm = 1 - arm
        return Hold(arm, self.each, (arm,))

    def update(self, state: Statistics, plan: Plan, release: Release) -> Statistics:
        new: Statistics = super().update(state, plan, release)
        if self.where == "update" and self.coin() < self.chance:
            return new._replace(totals=tuple(0.0 for _ in new.totals))
        return new

    def regret_bound(self, means: Any, rounds: int) -> float:
        return math.nan


def lap(noise: Noise, value: int, epsilon: float | Fraction = ONE) -> int:
    return noise.laplace(value, sensitivity=1, epsilon=Fraction(epsilon))


def telling(tell: Told) -> Callable[[], Policy]:
    return lambda: feed(Telling(epsilon=ONE, grid=BITS, tell=tell))


def whole(tell: Callable[[list[int], Noise], tuple[float, ...]]) -> Callable[[], Policy]:
    return lambda: feed(Whole(tell=tell))


@dataclass(frozen=True, kw_only=True)
class Running(Dishonest):
    """Running sums, noised afresh at every release."""

    def start(self) -> list[int]:
        return [0]

    def step(
        self, memory: list[int], total: int, count: int, noise: Noise
    ) -> tuple[list[int], Answer]:
        return [memory[0] + total], Answer(lap(noise, memory[0] + total), count, 1)
