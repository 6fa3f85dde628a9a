"""Linear matroids, over the rationals and over prime fields, and other matroids as vectors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.inputs import Booleans, Floats, Places, whole_number
from dpbandits.core.privacy import LARGEST
from dpbandits.oracles.base import (
    SuperArm,
    exact_number,
    largest_first,
    listed,
    sorted_arms,
)
from dpbandits.oracles.matroids import (
    GraphicMatroid,
    Matroid,
    PartitionMatroid,
    SpanningTrees,
    TopK,
    UniformMatroid,
)

# Linearly independent vectors: over the rationals, exactly, or modulo a prime.


MatrixRow = list[int] | list[Fraction]


PRIME = 2**61 - 1
"""Rational vectors are compared modulo this prime. A nonzero minor is a multiple of it with
probability about 2⁻⁶¹, unless it was constructed so; for a matroid with 2,000 relevant minors an
error has probability below 2⁻⁵⁰. An error would cost regret, never privacy.
"""

LOW = 2**31 - 1

Residues = NDArray[np.int64]


class Coordinates(NamedTuple):
    """Every arm's coordinates over a basis, modulo a prime. Never modified.

    Args:
        basis: shape (rank,).
        table: shape (rank, arms), 0 where the arm cannot replace that element.
    """

    basis: Places
    table: Residues


def times(a: Residues, b: Residues, prime: int) -> Residues:
    """Return products of residues, with NumPy's broadcasting. `prime` is `PRIME`, or below 2³¹."""
    product: Residues
    if prime != PRIME:
        product = a * b % prime
        return product
    # 30 high bits and 31 low ones; 2⁶¹ is 1 modulo the prime
    a1, a0, b1, b0 = a >> 31, a & LOW, b >> 31, b & LOW
    middle, low = a1 * b0 + a0 * b1, a0 * b0
    product = 2 * a1 * b1 + (middle >> 30) + ((middle & (LOW >> 1)) << 31)
    product += (low & PRIME) + (low >> 61)
    product = (product & PRIME) + (product >> 61)
    product -= PRIME * (product >= PRIME)
    return product


def pivoted(table: Residues, row: int, e: int, prime: int) -> Residues:
    """Return the table after arm e replaces this row's arm: its column is a unit vector."""
    unit = times(table[row], np.array(pow(int(table[row, e]), -1, prime)), prime)
    left = table - times(table[:, e, None], unit, prime)
    left += prime * (left < 0)
    left[row] = unit
    return left


def eliminated(table: Residues, prime: int) -> tuple[list[int], list[int], Residues]:
    """Return independent rows, an arm for each, and the table in which these are unit vectors."""
    rows, arms = list[int](), list[int]()
    for row in range(len(table)):
        candidates = np.flatnonzero(table[row])
        if len(candidates):
            rows.append(row)
            arms.append(int(candidates[0]))
            table = pivoted(table, row, arms[-1], prime)
    return rows, arms, table


