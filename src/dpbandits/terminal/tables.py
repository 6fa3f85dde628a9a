"""Tables on the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dpbandits.figures.compared_policies import Panel, compared, panels_of
from dpbandits.reports.comparison import COLUMNS, COST, POLICY, TAILS, Column, table_rows
from dpbandits.sweeps.results import Results
from dpbandits.theory.catalogue import PolicyRow

SIMULATED = "Noise is simulated (seeded): right for experiments, no protection for anybody's data."


def comparisons(results: Results, console: Console) -> Iterator[Table]:
    """A comparison table for each panel; on a narrow terminal two: first what it costs, then the
    tails.
    """
    for panel in panels_of(results):
        whole = comparison(results, panel, COLUMNS)
        if natural_width(whole, console) <= console.width:
            yield whole
        else:
            yield comparison(results, panel, (POLICY, *COST))
            yield comparison(results, panel, (POLICY, *TAILS), ", tails")


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
    private = compared(results, panel)["guarantee"].is_not_null()
    for row, own in zip(table_rows(results, panel, columns), private, strict=True):
        # text: a label may hold [brackets]
        table.add_row(*map(Text, row), style="" if own else "dim")
    return table


def natural_width(table: Table, console: Console) -> int:
    """Columns the table would take if there were enough."""
    return console.measure(table, options=console.options.update(width=10_000)).maximum


def catalogue(rows: Iterable[PolicyRow]) -> Table:
    """`dpbandits list`."""
    table = Table(box=box.SIMPLE, pad_edge=False)
    for title in ("policy", "privacy", "feedback", "releases", "horizon", "source"):
        table.add_column(title, no_wrap=title != "source")
    for row in rows:
        table.add_row(
            f"[bold]{row.name}[/]",
            row.privacy,
            row.feedback,
            row.releases,
            "known" if row.horizon else "any",
            row.paper,
        )
    return table


def catalogue_json(rows: Iterable[PolicyRow]) -> str:
    return json.dumps([row._asdict() for row in rows], indent=2, ensure_ascii=False)
