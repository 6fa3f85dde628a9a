"""What policies on a matroid recommend at the end: table 3 of the matroid paper."""

from collections.abc import Iterator, Sequence

import numpy as np

from dpbandits.core.privacy import printed_epsilon
from dpbandits.figures.panels import Panel
from dpbandits.papers.measures.bases import last_bases
from dpbandits.papers.tables import PageTable
from dpbandits.policies.contract import problem_of
from dpbandits.sweeps.reading.entries import Loaded
from dpbandits.sweeps.results import Results

BEST = "best set"


def recommended_films(results: Results, panel: Panel, labels: Sequence[str]) -> Iterator[PageTable]:
    """Two tables: the best set's films with those that each policy's last basis shares with it, and
    how many films of each set have each genre.

    Each policy is played once, as in the paper, for as long as in the sweep.

    Raises:
        LookupError: a label was not played in the panel.
    """
    loaded = results.config.loaded[panel.environment]
    assert loaded.problem is not None
    assert panel.epsilon is not None
    best = frozenset(loaded.problem.best(loaded.environment.means))
    sets = {BEST: best} | {label: last_of(results, panel, label) for label in labels}
    rounds = max(cell.rounds for cell in results.cells if cell.setting == panel.environment)
    yield PageTable(
        f"Table 3: the best set of {len(best)} films with the share of users who rated each, and "
        f"which of them are in the basis that a policy plays in round {rounds:,}, in one run at "
        f"ε = {printed_epsilon(panel.epsilon)}. {loaded.source}",
        ["film", "share", "genres", *sets],
        film_rows(loaded, sets),
    )
    yield PageTable(
        "The same sets: how many of their films have each genre",
        ["genre", *sets],
        genre_rows(loaded, sets),
    )


def last_of(results: Results, panel: Panel, label: str) -> frozenset[int]:
    """The arms of the basis that the policy plays in its last round, in one run."""
    for cell in results.cells:
        if (cell.label, cell.setting, cell.epsilon) == (label, panel.environment, panel.epsilon):
            assert problem_of(cell.policy) is not None
            last = last_bases(cell.policy, cell.environment, cell.rounds, runs=1)
            return frozenset(np.flatnonzero(last[0]).tolist())
    raise LookupError(
        f"Expected {label!r} to be played in {panel.title}; it was not. Labels are "
        f"{', '.join(sorted({cell.label for cell in results.cells}))}."
    )


def film_rows(loaded: Loaded, sets: dict[str, frozenset[int]]) -> list[list[str]]:
    """A row for each film of the best set, the most rated first, and one for those outside it."""
    means = loaded.environment.means
    rows = [
        [
            loaded.arms[film],
            f"{means[film]:.3f}",
            ", ".join(loaded.kinds[film]),
            *("yes" if film in chosen else "" for chosen in sets.values()),
        ]
        for film in sorted(sets[BEST], key=lambda film: (-means[film], film))
    ]
    outside = [str(len(chosen - sets[BEST])) for chosen in sets.values()]
    return [*rows, ["films outside it", "", "", *outside]]


def genre_rows(loaded: Loaded, sets: dict[str, frozenset[int]]) -> list[list[str]]:
    genres = sorted({genre for kinds in loaded.kinds for genre in kinds})
    return [
        [genre, *(str(sum(genre in loaded.kinds[f] for f in films)) for films in sets.values())]
        for genre in genres
    ]
