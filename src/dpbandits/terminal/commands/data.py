"""`dpbandits data`: which data sets can be fetched or added, and where they are kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpbandits.terminal.commands.terminal import LEAVE_OUT, console, one_line_errors, said

if TYPE_CHECKING:
    from rich.table import Table

data_commands = typer.Typer(
    no_args_is_help=True,
    help=(
        "Data sets that are not ours to pass on: what is known, what is here, how to get the "
        "rest.\n\nExample: [bold]dpbandits data list[/]"
    ),
)

Name = Annotated[str, typer.Argument(help="A data set's name, as `dpbandits data list` shows it.")]
NOTHING_KEPT = "Nothing of it was kept."


@data_commands.command("list")
def list_data() -> None:
    """Every data set: where it is kept, or where its owner offers it, and on what terms.

    Example: [bold]dpbandits data list[/]
    """
    from dpbandits.datasets.library import SOURCES, data_folder

    console.print(library_table())
    console.print(
        f"Kept in {data_folder()} (another folder: set DPBANDITS_DATA).",
        highlight=False,
        soft_wrap=True,
        markup=False,
    )
    for licence in dict.fromkeys(source.licence for source in SOURCES.values()):
        names = [name for name, source in SOURCES.items() if source.licence == licence]
        whose = "Terms of all" if len(names) == len(SOURCES) else f"Terms of {', '.join(names)}"
        console.print(f"{whose}: {licence}", highlight=False, soft_wrap=True, markup=False)


@data_commands.command("add")
def add_command(
    name: Name,
    path: Annotated[
        Path, typer.Argument(help="The zip as its owner publishes it, or its unpacked folder.")
    ],
) -> None:
    """Keep a copy of a data set that is on this machine already. It is read and its checksum
    compared first.

    Example: [bold]dpbandits data add movielens-1m ~/Downloads/ml-1m.zip[/]
    """
    from dpbandits.datasets import library

    with one_line_errors(NOTHING_KEPT):
        with said(
            LEAVE_OUT, "load it from where it is: `movielens(PATH, drop_unlisted=True)` in Python"
        ):
            kept = library.add(name, path)
        say_where(name, kept)


@data_commands.command("download")
def download_command(
    name: Name,
    again: Annotated[bool, typer.Option("--again", help="Also if it is here already.")] = False,
) -> None:
    """Fetch a data set from its owner; it is kept only if it has the checksum its owner publishes.

    Example: [bold]dpbandits data download movielens-latest-small[/]
    """
    from dpbandits.datasets import library

    with one_line_errors(NOTHING_KEPT), console.status(f"fetching {name}"):
        say_where(name, library.download(name, again=again))


def say_where(name: str, kept: Path) -> None:
    """Where it is now, and on what terms."""
    from dpbandits.datasets.library import source

    console.print(
        f"{name} is in {kept}\nTerms: {source(name).licence}",
        highlight=False,
        soft_wrap=True,
        markup=False,
    )


def library_table() -> Table:
    """A line for each data set."""
    from rich import box
    from rich.table import Table

    from dpbandits.datasets.library import SOURCES, data_folder

    table = Table(box=box.SIMPLE, pad_edge=False)
    for title in ("data set", "here?", "published at"):
        table.add_column(title, no_wrap=title != "published at", overflow="fold")
    for name, source in SOURCES.items():
        kept = data_folder() / source.file
        here = (
            f"{source.file}, {kept.stat().st_size / 1e6:,.1f} MB"
            if kept.is_file()
            else "[dim]missing[/]"
        )
        table.add_row(f"[bold]{name}[/]", here, source.url)
    return table
