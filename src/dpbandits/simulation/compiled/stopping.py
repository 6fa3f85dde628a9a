"""Stopping rules: NAS, DP-NAS and DP exponential NAS, in one loop over tests (one per value, or per
doubling).
"""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from dpbandits.core.inputs import Integers
from dpbandits.environments.base import Environment
from dpbandits.policies.stopping import DPExponentialNAS, StoppingRule, Watching
from dpbandits.simulation.compiled.driver import generator, law_of
from dpbandits.simulation.compiled.jit import inline, nas_bar, private_bar, specialised
from dpbandits.simulation.compiled.parts import block_sum, laplace, reward
from dpbandits.simulation.plain import Path

LARGE = 2.0**62
"""In grid steps: no sum reaches this, so a bar above it is never reached."""


class StoppingNumbers(NamedTuple):
    """The constants of a rule: shift and unit are numerator and denominator of the value of a
    reward of 0, in grid steps.
    """

    alpha: float
    beta: float
    eps: float
    cap: int
    shift: int
    unit: int


@inline
def reached(
    private: bool, p: Any, steps: int, t: int, total: int, tests: int, threshold: int, rng: Any
) -> bool:
    """Return whether t values with the sum `total` are beyond the bar of this test."""
    if private:
        bar = math.ceil(steps * private_bar(t, math.log(tests), p.alpha, p.beta, p.eps))
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


def run_tests(
    numbers: Any, steps: int, values: Any, probabilities: Any, rounds: int, rng: Any
) -> tuple[int, int, bool, int]:
    """Return the values taken when it stopped (0: not within `rounds`), their noisy sum in grid
    steps, whether it was capped, and the number of tests.
    """
    p = StoppingNumbers(*numbers)
    t, total, tests, levels = 0, 0, 0, len(values)
    chance, last = probabilities[0, levels - 1], min(rounds, p.cap)
    threshold = laplace(rng, 6.0 * (steps / p.eps)) if PRIVATE else 0
    while True:
        size = min(1 << (tests + 1), p.cap) - t if DOUBLING else 1
        if t + size > last:
            return 0, 0, False, tests
        if DOUBLING:
            total += block_sum(rng, 0, size, values, probabilities)
        elif levels == 2:
            total += values[1] if rng.random() < chance else values[0]
        else:
            total += reward(rng, 0, values, probabilities)
        t, tests = t + size, tests + 1
        above = reached(PRIVATE, p, steps, t, total, tests, threshold, rng)
        if above or t >= p.cap:
            noise = laplace(rng, 2.0 * (steps / p.eps)) if PRIVATE else 0
            return t, total + noise, not above, tests


@cache
def stopper(private: bool, doubling: bool) -> Any:
    """Return the loop for one kind of rule; the two flags are constants to the compiler."""
    return specialised(run_tests, f"{private}_{doubling}", PRIVATE=private, DOUBLING=doubling)


def watched(policy: Any, steps: int) -> Any:
    """Return the kernel for `simulate`: a single arm's play counts, and tests as releases."""
    run = loop(policy)
    doubling = isinstance(policy, DPExponentialNAS)
    return None if run is None else partial(count_tests, run, doubling, policy.cap)


def count_tests(
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
    """Return the number of tests, and of events: rounds after the last test are one more event."""
    tests = run(values, probabilities, rounds, rng)[3]
    out[:, 0] = checkpoints
    read = min(1 << tests, cap) if doubling and tests else tests
    return tests, tests + (read < rounds)


def loop(policy: StoppingRule) -> Any:
    """Return the compiled loop with this rule's numbers; None if they are too large for machine
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
    """Return a function of (checkpoints, run) that plays one run to its end; None if it cannot be
    compiled.
    """
    run, law = loop(policy), law_of(policy, environment)
    if run is None or law is None:
        return None
    return partial(stop_run, policy.mechanism().mean, partial(run, *law, policy.cap), seed)


def stop_run(mean: Any, stop: Any, seed: int, checkpoints: Integers, run: int) -> Path:
    read, total, capped, tests = stop(generator(seed, run))
    return Path(
        np.array([[read]]),
        read,
        tests,
        tests,
        state=Watching(read, mean(read, total), read, capped),
    )
