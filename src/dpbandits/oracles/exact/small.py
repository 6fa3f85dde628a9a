"""Linear dependence of a few short vectors: elimination in Python's whole numbers, which costs less
there than one call of numpy.

Nothing is divided. A vector is multiplied by the pivot before a multiple of the pivot's row is
taken off, so it stays whole, and zero exactly where the rational one is. Numbers grow with each
step, so this is for vectors of at most `WIDEST` entries.
"""

from collections.abc import Sequence

WIDEST = 4
"""Entries of a vector."""

MOST_VECTORS = 64
"""Vectors."""

Echelon = list[tuple[int, list[int]]]
"""Pivot column and row, in the order in which they were taken: a row is 0 in all pivot columns
before it.
"""


def reduced(row: Sequence[int], echelon: Echelon, field: int | None) -> list[int]:
    """A multiple (not by 0) of the vector, less multiples of the rows, that is 0 in every pivot
    column.

    field: None for the rationals; a prime to calculate modulo it.
    """
    left = list(row)
    for column, taken in echelon:
        factor, pivot = left[column], taken[column]
        if factor:
            left = [pivot * x - factor * y for x, y in zip(left, taken, strict=True)]
            if field is not None:
                left = [x % field for x in left]
    return left


def small_jumps(rows: Sequence[Sequence[int]], stop: int, field: int | None) -> list[int]:
    """Places of the vectors that are independent of all before them: the first `stop`, or all if
    there are fewer.

    rows: whole numbers; with a field, from 0 to one below it.
    """
    echelon: Echelon = []
    jumps: list[int] = []
    for place, row in enumerate(rows):
        if len(jumps) == stop:
            break
        left = reduced(row, echelon, field)
        column = next((column for column, x in enumerate(left) if x), None)
        if column is not None:
            echelon.append((column, left))
            jumps.append(place)
    return jumps


def small_exchanges(
    basis: Sequence[Sequence[int]], rows: Sequence[Sequence[int]], field: int | None
) -> list[list[bool]]:
    """Which basis vectors can be exchanged for which others, shape (rows, basis).

    Every vector carries along what it is made of: of basis vector j, a unit in entry j behind its
    own. What a vector of the span leaves there are its coordinates, times some number.
    """
    size = len(basis)
    echelon: Echelon = []
    for j, row in enumerate(basis):
        left = reduced([*row, *(int(i == j) for i in range(size))], echelon, field)
        column = next(column for column, x in enumerate(left) if x)
        echelon.append((column, left))
    nothing = [0] * size
    return [[x != 0 for x in reduced([*row, *nothing], echelon, field)[-size:]] for row in rows]
