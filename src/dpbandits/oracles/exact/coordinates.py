"""The coordinates of all vectors over a basis, modulo a prime, and the way from one basis to the
greedy's for an order.

An order changes little from one round to the next, and so does its basis: a few exchanges cost less
than an elimination from the start.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dpbandits.core.arrays import Booleans, Floats, Places
from dpbandits.oracles.exact.modular import BLOCK, balanced, balanced_inverse, inverse


class BasisTable(NamedTuple):
    """Never written to: what was found is another one.

    basis: the numbers of the vectors that make it, shape (rank,). table: balanced residues, shape
        (rank, n), 0 only where the coordinate is. prime: such that this holds.
    """

    basis: Places
    table: Floats
    prime: int

    def exchangeable(self, basis: Places) -> Booleans:
        """Which vectors can replace which of the basis, shape (rank, n), in the order in which
        `basis` has the same vectors.
        """
        column = np.argsort(self.basis)
        rows = column[np.searchsorted(self.basis, basis, sorter=column)]
        found: Booleans = self.table[rows] != 0
        return found


def over(basis: Places, vectors: Floats, prime: int) -> BasisTable | None:
    """The coordinates of vectors, shape (n, rank); None if the basis is none modulo the prime."""
    inverted = inverse(vectors[basis], prime)
    if inverted is None:
        return None
    return BasisTable(basis, balanced(inverted.T @ vectors.T, prime), prime)


def exchanges_worth(rank: int, vectors: int) -> int:
    """So many exchanges are tried before an elimination: they cost about as much as one, or less
    (as measured for 30 vectors of rank 6 up to 1,000 of rank 200). 0 where vectors are so many
    that an elimination, which looks at few of them, is quicker than one exchange.
    """
    return rank * BLOCK // max(vectors, 2 * BLOCK)


def exchanged_for(known: BasisTable, places: Places, most: int) -> BasisTable | None:
    """The coordinates over the greedy's basis; None if that takes more exchanges than `most`.

    Let e be the first vector in order that comes before one that it can replace, and b the last
    that it can. All that precede e depend on vectors of the basis that precede themselves, and e
    does not: so e depends on nothing before it, and is in the greedy's basis. b depends on e and
    on others that it can be replaced with, all before b: it is not. So every exchange brings in one
    that stays and takes out one that does not come back, and where no e is left, every vector
    outside the basis depends on those before it.

    places: of each vector in the order, shape (n,).
    """
    basis, table, prime = known
    for _ in range(most + 1):
        held = places[basis]
        last = ((table != 0) * (held + 1)[:, None]).max(axis=0) - 1
        early = np.flatnonzero(last > places)
        if len(early) == 0:
            return BasisTable(basis, table, prime)
        e = early[places[early].argmin()]
        row = int(np.flatnonzero(held == last[e])[0])
        basis, table = basis.copy(), table_with(table, row, int(e), prime)
        basis[row] = e
    return None


def table_with(table: Floats, row: int, e: int, prime: int) -> Floats:
    """The table once vector e stands in place of this row's.

    Coordinates over the others lose a multiple of e's; those over the newcomer are the old ones
    divided by e's.
    """
    divisor = balanced_inverse(table[row, e], prime)
    unit = balanced(table[:, e] * divisor, prime)
    unit[row] = 1.0 - divisor
    return balanced(table - np.multiply.outer(unit, table[row]), prime)
