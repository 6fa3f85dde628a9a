"""Run a sweep: each cell stored as soon as it is finished, finished ones skipped."""

from pathlib import Path

from dpbandits.core.errors import DamagedCellError
from dpbandits.sweeps.cells import Cell
from dpbandits.sweeps.config import Config
from dpbandits.sweeps.executors.base import Executor
from dpbandits.sweeps.executors.processes import Processes
from dpbandits.sweeps.executors.sharing import worked_off
from dpbandits.sweeps.progress import SweepStep, Tell
from dpbandits.sweeps.results import Results, collect
from dpbandits.sweeps.shards import Shard, cells_of_shard, write_manifest
from dpbandits.sweeps.store import read_cell, require_writable


def run_sweep(
    config: Config,
    out: Path,
    *,
    progress: Tell | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    shard: Shard | None = None,
) -> Results:
    """Compute every cell that is not stored under `out` yet, and return the whole sweep's results.

    Of a cell with fewer runs stored than asked for, only the missing runs are played. Processes
    that run a sweep into one folder share its work: see `executors/claims.py`.

    A cell's numbers depend on the sweep's seed and on the cell itself: never on `workers`, on where
    it is played, or on what else is in the sweep.

    Args:
        progress: called with a `SweepStep` after each cell; `progress_on` makes a bar for the
            terminal.
        workers: cells computed at once; None: one a core.
        executor: who plays; None: `Processes(workers)`.
        shard: play this part of the cells only; the results, too, are of this part.

    Raises:
        WorkerError: the executor's workers cannot be had, or were lost. What was finished is kept.
    """
    out, tell = Path(out), progress or (lambda step: None)
    cells = config.cells()
    if shard is not None:
        cells = cells_of_shard(cells, shard)
    require_writable(out)
    missing, damaged = cells_to_compute(cells, out, tell)
    done, computed = len(cells) - len(missing), 0
    for what, cell in worked_off(missing, out, executor or Processes(workers)):
        done, computed = done + 1, computed + (what == "computed")
        tell(SweepStep(what, cell, done, len(cells)))
    if shard is not None:
        write_manifest(out, config, shard)
    return collect(config, cells, out, computed=computed, damaged=damaged)


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
