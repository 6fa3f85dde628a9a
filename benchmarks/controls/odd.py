"""Controls of unusual shape, wrong and right: what somebody might write who never saw this
package's own mechanisms and policies.
"""

from __future__ import annotations

import math
import random
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from benchmarks.controls.parts import (
    BITS,
    ONE,
    Ahead,
    Dishonest,
    EveryThird,
    Running,
    Told,
    Tossing,
    lap,
    odd,
    telling,
    two_sided,
    whole,
)
from dpbandits.auditing.subjects import feed
from dpbandits.core.privacy import Grid, Guarantee
from dpbandits.mechanisms import Answer, Block, Mechanism, Randomizer
from dpbandits.noise import Noise
from dpbandits.policies.contract import Policy

# Mechanisms and policies that leak in odd ways, and what they really leak.


def leaks_rarely(chance: float) -> Told:
    """The exact sum, so rarely; works on arrays of runs, too."""
    return lambda total, count, noise: np.where(
        noise.uniform() < chance, 1000 + total, noise.laplace(total, sensitivity=1, epsilon=ONE)
    )


def bounded(total: int, count: int, noise: Noise) -> float:
    while abs(draw := lap(noise, 0)) > 2:
        pass
    return total + draw


def by_hand(total: int, count: int, noise: Noise) -> float:
    return total + int(random.expovariate(3)) - int(random.expovariate(3))


def peeking() -> Policy:
    seen: list[int] = [0]

    def told(total: int, count: int, noise: Noise) -> float:
        seen[0] = total
        return lap(noise, total)

    return Tossing(arms=2, epsilon=1, grid=1, coin=lambda: seen[0] / 4, chance=0.3, told=told)


def one_for_both(totals: list[int], noise: Noise) -> tuple[float, ...]:
    draw = lap(noise, 0, Fraction(1, 2))
    return totals[0] + draw, totals[1] + draw


def loud_maximum(totals: list[int], noise: Noise) -> tuple[float, ...]:
    return (noise.select(totals, sensitivity=1, epsilon=Fraction(2), law="exponential"),)


INF = math.inf
WRONG = (
    odd("exact with chance 10⁻³", INF, telling(leaks_rarely(1e-3)), 400_000),
    odd(
        "half the noise by a coin",
        2,
        telling(lambda t, c, n: lap(n, t, 2 if n.uniform() < 0.5 else 1)),
        10_000,
    ),
    odd(
        "half the noise, and a coin for nothing",
        2,
        telling(lambda t, c, n: lap(n, t, 2) + 0 * n.uniform()),
        5_000,
    ),
    odd(
        "exact by a coin of its own",
        INF,
        telling(lambda t, c, n: 100 + t if random.random() < 0.1 else lap(n, t)),
        5_000,
    ),
    odd("noise by `random` alone, too small", 3, telling(by_hand), 5_000),
    odd("Gaussian", INF, telling(lambda t, c, n: n.gaussian(t, sensitivity=1, rho=Fraction(1, 2)))),
    odd("told twice", 2, whole(lambda s, n: (lap(n, s[0]), lap(n, s[0])))),
    odd("one noise for both actions", INF, whole(one_for_both)),
    odd("redrawn while large", INF, telling(bounded), 5_000),
    odd("noise of a mean", 3, telling(lambda t, c, n: lap(n, t, c))),
    odd(
        "noise seeded by the sum",
        INF,
        telling(lambda t, c, n: t + int(np.random.default_rng(t).geometric(0.5))),
    ),
    odd("running sums", INF, lambda: feed(Running(epsilon=ONE, grid=BITS))),
    odd(
        "left out by a coin, where it is large",
        INF,
        telling(lambda t, c, n: lap(n, t) if t or n.uniform() < 0.5 else -99),
        5_000,
    ),
    odd("plans peek at the sum", INF, peeking),
    odd("noisy maximum of half the noise", 2, whole(loud_maximum)),
)

MISSED = (odd("exact with chance 10⁻⁵", INF, telling(leaks_rarely(1e-5)), 400_000),)
"""What the auditor does not find: by replays it says nothing, and so few runs show it that no bound
exceeds the claim.
"""


# Mechanisms and policies that are correct, however odd: they toss coins, wait for lucky noise,
# share it or hide a part of it.


def left_out(
    coin: Callable[[], float], chance: float = 0.5, epsilon: float = 1
) -> Callable[[], Policy]:
    """A block counts as empty where the coin says so."""
    return telling(lambda total, count, noise: lap(noise, 0 if coin() < chance else total, epsilon))


