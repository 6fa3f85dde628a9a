"""Runs shared out: several in one compiled call, in threads, or in processes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np

from dpbandits.core.arrays import Integers
from dpbandits.simulation.plain import Path

Player = Callable[[Integers, int], Path]
"""Plays the run of this number; the play counts at the checkpoints are kept. Where it is true that
`in_one_call`, it plays several by its method of that name.
"""

Several = Callable[[Integers, range], list[Path]]

LONG, WORTH = 5e-4, 2e-2
"""Seconds of a run, and of all runs where several are played in one call, from which sharing them
out among threads gains more than their handing over costs.
"""

TOGETHER = 64
"""Short runs that are played in one call: so many take no longer than one may wait for Ctrl-C."""


def play_all(
    player: Player,
    checkpoints: Integers,
    *,
    runs: int,
    workers: int | None,
    threads: bool,
    first: int = 0,
) -> list[Path]:
    """Every run, in order; in threads where the player leaves the interpreter, else in
    processes.
    """
    paths = [player(checkpoints, first)]  # compiles, and fails early
    several: Several | None = None
    if runs > 1:
        start = time.perf_counter()
        paths.append(player(checkpoints, first + 1))
        taken = time.perf_counter() - start
        if taken < LONG and getattr(player, "in_one_call", False):
            several = getattr(player, "several", None)
        if workers is None:
            gains = taken > LONG if several is None else taken * runs > WORTH
            workers = os.cpu_count() or 1 if threads and gains else 1
    play = partial(play_span, player, several, checkpoints)
    if runs <= 2 or workers is None or workers <= 1:
        return paths + play(range(first + 2, first + runs))
    # 40 ms that one run does not need
    from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor

    bounds = np.linspace(first + 2, first + runs, 4 * workers + 1).astype(int).tolist()
    spans = [range(a, b) for a, b in pairwise(bounds) if a < b]
    pool: Executor = ThreadPoolExecutor(workers) if threads else ProcessPoolExecutor(workers)
    with pool:
        for part in pool.map(play, spans):
            paths += part
    return paths


def play_span(
    player: Player, several: Several | None, checkpoints: Integers, span: range
) -> list[Path]:
    if several is None:
        return [player(checkpoints, run) for run in span]
    groups = (span[at : at + TOGETHER] for at in range(0, len(span), TOGETHER))
    return [path for group in groups for path in several(checkpoints, group)]