@final
class LinearMatroid(Matroid):
    """The linear matroid: an arm is a vector, and independent arms have linearly independent
    vectors. Floating-point rank is never used.

    Rational vectors are compared modulo a prime of 61 bits: see `PRIME` for the probability of an
    error.

    Args:
        vectors: shape (arms, dimensions): whole numbers, fractions, decimal strings, or floats
            (which mean the decimals they print as), of at most 100 digits each.
        field: None for the rationals; a prime below 2^20 for whole numbers modulo it, so 2 for
            GF(2).

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
        self._prime = PRIME if self.field is None else self.field
        self._given = exact_rows(vectors)
        whole = [
            primitive(row) if self.field is None else modulo(row, self.field) for row in self._given
        ]
        residues = [[x % self._prime for x in row] for row in whole]
        rows, arms, table = eliminated(np.array(residues, np.int64).T, self._prime)
        self._set_rank(len(whole), len(rows))
        # vectors in `rank` independent columns; the other columns are combinations of these
        self._rows = [[row[column] for column in rows] for row in whole]
        # the last basis: the next best one is near it
        self._known = Coordinates(np.array(arms, np.intp), table[rows])

    def parameters(self) -> dict[str, Any]:
        vectors = [[int(x) if x == int(x) else str(x) for x in row] for row in self._given]
        return {"vectors": vectors, "field": self.field}

    def __repr__(self) -> str:
        return f"LinearMatroid(arms={self.arms}, rank={self.rank}, field={self.field})"

    def _best(self, weights: Floats) -> SuperArm:
        places = np.empty(self.arms, np.intp)
        places[largest_first(weights)] = np.arange(self.arms)
        self._known = known = greedy_from(self._known, places, self._prime)
        return sorted_arms(known.basis)

    def _contains(self, action: SuperArm) -> bool:
        return action == sorted_arms(self._known.basis) or super()._contains(action)

    def _independent(self, arms: SuperArm) -> bool:
        columns = self._known.table[:, list(arms)]
        return len(eliminated(columns, self._prime)[0]) == len(arms)

    def _loops(self) -> SuperArm:
        return sorted_arms(np.flatnonzero(~self._known.table.any(axis=0)))

    def _over(self, basis: SuperArm) -> Booleans:
        """Return which coordinates over this basis are nonzero, shape (rank, arms); rows in sorted
        order.
        """
        current, table = self._known
        left = set(basis)
        for e in left.difference(current.tolist()):
            leaves = [arm not in left for arm in current.tolist()]
            row = int(np.flatnonzero((table[:, e] != 0) & leaves)[0])
            current, table = current.copy(), pivoted(table, row, e, self._prime)
            current[row] = e
        self._known = Coordinates(current, table)
        return table[np.argsort(current)] != 0

    def _circuits(self, basis: SuperArm, arms: list[int]) -> list[SuperArm]:
        table, elements = self._over(basis), np.array(basis)
        return [tuple(elements[table[:, e]].tolist()) for e in arms]

    def _exchanges(self, basis: SuperArm) -> Booleans:
        return self._over(basis).T


def greedy_from(known: Coordinates, places: Places, prime: int) -> Coordinates:
    """Return the coordinates over the greedy basis, with as many exchanges as the two bases differ
    by.

    Let e be the first arm in order that comes before one that it can replace, and b the last that
    it can replace. All arms before e depend on arms of the basis that come before themselves, and e
    does not: so e depends on nothing before it, and is in the greedy basis. b depends on e and on
    others that can replace it, all before b: it is not in the greedy basis. So every exchange adds
    an arm that remains and removes one that does not return. If no e is left, every arm outside the
    basis depends on those before it.

    Args:
        known: coordinates over some basis.
        places: position of each arm in the order, shape (arms,).
        prime: the modulus.
    """
    basis, table = known
    while True:
        positions = places[basis]
        last = ((table != 0) * (positions + 1)[:, None]).max(axis=0) - 1
        early = np.flatnonzero(last > places)
        if len(early) == 0:
            return Coordinates(basis, table)
        e = early[places[early].argmin()]
        row = int(np.flatnonzero(positions == last[e])[0])
        basis, table = basis.copy(), pivoted(table, row, int(e), prime)
        basis[row] = e


def is_prime(number: int) -> bool:
    """Return whether the number is prime, by trial division."""
    return number >= 2 and all(number % divisor for divisor in range(2, math.isqrt(number) + 1))


def checked_field(field: int) -> int:
    prime = whole_number(field, "field", 2, 2**20)
    if not is_prime(prime):
        raise ValueError(f"Expected field={prime} to be a prime, or None for the rationals.")
    return prime


def exact_rows(vectors: Iterable[Sequence[Any]] | NDArray[Any]) -> list[MatrixRow]:
    """Return rows of exact numbers of one length >= 1; plain ints if all entries are whole."""
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
    """Return whether it is an int of at most as many digits as `exact_number` takes."""
    return type(x) is int and -LARGEST <= x <= LARGEST


def primitive(row: MatrixRow) -> list[int]:
    """Scale a row by a positive number to whole numbers without a common factor. Zero remains
    zero.
    """
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
    """Return the residues of whole numbers, from 0 to prime - 1."""
    for x in row:
        if x.denominator != 1:
            raise ValueError(f"Expected whole numbers modulo {prime}, got {x}.")
    return [int(x) % prime for x in row]


# Matroids as vectors modulo a prime: the same independent sets, in exact and fast arithmetic.
#
# A set of arms is independent if and only if its vectors are, modulo the prime:
#
# * linear: a maximal minor over the rationals is a whole number of size at most H, the product of
#   the `rank` largest lengths of vectors (Hadamard 1893). A prime above H divides none but 0.
#   Where H is too large for doubles there is no representation here.
# * graphic: u − v for an edge {u, v}. Every minor is 0, 1 or −1 (totally unimodular), so any prime
#   will do.
# * uniform: (1, x, x², …) with another x for each arm; minors are products of differences of two x
#   (Vandermonde), not 0 modulo the prime.
# * partition: uniform within each category, the categories side by side.


LARGEST_TABLE = 2**20
"""The most entries of a table (arms times rank): a pivot visits all of them."""


class Tableau(NamedTuple):
    """Every arm's coordinates in a basis, modulo a prime; zero exactly if the arm cannot replace
    that element.

    Args:
        table: shape (arms, rank), whole numbers of size at most prime/2; the basis's rows are unit
            vectors.
        basis: shape (rank,); column j belongs to arm basis[j].
        prime: the modulus.
    """

    table: Floats
    basis: tuple[int, ...]
    prime: int


def tableau(matroid: Matroid) -> Tableau | None:
    """Return the matroid's tableau in the basis of the lowest arms; None if it has no
    representation here, or too large a one.
    """
    if matroid.arms * matroid.rank > LARGEST_TABLE:
        return None
    represent = REPRESENTED.get(type(matroid))
    represented = None if represent is None else represent(matroid)
    if represented is None:
        return None
    vectors, prime = represented
    rows, arms, table = eliminated(vectors.T, prime)
    some = Coordinates(np.array(arms, np.intp), table[rows])
    basis, table = greedy_from(some, np.arange(matroid.arms), prime)
    coordinates = table[np.argsort(basis)].T
    balanced = (coordinates - prime * (2 * coordinates > prime)).astype(np.float64)
    return Tableau(balanced, sorted_arms(basis), prime)


def prime_from(number: int) -> int:
    """Return the smallest prime at or above a number."""
    while not is_prime(number):
        number += 1
    return number


LARGEST_PRIME = 2**26
"""Compiled simulations multiply residues in doubles, which represent whole numbers below 2⁵³."""


def linear(matroid: LinearMatroid) -> tuple[Residues, int] | None:
    if matroid.field is not None:
        return np.array(matroid._rows, np.int64) % matroid.field, matroid.field
    squares = sorted((sum(x * x for x in row) for row in matroid._rows), reverse=True)
    if math.prod(squares[: matroid.rank]) >= LARGEST_PRIME**2:
        return None
    prime = prime_from(LARGEST_PRIME)
    return np.array(matroid._rows, np.int64) % prime, prime


def graphic(matroid: GraphicMatroid) -> tuple[Residues, int]:
    """Return u − v for every edge, 0 for a self-loop, shape (arms, nodes)."""
    table, prime = np.zeros((matroid.arms, len(matroid._labels)), np.int64), prime_from(2**20)
    for arm, (u, v) in enumerate(matroid._ends):
        table[arm, u] += 1
        table[arm, v] -= 1
    return table % prime, prime


def uniform(matroid: UniformMatroid) -> tuple[Residues, int]:
    return powers(np.zeros(matroid.arms, np.int64), np.array([matroid.rank]))


def partition(matroid: PartitionMatroid) -> tuple[Residues, int]:
    return powers(matroid.categories, matroid._filled)


def powers(
    categories: np.ndarray[tuple[int], np.dtype[np.int64]],
    ranks: np.ndarray[tuple[int], np.dtype[np.int64]],
) -> tuple[Residues, int]:
    """Return Vandermonde rows; each category has separate columns. A category of rank 0 has zero
    rows: loops.
    """
    prime = prime_from(len(categories) + 1)
    table = np.zeros((len(categories), int(ranks.sum())), np.int64)
    ends = np.cumsum(ranks)
    for arm, category in enumerate(categories.tolist()):
        power = 1
        for column in range(int(ends[category] - ranks[category]), int(ends[category])):
            table[arm, column] = power
            power = power * (arm + 1) % prime
    return table, prime


REPRESENTED: dict[type[Matroid], Callable[[Any], tuple[Residues, int] | None]] = {
    LinearMatroid: linear,
    GraphicMatroid: graphic,
    SpanningTrees: graphic,
    UniformMatroid: uniform,
    TopK: uniform,
    PartitionMatroid: partition,
}
"""By exact type, functions that return vectors of residues, shape (arms, rank or more), and the
prime; None if the matroid has no representation here. A subclass may hold other sets to be
independent, and these vectors would be another matroid's.
"""