def held(kind: Callable[[], Callable[[], float]], chance: float = 0.5) -> Callable[[], Policy]:
    """The same; each subject holds a generator of its own."""
    return lambda: left_out(kind(), chance)()


def plausible(total: int, count: int, noise: Noise) -> float:
    """Redrawn until it is a possible mean: half of epsilon for the noise, half for how likely it is
    to be redrawn.
    """
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
    """An answer in 0 … count with chances as e^(−|answer − total|/2), by rejection: how many coins
    are thrown depends on the sum.
    """
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
    return (
        noise.select(
            [totals[0], totals[0], totals[1], totals[1]],
            sensitivity=1,
            epsilon=ONE,
            law="exponential",
        )
        // 2,
    )


def turned(total: int, count: int, noise: Noise) -> float:
    """The noise's sign depends on the sum; its law does not."""
    noisy = lap(noise, total)
    return 2 * total - noisy if total % 2 else noisy


def on_the_smaller(total: int, count: int, noise: Noise) -> float:
    """Noise on gains or on losses, whichever are fewer."""
    return lap(noise, total) if 2 * total <= count else count - lap(noise, count - total)


def in_turn(totals: list[int], noise: Noise) -> tuple[float, ...]:
    first, second = (lap(noise, total, Fraction(1, 2)) for total in totals)
    return first, first + second


def numpy_coin() -> Callable[[], float]:
    return np.random.default_rng(5).random


AMPLIFIED = math.log(1 + 4 * (math.e - 1))
"""Noise that makes a block of one record that is kept with chance ¼ cost 1. Of a block of many, the
sums with and without a record are both far from 0, and it costs all of this.
"""

CORRECT = (
    odd(
        "blocks left out by the source's coins",
        1,
        telling(lambda t, c, n: lap(n, 0 if n.uniform() < 0.5 else t)),
    ),
    odd(
        "blocks left out by the source's rare coins",
        1,
        telling(lambda t, c, n: lap(n, 0 if n.uniform() < 1e-3 else t)),
    ),
    odd("blocks left out by a generator held", 1, held(numpy_coin)),
    odd("blocks left out by a generator held, rarely", 1, held(numpy_coin, 1e-3)),
    odd("blocks left out by `random`", 1, left_out(random.random)),
    odd("blocks left out by `random`, rarely", 1, left_out(random.random, 1e-3)),
    odd("blocks left out by a random.Random held", 1, held(lambda: random.Random(3).random, 0.1)),
    odd(
        "blocks left out by numpy's global generator",
        1,
        left_out(lambda: float(np.random.random()), 1e-3),  # noqa: NPY002  # the old one is what is tried
    ),
    odd(
        "blocks left out by a generator a call",
        1,
        left_out(lambda: float(np.random.default_rng().random()), 1e-3),
    ),
    odd(
        "blocks left out by the system's randomness",
        1,
        left_out(random.SystemRandom().random, 1e-2),
    ),
    odd(
        "drawn twice by its own rare coins",
        1,
        telling(lambda t, c, n: (lap(n, 0) * 0 if random.random() < 1e-2 else 0) + lap(n, t)),
    ),
    odd(
        "a quarter of the blocks, cut at one, less noise",
        1,
        telling(lambda t, c, n: lap(n, min(t, 1) if n.uniform() < 0.25 else 0, AMPLIFIED)),
    ),
    odd("redrawn until plausible", 1, telling(plausible)),
    odd("redrawn until plausible, added by hand", 1, telling(plausible_by_hand)),
    odd("randomised response by coins", 1, telling(response)),
    odd("rejection by coins", 1, telling(patient)),
    odd("dithered", 1, telling(dithered)),
    odd("two draws where the sum is large, one told", 1, telling(twice_if_large)),
    odd("noise shared in turn by two actions", 1, whole(in_turn)),
    odd("half of a noisy maximum", 0.5, whole(pairwise_winner)),
    odd("noisy sum modulo 2", math.log(math.cosh(1)), telling(lambda t, c, n: lap(n, t) % 2)),
    odd("noisy sum, clipped", 1, telling(lambda t, c, n: min(c, max(0, lap(n, t))))),
    odd(
        "noisy sum modulo 2, in tiny units",
        math.log(math.cosh(1)),
        telling(lambda t, c, n: 1e-13 * (lap(n, t) % 2)),
    ),
    odd("noise on a constant, added by hand", 1, telling(lambda t, c, n: t + lap(n, 7) - 7)),
    odd(
        "noise on a constant, clipped",
        1,
        telling(lambda t, c, n: min(c, max(0, t + lap(n, 7) - 7))),
    ),
    odd("noise turned round by an odd sum", 1, telling(turned)),
    odd("noise on gains or on losses", 1, telling(on_the_smaller)),
    odd(
        "noise on a constant twice, added by hand",
        1,
        telling(lambda t, c, n: t + lap(n, 0) + lap(n, 0)),
    ),
    odd("noise drawn one release ahead", 1, lambda: feed(Ahead(epsilon=ONE, grid=BITS))),
    odd("three blocks a release", 1, lambda: feed(EveryThird(epsilon=ONE, grid=BITS))),
    odd("coins in plan", 1, lambda: Tossing(arms=2, epsilon=1, grid=1, coin=random.random)),
    odd(
        "rare coins in plan",
        1,
        lambda: Tossing(arms=2, epsilon=1, grid=1, coin=numpy_coin(), chance=1e-3),
    ),
    odd(
        "coins in plan, every round",
        1,
        lambda: Tossing(arms=2, epsilon=1, grid=1, coin=random.random, each=1),
    ),
    odd(
        "rare coins in plan, every round",
        1,
        lambda: Tossing(arms=2, epsilon=1, grid=1, coin=numpy_coin(), chance=1e-3, each=1),
    ),
    odd(
        "coins in update",
        1,
        lambda: Tossing(arms=2, epsilon=1, grid=1, coin=random.random, where="update"),
    ),
    odd(
        "coins in update, every round",
        1,
        lambda: Tossing(arms=2, epsilon=1, grid=1, coin=random.random, where="update", each=1),
    ),
    odd(
        "rare coins in the mechanism of a policy",
        1,
        lambda: Tossing(
            arms=2,
            epsilon=1,
            grid=1,
            coin=random.random,
            where="",
            told=lambda t, c, n: lap(n, 0 if random.random() < 1e-3 else t),
        ),
    ),
)


