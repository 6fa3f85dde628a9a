"""A whole sweep on the terminal: progress, what was skipped, the tables, and where everything
lies.
"""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from dpbandits.reports.answers import answers
from dpbandits.reports.publish import publish
from dpbandits.sweeps.config import Config
from dpbandits.sweeps.progress import progress_on, tally
from dpbandits.sweeps.sweep import run_sweep
from dpbandits.terminal.tables import SIMULATED, comparisons


def run_here(
    config: Config, out: Path, *, console: Console, command: str, workers: int | None = None
) -> Path:
    """Run what is not finished, write everything under `out`, print the tables; returns the HTML
    page.
    """
    console.print(config.title, style="bold", markup=False)
    with progress_on(console) as tell:
        results = run_sweep(config, out, progress=tell, workers=workers)
    console.print(f"{tally(results)}\n", highlight=False)
    with console.status("drawing figures"):
        page = publish(results, command=command)
    for answer in answers(results):
        console.print(answer, "", sep="\n", markup=False, highlight=False)
    for table in comparisons(results, console):
        console.print(table, "", sep="\n", highlight=False)
    console.print(SIMULATED, style="dim")
    where = f"\nFigures in {out / 'figures'}, tables in {out} (Parquet and CSV).\nPage: {page}"
    console.print(where, markup=False, highlight=False, soft_wrap=True)
    return page
