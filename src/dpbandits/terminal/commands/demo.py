"""`dpbandits demo`: what privacy costs, on real data. The trial comes with the package, films from
the data folder.
"""

from __future__ import annotations

from enum import StrEnum
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer

from dpbandits.terminal.commands.terminal import (
    LEAVE_OUT,
    QuickOption,
    WorkersOption,
    console,
    one_line_errors,
    said,
)

app = typer.Typer()


class MatroidPolicyName(StrEnum):
    """Policies that play a matroid's bases privately."""

    DPKLMAT = "DPKLMAT"
    NoiseAwareMAT = "NoiseAwareMAT"


@app.callback(invoke_without_command=True)
def demo(
    context: typer.Context,
    out: Annotated[Path, typer.Option(help="Where results go.")] = Path("demo"),
    quick: QuickOption = False,
    workers: WorkersOption = None,
) -> None:
    """Private and non-private policies on a real trial of depression treatments: what does privacy
    cost?

    `films` is another demonstration: a diverse set of films, recommended privately.

    Example: [bold]dpbandits demo[/]
    """
    if context.invoked_subcommand is not None:
        return
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


@app.command()
def films(
    data: Annotated[
        str | None,
        typer.Option(help="A set's name, or a path. By default the first set that is here."),
    ] = None,
    epsilon: Annotated[
        str, typer.Option(help="The budget of one round: a number, or a fraction like 1/2.")
    ] = "2",
    rounds: Annotated[int, typer.Option(min=1, help="Rounds, a user each.")] = 20_000,
    policy: Annotated[
        MatroidPolicyName, typer.Option(case_sensitive=False, help="Who recommends.")
    ] = MatroidPolicyName.DPKLMAT,
    seed: Annotated[
        int, typer.Option(min=0, help="Of the users, the policy and the simulated noise.")
    ] = 1,
    films: Annotated[
        int, typer.Option(min=1, help="How many films there are to choose from: the most rated.")
    ] = 100,
    independent: Annotated[
        bool,
        typer.Option(
            "--independent", help="An independent coin a film instead of one user a round."
        ),
    ] = False,
    drop_unlisted: Annotated[
        bool,
        typer.Option(
            "--drop-unlisted", help="Leave out ratings of films that the list does not have."
        ),
    ] = False,
) -> None:
    """Recommend a diverse set of films privately: MovieLens users, one a round, and the matroid of
    genres.

    Example: [bold]dpbandits demo films --data movielens-1m --epsilon 1/2[/]
    """
    from dpbandits.policies import DPKLMAT, NoiseAwareMAT
    from dpbandits.terminal.films import load_films, play_films, print_played

    with one_line_errors("A demonstration keeps nothing."):
        with said(LEAVE_OUT, "add --drop-unlisted to leave such ratings out"):
            found = load_films(data, films, drop_unlisted=drop_unlisted)
        kind = DPKLMAT if policy is MatroidPolicyName.DPKLMAT else NoiseAwareMAT
        with console.status("playing"):
            played = play_films(
                found, kind, epsilon=epsilon, rounds=rounds, seed=seed, independent=independent
            )
        print_played(played, console)
