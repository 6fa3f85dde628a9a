"""The most rated films of a MovieLens set: genre vectors, and who rated what; or counts alone, from
a file. They are enough for independent rewards, if nobody's ratings may be passed on.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.errors import DataError
from dpbandits.core.inputs import Floats
from dpbandits.datasets.files import PathLike, existing
from dpbandits.datasets.reading.matrices import shuffled
from dpbandits.environments.laws import Bernoulli
from dpbandits.environments.tables import Table


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

    def genres_of(self, film: int) -> tuple[str, ...]:
        """Names of the film's genres; none of a film without."""
        return tuple(self.genres[column] for column in np.flatnonzero(self.vectors[film]))

    def independent(self) -> Bernoulli:
        """Every film's reward is an independent coin. The matroid paper draws one random user a
        round; that is `users`.
        """
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


def films_from_counts(path: PathLike) -> Films:
    """Films of a JSON object with n_users, genres (names) and movies: id, title, count and vector
    (0 or 1 for each genre).

    Further entries are passed over. `watched` is None: who rated what is not in such a file.

    Raises:
        DataError: the file is not such an object; the message says what is missing and where.
    """
    file = existing(path)
    content = json_in(file)
    people, genres, movies = (
        entry(content, key, kind, file.name)
        for key, kind in (("n_users", int), ("genres", list), ("movies", list))
    )
    if people < 1 or not movies or not names_once(genres):
        raise DataError(
            f"{file.name}: expected n_users of at least 1, at least one movie, and genres to be "
            "different names."
        )
    rows = [
        film(movie, len(genres), people, f"{file.name}, movie {place}")
        for place, movie in enumerate(movies, start=1)
    ]
    rows.sort(key=lambda row: (-row[2], row[0]))
    ids, titles, counts, vectors = zip(*rows, strict=True)
    if len(set(ids)) < len(ids):
        raise DataError(f"{file.name} lists a movie twice: expected every id once.")
    return Films(
        titles,
        ids,
        tuple(genres),
        np.array(vectors, np.int64),
        np.array(counts, np.int64),
        people,
        None,
    )


def json_in(file: Path) -> object:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        where = f" near line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise DataError(
            f"{file.name} is no JSON that can be read{where}: damaged, cut short, or of another "
            "format."
        ) from None


def film(movie: object, genres: int, people: int, place: str) -> tuple[int, str, int, list[int]]:
    """One movie: its id, title, count and vector."""
    number, title = entry(movie, "id", int, place), entry(movie, "title", str, place)
    count, vector = entry(movie, "count", int, place), entry(movie, "vector", list, place)
    if not 0 <= count <= people:
        raise DataError(f"{place}: expected a count from 0 to n_users.")
    if len(vector) != genres or any(type(flag) is not int or flag not in (0, 1) for flag in vector):
        raise DataError(f"{place}: expected a vector of {genres} numbers, each 0 or 1.")
    return number, title, count, vector


def entry(content: object, key: str, kind: type, place: str) -> Any:
    """The value under a key, of the right kind."""
    if not isinstance(content, Mapping) or type(content.get(key)) is not kind:
        raise DataError(
            f"{place}: expected an object with {key}, a JSON "
            f"{({int: 'integer', str: 'string', list: 'array'})[kind]}."
        )
    return content[key]


def names_once(names: list[object]) -> bool:
    return (
        all(isinstance(name, str) and name for name in names) and len(set(names)) == len(names) > 0
    )
