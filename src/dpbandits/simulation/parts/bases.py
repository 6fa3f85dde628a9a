"""The greedy basis of a matroid, kept up to date by exchanges on a tableau modulo a prime
(`oracles/representation.py`).

Adding one element to a set changes its best basis by one exchange at most: the element for the
lightest it can replace. So one pass over the elements outside, in any order, turns the best basis
for old weights into that for new ones; from the heaviest to the lightest it takes the fewest
exchanges. Ties go to the lower number, as in the oracle: weights are in a strict order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpbandits.simulation.parts.jit import inline, jit


@inline
def heavier(e: int, f: int, weights: Any) -> bool:
    """Whether e comes before f in the greedy's order."""
    return weights[e] > weights[f] or (weights[e] == weights[f] and e < f)


@jit
def reciprocal(number: float, prime: int) -> float:
    """The residue whose product with this one is 1, by Euclid's algorithm."""
    a, b, x, y = int(number) % prime, prime, 1, 0
    while b:
        quotient = a // b
        a, b = b, a - quotient * b
        x, y = y, x - quotient * y
    x %= prime
    return float(x - prime if 2 * x > prime else x)


@jit
def exchange(table: Any, basis: Any, column: Any, j: int, e: int, prime: int) -> None:
    """Put element e in place of basis[j]. Rows without that element stay. Exact: products of two
    residues are below 2^53.
    """
    half, share = 0.5 * prime, 1.0 / prime
    row = table[e].copy()
    inverted = reciprocal(row[j], prime)
    for other in range(table.shape[0]):
        if table[other, j] == 0.0:
            continue
        factor = table[other, j] * inverted
        factor -= prime * np.rint(factor * share)
        for k in range(len(row)):
            value = table[other, k] - factor * row[k]
            if abs(value) > half:
                value -= prime * np.rint(value * share)
            table[other, k] = value
        table[other, j] = factor
    column[basis[j]], column[e] = -1, j
    basis[j] = e


@jit
def improve(table: Any, basis: Any, column: Any, weights: Any, order: Any, prime: int) -> None:
    """Make the basis the greedy one. column: an element's place in the basis, −1 outside. order: of
    all elements, any will do.
    """
    lightest = basis[0]
    for f in basis:
        if heavier(lightest, f, weights):
            lightest = f
    for e in order:
        if column[e] >= 0 or heavier(lightest, e, weights):
            continue
        worst = -1
        for j in range(len(basis)):
            if table[e, j] != 0.0 and (worst < 0 or heavier(basis[worst], basis[j], weights)):
                worst = j
        if worst >= 0 and heavier(e, basis[worst], weights):
            was = basis[worst]
            exchange(table, basis, column, worst, e, prime)
            if was == lightest:
                lightest = basis[0]
                for f in basis:
                    if heavier(lightest, f, weights):
                        lightest = f
