"""The stopping rules' loop over questions: a question a value, or one a doubling."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

from dpbandits.simulation.parts.jit import inline, nas_bar, private_bar, specialised
from dpbandits.simulation.parts.primitives import block_sum, laplace, reward

LARGE = 2.0**62
"""Grid steps: no sum reaches this, so a bar above it is not reached."""


class Numbers(NamedTuple):
    """shift, unit: numerator and denominator of what a reward of 0 stands for, in grid steps."""

    alpha: float
    beta: float
    eps: float
    cap: int
    shift: int
    unit: int


@inline
def reached(
    private: bool, p: Any, steps: int, t: int, total: int, asked: int, threshold: int, rng: Any
) -> bool:
    """Whether t values, whose sum is `total`, are beyond the bar of this question."""
    if private:
        bar = math.ceil(steps * private_bar(t, math.log(asked), p.alpha, p.beta, p.eps))
    else:
        bar = math.ceil(steps * nas_bar(t, p.alpha, p.beta))
    distance = abs(p.shift * t + p.unit * total)
    if p.unit != 1:
        distance //= p.unit
    if private:
        distance += laplace(rng, 6.0 * (steps / p.eps)) - threshold
    return bar < LARGE and distance >= int(bar)


PRIVATE: Any = None
DOUBLING: Any = None
"""Set for each kind of rule."""


def ask(
    numbers: Any, steps: int, values: Any, probabilities: Any, rounds: int, rng: Any
) -> tuple[int, int, bool, int]:
    """Values read when it stopped (0: not within `rounds`), their noised sum in grid steps, capped,
    questions put.
    """
    p = Numbers(*numbers)
    t, total, asked, levels = 0, 0, 0, len(values)
    chance, last = probabilities[0, levels - 1], min(rounds, p.cap)
    threshold = laplace(rng, 6.0 * (steps / p.eps)) if PRIVATE else 0
    while True:
        size = min(1 << (asked + 1), p.cap) - t if DOUBLING else 1
        if t + size > last:
            return 0, 0, False, asked
        if DOUBLING:
            total += block_sum(rng, 0, size, values, probabilities)
        elif levels == 2:
            total += values[1] if rng.random() < chance else values[0]
        else:
            total += reward(rng, 0, values, probabilities)
        t, asked = t + size, asked + 1
        above = reached(PRIVATE, p, steps, t, total, asked, threshold, rng)
        if above or t >= p.cap:
            noise = laplace(rng, 2.0 * (steps / p.eps)) if PRIVATE else 0
            return t, total + noise, not above, asked


@cache
def stopper(private: bool, doubling: bool) -> Any:
    """The loop for one kind of rule; the two flags are constants to the compiler."""
    return specialised(ask, f"{private}_{doubling}", PRIVATE=private, DOUBLING=doubling)
