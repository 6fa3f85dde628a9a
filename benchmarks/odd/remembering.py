"""Mechanisms that lean on what they remember: noise taken off again, an old answer or an old sum
told once more, noise that fades. And some that shape their noise by the sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from benchmarks.odd.parts import BITS, ONE, Odd, lap, telling
from dpbandits.auditing.broken.specimen import Dishonest
from dpbandits.auditing.subjects import feed
from dpbandits.mechanisms import Answer
from dpbandits.noise import Noise
from dpbandits.policies.contract import Policy

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


INF = math.inf
WRONG = (
    Odd("every other noise taken off again", INF, remembering(antithetic)),
    Odd("noise that fades", INF, remembering(fading)),
    Odd("the sum before, once more", 2, remembering(stale)),
    Odd("the answer before, if the sum is the same", INF, remembering(cached), 10_000),
    Odd("noise cut at three scales", INF, telling(clipped), 10_000),
    Odd("noise that is even", INF, telling(even)),
    Odd(
        "zero stays zero",
        INF,
        telling(lambda t, c, n: 0 if (noisy := lap(n, t)) < 0 and t == 0 else noisy),
        10_000,
    ),
    Odd(
        "half the noise where all are ones",
        INF,
        telling(lambda t, c, n: lap(n, t, 2 if t == c else 1)),
        10_000,
    ),
)
CORRECT = (
    Odd("noised, then rounded", 1, telling(lambda t, c, n: lap(n, t) // 7 * 7)),
    Odd("noise on noise", 1, telling(lambda t, c, n: lap(n, t) + lap(n, 0))),
)
