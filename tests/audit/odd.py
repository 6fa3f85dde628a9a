"""Mechanisms that toss coins, wait for lucky noise, share noise or hide a part of it. Correct ones keep epsilon = `true`, or less; wrong
ones say what they really leak. Rewards are 0 or 1."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from dpbandits.audit.broken.specimen import Dishonest
from dpbandits.audit.feeding import feed
from dpbandits.mechanisms import Answer, Block, Mechanism
from dpbandits.noise import Noise
from dpbandits.plan import Hold, Plan, PublicRng
from dpbandits.policies.base import Statistics, StatisticsPolicy, first_unseen
from dpbandits.policy import About, Policy, PrivatePolicy, Release
from dpbandits.privacy import Grid, Guarantee

ONE, BITS = Fraction(1), Grid(steps=1)
Told = Callable[[int, int, Noise], float]
"""What is told of a block: its exact sum, its records, the noise source."""


class Odd(NamedTuple):
    """true: the epsilon it keeps (inf: none). make: the subject."""

    name: str
    true: float
    make: Callable[[], Policy]


@dataclass(frozen=True, kw_only=True)
class Telling(Dishonest):
    tell: Told = field(repr=False)

    def start(self) -> list[int]:
        return []

    def step(self, memory: list[int], total: int, count: int, noise: Noise) -> tuple[list[int], Answer]:
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

    def step(self, memory: list[int], total: int, count: int, noise: Noise) -> tuple[list[int], Answer]:
        total, blocks = memory[0] + total, memory[1] + 1
        if blocks < 3:
            return [total, blocks], Answer(0.0, count, 0)
        return [0, 0], Answer(lap(noise, total), count, 1)


@dataclass(frozen=True, kw_only=True)
class Ahead(Dishonest):
    """Each release adds what the one before drew, and draws for the next."""

    def start(self) -> list[int]:
        return []

    def step(self, memory: list[int], total: int, count: int, noise: Noise) -> tuple[list[int], Answer]:
        drawn = memory or [lap(noise, 0)]
        return [lap(noise, 0)], Answer(total + drawn[0], count, 1)


@dataclass(frozen=True, kw_only=True)
class Tossing(StatisticsPolicy, PrivatePolicy):
    """Its own coins choose what is played: `plan` or `update` tosses them; what it is told is noised as it should be."""

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

    def regret_bound(self, gaps: Any, rounds: int) -> float:
        return math.nan


def lap(noise: Noise, value: int, epsilon: float | Fraction = ONE) -> int:
    return noise.laplace(value, sensitivity=1, epsilon=Fraction(epsilon))


def telling(tell: Told) -> Callable[[], Policy]:
    return lambda: feed(Telling(epsilon=ONE, grid=BITS, tell=tell))


def whole(tell: Callable[[list[int], Noise], tuple[float, ...]]) -> Callable[[], Policy]:
    return lambda: feed(Whole(tell=tell))


def left_out(coin: Callable[[], float], chance: float = 0.5, epsilon: float = 1) -> Callable[[], Policy]:
    """A block counts as empty where the coin says so."""
    return telling(lambda total, count, noise: lap(noise, 0 if coin() < chance else total, epsilon))


def held(kind: Callable[[], Callable[[], float]], chance: float = 0.5) -> Callable[[], Policy]:
    """The same; each subject holds a generator of its own."""
    return lambda: left_out(kind(), chance)()


def plausible(total: int, count: int, noise: Noise) -> float:
    """Redrawn until it is a possible mean: half of epsilon for the noise, half for how likely it is to be redrawn."""
    while not 0 <= (noisy := lap(noise, total, Fraction(1, 2))) <= count:
        pass
    return noisy


def plausible_by_hand(total: int, count: int, noise: Noise) -> float:
    while not 0 <= total + (draw := lap(noise, 0, Fraction(1, 2))) <= count:
        pass
    return total + draw


def response(total: int, count: int, noise: Noise) -> float:
    """Randomised response on "more than half"."""
    return (2 * total > count) != (noise.uniform() < 1 / (1 + math.e))


def patient(total: int, count: int, noise: Noise) -> float:
    """An answer in 0 … count with chances as e^(−|answer − total|/2), by rejection: how many coins are thrown depends on the sum."""
    while True:
        answer = min(count, int(noise.uniform() * (count + 1)))
        if noise.uniform() < math.exp(-abs(answer - total) / 2):
            return answer


def dithered(total: int, count: int, noise: Noise) -> float:
    """Rounded to even numbers by a coin of its own, and noised for a change of two."""
    even = total + (random.random() < 0.5) * (total % 2) - (random.random() < 0.5) * (total % 2)
    return noise.laplace(even, sensitivity=3, epsilon=ONE)


def twice_if_large(total: int, count: int, noise: Noise) -> float:
    if total > 0:
        lap(noise, total)
    return lap(noise, total)


def pairwise_winner(totals: list[int], noise: Noise) -> tuple[float, ...]:
    """Which half of four values the noisy maximum lies in: much less than its index."""
    return (noise.select([totals[0], totals[0], totals[1], totals[1]], sensitivity=1, epsilon=ONE, law="exponential") // 2,)


def loud_maximum(totals: list[int], noise: Noise) -> tuple[float, ...]:
    return (noise.select(totals, sensitivity=1, epsilon=Fraction(2), law="exponential"),)


def in_turn(totals: list[int], noise: Noise) -> tuple[float, ...]:
    first, second = (lap(noise, total, Fraction(1, 2)) for total in totals)
    return first, first + second


def numpy_coin() -> Callable[[], float]:
    return np.random.default_rng(5).random


AMPLIFIED = math.log(1 + 4 * (math.e - 1))
"""Noise that makes a block kept with chance ¼ cost 1."""

CORRECT = (
    Odd("blocks left out by the source's coins", 1, telling(lambda t, c, n: lap(n, 0 if n.uniform() < 0.5 else t))),
    Odd("blocks left out by the source's rare coins", 1, telling(lambda t, c, n: lap(n, 0 if n.uniform() < 1e-3 else t))),
    Odd("blocks left out by a generator held", 1, held(numpy_coin)),
    Odd("blocks left out by a generator held, rarely", 1, held(numpy_coin, 1e-3)),
    Odd("blocks left out by `random`", 1, left_out(random.random)),
    Odd("blocks left out by `random`, rarely", 1, left_out(random.random, 1e-3)),
    Odd("blocks left out by a random.Random held", 1, held(lambda: random.Random(3).random, 0.1)),
    Odd("blocks left out by numpy's global generator", 1, left_out(lambda: float(np.random.random()), 1e-3)),  # noqa: NPY002
    Odd("blocks left out by a generator a call", 1, left_out(lambda: float(np.random.default_rng().random()), 1e-3)),
    Odd("blocks left out by the system's randomness", 1, left_out(random.SystemRandom().random, 1e-2)),
    Odd("drawn twice by its own rare coins", 1, telling(lambda t, c, n: (lap(n, 0) * 0 if random.random() < 1e-2 else 0) + lap(n, t))),
    Odd("a quarter of the blocks, less noise", 1, telling(lambda t, c, n: lap(n, t if n.uniform() < 0.25 else 0, AMPLIFIED))),
    Odd("a quarter of the blocks by its own coins, less noise", 1, left_out(random.random, 0.75, AMPLIFIED)),
    Odd("redrawn until plausible", 1, telling(plausible)),
    Odd("redrawn until plausible, added by hand", 1, telling(plausible_by_hand)),
    Odd("randomised response by coins", 1, telling(response)),
    Odd("rejection by coins", 1, telling(patient)),
    Odd("dithered", 1, telling(dithered)),
    Odd("two draws where the sum is large, one told", 1, telling(twice_if_large)),
    Odd("noise shared in turn by two actions", 1, whole(in_turn)),
    Odd("half of a noisy maximum", 0.5, whole(pairwise_winner)),
    Odd("noisy sum modulo 2", math.log(math.cosh(1)), telling(lambda t, c, n: lap(n, t) % 2)),
    Odd("noisy sum, clipped", 1, telling(lambda t, c, n: min(c, max(0, lap(n, t))))),
    Odd("noisy sum modulo 2, in tiny units", math.log(math.cosh(1)), telling(lambda t, c, n: 1e-13 * (lap(n, t) % 2))),
    Odd("noise on a constant, added by hand", 1, telling(lambda t, c, n: t + lap(n, 7) - 7)),
    Odd("noise on a constant, clipped", 1, telling(lambda t, c, n: min(c, max(0, t + lap(n, 7) - 7)))),
    Odd("noise drawn one release ahead", 1, lambda: feed(Ahead(epsilon=ONE, grid=BITS))),
    Odd("three blocks a release", 1, lambda: feed(EveryThird(epsilon=ONE, grid=BITS))),
    Odd("coins in plan", 1, lambda: Tossing(arms=2, epsilon=1, grid=1, coin=random.random)),
    Odd("rare coins in plan", 1, lambda: Tossing(arms=2, epsilon=1, grid=1, coin=numpy_coin(), chance=1e-3)),
    Odd("coins in plan, every round", 1, lambda: Tossing(arms=2, epsilon=1, grid=1, coin=random.random, each=1)),
    Odd("rare coins in plan, every round", 1, lambda: Tossing(arms=2, epsilon=1, grid=1, coin=numpy_coin(), chance=1e-3, each=1)),
    Odd("coins in update", 1, lambda: Tossing(arms=2, epsilon=1, grid=1, coin=random.random, where="update")),
    Odd("coins in update, every round", 1, lambda: Tossing(arms=2, epsilon=1, grid=1, coin=random.random, where="update", each=1)),
    Odd("rare coins in the mechanism of a policy", 1, lambda: Tossing(
        arms=2, epsilon=1, grid=1, coin=random.random, where="", told=lambda t, c, n: lap(n, 0 if random.random() < 1e-3 else t))),
)  # fmt: skip


def leaks_rarely(chance: float) -> Told:
    """The exact sum, so rarely; works on arrays of runs, too."""
    return lambda total, count, noise: np.where(noise.uniform() < chance, 1000 + total, noise.laplace(total, sensitivity=1, epsilon=ONE))


def bounded(total: int, count: int, noise: Noise) -> float:
    while abs(draw := lap(noise, 0)) > 2:
        pass
    return total + draw


def peeking() -> Policy:
    seen: list[int] = [0]

    def told(total: int, count: int, noise: Noise) -> float:
        seen[0] = total
        return lap(noise, total)

    return Tossing(arms=2, epsilon=1, grid=1, coin=lambda: seen[0] / 4, chance=0.3, told=told)


@dataclass(frozen=True, kw_only=True)
class Running(Dishonest):
    """Running sums, noised afresh at every release."""

    def start(self) -> list[int]:
        return [0]

    def step(self, memory: list[int], total: int, count: int, noise: Noise) -> tuple[list[int], Answer]:
        return [memory[0] + total], Answer(lap(noise, memory[0] + total), count, 1)


def one_for_both(totals: list[int], noise: Noise) -> tuple[float, ...]:
    draw = lap(noise, 0, Fraction(1, 2))
    return totals[0] + draw, totals[1] + draw


INF = math.inf
WRONG = (
    Odd("exact with chance 10⁻³", INF, telling(leaks_rarely(1e-3))),
    Odd("exact with chance 10⁻⁵", INF, telling(leaks_rarely(1e-5))),
    Odd("half the noise by a coin", 2, telling(lambda t, c, n: lap(n, t, 2 if n.uniform() < 0.5 else 1))),
    Odd("half the noise, and a coin for nothing", 2, telling(lambda t, c, n: lap(n, t, 2) + 0 * n.uniform())),
    Odd("exact by a coin of its own", INF, telling(lambda t, c, n: 100 + t if random.random() < 0.1 else lap(n, t))),
    Odd("noise by `random` alone, too small", 3, telling(lambda t, c, n: t + int(random.expovariate(3)) - int(random.expovariate(3)))),
    Odd("Gaussian", INF, telling(lambda t, c, n: n.gaussian(t, sensitivity=1, rho=Fraction(1, 2)))),
    Odd("told twice", 2, whole(lambda s, n: (lap(n, s[0]), lap(n, s[0])))),
    Odd("one noise for both actions", INF, whole(one_for_both)),
    Odd("redrawn while large", INF, telling(bounded)),
    Odd("noise of a mean", 3, telling(lambda t, c, n: lap(n, t, c))),
    Odd("noise seeded by the sum", INF, telling(lambda t, c, n: t + int(np.random.default_rng(t).geometric(0.5)))),
    Odd("running sums", INF, lambda: feed(Running(epsilon=ONE, grid=BITS))),
    Odd("left out by a coin, where it is large", INF, telling(lambda t, c, n: lap(n, t) if t or n.uniform() < 0.5 else -99)),
    Odd("plans peek at the sum", INF, peeking),
    Odd("noisy maximum of half the noise", 2, whole(loud_maximum)),
)  # fmt: skip
