"""Visits to microsoft.com in a week of 1998 (UCI "Anonymous Microsoft Web Data"): who saw which
area of the site.

Every person occurs once and makes one row, so one round is one person and a guarantee per round is
one per person.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.errors import DataError
from dpbandits.datasets.files import PathLike, existing
from dpbandits.datasets.reading.columns import TEXT, WHOLE_NUMBER, read_columns
from dpbandits.datasets.reading.matrices import shuffled
from dpbandits.environments.tables import Table

VISITS, AREAS = "msweb_visits.csv.gz", "vroots.csv"


class Area(NamedTuple):
    """One area of the site and how many people visited it."""

    number: int
    title: str
    visitors: int


def msweb(
    path: PathLike,
    areas: int | Sequence[int | str] | None = None,
    *,
    seed: int | None = 0,
    resample: bool = False,
) -> Table:
    """Visitors × areas, 1 where a person visited an area: round t offers person t one area; the
    reward is whether they went there.

    Args:
        path: the folder with msweb_visits.csv.gz (user, vroot: one line a visit) and vroots.csv
            (vroot, title: one line an area).
        areas: how many of the most visited areas to take; or which ones, by number or title; None:
            all, in the order of `msweb_areas`.
        seed: of the order people come in; None: the file's order.
        resample: each round plays a random person (with replacement), for as long as you like.

    Raises:
        DataError: a file is not as described; the message says where.
        ValueError: an area that is not there.
    """
    matrix, known = visit_matrix(existing(path, "folder"))
    return Table(shuffled(matrix[:, chosen_columns(areas, known)], seed), resample=resample)


def msweb_areas(path: PathLike) -> tuple[Area, ...]:
    """Every area, the most visited first (the lower number first on a tie)."""
    return visit_matrix(existing(path, "folder"))[1]


def visit_matrix(folder: Path) -> tuple[NDArray[np.uint8], tuple[Area, ...]]:
    """The whole 0/1 matrix, most visited area first, and its columns. A visit listed twice counts
    once.
    """
    listed = read_columns(folder / AREAS, {"vroot": WHOLE_NUMBER, "title": TEXT})
    numbers, titles = listed["vroot"], listed["title"]
    if len(np.unique(numbers)) < len(numbers):
        raise DataError(f"{AREAS} lists an area twice: expected every vroot once.")
    visits = read_columns(folder / VISITS, {"user": WHOLE_NUMBER, "vroot": WHOLE_NUMBER})
    visits.require(np.isin(visits["vroot"], numbers), f"a vroot that {AREAS} lists")
    users, row = np.unique(visits["user"], return_inverse=True)
    order = np.argsort(numbers)
    matrix = np.zeros((len(users), len(numbers)), np.uint8)
    matrix[row, order[np.searchsorted(numbers, visits["vroot"], sorter=order)]] = 1
    visitors = matrix.sum(axis=0, dtype=np.int64)
    ranked = np.lexsort((numbers, -visitors))
    areas = tuple(Area(int(numbers[j]), str(titles[j]), int(visitors[j])) for j in ranked)
    return matrix[:, ranked], areas


def chosen_columns(areas: int | Sequence[int | str] | None, known: tuple[Area, ...]) -> list[int]:
    """Columns of the ranked matrix."""
    if areas is None:
        return list(range(len(known)))
    if isinstance(areas, int):
        if not 1 <= areas <= len(known):
            raise ValueError(
                f"Expected areas={areas} to be from 1 to {len(known)}, or a list of areas."
            )
        return list(range(areas))
    if isinstance(areas, str) or not areas:
        raise ValueError(
            f"Expected areas={areas!r} to be a number of areas or a non-empty list of them."
        )
    return [column(area, known) for area in areas]


def column(area: int | str, known: tuple[Area, ...]) -> int:
    found = [j for j, k in enumerate(known) if area in (k.number, k.title)]
    if not found:
        raise ValueError(
            f"No area {area!r} among {len(known)}; the most visited are "
            f"{[(k.number, k.title) for k in known[:4]]}."
        )
    if len(found) > 1:
        raise ValueError(
            f"{len(found)} areas are called {area!r}: name one by its number, "
            f"{[known[j].number for j in found]}."
        )
    return found[0]
