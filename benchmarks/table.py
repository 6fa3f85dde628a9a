"""The tables of all benchmarks: on the terminal, and as CSV in benchmarks/results."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from dpbandits.core.inputs import Floats

COLUMNS = ("table", "what", "measured", "wanted", "met")


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
    for column in COLUMNS[1:]:
        shown.add_column(column)
    for row in rows:
        shown.add_row(row.what, row.measured, row.wanted, verdict(row))
    Console(width=140).print(shown)


def write(
    out: Path | None, command: str, tables: Mapping[str, Sequence[Row]], note: str = ""
) -> None:
    """Write tables as one CSV file; nothing where `out` is None.

    Args:
        out: the file.
        command: what writes it, for the first line.
        tables: rows by the table's title.
        note: what a reader of the numbers has to know, for the lines below.
    """
    cells = (
        (title, row.what, row.measured, row.wanted, verdict(row))
        for title, rows in tables.items()
        for row in rows
    )
    write_columns(out, command, COLUMNS, cells, note)


def write_columns(
    out: Path | None,
    command: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    note: str = "",
) -> None:
    """As `write`, for tables with columns of their own. Lines that begin with # are comments."""
    if out is None:
        return
    text = io.StringIO()
    lines = [command, *(line for line in note.splitlines() if line)]
    text.writelines(f"# {line}\n" for line in lines)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text.getvalue(), encoding="utf-8")


def read(path: Path) -> list[dict[str, str]]:
    """The rows of such a file, by column."""
    text = path.read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in text if not line.startswith("#")))
