"""Vectors that are linearly independent: over the rationals, exactly, or modulo a prime."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.arrays import Booleans, Floats
from dpbandits.core.privacy import LARGEST
from dpbandits.oracles.exact.coordinates import BasisTable, exchanged_for, exchanges_worth
from dpbandits.oracles.exact.modular import is_prime
from dpbandits.oracles.exact.rank import ExactRows
from dpbandits.oracles.inputs import (
    SuperArm,
    bounded_whole,
    exact_number,
    largest_first,
    listed,
    sorted_arms,
)
from dpbandits.oracles.matroids.matroid import Matroid, exchange_rows

MatrixRow = list[int] | list[Fraction]


@final
class LinearMatroid(Matroid):
    """One vector an arm; independent arms have linearly independent vectors. Never decided by
    floating-point rank.

    vectors: shape (arms, dimensions): whole numbers, fractions, decimal strings, or floats, read as
        the decimals they are written as; of at most 100 digits each.
    field: None for the rationals; a prime below 2^20 for whole numbers modulo it, so 2 for GF(2).

    Over the rationals an arm's vector may be scaled, and the matrix cut down to columns of full
    rank, without changing which rows depend on which. So vectors become whole numbers without a
    common factor, in `rank` columns; parallel vectors become equal, of which a basis holds at most
    one: the first in order of weights. `rank.py` proves the rest.

    >>> unit = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    >>> seven = LinearMatroid([*unit, (1, 0, 1), (0, 1, 1), (2, 0, 0), (0, 0, 0)])
    >>> seven.best([0.8, 0.75, 0.6, 0.2, 0.3, 0.4, 0.7]), seven.loops
    ((0, 1, 2), (6,))
    >>> cycle = [(1, 1, 0), (0, 1, 1), (1, 0, 1)]
    >>> LinearMatroid(cycle).rank, LinearMatroid(cycle, field=2).rank
    (3, 2)
    """

    def __init__(
        self, vectors: Iterable[Sequence[Any]] | NDArray[Any], *, field: int | None = None
    ) -> None:
        self.field = None if field is None else checked_field(field)
        self._given = exact_rows(vectors)
        scaled = (
            [primitive(row) for row in self._given]
            if self.field is None
            else [modulo(row, self.field) for row in self._given]
        )
        nonzero = np.array([arm for arm, row in enumerate(scaled) if any(row)], dtype=np.intp)
        if len(nonzero) == 0:
            self._set_rank(len(scaled), 0)
        rows, rank = full_rank(whole_array([scaled[arm] for arm in nonzero]), self.field)
        # a direction, the same for parallel vectors: its number
        distinct: dict[tuple[int, ...], int] = {}
        directions = [
            distinct.setdefault(direction(row, self.field), len(distinct)) for row in rows.tolist()
        ]
        self._direction = np.full(len(scaled), -1, dtype=np.intp)  # -1: a loop
        self._direction[nonzero] = directions
        self._numbers: list[int] = self._direction.tolist()
        # the basis found last, whose exchanges are asked for next; and what is known of the one
        # whose exchanges were: the next best one is near it
        self._newest: SuperArm | None = None
        self._known: BasisTable | None = None
        self._rows = ExactRows(whole_array(list(distinct)), self.field)
        self._set_rank(len(scaled), rank)

    def parameters(self) -> dict[str, Any]:
        vectors = [[int(x) if x == int(x) else str(x) for x in row] for row in self._given]
        return {"vectors": vectors, "field": self.field}

    def __repr__(self) -> str:
        return f"LinearMatroid(arms={self.arms}, rank={self.rank}, field={self.field})"

    def _best(self, weights: Floats) -> SuperArm:
        if self._rows.few is not None:
            return self._best_of_few(weights.tolist())
        order = largest_first(weights)
        first = np.full(len(self._rows.vectors) + 1, -1, dtype=np.intp)
        # the last write wins, so each direction keeps its first place
        first[self._direction[order[::-1]]] = np.arange(len(order))[::-1]
        places = first[:-1]
        known, most = self._known, exchanges_worth(self.rank, len(places))
        near = exchanged_for(known, places, most) if known and most else None
        if near:
            self._known = near
            found = sorted_arms(order[places[near.basis]])
        else:
            order = order[np.sort(places)]
            found = sorted_arms(order[self._rows.jumps(self._direction[order], self.rank)])
        self._newest = found
        return found

    def _best_of_few(self, weights: list[float]) -> SuperArm:
        """The same in lists: the first arm of each direction, then those that are independent."""
        first: dict[int, int] = {}
        for arm in sorted(range(self.arms), key=lambda arm: -weights[arm]):
            if self._numbers[arm] >= 0:
                first.setdefault(self._numbers[arm], arm)
        arms = list(first.values())
        return tuple(sorted(arms[place] for place in self._rows.jumps(list(first), self.rank)))

    def _contains(self, action: SuperArm) -> bool:
        return action == self._newest or super()._contains(action)

    def _independent(self, arms: SuperArm) -> bool:
        rows = [self._numbers[arm] for arm in arms]
        if min(rows, default=0) < 0:
            return False
        return len(self._rows.jumps(rows, len(rows))) == len(rows)

    def _loops(self) -> SuperArm:
        return sorted_arms(np.flatnonzero(self._direction < 0))

    def _circuit(self, basis: SuperArm, e: int) -> SuperArm:
        if self._direction[e] < 0:
            return ()
        row = self._rows.exchanges(self._direction[list(basis)], self._direction[[e]])[0]
        return tuple(f for f, exchangeable in zip(basis, row, strict=True) if exchangeable)

    def _exchanges(self, basis: SuperArm) -> Booleans:
        directions, known = self._direction[list(basis)], self._known
        if known is None or not np.array_equal(np.sort(known.basis), np.sort(directions)):
            self._known = known = self._rows.over_basis(directions)
        rows = (
            self._rows.exchanges(directions, np.arange(len(self._rows.vectors)))
            if known is None
            else known.exchangeable(directions).T
        )
        # -1 finds the zeros
        table = np.concatenate([rows, np.zeros((1, self.rank), dtype=bool)])[self._direction]
        return exchange_rows(basis, table)


def checked_field(field: int) -> int:
    prime = bounded_whole(field, "field", 2, 2**20)
    if not is_prime(prime):
        raise ValueError(f"Expected field={prime} to be a prime, or None for the rationals.")
    return prime


def exact_rows(vectors: Iterable[Sequence[Any]] | NDArray[Any]) -> list[MatrixRow]:
    """Rows of exact numbers, all of one length >= 1; plain ints where everything is whole."""
    rows: list[Any] = (
        vectors.tolist()
        if isinstance(vectors, np.ndarray)
        else [
            listed(row, f"vectors[{arm}]", "numbers")
            for arm, row in enumerate(listed(vectors, "vectors", "lists of numbers"))
        ]
    )
    if not rows or not isinstance(rows[0], list) or not rows[0]:
        raise ValueError(
            "Expected at least one vector of at least one number: shape (arms, dimensions)."
        )
    for arm, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise ValueError(
                f"Expected vectors[{arm}] to have {len(rows[0])} entries like vectors[0], got "
                f"{len(row)}."
            )
    return [
        row
        if all(map(short_whole, row))
        else [exact_number(x, f"vectors[{arm}][{i}]") for i, x in enumerate(row)]
        for arm, row in enumerate(rows)
    ]


def short_whole(x: object) -> bool:
    """Whether it is a plain whole number, and of no more digits than `exact_number` takes."""
    return type(x) is int and -LARGEST <= x <= LARGEST


def primitive(row: MatrixRow) -> list[int]:
    """The row times a positive number: whole numbers without a common factor. Zero stays zero."""
    scale = math.lcm(*(x.denominator for x in row))
    if scale > LARGEST:
        raise ValueError(
            "Expected the numbers of a vector to have a common denominator of at most 100 "
            "digits. Round them."
        )
    whole_row = [x.numerator * (scale // x.denominator) for x in row]
    divisor = math.gcd(*whole_row) or 1
    return [x // divisor for x in whole_row]


def modulo(row: MatrixRow, prime: int) -> list[int]:
    """Residues from 0 to prime - 1 of whole numbers."""
    for x in row:
        if x.denominator != 1:
            raise ValueError(f"Expected whole numbers modulo {prime}, got {x}.")
    return [int(x) % prime for x in row]


def direction(row: list[int], field: int | None) -> tuple[int, ...]:
    """One representative of all multiples of a nonzero row."""
    leading = next(x for x in row if x)
    if field is not None:
        inverse = pow(leading, -1, field)
        return tuple(x * inverse % field for x in row)
    divisor = math.gcd(*row) * (1 if leading > 0 else -1)
    return tuple(x // divisor for x in row)


def whole_array(rows: Sequence[Sequence[int]]) -> NDArray[np.int64] | NDArray[np.object_]:
    """int64 where everything fits, Python's whole numbers where not."""
    try:
        return np.array(rows, dtype=np.int64)
    except OverflowError:
        return np.array(rows, dtype=object)


def full_rank(
    vectors: NDArray[np.int64] | NDArray[np.object_], field: int | None
) -> tuple[NDArray[np.int64] | NDArray[np.object_], int]:
    """The vectors in as many columns as their rank, and that rank. Chosen columns span all others,
    so dependence is the same.
    """
    n, d = vectors.shape
    chosen = ExactRows(vectors, field).jumps(np.arange(n), min(n, d))
    columns = vectors[chosen].T
    nonzero = np.flatnonzero((columns != 0).any(axis=1))
    independent = nonzero[
        ExactRows(columns[nonzero], field).jumps(np.arange(len(nonzero)), len(chosen))
    ]
    return vectors[:, independent], len(chosen)
