"""How the stopping rules' loop is called: NAS, DP-NAS and DP exponential NAS."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dpbandits.core.arrays import Integers
from dpbandits.environments.base import Environment
from dpbandits.policies.stopping.empirical import DPExponentialNAS, StoppingRule, Watching
from dpbandits.simulation.kernels.stopping import LARGE, Numbers, stopper
from dpbandits.simulation.plain import Path


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
    numbers = Numbers(float(policy.alpha), float(policy.beta), eps, policy.cap, shift, unit)
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
