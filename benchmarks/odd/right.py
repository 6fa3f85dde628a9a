"""Mechanisms and policies that are correct, however odd: they toss coins, wait for lucky noise,
share it or hide a part of it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from benchmarks.odd.parts import BITS, ONE, Ahead, EveryThird, Odd, Tossing, lap, telling, whole
from dpbandits.auditing.subjects import feed
from dpbandits.noise import Noise
from dpbandits.policies.contract import Policy


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
"""Noise that makes a block kept with chance ¼ cost 1."""

CORRECT = (
    Odd(
        "blocks left out by the source's coins",
        1,
        telling(lambda t, c, n: lap(n, 0 if n.uniform() < 0.5 else t)),
    ),
    Odd(
        "blocks left out by the source's rare coins",
        1,
        telling(lambda t, c, n: lap(n, 0 if n.uniform() < 1e-3 else t)),
    ),
    Odd("blocks left out by a generator held", 1, held(numpy_coin)),
    Odd("blocks left out by a generator held, rarely", 1, held(numpy_coin, 1e-3)),
    Odd("blocks left out by `random`", 1, left_out(random.random)),
    Odd("blocks left out by `random`, rarely", 1, left_out(random.random, 1e-3)),
    Odd("blocks left out by a random.Random held", 1, held(lambda: random.Random(3).random, 0.1)),
    Odd(
        "blocks left out by numpy's global generator",
        1,
        left_out(lambda: float(np.random.random()), 1e-3),  # noqa: NPY002  # the old one is what is tried
    ),
    Odd(
        "blocks left out by a generator a call",
        1,
        left_out(lambda: float(np.random.default_rng().random()), 1e-3),
    ),
    Odd(
        "blocks left out by the system's randomness",
        1,
        left_out(random.SystemRandom().random, 1e-2),
    ),
    Odd(
        "drawn twice by its own rare coins",
        1,
        telling(lambda t, c, n: (lap(n, 0) * 0 if random.random() < 1e-2 else 0) + lap(n, t)),
    ),
    Odd(
        "a quarter of the blocks, less noise",
        1,
        telling(lambda t, c, n: lap(n, t if n.uniform() < 0.25 else 0, AMPLIFIED)),
    ),
    Odd(
        "a quarter of the blocks by its own coins, less noise",
        1,
        left_out(random.random, 0.75, AMPLIFIED),
    ),
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
    Odd(
        "noisy sum modulo 2, in tiny units",
        math.log(math.cosh(1)),
        telling(lambda t, c, n: 1e-13 * (lap(n, t) % 2)),
    ),
    Odd("noise on a constant, added by hand", 1, telling(lambda t, c, n: t + lap(n, 7) - 7)),
    Odd(
        "noise on a constant, clipped",
        1,
        telling(lambda t, c, n: min(c, max(0, t + lap(n, 7) - 7))),
    ),
    Odd("noise turned round by an odd sum", 1, telling(turned)),
    Odd("noise on gains or on losses", 1, telling(on_the_smaller)),
    Odd(
        "noise on a constant twice, added by hand",
        1,
        telling(lambda t, c, n: t + lap(n, 0) + lap(n, 0)),
    ),
    Odd("noise drawn one release ahead", 1, lambda: feed(Ahead(epsilon=ONE, grid=BITS))),
    Odd("three blocks a release", 1, lambda: feed(EveryThird(epsilon=ONE, grid=BITS))),
    Odd("coins in plan", 1, lambda: Tossing(arms=2, epsilon=1, grid=1, coin=random.random)),
    Odd(
        "rare coins in plan",
        1,
        lambda: Tossing(arms=2, epsilon=1, grid=1, coin=numpy_coin(), chance=1e-3),
    ),
    Odd(
        "coins in plan, every round",
        1,
        lambda: Tossing(arms=2, epsilon=1, grid=1, coin=random.random, each=1),
    ),
    Odd(
        "rare coins in plan, every round",
        1,
        lambda: Tossing(arms=2, epsilon=1, grid=1, coin=numpy_coin(), chance=1e-3, each=1),
    ),
    Odd(
        "coins in update",
        1,
        lambda: Tossing(arms=2, epsilon=1, grid=1, coin=random.random, where="update"),
    ),
    Odd(
        "coins in update, every round",
        1,
        lambda: Tossing(arms=2, epsilon=1, grid=1, coin=random.random, where="update", each=1),
    ),
    Odd(
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
