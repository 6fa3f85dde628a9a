"""Stopping rules: NAS, DP-NAS and DP exponential NAS, one loop over questions (a question a value,
or one a doubling).
"""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from dpbandits.core.inputs import Integers
from dpbandits.environments.base import Environment
from dpbandits.policies.stopping import DPExponentialNAS, StoppingRule, Watching
from dpbandits.simulation.compiled.jit import inline, nas_bar, private_bar, specialised
from dpbandits.simulation.compiled.parts import block_sum, laplace, reward
from dpbandits.simulation.plain import Path

LARGE = 2.0**62
"""Grid steps: no sum reaches this, so a bar above it is not reached."""


class StoppingNumbers(NamedTuple):
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
    p = StoppingNumbers(*numbers)
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


def watched(policy: Any, steps: int) -> Any:
    """The kernel for `simulate`: a single arm's play counts, and the questions put as releases."""
    run = loop(policy)
    doubling = isinstance(policy, DPExponentialNAS)
    return None if run is None else partial(count_questions, run, doubling, policy.cap)


def count_questions(
    run: Any,
    doubling: bool,
    cap: int,
    values: Any,
    probabilities: Any,
    rounds: int,
    checkpoints: Any,
    rng: Any,
    out: Any,
) -> tuple[int, int]:
    """Questions put, and events: rounds after the last question are one event more."""
    asked = run(values, probabilities, rounds, rng)[3]
    out[:, 0] = checkpoints
    read = min(1 << asked, cap) if doubling and asked else asked
    return asked, asked + (read < rounds)


def loop(policy: StoppingRule) -> Any:
    """The compiled loop with this rule's numbers; None where they are too large for machine
    integers.
    """
    mechanism: Any = policy.reader
    shift, unit = mechanism.offset
    steps = mechanism.grid.steps
    if policy.cap * (abs(shift) + unit * steps) >= LARGE:
        return None
    eps = float(mechanism.epsilon or 1)
    stop = stopper(mechanism.epsilon is not None, isinstance(policy, DPExponentialNAS))
    numbers = StoppingNumbers(float(policy.alpha), float(policy.beta), eps, policy.cap, shift, unit)
    return partial(stop, tuple(numbers), steps)


def stopping_player(
    policy: StoppingRule, environment: Environment, seed: int
) -> partial[Path] | None:
    """A function of (checkpoints, run) that plays one run to its end; None where there is no
    compiled way.
    """
    run, lattice = loop(policy), environment.lattice(policy.reader.grid)
    if run is None or lattice is None:
        return None
    values = np.ascontiguousarray(lattice.values, np.int64)
    probabilities = np.ascontiguousarray(lattice.probabilities, np.float64)
    return partial(
        stop_run, policy.mechanism().mean, partial(run, values, probabilities, policy.cap), seed
    )


def stop_run(mean: Any, stop: Any, seed: int, checkpoints: Integers, run: int) -> Path:
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, run])))
    read, total, capped, asked = stop(rng)
    return Path(
        np.array([[read]]),
        read,
        asked,
        asked,
        state=Watching(read, mean(read, total), read, capped),
    )
