"""The most rated films of a MovieLens set (Harper and Konstan 2015, GroupLens): genre vectors, and
who rated what; or counts alone, from a file, if nobody's ratings may be passed on.

The terms of GroupLens allow research, ask to be acknowledged, and forbid commercial use without
permission. Sets are published at https://files.grouplens.org/datasets/movielens/.
"""

from __future__ import annotations

import os
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, final

import msgspec
import numpy as np
from numpy.typing import NDArray

from dpbandits.core.errors import DataError
from dpbandits.core.inputs import Floats, read_as
from dpbandits.datasets.tables import PathLike, decoded, existing, shuffled
from dpbandits.environments.laws import Bernoulli
from dpbandits.environments.tables import Table

if TYPE_CHECKING:
    import polars as pl

NO_GENRE = "(no genres listed)"


def data_folder() -> Path:
    """The folder for data: $DPBANDITS_DATA, else $XDG_DATA_HOME/dpbandits, else
    ~/.local/share/dpbandits. It need not exist yet.
    """
    if chosen := os.environ.get("DPBANDITS_DATA"):
        return Path(chosen).expanduser()
    shared = Path(os.environ.get("XDG_DATA_HOME", ""))
    return (shared if shared.is_absolute() else Path.home() / ".local" / "share") / "dpbandits"


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
        """Names of the film's genres; none of a film without.

        Args:
            film: its place among the films, from 0.
        """
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

        Returns:
            A table of shape (users, films), 1 where a user rated a film.

        Raises:
            ValueError: only the counts are known.
        """
        if self.watched is None:
            raise ValueError(
                "Expected ratings user by user; these films have counts only. Load the data "
                "itself with movielens()."
            )
        return Table(shuffled(self.watched, seed), resample=resample)


class CountedFilm(msgspec.Struct):
    """A film of a file of counts. vector: 0 or 1 for each genre."""

    id: int
    title: str
    count: Annotated[int, msgspec.Meta(ge=0)]
    vector: list[Annotated[int, msgspec.Meta(ge=0, le=1)]]


class CountedFilms(msgspec.Struct):
    """A file of counts; further entries are passed over."""

    n_users: Annotated[int, msgspec.Meta(ge=1)]
    genres: Annotated[list[str], msgspec.Meta(min_length=1)]
    movies: Annotated[list[CountedFilm], msgspec.Meta(min_length=1)]


def films_from_counts(path: PathLike) -> Films:
    """Films of a JSON object with n_users, genres (names) and movies: id, title, count and vector
    (0 or 1 for each genre).

    Further entries are passed over. `watched` is None: who rated what is not in such a file.

    Args:
        path: the file.

    Raises:
        DataError: the file is not such an object; the message says what is missing and where.
    """
    file = existing(path)
    try:
        found = read_as(CountedFilms, msgspec.json.decode(file.read_bytes()))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{file.name}: {error}") from None
    films = sorted(found.movies, key=lambda film: (-film.count, film.id))
    if len({film.id for film in films}) < len(films) or len(set(found.genres)) < len(found.genres):
        raise DataError(f"{file.name}: expected every id and every genre once.")
    if any(len(film.vector) != len(found.genres) or film.count > found.n_users for film in films):
        raise DataError(
            f"{file.name}: expected a vector of {len(found.genres)} numbers for each movie, and no "
            "count above n_users."
        )
    return Films(
        tuple(film.title for film in films),
        tuple(film.id for film in films),
        tuple(found.genres),
        np.array([film.vector for film in films], np.int64),
        np.array([film.count for film in films], np.int64),
        found.n_users,
        None,
    )


def movielens(path: PathLike, films: int = 100, *, drop_unlisted: bool = False) -> Films:
    """The most rated films of a MovieLens set, and who rated them. A film rated twice by one user
    counts once.

    Args:
        path: the zip as downloaded, or its unpacked folder: movies.csv and ratings.csv
            (ml-latest-small, ml-20m and later), or movies.dat and ratings.dat (ml-1m, ml-10m).
        films: how many to take.
        drop_unlisted: leave out ratings of films that are not in the list (copies found elsewhere
            than at GroupLens may have some).

    Raises:
        DataError: the files are not as published.
        ValueError: more films than were rated, or none.
    """
    import polars as pl

    place = Path(path)
    try:
        listed, ratings = read_set(existing(place, "folder" if place.is_dir() else "file"))
    except (pl.exceptions.PolarsError, zipfile.BadZipFile, ValueError, RuntimeError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"{place.name} cannot be read as MovieLens publishes it: it is damaged, cut short, or "
            "of another format. Fetch it again."
        ) from None
    known = ratings.filter(pl.col("film").is_in(listed["film"].implode()))
    if len(known) < len(ratings) and not (drop_unlisted and len(known)):
        raise DataError(
            f"{len(ratings) - len(known)} of {len(ratings)} ratings in {place.name} are of films "
            "that are not in the list of films. Fetch both files again, or pass "
            "drop_unlisted=True to leave such ratings out."
        )
    return most_rated(listed, known.unique(), films)


def read_set(place: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The list of films (film, title, genres), and the ratings (user, film), all different."""
    import polars as pl

    if (text := member(place, "movies.csv")) and (data := member(place, "ratings.csv")):
        listed = pl.read_csv(text, columns=["movieId", "title", "genres"])
        rated = ["userId", "movieId"]  # the file may have them in another order
        ratings = pl.read_csv(data, columns=rated).select(rated)
        listed = listed.select(pl.col("movieId").cast(pl.Int64).alias("film"), "title", "genres")
    elif (text := member(place, "movies.dat")) and (data := member(place, "ratings.dat")):
        # number::title::genres; a title may hold a colon, or two
        parts = [line.split("::") for line in decoded(text).splitlines() if line.strip()]
        rows = [(int(n), "::".join(title) or None, genres) for n, *title, genres in parts]
        listed = pl.DataFrame(rows, ["film", "title", "genres"], orient="row")
        ratings = pl.read_csv(data, separator=":", has_header=False, columns=[0, 2])
    else:
        raise DataError(
            f"Expected {place.name} to hold movies.csv and ratings.csv, or movies.dat and "
            "ratings.dat. Give the zip as downloaded, or its unpacked folder."
        )
    user, film = ratings.columns
    found = ratings.select(
        pl.col(user).cast(pl.Int64).alias("user"), pl.col(film).cast(pl.Int64).alias("film")
    ).filter(~pl.all_horizontal(pl.all().is_null()))  # empty lines
    for frame, name in ((listed, "list of films"), (found, "ratings")):
        if frame.is_empty() or sum(frame.null_count().row(0)):
            raise DataError(f"{place.name}: expected every line of the {name} to be whole.")
    if listed["film"].is_duplicated().any():
        raise DataError(f"{place.name} lists a film twice: expected every number once.")
    return listed, found


