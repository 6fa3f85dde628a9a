"""`python -m examples.films`: what a user of the package may do with ratings of films."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dpbandits.terminal.console import console, one_line_errors
from examples.films.play import POLICIES, load_films, play_films, print_played


class Matroid(StrEnum):
    """Policies that play a matroid's bases privately."""

    DPJointMAT = "DPJointMAT"
    DPKLMAT = "DPKLMAT"


def main(
    data: Annotated[
        Path,
        typer.Argument(
            help="A MovieLens zip or its folder, from https://files.grouplens.org/datasets/movielens/"
        ),
    ],
    epsilon: Annotated[
        str, typer.Option(help="The budget of one round: a number, or a fraction like 1/2.")
    ] = "2",
    rounds: Annotated[int, typer.Option(min=1, help="Rounds, a user each.")] = 20_000,
    policy: Annotated[
        Matroid, typer.Option(case_sensitive=False, help="Who recommends.")
    ] = Matroid.DPJointMAT,
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

    Example: python -m examples.films ml-1m.zip --epsilon 1/2
    """
    with one_line_errors("A demonstration keeps nothing."):
        found = load_films(data, films, drop_unlisted=drop_unlisted)
        with console.status("playing"):
            played = play_films(
                found,
                POLICIES[policy.value],
                epsilon=epsilon,
                rounds=rounds,
                seed=seed,
                independent=independent,
            )
        print_played(played, console)


if __name__ == "__main__":
    typer.run(main)
