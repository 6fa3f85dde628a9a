"""The command line: parsing and printing only."""

from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Literal

import typer

from dpbandits.policies.recommended import RECOMMENDED
from dpbandits.terminal.audit import audit_command
from dpbandits.terminal.campaigns import campaign_commands, keys, serve_command
from dpbandits.terminal.console import QuickOption, WorkersOption, console, one_line_errors
from dpbandits.terminal.forecast import forecast_command
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


SMALL_SWEEP = """A small sweep file:

\b
name = "first"
title = "A first look"
rounds = 10_000
runs = 100
epsilons = \\[0.5, 1]
\\[\\[environments]]
name = "two arms"
law = "bernoulli"
means = \\[0.7, 0.5]
\\[\\[policies]]
class = "DPKLUCB"
\\[\\[policies]]
class = "KLUCB"
"""


@app.command("run", epilog=SMALL_SWEEP)
def run_command(
    config: Annotated[
        Path, typer.Argument(help="A sweep file (TOML): policies × environments × ε × runs.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="Where results go. By default results/NAME.")
    ] = None,
    quick: QuickOption = False,
    workers: WorkersOption = None,
    executor: Annotated[
        Literal["processes", "dask"],
        typer.Option(help="Who plays: processes of this machine, or a Dask cluster."),
    ] = "processes",
    scheduler: Annotated[
        str | None, typer.Option(help="With --executor dask: its address, as in tcp://host:8786.")
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            help="Play one part only, such as 1/3. When the cells of all parts are in one folder, "
            "the command without --shard makes tables, figures and page."
        ),
    ] = None,
) -> None:
    """Run a sweep: Parquet tables, figures, one HTML page. Finished work is never done again.

    A policy's class is a name that `dpbandits list` shows, or module:object for your own in a file
    beside the sweep file. With more runs than before, only the missing ones are played.

    Example: [bold]dpbandits run my-sweep.toml --quick[/]
    """
    from dpbandits.sweeps.config import load_config
    from dpbandits.terminal.tables import run_here

    if (executor == "dask") is not (scheduler is not None):
        raise typer.BadParameter("--executor dask and --scheduler ADDRESS go together.")
    part = None if shard is None else shard_of(shard)
    with one_line_errors():
        sweep = load_config(config, quick=quick)
        run_here(
            sweep,
            out or Path("results") / (sweep.name + "-quick" * quick),
            console=console,
            command=f"dpbandits run {config.name}" + " --quick" * quick,
            workers=workers,
            scheduler=scheduler,
            shard=part,
        )


def shard_of(text: str) -> tuple[int, int]:
    """The numbers of i/n."""
    number, _, parts = text.partition("/")
    if not (number.isdecimal() and parts.isdecimal() and 1 <= int(number) <= int(parts)):
        raise typer.BadParameter("Expected --shard i/n with 1 ≤ i ≤ n, such as 1/3.")
    return int(number), int(parts)


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
        Literal["none", "pure", "zCDP", "local", "joint"] | None,
        typer.Option(case_sensitive=False, help="Only policies with this kind of privacy."),
    ] = None,
    feedback: Annotated[
        Literal["bandit", "semi", "full"] | None,
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
        if (privacy is None or row.privacy == privacy)
        and (feedback is None or row.feedback == feedback)
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
