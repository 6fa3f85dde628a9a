"""Matroids as vectors modulo a prime: the same independent sets, in arithmetic that is exact and
fast.

A set of arms is independent if and only if its vectors are, modulo the prime:

* linear: a maximal minor over the rationals is a whole number of size at most H, the product of the
  `rank` largest lengths of vectors (Hadamard 1893). A prime above H divides none but 0. Where no
  prime is large enough there is no representation here.
* graphic: u − v for an edge {u, v}. Every minor is 0, 1 or −1 (totally unimodular), so any prime
  will do.
* uniform: (1, x, x², …) with another x for each arm; minors are products of differences of two x
  (Vandermonde), not 0 modulo the prime.
* partition: uniform within each category, the categories side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dpbandits.core.arrays import Floats
from dpbandits.oracles.exact.modular import balanced, inverse, is_prime
from dpbandits.oracles.matroids.graphic import GraphicMatroid, SpanningTrees
from dpbandits.oracles.matroids.linear import LinearMatroid
from dpbandits.oracles.matroids.matroid import Matroid
from dpbandits.oracles.matroids.partition import PartitionMatroid, TopK, UniformMatroid

LARGEST = 2**20
"""Entries of a table (arms times rank) above which none is made: a pivot touches all of it."""


class Tableau(NamedTuple):
    """Every arm's coordinates in a basis, modulo a prime; zero exactly where the arm cannot replace
    that element.

    table: shape (arms, rank), whole numbers of size at most prime/2 + 2; the basis's own rows are
        unit vectors.
    basis: shape (rank,), column j belongs to arm basis[j].
    """

    table: Floats
    basis: tuple[int, ...]
    prime: int


def tableau(matroid: Matroid) -> Tableau | None:
    """The matroid's tableau in the basis of the lowest arms; None where it has no representation
    here, or too large a one.
    """
    if matroid.arms * matroid.rank > LARGEST:
        return None
    found = representation(matroid)
    if found is None:
        return None
    vectors, prime = found
    basis = matroid.best(np.zeros(matroid.arms))
    coordinates = solved(vectors, basis, prime)
    return None if coordinates is None else Tableau(coordinates, basis, prime)


def representation(matroid: Matroid) -> tuple[Floats, int] | None:
    """Vectors, shape (arms, rank or more), of balanced residues, and the prime. None where there is
    none here.
    """
    found = REPRESENTED.get(type(matroid))
    return None if found is None else found(matroid)


def prime_from(number: int) -> int:
    """The smallest prime at or above a number."""
    while not is_prime(number):
        number += 1
    return number


def linear(matroid: LinearMatroid) -> tuple[Floats, int] | None:
    rows = matroid._rows
    prime = rows.prime(0)
    if matroid.field is None and rows._bounds[matroid.rank - 1] >= prime**2:
        return None
    # −1, a loop, finds the zeros
    vectors = np.concatenate([rows._modulo(0), np.zeros((1, matroid.rank))])[matroid._direction]
    return balanced(vectors.astype(np.float64), prime), prime


def graphic(matroid: GraphicMatroid) -> tuple[Floats, int]:
    """u − v for every edge, 0 for a self-loop. Shape (arms, nodes)."""
    table = np.zeros((matroid.arms, len(matroid._labels)))
    for arm, (u, v) in enumerate(matroid._ends):
        table[arm, u] += 1.0
        table[arm, v] -= 1.0
    return table, prime_from(2**20)


def uniform(matroid: UniformMatroid) -> tuple[Floats, int]:
    return powers(np.zeros(matroid.arms, np.int64), np.array([matroid.rank]))


def partition(matroid: PartitionMatroid) -> tuple[Floats, int]:
    sizes = np.bincount(matroid.categories, minlength=len(matroid.capacities))
    return powers(matroid.categories, np.minimum(np.minimum(matroid.capacities, 2**31), sizes))


def powers(
    categories: np.ndarray[tuple[int], np.dtype[np.int64]],
    ranks: np.ndarray[tuple[int], np.dtype[np.int64]],
) -> tuple[Floats, int]:
    """Vandermonde rows, those of a category in columns of their own. A category of rank 0 has zero
    rows: loops.
    """
    prime = prime_from(len(categories) + 1)
    table = np.zeros((len(categories), int(ranks.sum())))
    ends = np.cumsum(ranks)
    for arm, category in enumerate(categories.tolist()):
        power = 1
        for column in range(int(ends[category] - ranks[category]), int(ends[category])):
            table[arm, column] = power
            power = power * (arm + 1) % prime
    return balanced(table, prime), prime


REPRESENTED: dict[type[Matroid], Callable[[Any], tuple[Floats, int] | None]] = {
    LinearMatroid: linear,
    GraphicMatroid: graphic,
    SpanningTrees: graphic,
    UniformMatroid: uniform,
    TopK: uniform,
    PartitionMatroid: partition,
}
"""By exact type: a subclass may hold other sets to be independent, and these vectors would be
another matroid's.
"""


def solved(vectors: Floats, basis: tuple[int, ...], prime: int) -> Floats | None:
    """Every vector's coordinates in the basis. Columns are cut down to as many as there are basis
    vectors first.
    """
    rows = vectors[list(basis)]
    columns = independent_columns(rows, prime)
    inverted = inverse(rows[:, columns], prime)
    return None if inverted is None else balanced(vectors[:, columns] @ inverted, prime)


def independent_columns(rows: Floats, prime: int) -> list[int]:
    """As many independent columns as there are rows."""
    from dpbandits.oracles.exact.modular import rank_jumps

    columns = np.ascontiguousarray(rows.T)
    nonzero = np.flatnonzero(columns.any(axis=1))
    order = np.arange(len(nonzero))
    found: list[int] = nonzero[rank_jumps(columns[nonzero], order, prime, len(rows))].tolist()
    return found
