"""A diverse set of films, recommended privately, beside the best one and random ones.

Loaded films are in the order of their popularity, which ties would tell the policy. So they are
shuffled first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dpbandits.core.inputs import Floats
from dpbandits.core.privacy import spent
from dpbandits.datasets import Films, films_from_counts, movielens
from dpbandits.oracles import LinearMatroid
from dpbandits.policies import DPKLMAT, DPJointMAT
from dpbandits.simulation.plain import Path as Run
from dpbandits.simulation.simulate import play_plain
from dpbandits.terminal.tables import SIMULATED

FilmPolicy = DPJointMAT | DPKLMAT
POLICIES: dict[str, type[FilmPolicy]] = {kind.__name__: kind for kind in (DPJointMAT, DPKLMAT)}
RANDOM = 1000  # random sets that are averaged


def load_films(data: Path, films: int = 100, *, drop_unlisted: bool = False) -> Films:
    """The most rated films of a MovieLens zip or folder; or a JSON of counts.

    Raises:
        FileNotFoundError: nothing is there.
        ValueError: it is no such data; the message says what is wrong.
    """
    if data.suffix == ".json":
        return films_from_counts(data)
    return movielens(data, films, drop_unlisted=drop_unlisted)


@final
@dataclass(frozen=True, eq=False)
class Played:
    """One simulated run. marks: rounds at which play counts were kept: the middle, and the last."""

    films: Films
    policy: FilmPolicy
    matroid: LinearMatroid
    marks: NDArray[np.int64]
    run: Run
    independent: bool

    @cached_property
    def estimates(self) -> Floats:
        """Every film's share of viewers as the policy released it, in [0, 1]; NaN before its first
        release. Shape (films,).
        """
        state: Any = self.run.state
        totals, rounds = np.array(state.totals), np.array(state.rounds)
        shares: Floats = np.clip(totals / np.where(rounds > 0, rounds, np.nan), 0, 1)
        return shares

    @cached_property
    def recommended(self) -> tuple[int, ...]:
        """The best set by the released estimates: it reads nothing more, so it costs no privacy."""
        return self.matroid.best(np.nan_to_num(self.estimates))

    @cached_property
    def returns(self) -> list[tuple[str, float]]:
        """Films watched by a user on average: of a random set, of what was played, of what is
        recommended, of the best set.
        """
        means = self.films.means
        rng = np.random.default_rng(0)
        random = float(
            np.mean(
                [
                    self.matroid.value(self.matroid.best(rng.random(len(means))), means)
                    for _ in range(RANDOM)
                ]
            )
        )
        earned, (half, rounds) = self.run.plays @ means, self.marks.tolist()
        return [
            (f"a random set (mean of {RANDOM:,})", random),
            (f"played, mean of the {rounds:,} rounds", float(earned[1]) / rounds),
            ("played, mean of the second half", float(earned[1] - earned[0]) / (rounds - half)),
            ("recommended at the end", self.matroid.value(self.recommended, means)),
            ("the best set", self.matroid.optimum(means)),
        ]


def play_films(
    films: Films,
    kind: type[FilmPolicy] = DPJointMAT,
    *,
    epsilon: str,
    rounds: int,
    seed: int,
    independent: bool,
) -> Played:
    """Simulate the private policy on these films.

    Raises:
        ValueError: a budget or number of rounds that cannot be played; users wanted where only
        counts are known.
    """
    if films.watched is None and not independent:
        raise ValueError(
            "Expected ratings user by user; this file has counts only. Add --independent."
        )
    films = reordered(films, np.random.default_rng(seed).permutation(len(films.ids)))
    matroid = LinearMatroid(films.vectors)
    policy = kind(problem=matroid, epsilon=epsilon, grid=1)
    environment = films.independent() if independent else films.users(seed=None)
    marks = np.array([rounds // 2, rounds])
    return Played(
        films,
        policy,
        matroid,
        marks,
        play_plain(policy, environment, rounds, seed, marks, 0),
        independent,
    )


def reordered(films: Films, order: NDArray[np.int64]) -> Films:
    """The same films in another order."""
    return replace(
        films,
        titles=tuple(films.titles[i] for i in order),
        ids=tuple(films.ids[i] for i in order),
        vectors=films.vectors[order],
        counts=films.counts[order],
        watched=None if films.watched is None else films.watched[:, order],
    )


def print_played(played: Played, console: Console) -> None:
    """Everything on the terminal."""
    films, rounds = played.films, int(played.marks[-1])
    title = (
        f"The {len(films.ids)} most rated films of {films.people:,} users, sets of "
        f"{played.matroid.rank} with independent genre vectors"
    )
    world = (
        "an independent coin a film"
        if played.independent
        else "one random user a round, so rewards are correlated"
    )
    console.print(title, style="bold", highlight=False, soft_wrap=True)
    console.print(
        f"{played.policy.name}, {rounds:,} rounds; {world}.\n", highlight=False, soft_wrap=True
    )
    console.print(recommendation(played), "", returns(played), "", sep="\n")
    for line in guarantee_lines(played):
        console.print(line, highlight=False, soft_wrap=True)
    console.print(SIMULATED, style="dim", soft_wrap=True)


def guarantee_lines(played: Played) -> Iterator[str]:
    """The guarantee, what of it the ledger says is spent, and what it is not."""
    guarantee, rank, rounds = played.policy.guarantee, played.matroid.rank, int(played.marks[-1])
    if guarantee is None:
        raise TypeError(f"Expected a private policy, got {played.policy.name}.")
    yield f"Guarantee: {replace(guarantee, noise='simulated')}."
    together = isinstance(played.policy, DPJointMAT)
    each = f"{guarantee.cost}, together" if together else f"{guarantee.cost / rank} each"
    yield (
        f"Ledger: {spent(played.run.ledger)} of {guarantee.cost}; a round reads {rank} films at "
        f"{each}."
    )
    yield "Which films there are to choose from, and their genres, is public."
    if not played.independent:
        yield (
            "A user who comes again pays again; here each comes "
            f"{rounds / played.films.people:,.1f} times on average."
        )


def recommendation(played: Played) -> Table:
    """The recommended films, the most watched by the estimate first."""
    films, best = played.films, set(played.matroid.best(played.films.means))
    table = small_table(f"Recommended: {len(played.recommended)} films (* in the best set, too)")
    for head, number in (
        ("film", False),
        ("genres", False),
        ("estimated\nviewers", True),
        ("true\nviewers", True),
    ):
        table.add_column(head, justify="right" if number else "left", no_wrap=number)
    shares = played.estimates
    for film in sorted(played.recommended, key=lambda film: -np.nan_to_num(shares[film])):
        genres = ", ".join(films.genres[j] for j in np.flatnonzero(films.vectors[film]))
        name = films.titles[film] + " *" * (film in best)
        estimated = "–" if np.isnan(shares[film]) else f"{shares[film]:.1%}"
        table.add_row(Text(name), Text(genres), estimated, f"{films.means[film]:.1%}")
    return table


def returns(played: Played) -> Table:
    """How the returns of a round compare; in the last column, 0 is a random set and 1 the best
    one.
    """
    low, high = played.returns[0][1], played.returns[-1][1]
    table = small_table("Films of the set that a user has watched, on average")
    for head in ("set", "watched", "of the way from random to best"):
        table.add_column(head, justify="left" if head == "set" else "right")
    for name, value in played.returns:
        table.add_row(
            name, f"{value:.3f}", f"{(value - low) / (high - low):.0%}" if high > low else "–"
        )
    return table


def small_table(title: str) -> Table:
    return Table(
        title=Text(title, style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        show_edge=False,
    )
