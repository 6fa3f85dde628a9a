"""How far a sweep is: a step told after every cell, and a bar for the terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal, NamedTuple

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

from dpbandits.sweeps.cells import Cell
from dpbandits.sweeps.results import Results


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
