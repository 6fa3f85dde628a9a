"""How compiled players are called where arms share coins: super arms that are written down."""

from __future__ import annotations

from functools import partial

import numpy as np

from dpbandits.core.arrays import Floats
from dpbandits.environments.laws import SharedCoins
from dpbandits.policies import CUCBLDP2, CUCBDPMax
from dpbandits.policies.contract import Policy, problem_of
from dpbandits.simulation.kernels.several.coins import play_coins, play_coins_by_index
from dpbandits.simulation.kernels.several.listed import Worth
from dpbandits.simulation.plain import Path
from dpbandits.simulation.players.matroid_table import (
    OPTIMISTIC,
    index_numbers,
    optimistic_numbers,
)
from dpbandits.simulation.players.record_table import play_rows
from dpbandits.simulation.players.set_table import BY_INDEX, set_player, sets_of

ONE_ARM = (CUCBLDP2, CUCBDPMax)
"""These read one arm a round: rewards of one round that are equal or independent are the same to
them, and each arm's law is enough.
"""


def coin_player(
    policy: Policy, environment: SharedCoins, rounds: int, seed: int
) -> partial[Path] | None:
    """A function of (checkpoints, run) that plays one run; None for problems that are no list of
    super arms, and policies no loop knows.
    """
    problem = problem_of(policy)
    sets = sets_of(problem)
    if sets is None or problem is None or not problem.linear or not len(sets.starts):
        return None
    if type(policy) in ONE_ARM:
        return set_player(policy, environment, rounds, seed)
    steps = policy.reader.grid.steps
    if type(policy) in BY_INDEX:
        loop, numbers = play_coins_by_index, index_numbers(policy, steps)
    elif type(policy) in OPTIMISTIC:
        loop, numbers = play_coins, optimistic_numbers(policy, steps)
    else:
        return None
    nothing = Worth(np.zeros(0), np.zeros(0, np.int64), np.zeros(0))
    whole = partial(loop, (*numbers, tuple(sets), tuple(nothing)), steps)
    return partial(play_rows, whole, coin_rows(environment, steps), rounds, seed)


def coin_rows(environment: SharedCoins, steps: int) -> Floats:
    """A world of `coins.py`, shape (3, arms)."""
    every = np.full(environment.arms, float(steps))
    return np.stack([environment.coins.astype(np.float64), environment.means, every])
