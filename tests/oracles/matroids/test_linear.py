"""Linear matroids against fractions: random vectors, huge entries, fields, and orders that change
little and a lot.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpbandits.oracles import LinearMatroid, linear
from dpbandits.oracles.base import SuperArm
from dpbandits.oracles.linear import PRIME, greedy_from, pivoted, times
from tests.oracles.instances import rational_rank

entries = st.one_of(st.integers(-3, 3), st.integers(-(10**40), 10**40))
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


@pytest.mark.parametrize("seed", range(4))
def test_many_small_vectors_in_flats(seed: int) -> None:
    rng = np.random.default_rng(seed)
    flats = np.sort(rng.integers(1, 15, size=150))
    vectors = rng.integers(-9, 10, size=(150, 14)) * (np.arange(14) < flats[:, None])
    mixed = vectors @ rng.integers(-2, 3, size=(14, 16))
    matroid = LinearMatroid(mixed)
    weights = -flats + rng.random(150) / 2
    assert matroid.best(weights) == slow_best(mixed.tolist(), weights.tolist())


def test_only_a_minor_made_of_the_prime_is_taken_for_zero() -> None:
    assert LinearMatroid([[1, 0], [1, PRIME - 1]]).rank == 2
    assert LinearMatroid([[1, 0], [1, PRIME]]).rank == 1  # what the docstring of PRIME admits


@pytest.mark.parametrize("prime", [2, 3, 101, 2**20 - 3, 2**26 + 15, PRIME])
def test_residues_multiply_as_whole_numbers_do(prime: int) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, prime, (2, 2000))
    a[:4], b[:4] = [0, 1, prime - 1, prime - 1], [prime - 1, prime - 1, 1, prime - 1]
    exact = [x * y % prime for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert times(a, b, prime).tolist() == exact


FIELDS = [None, 2, 3, 101]


def vectors(field: int | None, seed: int, arms: int = 40, rank: int = 7) -> np.ndarray[Any, Any]:
    """Many dependent ones: in flats, parallel, and a loop."""
    rng, low = np.random.default_rng(seed), 0 if field else -2
    flats = rng.integers(1, rank + 1, arms)
    found = rng.integers(low, 2 if field == 2 else 3, (arms, rank)) * (
        np.arange(rank) < flats[:, None]
    )
    found[arms // 2], found[arms // 3] = found[1], 0
    found[:rank] = np.eye(rank, dtype=int)
    return found


def walks(weights: np.ndarray[Any, Any], seed: int) -> Iterator[np.ndarray[Any, Any]]:
    """Weights that change little, then a lot, with ties."""
    rng = np.random.default_rng(seed)
    for step in range(60):
        weights = (weights + rng.normal(0, 0.05 if step % 10 else 3.0, len(weights))).round(1)
        yield weights


@pytest.mark.parametrize("field", FIELDS)
def test_what_was_asked_before_changes_no_answer(field: int | None) -> None:
    rows = vectors(field, 1)
    walking = LinearMatroid(rows, field=field)
    for weights in walks(np.zeros(len(rows)), 2):
        fresh = LinearMatroid(rows, field=field)
        basis = walking.best(weights)
        assert basis == fresh.best(weights)
        other = fresh.best(-weights)  # the table is over another basis now
        circuits = [fresh.fundamental_circuit(basis, e) for e in range(fresh.arms)]
        assert walking.exchanges(basis).tolist() == [
            [f in circuit for f in basis] for circuit in circuits
        ]
        assert walking.independent(other)
        assert not walking.independent((*other[:-1], walking.loops[0]))


@pytest.mark.parametrize("field", FIELDS)
def test_as_many_exchanges_as_bases_differ_by(
    field: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = list[tuple[int, int]]()

    def counted(table: Any, row: int, e: int, prime: int) -> Any:
        made.append((row, e))
        return pivoted(table, row, e, prime)

    monkeypatch.setattr(linear, "pivoted", counted)
    matroid = LinearMatroid(vectors(field, 3)[:13], field=field)  # no loop among these
    known, rng, some = matroid._known, np.random.default_rng(4), 0
    for _ in range(40):
        weights = rng.normal(size=13)
        greedys = set(LinearMatroid(vectors(field, 3)[:13], field=field).best(weights))
        differ = len(greedys - set(known.basis.tolist()))
        some += 0 < differ < 7
        places = np.empty(13, np.intp)
        places[np.argsort(-weights, kind="stable")] = np.arange(13)
        made.clear()
        known = greedy_from(known, places, matroid._prime)
        assert len(made) == differ
        assert set(known.basis.tolist()) == greedys
    assert some > 20
