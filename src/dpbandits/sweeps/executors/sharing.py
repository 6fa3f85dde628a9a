"""Work off what is missing in a folder: claim cells, have them played, store them; and leave to
others what is theirs.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

import polars as pl

from dpbandits.core.errors import DamagedCellError
from dpbandits.sweeps.cells import Cell, Facts
from dpbandits.sweeps.executors.base import Executor, Job, PlayedJob, effort_of
from dpbandits.sweeps.executors.claims import Claims
from dpbandits.sweeps.store import count_of, stored_runs, write_cell


class SharedWork:
    """Cells of which each is played by whoever claims it first."""

    def __init__(self, cells: Iterable[Cell], out: Path, claims: Claims) -> None:
        self.cells, self.out, self.claims = cells, out, claims
        self.found: list[Cell] = []  # somebody else has stored them meanwhile
        self.elsewhere: list[Cell] = []  # somebody else is at them

    def jobs(self) -> Iterator[Job]:
        for cell in self.cells:
            if not self.claims.take(cell.key):
                self.elsewhere.append(cell)
                continue
            first = count_of(runs_before(self.out, cell)[0])
            if first < cell.runs:
                yield Job(cell, first)
            else:
                self.claims.give_back(cell.key)
                self.found.append(cell)


def worked_off(
    cells: Iterable[Cell], out: Path, executor: Executor
) -> Iterator[tuple[Literal["computed", "skipped"], Cell]]:
    """Yields each cell as it is stored: "computed" by this process, or "skipped", for another one
    did it. What others are at is waited for, and taken over if they die.
    """
    todo = sorted(cells, key=effort_of, reverse=True)  # the longest first
    by_key = {cell.key: cell for cell in todo}
    with Claims(out) as claims:
        while todo:
            work = SharedWork(todo, out, claims)
            for played in executor.play(work.jobs()):
                store_played(out, by_key[played.key], played)
                claims.give_back(played.key)
                yield "computed", by_key[played.key]
            for cell in work.found:
                yield "skipped", cell
            todo = work.elsewhere
            if todo:
                claims.wait()


def store_played(out: Path, cell: Cell, played: PlayedJob) -> None:
    """Store the new runs together with those before them."""
    frame, facts = played.frame, played.facts
    before, known = runs_before(out, cell)
    if len(before) and count_of(before) < cell.runs:
        frame = pl.concat([before, frame])
        facts = facts | {"seconds": facts["seconds"] + known["seconds"]}
    write_cell(out, cell, frame, facts)


def runs_before(out: Path, cell: Cell) -> tuple[pl.DataFrame, Facts]:
    """What is stored of a cell; nothing of a damaged file, which is said elsewhere."""
    try:
        return stored_runs(out, cell)
    except DamagedCellError:
        return pl.DataFrame({"run": []}, schema={"run": pl.Int32}), {}
