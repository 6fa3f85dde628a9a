"""What all commands share: where they print, how they fail, options that several have."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console

from dpbandits.core.errors import EnvironmentExhausted, Error

console = Console()
errors = Console(stderr=True)

QUICK_HELP = (
    "Smaller: with the sweep file's \\[quick] overrides; without any, at most 10 runs of 10,000 "
    "rounds."
)
QuickOption = Annotated[bool, typer.Option("--quick", help=QUICK_HELP)]
WorkersOption = Annotated[
    int | None, typer.Option(min=1, help="Cells computed at once. By default one a core.")
]

LEAVE_OUT = "pass drop_unlisted=True to leave such ratings out"
"""What the loader of films advises to those who call it; a command says it in its own words."""


@contextmanager
def one_line_errors(
    stopped: str = "Finished cells are kept: the same command goes on from here.",
) -> Iterator[None]:
    """What the user can put right is one line and exit code 2; an interruption says what is
    kept.
    """
    try:
        yield
    except (ValueError, TypeError, LookupError, OSError, Error) as error:
        words = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
        errors.print(
            f"[red]Error:[/] {words.replace('[', chr(92) + '[')}",
            soft_wrap=True,
            highlight=False,
        )
        raise typer.Exit(2) from None
    except (MemoryError, RecursionError) as error:
        what = (
            "There is not enough memory for this"
            if isinstance(error, MemoryError)
            else "This is nested too deeply"
        )
        errors.print(
            f"[red]Error:[/] {what}: try fewer runs, arms or rounds, or a smaller file.",
            soft_wrap=True,
            highlight=False,
        )
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        errors.print(f"Stopped. {stopped}")
        raise typer.Exit(130) from None


@contextmanager
def named_errors() -> Iterator[None]:
    """Errors of the user's own code: what they are and what they say, in one line. Even an exit of
    theirs is an error here.
    """
    try:
        yield
    except (Exception, SystemExit) as error:
        notes = getattr(error, "__notes__", [])
        if isinstance(error, (ValueError, TypeError, OSError, EnvironmentExhausted)) and not notes:
            raise  # ours, and whole sentences
        where = f" ({'; '.join(dict.fromkeys(notes))})" if notes else ""
        raise ValueError(" ".join(f"{type(error).__name__}: {error}{where}".split())) from error


@contextmanager
def said(advice: str, instead: str) -> Iterator[None]:
    """Errors from within have one advice in place of another."""
    try:
        yield
    except ValueError as error:
        raise type(error)(str(error).replace(advice, instead)) from None


@contextmanager
def bar() -> Iterator[Callable[[int, int], None]]:
    """A progress bar that leaves nothing behind; in a pipe a line at the start and every tenth.
    Nothing is said before the first call: what is asked for is checked then.
    """
    from rich.progress import Progress

    if not console.is_terminal:
        yield in_tenths()
        return
    shown = Progress(console=console, transient=True)
    task = shown.add_task("playing", total=None)

    def tell(done: int, total: int) -> None:
        shown.start()
        shown.update(task, completed=done, total=total)

    try:
        yield tell
    finally:
        shown.stop()


def in_tenths() -> Callable[[int, int], None]:
    """Prints a line at first, and whenever another tenth is done."""
    told = 0

    def tell(done: int, total: int) -> None:
        nonlocal told
        if not done:
            console.print("Playing; what is played for the first time is compiled, too.")
        if 10 * done // total > told:
            told = 10 * done // total
            console.print(f"{done:,} of {total:,} played", highlight=False)

    return tell