# Leaks that begin late, come seldom, or stand where nobody looks: in a runner-up, in a number of
# draws, in the last bits of a float.


@dataclass(frozen=True, kw_only=True)
class Placed(Mechanism):
    """BROKEN: the winner and the runner-up of noised sums, with the noise that the winner alone
    would need.
    """

    epsilon: Fraction = ONE
    grid: Grid = Grid(steps=1)
    actions: int = 4

    @property
    def guarantee(self) -> Guarantee:
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
class PlacedInEights(Placed):
    """BROKEN: the runner-up is told of blocks of eight records and more."""

    def answer(self, memory: None, block: Block, noise: Noise) -> tuple[None, tuple[Any, ...]]:
        _, ((winner, second),) = super().answer(memory, block, noise)
        return None, ((winner, second if block.counts[0] >= 8 else -1),)


@dataclass(frozen=True, kw_only=True)
class Reported(Randomizer):
    """BROKEN: two reports of one reward in one number, each with noise for one."""

    def randomise(self, steps: int, noise: Noise) -> int:
        first, second = (
            max(-20, min(20, noise.laplace(steps, sensitivity=1, epsilon=self.epsilon)))
            for _ in range(2)
        )
        return 64 * first + second

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(measure="pure", epsilon=self.epsilon, trust="local", grid=self.grid)


class CountsByDecisions:
    """BROKEN: eight rounds of the first arm; of the next sixteen as many on the second arm, here
    and there, as it counted successes, with half of the noise that this needs.
    """

    def __init__(self, seed: int) -> None:
        self.rng, self.rewards = np.random.default_rng(seed), list[float]()
        self.to_come: list[int] | None = None

    def select(self) -> int:
        if len(self.rewards) < 8:
            return 0
        if self.to_come is None:
            noisy = sum(reward >= 0.5 for reward in self.rewards) + two_sided(self.rng, 0.5)
            many = 4 + max(-4, min(12, noisy))
            self.to_come = self.rng.permutation([1] * many + [0] * (16 - many)).tolist()
        return self.to_come.pop() if self.to_come else 0

    def update(self, arm: int, reward: float) -> None:
        self.rewards.append(float(reward))


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

