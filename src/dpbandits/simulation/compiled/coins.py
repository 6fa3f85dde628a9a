"""Listed super arms whose arms share coins (`SharedCoins`)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dpbandits.core.inputs import Floats
from dpbandits.environments.laws import SharedCoins
from dpbandits.policies import CUCBLDP2, CUCBDPMax
from dpbandits.policies.contract import Policy, problem_of
from dpbandits.simulation.compiled.experts import play_rows
from dpbandits.simulation.compiled.jit import jit
from dpbandits.simulation.compiled.listed import LISTED_INDICES, LISTED_OPTIMISTIC, Worth
from dpbandits.simulation.compiled.matroid_players import (
    OPTIMISTIC,
    index_numbers,
    optimistic_numbers,
)
from dpbandits.simulation.compiled.parts import binomial
from dpbandits.simulation.compiled.set_players import BY_INDEX, set_player, sets_of
from dpbandits.simulation.compiled.together import player_together
from dpbandits.simulation.plain import Path

# The loop of `together.py` for arms that share coins (`SharedCoins`) and listed super arms.
#
# A world has three rows and a column for each arm: its coin's number, that coin's success
# probability, and the grid steps of a reward of 1.


@jit
def add_coins(rows: Any, times: int, observed: Any, count: int, sums: Any, rng: Any) -> None:
    """Add the sums of `times` rounds for the first `count` arms of `observed`: one draw for each
    coin, made for its first arm.
    """
    for i in range(count):
        coin, first = rows[0, observed[i]], True
        for j in range(i):
            first = first and rows[0, observed[j]] != coin
        if first:
            total = binomial(rng, times, rows[1, observed[i]]) * int(rows[2, observed[i]])
            for j in range(i, count):
                if rows[0, observed[j]] == coin:
                    sums[observed[j]] += total


play_coins = player_together("coins", add_rows=add_coins, **LISTED_OPTIMISTIC)
play_coins_by_index = player_together("coins_by_index", add_rows=add_coins, **LISTED_INDICES)


ONE_ARM = (CUCBLDP2, CUCBDPMax)
"""These use one reward a round, so equal and independent rewards of one round are the same to them,
and each arm's law is enough.
"""


def coin_player(
    policy: Policy, environment: SharedCoins, rounds: int, seed: int
) -> partial[Path] | None:
    """Return a function of (checkpoints, run) that plays one run; None for problems without a list
    of super arms, and policies without a loop.
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
    """Return a world of this module, shape (3, arms)."""
    every = np.full(environment.arms, float(steps))
    return np.stack([environment.coins.astype(np.float64), environment.means, every])