def member(place: Path, name: str) -> bytes | None:
    """A file of a folder, or of a zip (at its top or in one folder of it); None: it has none."""
    if place.is_dir():
        return (place / name).read_bytes() if (place / name).is_file() else None
    with zipfile.ZipFile(place) as archive:
        found = [entry for entry in archive.namelist() if PurePosixPath(entry).name == name]
        if len(found) > 1:
            raise DataError(f"Expected one {name} in {place.name}; found {len(found)}.")
        return archive.read(found[0]) if found else None


def most_rated(listed: pl.DataFrame, pairs: pl.DataFrame, films: int) -> Films:
    """The films that most users rated. pairs: user and film, each pair once."""
    import polars as pl

    counts = pairs.group_by("film").len("count").sort("count", "film", descending=[True, False])
    if not 1 <= films <= len(counts):
        raise ValueError(
            f"Expected films={films} to be from 1 to {len(counts)}, the number of films that were "
            "rated."
        )
    top = counts.head(films).join(listed, on="film", how="left", maintain_order="left")
    names = sorted({n for of_film in listed["genres"] for n in of_film.split("|")} - {NO_GENRE})
    vectors = [[int(n in of_film.split("|")) for n in names] for of_film in top["genres"]]
    users = pairs["user"].unique().sort()
    kept = pairs.filter(pl.col("film").is_in(top["film"].implode()))
    column = {film: at for at, film in enumerate(top["film"])}
    watched = np.zeros((len(users), films), np.uint8)
    watched[
        np.searchsorted(users.to_numpy(), kept["user"].to_numpy()),
        [column[film] for film in kept["film"]],
    ] = 1
    return Films(
        titles=tuple(top["title"]),
        ids=tuple(top["film"]),
        genres=tuple(names),
        vectors=np.array(vectors, np.int64),
        counts=top["count"].to_numpy().astype(np.int64),
        people=len(users),
        watched=watched,
    )
