"""Which vectors of a list depend on those before them: exact over the rationals, fast by arithmetic
modulo primes.

Let r(n) be the rational rank of the first n vectors and r_p(n) their rank modulo the prime p.

1. r_p(n) <= r(n) for every p, since a minor that is not 0 modulo p is not 0.
2. Minors of order k are at most H(k) in size, the product of the k largest lengths of vectors
  (Hadamard 1893). If r(n) >= k, some minor of order k among the first n vectors is not 0. Primes
  whose product is above H(k) cannot all divide it, so r_p(n) >= k for one of them.

So r(n) = max r_p(n) over primes with product above H(r(n) + 1). A vector is independent of those
before it where r(n) grows. One prime mostly suffices: a vector it takes is taken for good by 1, and
further primes are only needed to confirm that what it rejected is dependent. How many follows from
2, with k one above the rank where it was rejected.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from itertools import accumulate, count, islice
from operator import mul

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.arrays import Booleans, Floats, Places
from dpbandits.oracles.exact.coordinates import BasisTable, over
from dpbandits.oracles.exact.modular import balanced, inverse, primes_from, rank_jumps
from dpbandits.oracles.exact.small import MOST_VECTORS, WIDEST, small_exchanges, small_jumps


class ExactRows:
    """Whole-number vectors, none zero, shape (n, d), prepared for exact questions of rank.

    field: a prime, to ask them over the integers modulo that prime; None for the rationals.
    few: the vectors as lists where they are few and short, for `small.py`; else None.
    """

    def __init__(
        self, vectors: NDArray[np.int64] | NDArray[np.object_], field: int | None = None
    ) -> None:
        self.vectors, self.field = vectors, field
        n, d = vectors.shape
        self.few: list[list[int]] | None = (
            vectors.tolist() if d <= WIDEST and n <= MOST_VECTORS else None
        )
        largest = max(abs(int(vectors.max())), abs(int(vectors.min())))
        # Inner products of d entries with residues stay below 2^53 either way: small entries as
        # they are, or as residues.
        self._small = field is None and largest * d <= 2**25
        self._limit = 2**27 - 1 if self._small else min(2**27 - 1, math.isqrt(2**54 // (d + 1)) - 8)
        # H(1)^2, H(2)^2, ...: a minor of order k is squared at most _bounds[k - 1]
        self._bounds = (
            [] if field is not None else list(accumulate(sorted_squares(vectors, min(n, d)), mul))
        )
        self._primes: list[int] = [] if field is None else [field]
        self._residues: list[Floats] = []

    def jumps(self, order: Places | list[int], stop: int) -> list[int]:
        """Places in `order` of the vectors that are independent of all before them: the first
        `stop`, or all if there are fewer.

        stop: at most min(n, d).
        """
        if self.few is not None:
            return small_jumps([self.few[i] for i in order], stop, self.field)
        order = np.asarray(order, np.intp)
        found = rank_jumps(self._modulo(0), order, self.prime(0), stop)
        for used in count(1):
            places = self._unconfirmed(found, len(order), stop, used)
            if len(places) == 0:
                break
            more = rank_jumps(self._modulo(used), order[places], self.prime(used), stop)
            # The rank is the largest over the primes at each place, so every jump comes where the
            # first of them has it.
            found = earliest(found, places[more].tolist())
        return found

    def _unconfirmed(self, found: list[int], places: int, stop: int, used: int) -> Places:
        """The jumps and every rejection that `used` primes do not confirm by 2. above; empty if
        they confirm all.

        What is confirmed is left out from then on: dependent on vectors before it, it changes no
        rational rank.
        """
        confirmed = (
            stop
            if self.field is not None
            else bisect_left(self._bounds, math.prod(map(self.prime, range(used))) ** 2)
        )
        if confirmed >= stop:  # whatever was rejected, when the rank was below `confirmed`
            return np.empty(0, dtype=np.intp)
        jump = np.zeros(places, dtype=bool)
        jump[found] = True
        rank = jump.cumsum()
        unsure = ~jump & (rank >= confirmed) & (rank < stop)
        return np.flatnonzero(jump | unsure) if unsure.any() else np.empty(0, dtype=np.intp)

    def exchanges(self, basis: Places, rows: Places) -> Booleans:
        """Which basis vectors can be exchanged for which others, shape (rows, basis): where the
        rational coordinates are not 0.

        Coordinates times det(basis) are whole numbers of size at most H(rank) (Cramer), so those
        that vanish modulo primes of a larger product, none of which divides det(basis), are 0.
        """
        few = self.few
        if few is not None:
            chosen, others = [few[i] for i in basis], [few[i] for i in rows]
            return np.array(small_exchanges(chosen, others, self.field), dtype=bool)
        found = np.zeros((len(rows), len(basis)), dtype=bool)
        product, used = 1, 0
        bound = self._bounds[len(basis) - 1] if self.field is None else 1
        while product**2 <= bound or product == 1:
            prime, vectors = self.prime(used), self._modulo(used)
            inverted = inverse(vectors[basis], prime)
            if inverted is not None:
                found |= balanced(vectors[rows] @ inverted, prime) != 0
                product *= prime
            used += 1
        return found

    def over_basis(self, basis: Places) -> BasisTable | None:
        """The coordinates of all vectors over a basis; None where several primes are needed to tell
        which of them are 0 (see `exchanges`), or where vectors are so few that `small.py` is
        quicker.
        """
        one = self.field is not None or self.prime(0) ** 2 > self._bounds[len(basis) - 1]
        return over(basis, self._modulo(0), self.prime(0)) if one and self.few is None else None

    def prime(self, i: int) -> int:
        """The i-th prime; far more exist below the limit than any bound can ask for."""
        if i >= len(self._primes):
            start = self._primes[-1] - 1 if self._primes else self._limit
            self._primes += islice(primes_from(start), i + 1 - len(self._primes))
        return self._primes[i]

    def _modulo(self, i: int) -> Floats:
        """The vectors modulo the i-th prime; small entries need no reduction, so one table serves
        all primes.
        """
        if self._small:
            i = 0
        while i >= len(self._residues):
            prime = self.prime(len(self._residues))
            residues = self.vectors if self._small else self.vectors % prime
            self._residues.append(
                (residues if self._small else residues - prime * (residues > prime // 2)).astype(
                    np.float64
                )
            )
        return self._residues[i]


def earliest(one: list[int], other: list[int]) -> list[int]:
    """The k-th jump of the larger of two ranks is the earlier of their k-th jumps."""
    common = min(len(one), len(other))
    return [min(a, b) for a, b in zip(one, other, strict=False)] + one[common:] + other[common:]


def sorted_squares(vectors: NDArray[np.int64] | NDArray[np.object_], many: int) -> list[int]:
    """The `many` largest squared lengths, exactly."""
    largest = max(abs(int(vectors.max())), abs(int(vectors.min())))
    wide = vectors if largest**2 * vectors.shape[1] < 2**62 else vectors.astype(object)
    squares = (wide * wide).sum(axis=1)
    return [int(x) for x in np.sort(squares)[::-1][:many]]