RELEASES = (
    odd("runner-up told with the winner", math.nan, lambda: feed(Placed()), 20_000),
    odd(
        "runner-up told with the winner, of eights",
        math.nan,
        lambda: feed(PlacedInEights()),
        20_000,
    ),
    odd(
        "two reports of one reward",
        2,
        lambda: Reported(epsilon=ONE, grid=Grid(steps=1)),
        20_000,
    ),
    odd("count told by decisions", 2, lambda: CountsByDecisions, 20_000),
    odd("exact sum as the number of draws", math.inf, lambda: feed(AllOfIt(**ALL)), 2_000),
    odd("noise used twice, three releases later", math.inf, lambda: feed(Reused(**ALL)), 10_000),
    odd("exact from release 3,000 on", math.inf, lambda: feed(Late(**ALL)), 10_000),
    odd("marked and exact with chance 10⁻³", math.inf, lambda: feed(Seldom(**ALL)), 200_000),
    odd("Laplace noise in floating point", math.inf, lambda: feed(Floating(**ALL)), 10_000),
)


# Mechanisms that lean on what they remember: noise taken off again, an old answer or an old sum
# told once more, noise that fades. And some that shape their noise by the sum.


Memory = list[int]
Step = Callable[[Memory, int, Noise], tuple[Memory, float]]
"""Of what is remembered (two numbers, at first 0) and the sum: what is remembered, and told."""


@dataclass(frozen=True, kw_only=True)
class Remembering(Dishonest):
    then: Step = field(repr=False)

    def start(self) -> Memory:
        return [0, 0]

    def step(self, memory: Memory, total: int, count: int, noise: Noise) -> tuple[Memory, Answer]:
        memory, told = self.then(memory, total, noise)
        return memory, Answer(told, count, 1)


def remembering(then: Step) -> Callable[[], Policy]:
    return lambda: feed(Remembering(epsilon=ONE, grid=BITS, then=then))


def antithetic(memory: Memory, total: int, noise: Noise) -> tuple[Memory, float]:
    """Every other release has the noise of the one before, with the other sign."""
    drawn, nth = memory
    if nth % 2:
        return [0, nth + 1], total - drawn
    noisy = lap(noise, total)
    return [noisy - total, nth + 1], noisy


def fading(memory: Memory, total: int, noise: Noise) -> tuple[Memory, float]:
    """From the third release on, half the noise of the one before."""
    return [0, memory[1] + 1], lap(noise, total, 2 ** max(0, memory[1] - 2))


def stale(memory: Memory, total: int, noise: Noise) -> tuple[Memory, float]:
    """The sum before is told again, in the next."""
    return [total, 0], lap(noise, total + memory[0])


def cached(memory: Memory, total: int, noise: Noise) -> tuple[Memory, float]:
    """The answer before, if the sum is the same."""
    seen, told = memory
    if total + 1 == seen:
        return memory, told
    noisy = lap(noise, total)
    return [total + 1, noisy], noisy


def clipped(total: int, count: int, noise: Noise) -> float:
    return total + max(-3, min(3, lap(noise, 0)))


def even(total: int, count: int, noise: Noise) -> float:
    """The sum's last bit is told."""
    return total + 2 * lap(noise, 0)


INFINITE = math.inf
WRONG_MEMORIES = (
    odd("every other noise taken off again", INFINITE, remembering(antithetic)),
    odd("noise that fades", INFINITE, remembering(fading)),
    odd("the sum before, once more", 2, remembering(stale)),
    odd("the answer before, if the sum is the same", INFINITE, remembering(cached), 10_000),
    odd("noise cut at three scales", INFINITE, telling(clipped), 10_000),
    odd("noise that is even", INFINITE, telling(even)),
    odd(
        "zero stays zero",
        INFINITE,
        telling(lambda t, c, n: 0 if (noisy := lap(n, t)) < 0 and t == 0 else noisy),
        10_000,
    ),
    odd(
        "half the noise where all are ones",
        INFINITE,
        telling(lambda t, c, n: lap(n, t, 2 if t == c else 1)),
        10_000,
    ),
    odd(
        "a quarter of the blocks, less noise",
        AMPLIFIED,
        telling(lambda t, c, n: lap(n, t if n.uniform() < 0.25 else 0, AMPLIFIED)),
        10_000,
    ),
    odd(
        "a quarter of the blocks by its own coins, less noise",
        AMPLIFIED,
        left_out(random.random, 0.75, AMPLIFIED),
        10_000,
    ),
)
CORRECT_MEMORIES = (
    odd("noised, then rounded", 1, telling(lambda t, c, n: lap(n, t) // 7 * 7)),
    odd("noise on noise", 1, telling(lambda t, c, n: lap(n, t) + lap(n, 0))),
)
