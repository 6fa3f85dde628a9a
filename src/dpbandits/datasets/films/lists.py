"""The lists of films in the layouts MovieLens was published in: number, title and genres of
each.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.errors import DataError
from dpbandits.datasets.files import is_whole, numbered_lines
from dpbandits.datasets.reading.columns import TEXT, WHOLE_NUMBER, read_columns

FLAGS = (
    *(
        "Action",
        "Adventure",
        "Animation",
        "Children's",
        "Comedy",
        "Crime",
        "Documentary",
        "Drama",
        "Fantasy",
        "Film-Noir",
    ),
    *("Horror", "Musical", "Mystery", "Romance", "Sci-Fi", "Thriller", "War", "Western"),
)
"""What the flags of u.item mean; the first flag, "unknown", is left out."""

NO_GENRE = "(no genres listed)"


class FilmList(NamedTuple):
    """Every film listed. ids, shape (films,); genres: their names, sorted; vectors: 1 where a film
    has a genre, shape (films, genres).
    """

    ids: NDArray[np.int64]
    titles: tuple[str, ...]
    genres: tuple[str, ...]
    vectors: NDArray[np.int64]


class FilmFormat(NamedTuple):
    """One way of publishing: names of the two files, how to read the list, and how the ratings are
    written.
    """

    films: str
    ratings: str
    read: Callable[[Path], FilmList]
    separator: str
    header: bool


def csv_list(path: Path) -> FilmList:
    """movies.csv: movieId, title, genres as `A|B`."""
    rows = read_columns(path, {"movieId": WHOLE_NUMBER, "title": TEXT, "genres": TEXT})
    return film_list(
        path.name,
        rows["movieId"].tolist(),
        rows["title"],
        [genres.split("|") for genres in rows["genres"]],
    )


def colon_list(path: Path) -> FilmList:
    """movies.dat: number::title::A|B. A title may hold a colon, or two."""
    ids, titles, genres = [], [], []
    for line, text in numbered_lines(path):
        number, _, rest = text.partition("::")
        title, separator, names = rest.rpartition("::")
        place = f"{path.name}, line {line}"
        if not (separator and title and names):
            raise DataError(
                f"{place}: expected number::title::genres; something is missing. Correct or drop "
                "the line."
            )
        ids.append(film_number(number, place))
        titles.append(title)
        genres.append(names.split("|"))
    return film_list(path.name, ids, titles, genres)


def flag_list(path: Path) -> FilmList:
    """u.item: number|title|release|video release|address|19 flags, the first of which says that the
    genre is unknown.
    """
    ids, titles, genres = [], [], []
    for line, text in numbered_lines(path):
        fields, place = text.split("|"), f"{path.name}, line {line}"
        flags = fields[5:]
        if len(flags) != 1 + len(FLAGS) or not set(flags) <= {"0", "1"}:
            raise DataError(
                f"{place}: expected 24 fields separated by |, the last 19 of them 0 or 1. "
                "Correct or drop the line."
            )
        ids.append(film_number(fields[0], place))
        titles.append(fields[1])
        genres.append([name for name, flag in zip(FLAGS, flags[1:], strict=True) if flag == "1"])
    return film_list(path.name, ids, titles, genres)


LAYOUTS = (
    FilmFormat("movies.csv", "ratings.csv", csv_list, ",", header=True),
    FilmFormat("movies.dat", "ratings.dat", colon_list, "::", header=False),
    FilmFormat("u.item", "u.data", flag_list, "\t", header=False),
)


def film_number(field: str, place: str) -> int:
    if not is_whole(field):
        raise DataError(
            f"{place}: expected the film's number first, a whole number. Correct or drop the line."
        )
    return int(field)


def film_list(
    file: str, ids: list[int], titles: Iterable[str], genres: list[list[str]]
) -> FilmList:
    """The list of all films. A film without a genre has the zero vector; "no genre" is not a
    genre.
    """
    if not ids:
        raise DataError(f"{file} lists no films: expected one a line.")
    if len(set(ids)) < len(ids):
        raise DataError(f"{file} lists a film twice: expected every number once.")
    names = tuple(sorted({name for of_film in genres for name in of_film} - {NO_GENRE}))
    if not names:
        raise DataError(f"{file} names no genre at all. Expected most films to have one.")
    column = {name: j for j, name in enumerate(names)}
    vectors = np.zeros((len(ids), len(names)), np.int64)
    for row, of_film in enumerate(genres):
        vectors[row, [column[name] for name in of_film if name != NO_GENRE]] = 1
    return FilmList(np.array(ids, np.int64), tuple(titles), names, vectors)
