"""Matroids as vectors modulo a prime: the same independent sets, in arithmetic that is exact and
fast.

A set of arms is independent if and only if its vectors are, modulo the prime:

* linear: a maximal minor over the rationals is a whole number of size at most H, the product of the
  `rank` largest lengths of vectors (Hadamard 1893). A prime above H divides none but 0. Where H is
  too large for doubles there is no representation here.
* graphic: u − v for an edge {u, v}. Every minor is 0, 1 or −1 (totally unimodular), so any prime
  will do.
* uniform: (1, x, x², …) with another x for each arm; minors are products of differences of two x
  (Vandermonde), not 0 modulo the prime.
* partition: uniform within each category, the categories side by side.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dpbandits.core.arrays import Floats
from dpbandits.oracles.inputs import sorted_arms
from dpbandits.oracles.matroids.graphic import GraphicMatroid, SpanningTrees
from dpbandits.oracles.matroids.linear import (
    Coordinates,
    LinearMatroid,
    Residues,
    eliminated,
    greedy_from,
    is_prime,
)
from dpbandits.oracles.matroids.matroid import Matroid
from dpbandits.oracles.matroids.partition import PartitionMatroid, TopK, UniformMatroid

LARGEST = 2**20
"""Entries of a table (arms times rank) above which none is made: a pivot touches all of it."""


class Tableau(NamedTuple):
    """Every arm's coordinates in a basis, modulo a prime; zero exactly where the arm cannot replace
    that element.

    table: shape (arms, rank), whole numbers of size at most prime/2; the basis's own rows are unit
        vectors.
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
    represented = representation(matroid)
    if represented is None:
        return None
    vectors, prime = represented
    rows, arms, table = eliminated(vectors.T, prime)
    some = Coordinates(np.array(arms, np.intp), table[rows])
    basis, table = greedy_from(some, np.arange(matroid.arms), prime)
    found = table[np.argsort(basis)].T
    balanced = (found - prime * (2 * found > prime)).astype(np.float64)
    return Tableau(balanced, sorted_arms(basis), prime)


def representation(matroid: Matroid) -> tuple[Residues, int] | None:
    """Vectors, shape (arms, rank or more), of residues, and the prime. None where there is none
    here.
    """
    found = REPRESENTED.get(type(matroid))
    return None if found is None else found(matroid)


def prime_from(number: int) -> int:
    """The smallest prime at or above a number."""
    while not is_prime(number):
        number += 1
    return number


LARGEST_PRIME = 2**26
"""Compiled players multiply residues in doubles, which keep whole numbers below 2⁵³."""


def linear(matroid: LinearMatroid) -> tuple[Residues, int] | None:
    if matroid.field is not None:
        return np.array(matroid._rows, np.int64) % matroid.field, matroid.field
    squares = sorted((sum(x * x for x in row) for row in matroid._rows), reverse=True)
    if math.prod(squares[: matroid.rank]) >= LARGEST_PRIME**2:
        return None
    prime = prime_from(LARGEST_PRIME)
    return np.array(matroid._rows, np.int64) % prime, prime


def graphic(matroid: GraphicMatroid) -> tuple[Residues, int]:
    """u − v for every edge, 0 for a self-loop. Shape (arms, nodes)."""
    table, prime = np.zeros((matroid.arms, len(matroid._labels)), np.int64), prime_from(2**20)
    for arm, (u, v) in enumerate(matroid._ends):
        table[arm, u] += 1
        table[arm, v] -= 1
    return table % prime, prime


def uniform(matroid: UniformMatroid) -> tuple[Residues, int]:
    return powers(np.zeros(matroid.arms, np.int64), np.array([matroid.rank]))


def partition(matroid: PartitionMatroid) -> tuple[Residues, int]:
    sizes = np.bincount(matroid.categories, minlength=len(matroid.capacities))
    return powers(matroid.categories, np.minimum(np.minimum(matroid.capacities, 2**31), sizes))


def powers(
    categories: np.ndarray[tuple[int], np.dtype[np.int64]],
    ranks: np.ndarray[tuple[int], np.dtype[np.int64]],
) -> tuple[Residues, int]:
    """Vandermonde rows, those of a category in columns of their own. A category of rank 0 has zero
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
"""By exact type: a subclass may hold other sets to be independent, and these vectors would be
another matroid's.
"""
