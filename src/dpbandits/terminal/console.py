"""What all commands share: where they print, how they fail, and options."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from dpbandits.core.errors import Error

console = Console()
errors = Console(stderr=True)


def natural_width(table: Table, console: Console) -> int:
    """Columns the table would take if there were enough."""
    return console.measure(table, options=console.options.update(width=10_000)).maximum


QUICK_HELP = (
    "Smaller: with the sweep file's \\[quick] overrides; without any, at most 10 runs of 10,000 "
    "rounds."
)
QuickOption = Annotated[bool, typer.Option("--quick", help=QUICK_HELP)]
WorkersOption = Annotated[
    int | None, typer.Option(min=1, help="Cells computed at once. By default one a core.")
]


@contextmanager
def one_line_errors(
    stopped: str = "Finished cells are kept: the same command goes on from here.",
) -> Iterator[None]:
    """Print an error that the user can put right in one line, and exit with code 2.

    stopped: what an interruption leaves behind, said with "Stopped."
    """
    try:
        yield
    except (ValueError, TypeError, LookupError, OSError, Error) as error:
        words = error.args[0] if isinstance(error, KeyError) and error.args else error
        notes = getattr(error, "__notes__", [])  # where in the user's own work it happened
        words = repr(error) if notes and isinstance(error, LookupError) else words
        said = " ".join(map(str, ["Error:", words, *notes]))
        errors.print(said, soft_wrap=True, highlight=False, markup=False)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        errors.print(f"Stopped. {stopped}")
        raise typer.Exit(130) from None
