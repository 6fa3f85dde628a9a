"""How the command line is called: calls that do not fit are one line, and help flows."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from dpbandits.terminal.commands.terminal import errors

UsageError: Any = typer.BadParameter.__mro__[1]
"""What a call that does not fit raises; of the click that typer brings along, or the installed."""

PLAINLY = {
    "Input should be a valid integer, unable to parse string as an integer": (
        "expected a whole number in digits alone, such as 50000"
    ),
    "Input should be a valid number, unable to parse string as a number": (
        "expected a number, such as 0.5"
    ),
    "Value error, ": "",
}
"""What is said in place of the parser's own words. None repeats what came: it may be a reward."""


class OneLineGroup(TyperGroup):
    """Commands whose calls, where they do not fit, are answered by one line and exit code 2."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        how: tuple[Any, ...] = (args, prog_name, complete_var, False, windows_expand_args)
        if not standalone_mode:
            return super().main(*how, **extra)
        try:
            code = super().main(*how, **extra)
        except UsageError as error:
            show_usage(error)
            sys.exit(2)
        except typer.Abort:
            errors.print("Stopped.")
            sys.exit(1)
        sys.exit(code if isinstance(code, int) else 0)


def show_usage(error: Any) -> None:
    """What does not fit, and where help is; where no command was named, the help itself."""
    if "NoArgs" in type(error).__name__:  # it is the help, where that is not printed already
        typer.echo(error.format_message(), nl=False)
        return
    words = " ".join(error.format_message().split())
    for theirs, ours in PLAINLY.items():
        words = words.replace(theirs, ours)
    words += "" if words[-1:] in ".?!" else "."
    called, context = list[str](), error.ctx
    while context is not None and context.parent is not None:
        called, context = [context.info_name, *called], context.parent
    where = f"`{' '.join(['dpbandits', *called])} --help` says more."
    errors.print(
        f"[red]Error:[/] {words.replace('[', chr(92) + '[')} {where}",
        soft_wrap=True,
        highlight=False,
    )


def let_help_flow(app: typer.Typer) -> None:
    """Help is a docstring, whose lines end where the file's do: its paragraphs are lines."""
    for command in app.registered_commands:
        if command.help is None and command.callback is not None:
            command.help = flowing(inspect.getdoc(command.callback) or "")
    for group in app.registered_groups:
        if group.typer_instance is not None:
            let_help_flow(group.typer_instance)


def flowing(text: str) -> str:
    """
    >>> flowing("One,\\ntwo.\\n\\nThree.")
    'One, two.\\n\\nThree.'
    """
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))
