"""How long cells will take, from short timed pilots on this machine, before any long work
starts.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from time import perf_counter

from dpbandits.simulation.simulate import simulate
from dpbandits.sweeps.cells import Cell

PILOT = 300_000  # rounds timed where every round costs


def processor_seconds(cells: Iterable[Cell]) -> float:
    """Processor seconds for all cells together. One pilot serves every cell of one policy, size and
    budget aside.
    """
    rates: dict[tuple[str, int], float] = {}
    total = 0.0
    for cell in cells:
        kind = (cell.policy.name, cell.policy.arms)
        if kind not in rates:
            rates[kind] = seconds_a_run(cell)
        total += rates[kind] * cell.runs * (cell.rounds if grows_with_rounds(cell) else 1)
    return total


def grows_with_rounds(cell: Cell) -> bool:
    """Whether a run's time grows with its rounds; a batch policy's hardly does."""
    return cell.policy.about.every_round or cell.policy.about.randomised


def seconds_a_run(cell: Cell) -> float:
    """Seconds a round where every round costs, else seconds a run."""
    rounds = min(PILOT, cell.rounds) if grows_with_rounds(cell) else cell.rounds
    # compile, and load what is loaded once
    simulate(cell.policy, cell.environment, min(rounds, 100))
    start = perf_counter()
    simulate(cell.policy, cell.environment, rounds)
    return (perf_counter() - start) / (rounds if grows_with_rounds(cell) else 1)


def duration_text(seconds: float, workers: int | None = None) -> str:
    """The estimate in words, for this machine's cores."""
    workers = workers or os.cpu_count() or 1
    return f"{span(seconds / workers)} on {workers} core{'s' if workers > 1 else ''}"


def span(seconds: float) -> str:
    """Two figures of a time: 45 s, 12 min, 6.5 h."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
