"""Stopping rules: NAS, DP-NAS and DP exponential NAS, one loop over questions (a question a value,
or one a doubling).
"""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Any

import numpy as np

from dpbandits.core.arrays import Integers
from dpbandits.environments.base import Environment
from dpbandits.policies.stopping.empirical import DPExponentialNAS, StoppingRule, Watching
from dpbandits.simulation.parts.jit import jit, nas_bar, private_bar
from dpbandits.simulation.parts.primitives import block_sum, laplace, reward
from dpbandits.simulation.plain import Path

LARGE = 2.0**62
"""Grid steps: no sum reaches this, so a bar above it is not reached."""


@cache
def stopper(private: bool, doubling: bool) -> Any:
    """The loop for one kind of rule; the two flags are constants to the compiler."""

    @jit
    def stop(
        alpha: float,
        beta: float,
        eps: float,
        cap: int,
        shift: int,
        unit: int,
        steps: int,
        values: Any,
        probabilities: Any,
        rounds: int,
        rng: Any,
    ) -> tuple[int, int, bool, int]:
        """Values read when it stopped (0: not within `rounds`), their noised sum in grid steps,
        capped, questions put.

        shift, unit: numerator and denominator of what a reward of 0 stands for, in grid steps.
        """
        t, total, asked, levels = 0, 0, 0, len(values)
        chance = probabilities[0, levels - 1]
        noise, last = steps / eps, min(rounds, cap)
        threshold = laplace(rng, 6.0 * noise) if private else 0
        while True:
            size = 1
            if doubling:
                size = min(1 << (asked + 1), cap) - t
            if t + size > last:
                return 0, 0, False, asked
            if doubling:
                total += block_sum(rng, 0, size, values, probabilities)
            elif levels == 2:
                total += values[1] if rng.random() < chance else values[0]
            else:
                total += reward(rng, 0, values, probabilities)
            t, asked = t + size, asked + 1
            if private:
                bar = math.ceil(steps * private_bar(t, math.log(asked), alpha, beta, eps))
            else:
                bar = math.ceil(steps * nas_bar(t, alpha, beta))
            distance = abs(shift * t + unit * total)
            if unit != 1:
                distance //= unit
            if private:
                distance += laplace(rng, 6.0 * noise) - threshold
            above = bar < LARGE and distance >= int(bar)
            if above or t >= cap:
                return t, total + (laplace(rng, 2.0 * noise) if private else 0), not above, asked

    return stop


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
    return partial(
        stop, float(policy.alpha), float(policy.beta), eps, policy.cap, shift, unit, steps
    )


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
