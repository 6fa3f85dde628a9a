"""Run a sweep: joblib plays the cells, and this process stores each as it finishes."""

import os
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import joblib
import polars as pl
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from dpbandits.core.errors import DamagedCellError, WorkerError
from dpbandits.core.inputs import as_int, refuse_others, shown
from dpbandits.simulation.simulate import checked_workers
from dpbandits.sweeps.cells import (
    Cell,
    Facts,
    count_of,
    measure,
    read_cell,
    require_writable,
    stored_runs,
    write_cell,
)
from dpbandits.sweeps.config import Config
from dpbandits.sweeps.results import Results, collect

PATIENCE = 10.0
"""Seconds within which a Dask scheduler has to answer, and to have a worker."""


class SweepStep(NamedTuple):
    """Progress of a sweep: told after every cell, and once for each damaged file."""

    what: Literal["skipped", "damaged", "computed"]
    cell: Cell
    done: int  # cells finished or skipped so far
    total: int
    note: str = ""  # for "damaged": which file


Tell = Callable[[SweepStep], None]


def run_sweep(
    config: Config,
    out: Path,
    *,
    progress: Tell | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    shard: tuple[int, int] | None = None,
) -> Results:
    """Play every cell that is not stored under `out` yet, and return the sweep's results.

    A cell's numbers depend on the sweep's seed and on the cell alone: they are the same bit for
    bit for any number of workers, on one machine or many. Of a cell with fewer runs stored than
    asked for, only the missing runs are played. A run that was interrupted goes on from what is
    stored.

    Args:
        config: the sweep.
        out: folder of the results.
        progress: called with a `SweepStep` after each cell; `progress_on` makes a bar.
        workers: processes of this machine; one a core by default.
        scheduler: address of a Dask scheduler whose workers play, such as tcp://host:8786.
        shard: (i, n) plays every n-th cell, from the i-th on, with 1 ≤ i ≤ n. The results are of
            these cells. Copy the `cells` folders of all shards into one to have the whole sweep.

    Raises:
        ValueError: there is no such shard, it has no cells, or `workers` is below 1.
        WorkerError: the workers or the scheduler were lost, or run other code. What was finished
            is kept.
    """
    refuse_others(config, Config, "a sweep", "dpbandits.sweeps.load_config('sweep.toml')")
    out, tell, workers = Path(out), progress or (lambda step: None), checked_workers(workers)
    cells = config.cells() if shard is None else part_of(config.cells(), shard)
    require_writable(out)
    missing, damaged = cells_to_compute(cells, out, tell)
    before, computed = len(cells) - len(missing), 0
    for key, frame, facts in played(missing.values(), out, workers, scheduler):
        store_runs(out, missing[key], frame, facts)
        computed += 1
        tell(SweepStep("computed", missing[key], before + computed, len(cells)))
    return collect(config, cells, out, computed=computed, damaged=damaged)


def part_of(cells: list[Cell], shard: tuple[int, int]) -> list[Cell]:
    """Every n-th cell, from the i-th on."""
    is_pair = isinstance(shard, (tuple, list)) and len(shard) == 2
    i, n = map(as_int, shard) if is_pair else (None, None)
    if i is None or n is None or not 1 <= i <= min(n, len(cells)):
        raise ValueError(
            f"Expected shard (i, n) with 1 ≤ i ≤ n, and i at most {len(cells)}, the number of "
            f"cells; got {shown(shard)}."
        )
    return cells[i - 1 :: n]


def cells_to_compute(
    cells: list[Cell], out: Path, tell: Tell
) -> tuple[dict[str, Cell], tuple[str, ...]]:
    """The cells to compute by key (equal ones once), and what is wrong with damaged files."""
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
    return missing, tuple(notes)


Played = tuple[str, pl.DataFrame, Facts]
"""A cell's key, and what `measure` returns."""


def played(cells: Any, out: Path, workers: int | None, scheduler: str | None) -> Iterator[Played]:
    """Play the missing runs of each cell, the longest cells first; yield each as it finishes."""
    ordered = sorted(cells, key=effort_of, reverse=True)
    if not ordered:
        return
    tasks = (
        joblib.delayed(play)(pickle.dumps(replace(cell)), first, cell.key, tuple(sys.path))
        for cell in ordered
        if (first := count_of(runs_before(out, cell)[0])) < cell.runs  # else another sweep was here
    )
    with backend(workers, scheduler):
        yield from joblib.Parallel(return_as="generator_unordered")(tasks)


