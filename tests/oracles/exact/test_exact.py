"""Exact ranks against fractions: random vectors, huge entries, and determinants made of the very
primes that are used.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpbandits.oracles import LinearMatroid
from dpbandits.oracles.exact.modular import balanced, inverse, is_prime, primes_from, rank_jumps
from dpbandits.oracles.exact.rank import ExactRows
from dpbandits.oracles.exact.small import WIDEST
from dpbandits.oracles.inputs import SuperArm
from dpbandits.oracles.matroids.linear import whole_array
from tests.oracles.instances import rational_rank

PRIMES = [p for p, _ in zip(primes_from(2**27 - 1), range(12), strict=False)]
entries = st.one_of(
    st.integers(-3, 3),
    st.integers(-(10**40), 10**40),
    st.sampled_from([p * q for p in PRIMES for q in (-1, 1, PRIMES[0])]),
)
matrices = st.integers(1, 5).flatmap(
    lambda d: st.lists(
        st.lists(st.one_of(st.just(0), entries), min_size=d, max_size=d), min_size=1, max_size=8
    )
)


def slow_best(vectors: list[list[int]], weights: list[float]) -> SuperArm:
    chosen: list[int] = []
    for arm in sorted(range(len(vectors)), key=lambda arm: (-weights[arm], arm)):
        if rational_rank([vectors[i] for i in [*chosen, arm]]) > len(chosen):
            chosen.append(arm)
    return tuple(sorted(chosen))


@given(matrices, st.randoms(use_true_random=False))
@settings(max_examples=200, derandomize=True, deadline=None)
def test_greedy_and_circuits_against_fractions(vectors: list[list[int]], random: object) -> None:
    if not any(any(row) for row in vectors):
        with pytest.raises(ValueError, match="rank 0"):
            LinearMatroid(vectors)
        return
    matroid = LinearMatroid(vectors)
    assert matroid.rank == rational_rank(vectors)
    weights = [random.choice([-1.0, 0.0, 0.5, 2.0]) for _ in vectors]  # type: ignore[attr-defined]
    basis = slow_best(vectors, weights)
    assert matroid.best(weights) == basis
    table = matroid.exchanges(basis)
    for e in range(matroid.arms):
        for j, f in enumerate(basis):
            swapped = [vectors[x] for x in basis if x != f] + (
                [vectors[e]] if e not in basis or e == f else []
            )
            assert table[e, j] == (
                len(swapped) == len(basis) and rational_rank(swapped) == len(basis)
            )


@pytest.mark.parametrize("count", [1, 2, 3, 9])
def test_determinants_divisible_by_the_primes_in_use(count: int) -> None:
    """Modulo each of these primes the two vectors are parallel; only a further prime, which the
    bound asks for, tells.
    """
    product = int(np.prod([int(p) for p in PRIMES[:count]], dtype=object))
    # Small entries whose determinant is the product, too: a companion matrix in base 1000.
    for vectors in (
        [[1, 0], [1, product]],
        [[1, 5], [product, 5 * product + product], [1, 5 + product]],
        chain(product),
    ):
        matroid = LinearMatroid(vectors)
        assert matroid.rank == len(vectors[0])
        assert matroid.best(range(len(vectors), 0, -1)) == slow_best(
            vectors, list(range(len(vectors), 0, -1))
        )
        assert matroid.best(range(len(vectors))) == slow_best(vectors, list(range(len(vectors))))


def chain(number: int) -> list[list[int]]:
    """A square matrix of entries up to 1000 with this determinant, up to sign: Horner's rule."""
    digits = []
    while number:
        number, digit = divmod(number, 1000)
        digits.append(digit)
    n = len(digits)
    rows = [[0] * n for _ in range(n)]
    for i in range(n - 1):
        rows[i][i], rows[i][i + 1] = 1000, -1
    # the least first: (1, 1000, 1000^2, ...) is in the kernel modulo every divisor of the number
    rows[n - 1] = digits
    return rows


