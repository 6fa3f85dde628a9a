"""What every compiled player is made of: simulated feedback, simulated noise, and the curve of play
counts.
"""

from __future__ import annotations

import math
from typing import Any

from dpbandits.simulation.parts.jit import inline, jit


@inline
def laplace(rng: Any, scale: float) -> int:
    """Discrete Laplace: the difference of two geometrics, each the floor of an exponential."""
    return int(scale * rng.standard_exponential()) - int(scale * rng.standard_exponential())


@jit
def joint_radius(rng: Any, dimension: int, scale: float) -> int:
    """The m of a joint draw, which is uniform on {−m … m} in each of its coordinates; as in
    `SimulatedNoise`.
    """
    while True:
        m, taken = 0, 1.0
        for _ in range(dimension + 1):
            m += int(scale * rng.standard_exponential())
        for i in range(1, dimension + 1):
            taken *= (2.0 * m + 1.0) / (2.0 * (m + i))
        if rng.random() < taken:
            return m


@jit
def gaussian(rng: Any, sigma: float) -> int:
    """Discrete Gaussian (Canonne, Kamath and Steinke 2020, Algorithm 3), as in `SimulatedNoise`."""
    scale = math.floor(sigma) + 1.0
    while True:
        draw = laplace(rng, scale)
        if rng.random() < math.exp(
            -((abs(draw) - sigma * sigma / scale) ** 2) / (2.0 * sigma * sigma)
        ):
            return draw


@jit
def binomial(rng: Any, n: int, p: float) -> int:
    if n <= 0 or p <= 0.0:
        return 0
    if p >= 1.0:
        return n
    return rng.binomial(n, p)


@jit
def reward(rng: Any, arm: int, values: Any, probabilities: Any) -> int:
    """One reward in grid steps."""
    u = rng.random()
    last = len(values) - 1
    for level in range(last):
        u -= probabilities[arm, level]
        if u < 0.0:
            return values[level]
    return values[last]


@jit
def block_sum(rng: Any, arm: int, n: int, values: Any, probabilities: Any) -> int:
    """The sum of n rewards in grid steps: a multinomial count of each level, as a chain of
    binomials.
    """
    total, left, mass = 0, n, 1.0
    last = len(values) - 1
    for level in range(last, 0, -1):
        if left == 0:
            return total
        p = probabilities[arm, level]
        count = binomial(rng, left, min(1.0, p / mass)) if mass > 0.0 else 0
        total += values[level] * count
        left -= count
        mass -= p
    return total + values[0] * left


@inline
def argmax(scores: Any) -> int:
    """The first of the largest."""
    best = 0
    for arm in range(1, len(scores)):
        if scores[arm] > scores[best]:
            best = arm
    return best


@jit
def copy_to(row: Any, values: Any) -> None:
    """Number by number: a slice would compile a check of shapes and its message, for seconds."""
    for i in range(len(row)):
        row[i] = values[i]


@jit
def play(arm: int, times: int, t: int, plays: Any, checkpoints: Any, out: Any, at: int) -> int:
    """Count `times` rounds of `arm` after round t, copying the counts at every checkpoint passed;
    returns the next checkpoint.
    """
    while at < len(checkpoints) and checkpoints[at] <= t + times:
        copy_to(out[at], plays)
        out[at, arm] += checkpoints[at] - t
        at += 1
    plays[arm] += times
    return at


@jit
def play_together(
    chosen: Any, size: int, times: int, t: int, plays: Any, checkpoints: Any, out: Any, at: int
) -> int:
    """Like `play`, for rounds that play all of the first `size` arms of `chosen`."""
    while at < len(checkpoints) and checkpoints[at] <= t + times:
        copy_to(out[at], plays)
        for i in range(size):
            out[at, chosen[i]] += checkpoints[at] - t
        at += 1
    for i in range(size):
        plays[chosen[i]] += times
    return at
