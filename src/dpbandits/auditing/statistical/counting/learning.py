"""Runs to learn an event from, and how long it takes to learn and to look for it."""

import time

import numpy as np

from dpbandits.auditing.statistical.counting.events import Event, choose_event, hits
from dpbandits.auditing.statistical.counting.pilot import ALPHA, PILOT, RunPlan, Tried, run_share
from dpbandits.auditing.statistical.counting.players import Players
from dpbandits.core.inputs import Floats

LEARNT, CELLS = 1_000_000, 8_000_000
"""Runs a side an event is learnt on, at most, and numbers in them. A quarter of that where a number
of runs is given.
"""

LEARNING, CHOOSING = 0.15, 0.1
"""Shares of the budget: to play runs to learn from, and to learn.
"""


def learning_lot(players: Players, found: Tried, plan: RunPlan) -> tuple[Floats, Floats]:
    """Runs to learn from: with a budget in lots that grow as long as there is time to play and to
    learn from them.
    """
    pair, seed = found.pair, plan.seed + 10_000
    if plan.runs is not None:
        return players.outcomes(
            pair,
            max(30, int(min(plan.runs, LEARNT // 4, CELLS // 4 // pair.a.size) * run_share(pair))),
            seed,
        )
    seconds, lots, whole = plan.left() / (1 - PILOT), list[tuple[Floats, Floats]](), 0
    size, until = (
        int(np.clip(0.1 * LEARNING * seconds / players.pace(pair, seed), 10, 20_000)),
        time.perf_counter() + LEARNING * seconds,
    )
    while True:
        began = time.perf_counter()
        lots.append(players.outcomes(pair, size, seed + len(lots)))
        pace, whole = max(1e-9, time.perf_counter() - began) / size, whole + size
        if len(lots) == 1:
            most = min(
                LEARNT,
                CELLS // lots[0][0].shape[1],
                int(CHOOSING * seconds / time_to_learn(lots[0])),
            )
        size = int(min(3 * whole, (until - time.perf_counter()) / pace, most - whole))
        if size < whole / 4:
            a, b = (np.concatenate([lot[side] for lot in lots]) for side in (0, 1))
            return a, b


def time_to_learn(lot: tuple[Floats, Floats]) -> float:
    """Seconds a run, seen on a part of the lot that does not take long; a little of it does not
    grow with the runs.
    """
    few = min(len(lot[0]), 3_000)
    began = time.perf_counter()
    choose_event(lot[0][:few], lot[1][:few], few, ALPHA)
    return max(1e-9, time.perf_counter() - began) / few / 2


def scoring(event: Event, lots: tuple[Floats, Floats]) -> float:
    """Seconds it takes to see whether a run on either table is in the event."""
    began, few = time.perf_counter(), 5_000
    hits(event, lots[0][:few], lots[1][:few])
    return (time.perf_counter() - began) / min(few, len(lots[0]))