def test_the_matrix_is_singular_modulo_the_first_primes() -> None:
    """So the case above is real: one prime alone would get it wrong."""
    rows = np.array(chain(PRIMES[0] * PRIMES[1]), dtype=np.int64)
    exact = ExactRows(rows)
    first = exact.prime(0)
    assert first == PRIMES[0]
    order = np.arange(len(rows))
    assert len(rank_jumps(rows.astype(float), order, first, len(rows))) < len(rows)
    assert exact.jumps(order, len(rows)) == list(range(len(rows)))


@pytest.mark.parametrize("seed", range(4))
def test_many_small_vectors_in_flats(seed: int) -> None:
    """Long blocks of dependent vectors, heaviest first: every rejection needs several primes."""
    rng = np.random.default_rng(seed)
    flats = np.sort(rng.integers(1, 15, size=150))
    vectors = rng.integers(-9, 10, size=(150, 14)) * (np.arange(14) < flats[:, None])
    mixed = vectors @ rng.integers(-2, 3, size=(14, 16))
    matroid = LinearMatroid(mixed)
    weights = -flats + rng.random(150) / 2
    assert matroid.best(weights) == slow_best(mixed.tolist(), weights.tolist())


def test_numbers_are_read_as_written() -> None:
    tenths = LinearMatroid([[0.1, 0.2], ["0.3", "0.6"], [Fraction(1, 10), "1/5"], [1, 2.5]])
    assert tenths.best([1, 2, 3, 4]) == (2, 3)
    assert not tenths.independent((0, 1))  # in binary floating point 0.1 * 0.6 != 0.2 * 0.3
    assert LinearMatroid(np.array([[0.1, 0.2], [0.3, 0.6]])).rank == 1
    assert LinearMatroid([[10**99, 1], [10**99 + 1, 1]]).rank == 2


def test_modular_arithmetic() -> None:
    known = [n for n in range(2, 200) if all(n % d for d in range(2, n))]
    assert [n for n in range(200) if is_prime(n)] == known
    assert PRIMES[0] == 134217689  # the largest prime below 2^27
    assert not is_prime(11587**2)
    rng = np.random.default_rng(0)
    for prime in (2, 3, 101, PRIMES[0]):
        x = rng.integers(
            -(2**50) if prime > 200 else -400, 2**50 if prime > 200 else 400, size=1000
        )
        residues = balanced(x.astype(float), prime)
        assert np.array_equal(residues.astype(int) % prime, x % prime)
        assert np.abs(residues).max() <= prime / 2 + 2
        assert np.all(balanced((x // prime * prime).astype(float), prime) == 0)
    matrix = rng.integers(-5, 6, size=(12, 12)).astype(float)
    inverted = inverse(matrix, 10007)
    assert inverted is not None
    assert np.array_equal((matrix @ inverted) % 10007, np.eye(12))
    assert inverse(np.array([[1.0, 2.0], [2.0, 4.0]]), 10007) is None


@given(matrices, st.sampled_from([None, 2, 3, 101]), st.randoms(use_true_random=False))
@settings(max_examples=200, derandomize=True, deadline=None)
def test_few_short_vectors_are_asked_in_lists(
    vectors: list[list[int]], field: int | None, random: object
) -> None:
    rows = [[x if field is None else x % field for x in row] for row in vectors]
    rows = [row for row in rows if any(row)]
    if not rows:
        return
    lists, tables = (ExactRows(whole_array(rows), field) for _ in range(2))
    tables.few = None
    order = list(range(len(rows)))
    random.shuffle(order)  # type: ignore[attr-defined]
    most = min(len(rows), len(rows[0]))
    for stop in range(1, most + 1):
        assert lists.jumps(order, stop) == tables.jumps(order, stop)
    basis = [order[place] for place in tables.jumps(order, most)]
    assert (lists.few is None) is (len(rows[0]) > WIDEST)
    if len(basis) == len(rows[0]):
        chosen, others = np.array(basis), np.arange(len(rows))
        assert np.array_equal(lists.exchanges(chosen, others), tables.exchanges(chosen, others))
