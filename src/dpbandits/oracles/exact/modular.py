"""Elimination modulo a prime in double precision, exact because every number stays a whole number
below 2^53.

Residues are balanced: of size at most p/2 + 2. With p < 2^27 a product of two of them plus a third
is below 2^53, and the callers keep inner products below it too (`rank.py`), so no operation
rounds, in whatever order a library adds.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.arrays import Floats, Places

BLOCK = 64  # candidates reduced together, at least


@cache
def small_primes() -> NDArray[np.int64]:
    """The primes below 2^13.5, enough to test a number below 2^27."""
    sieve = np.ones(11_600, dtype=bool)
    sieve[:2] = False
    for n in range(2, 108):
        if sieve[n]:
            sieve[n * n :: n] = False
    return np.flatnonzero(sieve).astype(np.int64)


def is_prime(n: int) -> bool:
    """For n < 2^27, by trial division."""
    divisors = small_primes()
    return n >= 2 and bool(np.all(n % divisors[divisors * divisors <= n]))


def primes_from(limit: int) -> Iterator[int]:
    """Primes from `limit` (below 2^27) downwards."""
    return (n for n in range(limit, 1, -1) if is_prime(n))


def balanced(numbers: Floats, prime: int) -> Floats:
    """Residues, in place: whole numbers x below 2^53 in size become x - prime * rint(x / prime).
    Exactly 0 at multiples.

    The quotient x * (1/prime) is two roundings away from x / prime: less than x/prime * 2^-51 <=
    4/prime, and far less for small primes, whose numbers here are small too. So rint is exact at
    multiples of the prime, and what is left is at most prime/2 + 2 in size: no other number can
    become 0, nor a multiple anything else.
    """
    numbers -= prime * np.rint(numbers * (1 / prime))
    return numbers


def rank_jumps(vectors: Floats, order: Places, prime: int, stop: int) -> list[int]:
    """Places in `order` where the rank modulo the prime of the vectors so far grows, at most `stop`
    of them.

    vectors: shape (n, d), whole numbers. Every chosen vector is kept in reduced echelon form: 1 in
        its own pivot column, 0 in those of the others, `reduced` in the free columns. A new vector,
        reduced by all of these, is zero if and only if it depends on them. Vectors are reduced a
        block at a time, by one matrix product.
    """
    free = np.arange(vectors.shape[1])
    pivots: list[int] = []
    reduced = np.empty((0, len(free)))
    jumps: list[int] = []
    block = max(BLOCK, 2 * len(free))
    for start in range(0, len(order), block):
        rows = vectors[order[start : start + block]]
        fresh = balanced(rows[:, free] - rows[:, pivots] @ reduced, prime)
        reduced, new, free = reduce_block(fresh, reduced, free, prime, stop - len(jumps))
        jumps += [start + place for place, _ in new]
        pivots += [column for _, column in new]
        if len(jumps) == stop:
            break
    return jumps


def reduce_block(
    fresh: Floats, reduced: Floats, free: Places, prime: int, stop: int
) -> tuple[Floats, list[tuple[int, int]], Places]:
    """Walks down a block of reduced vectors and takes each that is not zero, up to `stop` of them.

    Returns the echelon rows, one (place in the block, pivot column) for each vector taken, and the
    columns still free.
    """
    done = len(reduced)
    work = np.concatenate([reduced, fresh])
    taken = list(range(done))
    new: list[tuple[int, int]] = []
    i = done
    while len(new) < stop:
        ahead = nonzero_from(work, i)
        if ahead is None:
            break
        i, column = ahead
        new.append((i - done, int(free[column])))
        taken.append(i)
        work, free = pivoted(work, i, column, prime), np.append(free[:column], free[column + 1 :])
        i += 1
    return work[taken], new, free


def nonzero_from(work: Floats, i: int) -> tuple[int, int] | None:
    """Row and column of the first number at or after row i that is not zero."""
    # mostly the next row is it; look further only where it is not
    if i < len(work) and not work[i].any():
        rows = np.flatnonzero(work[i:].any(axis=1))
        i = i + int(rows[0]) if len(rows) else len(work)
    return (i, int(np.flatnonzero(work[i])[0])) if i < len(work) else None


def pivoted(work: Floats, i: int, column: int, prime: int) -> Floats:
    """Scales row i to 1 at `column`, clears that column in every other row, and drops it."""
    factors = work[:, column].copy()
    rest = np.concatenate([work[:, :column], work[:, column + 1 :]], axis=1)
    unit = balanced(rest[i] * balanced_inverse(factors[i], prime), prime)
    rest -= np.multiply.outer(factors, unit)
    rest[i] = unit
    return balanced(rest, prime)


def balanced_inverse(number: float, prime: int) -> float:
    """The balanced residue whose product with this number is 1."""
    inverted = pow(int(number), -1, prime)
    return float(inverted - prime if 2 * inverted > prime else inverted)


def inverse(matrix: Floats, prime: int) -> Floats | None:
    """The inverse of a square matrix of residues; None where it is singular modulo the prime."""
    n = len(matrix)
    work = np.concatenate([matrix, np.eye(n)], axis=1)
    balanced(work, prime)
    for i in range(n):
        candidates = np.flatnonzero(work[i:, i])
        if len(candidates) == 0:
            return None
        other = i + int(candidates[0])
        work[[i, other]] = work[[other, i]]
        unit = balanced(work[i] * balanced_inverse(work[i, i], prime), prime)
        factors = work[:, i].copy()
        work -= np.multiply.outer(factors, unit)
        work[i] = unit
        balanced(work, prime)
    return work[:, n:].copy()
