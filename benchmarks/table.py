"""One table for all benchmarks, on the terminal and as markdown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from dpbandits.core.inputs import Floats


class Row(NamedTuple):
    what: str
    measured: str
    wanted: str
    met: bool | None  # None: nothing was asked


def described(values: Floats) -> str:
    """Mean ± standard error."""
    error = values.std() / math.sqrt(len(values))
    return f"{values.mean():,.0f} ± {error:,.0f}"


def verdict(row: Row) -> str:
    return "" if row.met is None else "yes" if row.met else "NO"


def show(title: str, rows: Sequence[Row]) -> None:
    shown = Table(title=title)
    for column in ("what", "measured", "wanted", "met"):
        shown.add_column(column)
    for row in rows:
        shown.add_row(row.what, row.measured, row.wanted, verdict(row))
    Console(width=140).print(shown)


def table(rows: Sequence[Row]) -> str:
    """The rows as markdown."""
    lines = ["| what | measured | wanted | met |", "|---|---|---|---|"]
    lines += [f"| {row.what} | {row.measured} | {row.wanted} | {verdict(row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def markdown(title: str, command: str, rows: Sequence[Row], said: str = "") -> str:
    """A page of one table. said: a paragraph on it; the title is short, for the site's side."""
    return f"{head(title, command, said)}{table(rows)}"


def sections(title: str, command: str, parts: Mapping[str, Sequence[Row]], said: str = "") -> str:
    """A page with a table below a heading for each part."""
    tables = "\n".join(f"## {name}\n\n{table(rows)}" for name, rows in parts.items())
    return f"{head(title, command, said)}{tables}"


def head(title: str, command: str, said: str) -> str:
    paragraph = f"{said}\n\n" if said else ""
    return f"# {title}\n\nWritten by `{command}`; do not edit.\n\n{paragraph}"
