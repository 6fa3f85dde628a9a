"""The command line: parsing and printing only."""

from enum import StrEnum
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer

from dpbandits.policies.recommended import RECOMMENDED
from dpbandits.terminal.commands.audit import audit_command
from dpbandits.terminal.commands.campaigns import campaign_commands, serve_command
from dpbandits.terminal.commands.forecast import forecast_command
from dpbandits.terminal.commands.keys import keys
from dpbandits.terminal.commands.run import SMALL_SWEEP, run_command
from dpbandits.terminal.commands.terminal import (
    QuickOption,
    WorkersOption,
    console,
    one_line_errors,
)
from dpbandits.theory import list_policies as every_policy
from dpbandits.version import __version__

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,  # a reward, or a store's key, may be one of them
    rich_markup_mode="rich",
    help=(
        "Bandit policies with differential privacy: look them up, compare "
        "them, audit them.\n\nStart with [bold]dpbandits demo[/], then [bold]dpbandits list[/] and "
        "[bold]dpbandits explain DPRateIMED[/]."
    ),
)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Where results go.")] = Path("demo"),
    quick: QuickOption = False,
    workers: WorkersOption = None,
) -> None:
    """What does privacy cost? Policies on a real trial of depression treatments.

    Example: [bold]dpbandits demo[/]
    """
    from dpbandits.sweeps.config import load_config
    from dpbandits.terminal.tables import run_here

    with one_line_errors(), as_file(files("dpbandits.sweeps") / "demo.toml") as path:
        run_here(
            load_config(path, quick=quick),
            out,
            console=console,
            command="dpbandits demo" + " --quick" * quick,
            workers=workers,
        )


app.add_typer(campaign_commands, name="campaign")
app.add_typer(keys, name="keys")
app.command("serve")(serve_command)
app.command("audit")(audit_command)
app.command("forecast")(forecast_command)
app.command("run", epilog=SMALL_SWEEP)(run_command)


class Privacy(StrEnum):
    none = "none"
    pure = "pure"
    zCDP = "zCDP"
    local = "local"
    joint = "joint"


class FeedbackKind(StrEnum):
    bandit = "bandit"
    semi = "semi"
    full = "full"


@app.callback(invoke_without_command=True)
def version_command(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        console.print(__version__, highlight=False)
        raise typer.Exit


@app.command("list")
def list_policies(
    privacy: Annotated[
        Privacy | None,
        typer.Option(case_sensitive=False, help="Only policies with this kind of privacy."),
    ] = None,
    feedback: Annotated[
        FeedbackKind | None,
        typer.Option(help="Only policies that see: the arm played, several arms, or every arm."),
    ] = None,
    recommended: Annotated[
        bool, typer.Option("--recommended", help="Only what dpbandits.recommend returns.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Every policy in a line: what it is for, and what its budget is for.

    Example: [bold]dpbandits list --privacy local[/]
    """
    from dpbandits.terminal.explain import catalogue, catalogue_json

    rows = [
        row
        for row in every_policy()
        if (privacy is None or row.privacy == privacy.value)
        and (feedback is None or row.feedback == feedback.value)
        and (not recommended or row.name in RECOMMENDED)
    ]
    if json:
        typer.echo(catalogue_json(rows))
    else:
        console.print(catalogue(rows))


@app.command()
def explain(
    name: Annotated[str, typer.Argument(help="A policy's name, as `dpbandits list` shows it.")],
    short: Annotated[
        bool, typer.Option("--short", help="One screen: what it does, its guarantee, a call.")
    ] = False,
) -> None:
    """One policy: what it does, its guarantee, regret bound, parameters, source and proof.

    Example: [bold]dpbandits explain DPKLUCB[/]
    """
    from dpbandits.terminal.explain import explanation

    with one_line_errors():
        for part in explanation(name, short=short):
            console.print(part)
