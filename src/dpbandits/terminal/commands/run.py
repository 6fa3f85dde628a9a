"""`dpbandits run`: sweeps, on one machine or many, whole or in parts."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dpbandits.terminal.commands.terminal import (
    QuickOption,
    WorkersOption,
    console,
    one_line_errors,
)

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


class ExecutorName(StrEnum):
    processes = "processes"
    dask = "dask"


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
        ExecutorName, typer.Option(help="Who plays: processes of this machine, or a Dask cluster.")
    ] = ExecutorName.processes,
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

    if (executor is ExecutorName.dask) is not (scheduler is not None):
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
