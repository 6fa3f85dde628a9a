"""Mechanisms and policies that leak in odd ways, and what they really leak."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np

from benchmarks.odd.parts import BITS, ONE, Odd, Running, Told, Tossing, lap, telling, whole
from dpbandits.auditing.subjects import feed
from dpbandits.noise import Noise
from dpbandits.policies.contract import Policy


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
    Odd("exact with chance 10⁻³", INF, telling(leaks_rarely(1e-3)), 400_000),
    Odd(
        "half the noise by a coin",
        2,
        telling(lambda t, c, n: lap(n, t, 2 if n.uniform() < 0.5 else 1)),
        10_000,
    ),
    Odd(
        "half the noise, and a coin for nothing",
        2,
        telling(lambda t, c, n: lap(n, t, 2) + 0 * n.uniform()),
        5_000,
    ),
    Odd(
        "exact by a coin of its own",
        INF,
        telling(lambda t, c, n: 100 + t if random.random() < 0.1 else lap(n, t)),
        5_000,
    ),
    Odd("noise by `random` alone, too small", 3, telling(by_hand), 5_000),
    Odd("Gaussian", INF, telling(lambda t, c, n: n.gaussian(t, sensitivity=1, rho=Fraction(1, 2)))),
    Odd("told twice", 2, whole(lambda s, n: (lap(n, s[0]), lap(n, s[0])))),
    Odd("one noise for both actions", INF, whole(one_for_both)),
    Odd("redrawn while large", INF, telling(bounded), 5_000),
    Odd("noise of a mean", 3, telling(lambda t, c, n: lap(n, t, c))),
    Odd(
        "noise seeded by the sum",
        INF,
        telling(lambda t, c, n: t + int(np.random.default_rng(t).geometric(0.5))),
    ),
    Odd("running sums", INF, lambda: feed(Running(epsilon=ONE, grid=BITS))),
    Odd(
        "left out by a coin, where it is large",
        INF,
        telling(lambda t, c, n: lap(n, t) if t or n.uniform() < 0.5 else -99),
        5_000,
    ),
    Odd("plans peek at the sum", INF, peeking),
    Odd("noisy maximum of half the noise", 2, whole(loud_maximum)),
)

MISSED = (Odd("exact with chance 10⁻⁵", INF, telling(leaks_rarely(1e-5)), 400_000),)
"""What the auditor does not find: by replays it says nothing, and so few runs show it that no bound
exceeds the claim.
"""
