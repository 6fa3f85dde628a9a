"""MovieLens (Harper and Konstan 2015, GroupLens): which users rated which films, read from the zip
or its folder. There are up to tens of millions of ratings: many lines are read at a time.

The terms of GroupLens allow research, ask to be acknowledged, and forbid commercial use without
permission.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.errors import DataError
from dpbandits.datasets.archives import Archive
from dpbandits.datasets.files import PathLike
from dpbandits.datasets.films.films import Films
from dpbandits.datasets.films.lists import LAYOUTS, FilmFormat, FilmList
from dpbandits.datasets.reading.columns import WHOLE_NUMBER, column_places


def movielens(path: PathLike, films: int = 100, *, drop_unlisted: bool = False) -> Films:
    """The most rated films of a MovieLens set, and who rated them. A film rated twice by one user
    counts once.

    Args:
        path: the zip as downloaded, or its unpacked folder: movies.csv and ratings.csv
            (ml-latest-small, ml-20m and later), movies.dat and ratings.dat (ml-1m, ml-10m), or
            u.item and u.data (ml-100k).
        films: how many to take.
        drop_unlisted: leave out ratings of films that are not in the list (copies found elsewhere
            than at GroupLens may have some).

    Raises:
        DataError: the files are not as published; the message says where.
        ValueError: more films than were rated, or none.
    """
    bundle = Archive(path)
    layout = layout_of(bundle)
    with bundle.file(layout.films) as file:
        listed = layout.read(file)
    with bundle.open(layout.ratings) as stream:
        users, rated = pairs(stream, layout.ratings, layout.separator, layout.header)
    known = np.isin(rated, listed.ids)
    if not known.all() and not (drop_unlisted and known.any()):
        first, others = known.argmin() + 1, len(known) - known.sum()
        raise DataError(
            f"{layout.ratings}, rating {first}: expected a film that {layout.films} lists; "
            f"{others} of {len(known)} ratings have none. "
            "Fetch both files again, or pass drop_unlisted=True to leave such ratings out."
        )
    users, rated = users[known], rated[known]
    return most_rated(listed, users, rated, films)


def layout_of(bundle: Archive) -> FilmFormat:
    """How the files found are written."""
    found = [layout for layout in LAYOUTS if {layout.films, layout.ratings} <= bundle.names]
    if len(found) != 1:
        known = ", or ".join(f"{layout.films} and {layout.ratings}" for layout in LAYOUTS)
        problem = "neither is complete" if not found else "it holds more than one set"
        raise DataError(
            f"Expected {bundle.path.name} to hold {known}; {problem}. Give the zip as "
            "downloaded, or its unpacked folder."
        )
    return found[0]


def most_rated(listed: FilmList, users: Ids, rated: Ids, films: int) -> Films:
    row, rated = different(users, rated)
    people = int(row[-1]) + 1
    ids, counts = np.unique(rated, return_counts=True)
    if not 1 <= films <= len(ids):
        raise ValueError(
            f"Expected films={films} to be from 1 to {len(ids)}, the number of films that were "
            "rated."
        )
    top = np.lexsort((ids, -counts))[:films]
    order = np.argsort(listed.ids)
    at = order[np.searchsorted(listed.ids, ids[top], sorter=order)]
    kept, by_id = np.isin(rated, ids[top]), np.argsort(ids[top])
    watched = np.zeros((people, films), np.uint8)
    watched[row[kept], by_id[np.searchsorted(ids[top], rated[kept], sorter=by_id)]] = 1
    return Films(
        titles=tuple(listed.titles[i] for i in at),
        ids=tuple(ids[top].tolist()),
        genres=listed.genres,
        vectors=listed.vectors[at],
        counts=counts[top],
        people=people,
        watched=watched,
    )


def different(users: Ids, rated: Ids) -> tuple[Ids, Ids]:
    """Every pair once, by user: the user's number among all users, counted from 0, and the film.
    Sorted in place: there can be many.
    """
    keys = users.astype(np.int64) << 32 | rated
    keys.sort()
    keys = keys[np.append(True, keys[1:] != keys[:-1])]
    users = (keys >> 32).astype(np.int32)
    row = np.append(0, np.cumsum(users[1:] != users[:-1], dtype=np.int32)).astype(np.int32)
    return row, (keys & 0xFFFFFFFF).astype(np.int32)


Ids = NDArray[np.int32]
CHUNK = 1 << 22  # bytes read at a time
MARK = b"\x1f"  # one byte for any separator
DIGITS = 9  # of a number; what an int32 holds


class Shape(NamedTuple):
    """How one line is laid out: its separator, the number of its fields, and which of them are the
    user and the film.
    """

    separator: bytes
    width: int
    user: int
    film: int


def pairs(stream: IO[bytes], name: str, separator: str, header: bool) -> tuple[Ids, Ids]:
    """User and film of every line, each of shape (ratings,), in the file's order.

    The fields are user, film, rating and time; a header (userId, movieId, …) may give another
    order.

    Raises:
        DataError: the number of fields differs, or a user or film is no whole number; with the
        line.
    """
    shape = (
        from_header(stream.readline(), name, separator)
        if header
        else Shape(separator.encode(), 4, 0, 1)
    )
    line = 1 + header
    read: list[tuple[Ids, Ids]] = []
    for chunk in whole_lines(stream):
        found = at_once(chunk, shape)
        read.append(one_by_one(chunk, shape, name, line) if found is None else found)
        line += chunk.count(b"\n")
    users, films = (
        np.concatenate([part[i] for part in read] or [np.empty(0, np.int32)]) for i in (0, 1)
    )
    if len(users) == 0:
        raise DataError(f"{name} holds no ratings: expected one a line.")
    return users, films


def from_header(line: bytes, name: str, separator: str) -> Shape:
    fields = line.decode("utf-8-sig", errors="replace").strip().split(separator)
    at = column_places(name, fields, {"userId": WHOLE_NUMBER, "movieId": WHOLE_NUMBER})
    return Shape(separator.encode(), len(fields), at["userId"], at["movieId"])


def whole_lines(stream: IO[bytes]) -> Iterator[bytes]:
    """The stream, in pieces that end with a line."""
    rest = b""
    while block := stream.read(CHUNK):
        whole, newline, rest = (rest + block).rpartition(b"\n")
        if newline:
            yield whole + newline
    if rest:
        yield rest + b"\n"


def at_once(chunk: bytes, shape: Shape) -> tuple[Ids, Ids] | None:
    """Every line of a chunk by a few array operations; None if any line is not regular."""
    text = np.frombuffer(chunk.replace(b"\r\n", b"\n").replace(shape.separator, MARK), np.uint8)
    stops = np.flatnonzero((text == MARK[0]) | (text == ord("\n")))
    if len(stops) % shape.width:
        return None
    ends = stops.reshape(-1, shape.width)
    starts = np.append(0, stops[:-1] + 1).reshape(-1, shape.width)
    if not (np.all(text[ends[:, -1]] == ord("\n")) and np.all(text[ends[:, :-1]] == MARK[0])):
        return None
    users, films = (
        parsed_numbers(text, starts[:, field], ends[:, field]) for field in (shape.user, shape.film)
    )
    return None if users is None or films is None else (users, films)


def parsed_numbers(
    text: NDArray[np.uint8], starts: NDArray[np.intp], ends: NDArray[np.intp]
) -> Ids | None:
    """The numbers written from starts to ends; None if one is not of 1 to `DIGITS` digits."""
    widths = ends - starts
    if widths.min() < 1 or widths.max() > DIGITS:
        return None
    total = np.zeros(len(starts), np.int32)
    for place in range(int(widths.max())):
        inside = widths > place
        # what is below "0" wraps round to far above 9
        digits = text[starts[inside] + place] - np.uint8(ord("0"))
        if digits.max() > 9:
            return None
        total[inside] = total[inside] * 10 + digits
    return total


def one_by_one(chunk: bytes, shape: Shape, name: str, first: int) -> tuple[Ids, Ids]:
    """The same, line by line: passes over empty lines and says where the first wrong one is.

    first: the number of the chunk's first line.
    """
    users: list[int] = []
    films: list[int] = []
    for line, text in enumerate(chunk.splitlines(), start=first):
        if not text.strip():
            continue
        fields = text.split(shape.separator)
        if len(fields) != shape.width:
            raise DataError(
                f"{name}, line {line}: expected {shape.width} fields, found {len(fields)}. "
                "Correct or drop the line."
            )
        for what, numbers_read, field in (
            ("user", users, fields[shape.user]),
            ("film", films, fields[shape.film]),
        ):
            if not (field.isdigit() and len(field) <= DIGITS):
                raise DataError(
                    f"{name}, line {line}: expected the {what} to be a whole number; it is not. "
                    "Correct or drop the line."
                )
            numbers_read.append(int(field))
    return np.array(users, np.int32), np.array(films, np.int32)
