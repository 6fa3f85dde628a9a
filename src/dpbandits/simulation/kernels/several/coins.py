"""The loop of `together.py` where arms share coins (`SharedCoins`) and super arms are written down.

A world's rows are three, a column an arm: its coin's number, that coin's chance, and the grid steps
of a reward of 1.
"""

from __future__ import annotations

from typing import Any

from dpbandits.simulation.kernels.several.listed import LISTED_INDICES, LISTED_OPTIMISTIC
from dpbandits.simulation.kernels.several.together import player_together
from dpbandits.simulation.parts.jit import jit
from dpbandits.simulation.parts.primitives import binomial


@jit
def add_coins(rows: Any, times: int, told: Any, count: int, sums: Any, rng: Any) -> None:
    """Add up what so many rounds give the first `count` arms of `told`: a draw for each coin, which
    the first arm that reads it makes for the others.
    """
    for i in range(count):
        coin, first = rows[0, told[i]], True
        for j in range(i):
            first = first and rows[0, told[j]] != coin
        if first:
            total = binomial(rng, times, rows[1, told[i]]) * int(rows[2, told[i]])
            for j in range(i, count):
                if rows[0, told[j]] == coin:
                    sums[told[j]] += total


play_coins = player_together("coins", add_rows=add_coins, **LISTED_OPTIMISTIC)
play_coins_by_index = player_together("coins_by_index", add_rows=add_coins, **LISTED_INDICES)
