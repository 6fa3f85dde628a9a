"""`dpbandits run` and `dpbandits merge`: sweeps, on one machine or many, whole or in parts."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpbandits.terminal.commands.terminal import (
    QuickOption,
    WorkersOption,
    console,
    one_line_errors,
)

if TYPE_CHECKING:
    from dpbandits.sweeps.config import Config
    from dpbandits.sweeps.executors.base import Executor
    from dpbandits.sweeps.shards import Shard

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


ConfigArgument = Annotated[
    Path, typer.Argument(help="A sweep file (TOML): policies × environments × ε × runs.")
]
OutOption = Annotated[Path | None, typer.Option(help="Where results go. By default results/NAME.")]
ExecutorOption = Annotated[
    ExecutorName, typer.Option(help="Who plays: processes of this machine, or a Dask cluster.")
]
SchedulerOption = Annotated[
    str | None, typer.Option(help="With --executor dask: its address, as in tcp://host:8786.")
]
ShardOption = Annotated[
    str | None,
    typer.Option(help="Play one part only, such as 1/3; `dpbandits merge` joins the parts."),
]


def run_command(
    config: ConfigArgument,
    out: OutOption = None,
    quick: QuickOption = False,
    workers: WorkersOption = None,
    executor: ExecutorOption = ExecutorName.processes,
    scheduler: SchedulerOption = None,
    shard: ShardOption = None,
) -> None:
    """Run a sweep: Parquet tables, PNG, SVG and PDF figures, one HTML page. Finished work is never
    done again.

    A policy's class is a name that `dpbandits list` shows, or module:object for your own in a file
    beside the sweep file. With more runs than before, only the missing ones are played. Processes
    that run a sweep into one folder share its work, on several machines too.

    Example: [bold]dpbandits run my-sweep.toml --quick[/]
    """
    from dpbandits.sweeps.config import load_config
    from dpbandits.terminal.tables import run_here, run_shard

    with one_line_errors():
        player = executor_from(executor, scheduler, workers)
        part = None if shard is None else shard_from(shard)
        sweep = load_config(config, quick=quick)
        folder = out or folder_of(sweep, quick)
        if part is not None:
            folder = out or folder.with_name(f"{folder.name}-{part.stem}")
            run_shard(sweep, folder, part, console=console, executor=player)
            return
        command = f"dpbandits run {config.name}" + " --quick" * quick
        run_here(sweep, folder, console=console, command=command, executor=player)


def merge_command(
    config: ConfigArgument,
    folders: Annotated[list[Path], typer.Argument(help="The folders of all shards.")],
    out: OutOption = None,
    quick: QuickOption = False,
) -> None:
    """Join the parts that `dpbandits run --shard` played: tables, figures and page of the whole.

    Example: [bold]dpbandits merge my-sweep.toml results/first-shard-*[/]
    """
    from dpbandits.sweeps.config import load_config
    from dpbandits.sweeps.shards import merge_shards
    from dpbandits.terminal.tables import show_results

    with one_line_errors("Nothing that shards have played is lost."):
        sweep = load_config(config, quick=quick)
        results = merge_shards(sweep, folders, out or folder_of(sweep, quick))
        command = f"dpbandits merge {config.name} FOLDERS" + " --quick" * quick
        show_results(results, console=console, command=command)


def folder_of(sweep: Config, quick: bool) -> Path:
    return Path("results") / (sweep.name + "-quick" * quick)


def shard_from(text: str) -> Shard:
    from dpbandits.sweeps.shards import Shard

    return Shard.parsed(text)


def executor_from(name: ExecutorName, scheduler: str | None, workers: int | None) -> Executor:
    """What the options ask for.

    Raises:
        ValueError: an option that the executor does not take, or lacks.
    """
    from dpbandits.sweeps.executors.cluster import Cluster
    from dpbandits.sweeps.executors.processes import Processes

    if name is ExecutorName.processes:
        if scheduler is not None:
            raise ValueError("Expected --scheduler together with --executor dask.")
        return Processes(workers)
    if scheduler is None:
        raise ValueError(
            "Expected --executor dask together with --scheduler, the address that `dask scheduler` "
            "prints, such as tcp://host:8786."
        )
    if workers is not None:
        raise ValueError("Expected --workers without --executor dask: a cluster has its own.")
    return Cluster(scheduler)
