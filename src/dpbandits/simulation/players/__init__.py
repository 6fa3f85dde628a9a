"""Compiled twins of the built-in policies, for independent rewards and for the rows of a table.
Equal in law to the plain way; the tests hold them to it.

They see laws of rewards, never anybody's reward: nothing here is on the path of a `Session`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dpbandits.core.arrays import Integers
from dpbandits.environments.base import Environment
from dpbandits.environments.shared import SharedCoins
from dpbandits.policies.base import Identified
from dpbandits.policies.contract import Policy
from dpbandits.policies.sizes import problem_of
from dpbandits.simulation.plain import Path
from dpbandits.simulation.players.coin_table import coin_player
from dpbandits.simulation.players.matroid_table import known
from dpbandits.simulation.players.record_table import record_player
from dpbandits.simulation.players.round_table import Kernel
from dpbandits.simulation.players.set_table import set_player
from dpbandits.simulation.players.table import kernel_for

__all__ = ["compiled_player"]


def compiled_player(
    policy: Policy, environment: Environment, rounds: int, seed: int
) -> partial[Path] | None:
    """A function of (checkpoints, run) that plays one run; None where the policy has no compiled
    twin.
    """
    if policy.about.feedback != "bandit" and not environment.apart:
        # the rewards of one round may belong together, which a law for each arm does not tell
        if isinstance(environment, SharedCoins):
            return coin_player(policy, environment, rounds, seed)
        return record_player(policy, environment, rounds, seed)
    problem = problem_of(policy)
    if problem is not None and known(problem) is None:
        return set_player(policy, environment, rounds, seed)
    kernel = kernel_for(policy)
    lattice = environment.lattice(policy.reader.grid)
    if kernel is None or lattice is None:
        return None
    values = np.ascontiguousarray(lattice.values, np.int64)
    probabilities = np.ascontiguousarray(lattice.probabilities, np.float64)
    kind = np.float64 if policy.weighted else np.int64
    return partial(
        play_run, partial(kernel, values, probabilities, rounds), policy.arms, kind, rounds, seed
    )


def play_run(
    kernel: Kernel,
    arms: int,
    kind: type[np.number[Any]],
    rounds: int,
    seed: int,
    checkpoints: Integers,
    run: int,
) -> Path:
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, run])))
    out = np.empty((len(checkpoints), arms), kind)
    releases, events, *found = kernel(checkpoints, rng, out)
    return Path(
        out, rounds, releases, events, found=Identified(*found) if found and found[0] >= 0 else None
    )