def play(pickled: bytes, first: int, key: str, places: tuple[str, ...]) -> Played:
    """On a worker: play a cell's runs from number `first` on.

    The cell is unpickled here, where modules of the user's own can be found.

    Raises:
        WorkerError: this worker's code is not that of the process that asks.
    """
    sys.path.extend(place for place in places if place not in sys.path)
    cell: Cell = pickle.loads(pickled)
    if cell.key != key:
        raise WorkerError(
            f"A worker has other code or libraries than the process that runs the sweep, which may "
            f"give other numbers for {cell}. Install the same versions and start the workers anew."
        )
    return key, *measure(cell, first)


def effort_of(cell: Cell) -> float:
    """Roughly how long a cell takes: a policy releases every round, samples often, or jumps from
    release to release.
    """
    about = cell.policy.about
    return (
        cell.runs * cell.rounds * (1.0 if about.every_round else 0.1 if about.randomised else 0.001)
    )


@contextmanager
def backend(workers: int | None, scheduler: str | None) -> Iterator[None]:
    """Have joblib play in processes of this machine, or on the workers of a Dask scheduler.

    Raises:
        WorkerError: the workers or the scheduler cannot be reached, or were lost.
    """
    kept = "Finished cells are kept: the same command goes on from here."
    if scheduler is None:
        with joblib.parallel_config("loky", n_jobs=workers or os.cpu_count() or 1), unwarned():
            try:
                yield
            except BrokenProcessPool as error:
                raise WorkerError(
                    f"A worker process died, for want of memory perhaps. {kept}"
                ) from error
        return
    import distributed

    make: Any = distributed.Client
    try:
        with (
            make(scheduler, timeout=PATIENCE, set_as_default=False) as client,
            joblib.parallel_config(
                "dask", client=client, n_jobs=-1, wait_for_workers_timeout=PATIENCE
            ),
        ):
            yield
    except (OSError, TimeoutError, CancelledError, distributed.scheduler.KilledWorker) as error:
        raise WorkerError(
            f"The Dask scheduler at {scheduler} or its workers cannot be reached, or were lost "
            f"({type(error).__name__}: {' '.join(str(error).split())}). {kept}"
        ) from error


@contextmanager
def unwarned() -> Iterator[None]:
    """Ignore joblib's warning that it replaces a worker which has grown, by compiling."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
        yield


def store_runs(out: Path, cell: Cell, frame: pl.DataFrame, facts: Facts) -> None:
    """Store a cell's new runs together with those before them, each once: another sweep may have
    stored the same ones meanwhile.
    """
    before, known = runs_before(out, cell)
    had = count_of(before)
    if not frame["run"][0] <= had < count_of(frame):
        return
    if had:
        frame = pl.concat([before, frame.filter(pl.col("run") >= had)])
        facts = facts | {"seconds": facts["seconds"] + known["seconds"]}
    write_cell(out, cell, frame, facts)


def runs_before(out: Path, cell: Cell) -> tuple[pl.DataFrame, Facts]:
    """What is stored of a cell; nothing of a damaged file, which `cells_to_compute` reports."""
    try:
        return stored_runs(out, cell)
    except DamagedCellError:
        return pl.DataFrame({"run": []}, schema={"run": pl.Int32}), {}


@contextmanager
def progress_on(console: Console, title: str = "playing") -> Iterator[Tell]:
    """What to give `run_sweep` as `progress`: a bar, and a line for each damaged file."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task(title, total=None)

        def tell(step: SweepStep) -> None:
            if step.note:
                bar.console.print(f"{step.note}; computing it again.", markup=False, soft_wrap=True)
            elif step.what == "computed" and not console.is_terminal:  # no bar there
                bar.console.print(f"({step.done}/{step.total}) {step.cell}", markup=False)
            bar.update(task, completed=step.done, total=step.total)

        yield tell


def tally(results: Results) -> str:
    """One line on what was done and what was not done again."""
    damaged = f", {len(results.damaged)} damaged and replaced" if results.damaged else ""
    return f"{results.computed} computed, {results.skipped} finished before{damaged}"
