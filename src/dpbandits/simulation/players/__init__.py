"""Compiled twins of the built-in policies, for independent rewards and for the rows of a table.
Equal in law to the plain way; the tests hold them to it.

They see laws of rewards, never anybody's reward: nothing here is on the path of a `Session`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dpbandits.core.arrays import Integers
from dpbandits.environments.base import Environment
from dpbandits.environments.laws import SharedCoins
from dpbandits.policies.base import Identified
from dpbandits.policies.contract import Policy, problem_of
from dpbandits.simulation.kernels.driver import EventPlayer
from dpbandits.simulation.plain import Path
from dpbandits.simulation.players.coin_table import coin_player
from dpbandits.simulation.players.matroid_table import known
from dpbandits.simulation.players.record_table import record_player
from dpbandits.simulation.players.set_table import set_player
from dpbandits.simulation.players.table import kernel_for

__all__ = ["RunPlayer", "compiled_player"]


def compiled_player(
    policy: Policy, environment: Environment, rounds: int, seed: int
) -> RunPlayer | partial[Path] | None:
    """A function of (checkpoints, run) that plays one run; None where the policy has no compiled
    twin. A `RunPlayer` plays several in one call, too.
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
    bound = partial(kernel, values, probabilities, rounds)
    return RunPlayer(bound, policy.arms, kind, rounds, seed)


@dataclass(frozen=True)
class RunPlayer:
    """Plays runs by a kernel that was given the law of the rewards and the rounds. kind: of its
    counts.
    """

    kernel: partial[Any]
    arms: int
    kind: type[np.number[Any]]
    rounds: int
    seed: int

    def __call__(self, checkpoints: Integers, run: int) -> Path:
        return self.several(checkpoints, range(run, run + 1))[0]

    @property
    def in_one_call(self) -> bool:
        """Whether the kernel plays several runs at once."""
        return isinstance(self.kernel.func, EventPlayer)

    def several(self, checkpoints: Integers, runs: range) -> list[Path]:
        """These runs, in one call where that can be."""
        outs = np.empty((len(runs), len(checkpoints), self.arms), self.kind)
        bits = [np.random.PCG64(np.random.SeedSequence([self.seed, run])) for run in runs]
        play: Any = self.kernel.func
        if self.in_one_call:
            told = play.together(*self.kernel.args, checkpoints, bits, outs)
        else:
            rngs = map(np.random.Generator, bits)
            told = [self.kernel(checkpoints, rng, out) for rng, out in zip(rngs, outs, strict=True)]
        return [
            Path(out, self.rounds, releases, events, found=found_in(found))
            for out, (releases, events, *found) in zip(outs, told, strict=True)
        ]


def found_in(found: list[int]) -> Identified | None:
    return Identified(*found) if found and found[0] >= 0 else None
