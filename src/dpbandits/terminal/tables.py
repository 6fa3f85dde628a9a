"""A whole sweep on the terminal: progress, what was skipped, tables, and where everything lies."""

from collections.abc import Iterator
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dpbandits.pages import templates
from dpbandits.plots import Panel, panels_of
from dpbandits.reports import COLUMNS, COST, POLICY, TAILS, Column, answers, panel_rows, publish
from dpbandits.sweeps.cells import require_writable
from dpbandits.sweeps.config import Config
from dpbandits.sweeps.results import Results
from dpbandits.sweeps.run import progress_on, run_sweep, tally
from dpbandits.terminal.console import natural_width

SIMULATED = "Noise is simulated (seeded): right for experiments, no protection for anybody's data."


def comparisons(results: Results, console: Console) -> Iterator[Table]:
    """A comparison table for each panel; on a narrow terminal two: first what it costs, then the
    tails and the upper bound.
    """
    upper = tuple(column for column in COST if column.title == "upper bound")
    first = tuple(column for column in COST if column not in upper)
    for panel in panels_of(results):
        whole = comparison(results, panel, COLUMNS)
        if natural_width(whole, console) <= console.width:
            yield whole
        else:
            yield comparison(results, panel, (POLICY, *first))
            yield comparison(results, panel, (POLICY, *TAILS, *upper), ", tails")


def comparison(
    results: Results, panel: Panel, columns: tuple[Column, ...], suffix: str = ""
) -> Table:
    """One table; policies without privacy are set back."""
    table = Table(
        title=Text(panel.title + suffix, style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
    )
    table.padding, table.collapse_padding, table.pad_edge = (0, 1), True, False
    for column in columns:
        head = column.title if "%" in column.title else column.title.replace(" ", "\n")
        table.add_column(
            head, justify="right" if column.number else "left", no_wrap=True, vertical="bottom"
        )
    for is_set_back, row in panel_rows(results, panel, columns):
        # text: a label may hold [brackets]
        table.add_row(*map(Text, row), style="dim" if is_set_back else "")
    return table


def run_here(
    config: Config,
    out: Path,
    *,
    console: Console,
    command: str,
    workers: int | None = None,
    scheduler: str | None = None,
    shard: tuple[int, int] | None = None,
) -> None:
    """Run what is not finished, write everything under `out`, and print the tables.

    Of a shard, only the cells are written.
    """
    templates()  # what writes the page is known to be there before hours are spent
    require_writable(out)
    console.print(config.title, style="bold", markup=False)
    with progress_on(console) as tell:
        results = run_sweep(
            config, out, progress=tell, workers=workers, scheduler=scheduler, shard=shard
        )
    if shard is None:
        show_results(results, console=console, command=command)
    else:
        console.print(f"{tally(results)}\nCells are in {out / 'cells'}.", soft_wrap=True)


def show_results(results: Results, *, console: Console, command: str) -> None:
    """Write everything into the sweep's folder, and print the tables."""
    out = results.out
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
