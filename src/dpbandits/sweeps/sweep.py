"""Run a sweep: cells in parallel, each stored as soon as it is finished, finished ones skipped; and
its progress on the terminal.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

import polars as pl
from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from dpbandits.core.errors import DamagedCellError
from dpbandits.sweeps.cells import Cell, measure
from dpbandits.sweeps.config import Config
from dpbandits.sweeps.results import Results, collect
from dpbandits.sweeps.store import count_of, read_cell, require_writable, stored_runs, write_cell


class SweepStep(NamedTuple):
    """Progress of a sweep, told after every cell (and once for a damaged file, which is then
    computed anew).
    """

    what: Literal["skipped", "damaged", "computed"]
    cell: Cell
    done: int  # cells finished or skipped so far
    total: int
    note: str = ""  # for "damaged": which file


Tell = Callable[[SweepStep], None]


def run_sweep(
    config: Config, out: Path, *, progress: Tell | None = None, workers: int | None = None
) -> Results:
    """Compute every cell that is not stored under `out` yet, and return the whole sweep's results.

    Of a cell with fewer runs stored than asked for, only the missing runs are played.

    A cell's numbers depend on the sweep's seed and on the cell itself: never on `workers`, or on
    what else is in the sweep.

    Args:
        progress: called with a `SweepStep` after each cell; `progress_on` makes a bar for the
            terminal.
        workers: cells computed at once; None: one a core.
    """
    tell = progress or (lambda step: None)
    cells = config.cells()
    require_writable(Path(out))
    missing, damaged = cells_to_compute(cells, Path(out), tell)
    done = len(cells) - len(missing)
    for cell in played(missing, Path(out), workers):
        done += 1
        tell(SweepStep("computed", cell, done, len(cells)))
    return collect(config, cells, Path(out), computed=len(missing), damaged=damaged)


def cells_to_compute(
    cells: list[Cell], out: Path, tell: Tell
) -> tuple[list[Cell], tuple[str, ...]]:
    """The cells to compute (equal ones once), and what was said of damaged files."""
    missing: dict[str, Cell] = {}
    notes, done = [], 0
    for cell in cells:
        try:
            stored = read_cell(out, cell) is not None
        except DamagedCellError as damage:
            stored = False
            notes.append(str(damage))
            tell(SweepStep("damaged", cell, done, len(cells), str(damage)))
        if stored:
            done += 1
            tell(SweepStep("skipped", cell, done, len(cells)))
        else:
            missing[cell.key] = max(cell, missing.get(cell.key, cell), key=lambda c: c.runs)
    return list(missing.values()), tuple(notes)


def played(cells: list[Cell], out: Path, workers: int | None) -> Iterable[Cell]:
    """Compute and store cells, the longest first, yielding each as it is finished. One cell, or one
    worker, stays in this process.
    """
    workers = workers or os.cpu_count() or 1
    if workers == 1 or len(cells) <= 1:
        for cell in cells:
            play_and_store(cell, out, workers)
            yield cell
        return
    cells = sorted(cells, key=effort, reverse=True)
    # workers that an earlier sweep left waiting do not know this sweep's folder: other places,
    # other workers
    places = tuple(sys.path)
    pool = Parallel(
        n_jobs=min(workers, len(cells)),
        return_as="generator_unordered",
        initializer=import_from,
        initargs=(places,),
    )
    jobs = pool(delayed(play_and_store)(cell, out) for cell in cells)
    by_key = {cell.key: cell for cell in cells}
    for key in jobs:
        yield by_key[key]


def import_from(places: tuple[str, ...]) -> None:
    """A worker imports modules, a policy of one's own among them, from where its parent does."""
    sys.path[:] = places


def effort(cell: Cell) -> float:
    """Roughly how long a cell takes: some policies play every round, some sample often, the others
    jump from release to release.
    """
    about = cell.policy.about
    return (
        cell.runs * cell.rounds * (1.0 if about.every_round else 0.1 if about.randomised else 0.001)
    )


def play_and_store(cell: Cell, out: Path, workers: int = 1) -> str:
    """Play the runs that are not stored yet, and store all of them together."""
    try:
        before, known = stored_runs(out, cell)
    except DamagedCellError:  # said before: all of it is played again
        before, known = pl.DataFrame(), {}
    first = count_of(before) if len(before) else 0
    frame, facts = measure(cell, workers, first)
    if first:
        frame, facts["seconds"] = pl.concat([before, frame]), facts["seconds"] + known["seconds"]
    write_cell(out, cell, frame, facts)
    return cell.key


@contextmanager
def progress_on(console: Console, title: str = "") -> Iterator[Tell]:
    """What to give `run_sweep` as `progress`: a bar that counts cells and names the newest.

    with progress_on(console, config.title) as tell:
        results = run_sweep(config, out, progress=tell)
    """
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("elapsed,"),
        TimeRemainingColumn(),
        TextColumn("to go"),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title or "playing", total=None)

        def tell(step: SweepStep) -> None:
            if step.what == "damaged":
                bar.console.print(
                    f"{step.note}; computing it again.",
                    style="yellow",
                    markup=False,
                    highlight=False,
                    soft_wrap=True,
                )
            elif step.what == "computed" and not console.is_terminal:  # no bar there: a line each
                bar.console.print(
                    f"[{step.done}/{step.total}] {step.cell}", markup=False, highlight=False
                )
            bar.update(
                task,
                completed=step.done,
                total=step.total,
                description=f"{step.cell}" if step.what == "computed" else "playing",
            )

        yield tell


def tally(results: Results) -> str:
    """One line on what was done and what was not done again."""
    computed, skipped = results.computed, results.skipped
    return f"{computed} computed, {skipped} finished before" + (
        f", {len(results.damaged)} damaged and replaced" if results.damaged else ""
    )
