"""Compiled twins of the built-in policies, for independent rewards. Equal in law to the plain way; the tests hold them to it.

They see laws of rewards, never anybody's reward: nothing here is on the path of a `Session`.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from dpbandits.environments.base import Environment, Integers
from dpbandits.policy import Policy
from dpbandits.simulate.compiled.table import Kernel, kernel_for
from dpbandits.simulate.plain import Path

__all__ = ["compiled_player"]


def compiled_player(policy: Policy, environment: Environment, rounds: int, seed: int) -> partial[Path] | None:
    """A function of (checkpoints, run) that plays one run; None where the policy has no compiled twin."""
    kernel = kernel_for(policy)
    lattice = environment.lattice(policy.mechanism().grid)
    if kernel is None or lattice is None:
        return None
    values = np.ascontiguousarray(lattice.values, np.int64)
    probabilities = np.ascontiguousarray(lattice.probabilities, np.float64)
    return partial(play_run, partial(kernel, values, probabilities, rounds), policy.arms, rounds, seed)


def play_run(kernel: Kernel, arms: int, rounds: int, seed: int, checkpoints: Integers, run: int) -> Path:
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, run])))
    out = np.empty((len(checkpoints), arms), np.int64)
    releases, events = kernel(checkpoints, rng, out)
    return Path(out, rounds, releases, events)
