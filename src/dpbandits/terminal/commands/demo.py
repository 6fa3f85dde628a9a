"""`dpbandits demo`: what privacy costs, on the data of a real trial that comes with the package."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer

from dpbandits.terminal.commands.terminal import (
    QuickOption,
    WorkersOption,
    console,
    one_line_errors,
)


def demo(
    out: Annotated[Path, typer.Option(help="Where results go.")] = Path("demo"),
    quick: QuickOption = False,
    workers: WorkersOption = None,
) -> None:
    """Private and non-private policies on a real trial of depression treatments: what does privacy
    cost?

    Example: [bold]dpbandits demo[/]
    """
    from dpbandits.sweeps.config import load_config
    from dpbandits.terminal.sweeps import run_here

    with one_line_errors(), as_file(files("dpbandits.sweeps") / "demo.toml") as path:
        run_here(
            load_config(path, quick=quick),
            out,
            console=console,
            command="dpbandits demo" + " --quick" * quick,
            workers=workers,
        )
