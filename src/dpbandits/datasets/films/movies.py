"""MovieLens (Harper and Konstan 2015, GroupLens): which users rated which films, read from the zip
or its folder.

The terms of GroupLens allow research, ask to be acknowledged, and forbid commercial use without
permission.
"""

from __future__ import annotations

import numpy as np

from dpbandits.core.errors import DataError
from dpbandits.datasets.archives import Archive
from dpbandits.datasets.files import PathLike
from dpbandits.datasets.films.films import Films
from dpbandits.datasets.films.lists import LAYOUTS, FilmFormat, FilmList
from dpbandits.datasets.films.ratings import Ids, pairs


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
