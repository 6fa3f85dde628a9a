"""What `simulate` and its relatives are given, checked before a round is played."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpbandits.core.arrays import Integers
from dpbandits.core.inputs import LARGEST_SEED, whole_number
from dpbandits.environments.base import Environment, require_pair
from dpbandits.policies.contract import Policy
from dpbandits.simulation.runs import checked_rounds


def checked(
    policy: Policy, environment: Environment, rounds: object, runs: object, seed: object
) -> tuple[int, int, int]:
    """Rounds, runs and seed as plain ints; raises for what cannot be played."""
    require_pair(policy, environment)
    rounds, runs, seed = (
        whole_number(rounds, "rounds", 1),
        whole_number(runs, "runs", 1, MOST_RUNS),
        whole_number(seed, "seed", 0, LARGEST_SEED),
    )
    if environment.length is not None and rounds > environment.length:
        raise ValueError(
            f"{environment!r} has {environment.length} rounds, fewer than rounds={rounds}; use "
            "resample=True to play longer."
        )
    horizon = getattr(policy, "horizon", None)
    if policy.about.needs_horizon and horizon is not None and horizon < rounds:
        raise ValueError(
            f"{policy.name} was made for horizon={horizon}; it cannot be played for "
            f"rounds={rounds}."
        )
    if rounds * policy.reader.grid.steps >= 2**62:
        raise ValueError(
            f"Expected rounds={rounds} times grid={policy.reader.grid.steps} to stay below 2**62."
        )
    return rounds, runs, seed


def checked_workers(workers: object) -> int | None:
    """How many runs are played at once; None: as many as pay."""
    return None if workers is None else whole_number(workers, "workers", 1, 10_000)


def require_memory(runs: int, checkpoints: int, arms: int) -> None:
    """Refuse play counts that would fill any memory, before a round is played."""
    if runs * checkpoints * arms > MOST_COUNTS:
        raise ValueError(
            f"Expected runs × kept rounds × arms to stay below {MOST_COUNTS:_}, got {runs} × "
            f"{checkpoints} × {arms}. "
            "Simulate fewer runs at a time (another seed, other runs), or keep fewer rounds: "
            "at=[rounds]."
        )


MOST_RUNS = 10**9
"""Runs of one simulation: each takes some microseconds and some bytes at the least."""

MOST_COUNTS = 2**33
"""Play counts of one simulation, 64 GiB of them."""

MANY = 20_000
"""Arms from which play counts are kept at the last round only: fifty copies of them would fill the
memory.
"""


def default_checkpoints(rounds: int, arms: int = 1) -> Integers:
    """About fifty rounds, half of them evenly spaced, half by ratio; the last is `rounds`. With
    many arms the last alone.
    """
    if arms >= MANY:
        return np.array([rounds], np.int64)
    even = np.linspace(0, rounds, 25)[1:]
    ratio = np.geomspace(1, rounds, 25)
    return np.unique(np.maximum(1, np.rint(np.concatenate([even, ratio]))).astype(np.int64))


def kept_rounds(policy: Policy, rounds: int, runs: int, at: Sequence[int] | None) -> Integers:
    """The rounds whose play counts are kept, the last among them."""
    checkpoints = (
        default_checkpoints(rounds, policy.arms)
        if at is None
        else np.unique(np.append(checked_rounds(at, rounds), rounds))
    )
    require_memory(runs, len(checkpoints), policy.arms)
    return checkpoints
