"""The most rated films of a MovieLens set: genre vectors, and who rated what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.arrays import Floats
from dpbandits.datasets.reading.matrices import shuffled
from dpbandits.environments.laws import Bernoulli
from dpbandits.environments.table import Table


@final
@dataclass(frozen=True, eq=False, repr=False)
class Films:
    """Films as arms, the most rated first (the lower number first on a tie). A reward is 1 where a
    user rated the film.

    titles, ids: one a film. genres: names of the columns of vectors.
    vectors: 1 where a film has a genre, shape (films, genres); a film without a genre has the zero
        vector.
    counts: users who rated the film, shape (films,). people: all users.
    watched: 1 where a user rated the film, shape (users, films); None where only the counts are
        known.
    """

    titles: tuple[str, ...]
    ids: tuple[int, ...]
    genres: tuple[str, ...]
    vectors: NDArray[np.int64]
    counts: NDArray[np.int64]
    people: int
    watched: NDArray[np.uint8] | None

    def __repr__(self) -> str:
        known = "counts only" if self.watched is None else "user by user"
        return (
            f"Films(films={len(self.ids)}, genres={len(self.genres)}, people={self.people}, "
            f"{known})"
        )

    @property
    def means(self) -> Floats:
        """Share of all users who rated the film, shape (films,)."""
        return np.asarray(self.counts / self.people)

    def independent(self) -> Bernoulli:
        """Every film's reward is an independent coin, as in the matroid paper's experiment."""
        return Bernoulli(self.means)

    def users(self, seed: int | None = 0, resample: bool = True) -> Table:
        """A random user a round, so that rewards of one round are correlated as people's tastes
        are.

        Args:
            seed: of the order users come in; None: by their number.
            resample: with replacement, for as long as you like; otherwise every user comes once.

        Raises:
            ValueError: only the counts are known.
        """
        if self.watched is None:
            raise ValueError(
                "Expected ratings user by user; these films have counts only. Load the data "
                "itself with movielens()."
            )
        return Table(shuffled(self.watched, seed), resample=resample)
