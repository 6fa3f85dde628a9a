"""Exchanges from a known basis lead where the greedy does, whatever was asked before; where a prime
could be wrong about a zero, they are not used.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dpbandits.core.arrays import Places
from dpbandits.oracles import LinearMatroid
from dpbandits.oracles.exact import coordinates
from dpbandits.oracles.exact.coordinates import exchanged_for, exchanges_worth
from dpbandits.oracles.exact.rank import ExactRows
from dpbandits.oracles.matroids import linear
from tests.oracles.exact.test_exact import PRIMES, chain, slow_best

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
def test_the_greedys_basis_and_its_exchanges(field: int | None) -> None:
    rows = vectors(field, 1)
    walking, plain = (LinearMatroid(rows, field=field) for _ in range(2))
    for weights in walks(np.zeros(len(rows)), 2):
        plain._known = None
        basis = walking.best(weights)
        assert basis == plain.best(weights)
        circuits = [plain.fundamental_circuit(basis, e) for e in range(plain.arms)]
        assert walking.exchanges(basis).tolist() == [
            [f in circuit for f in basis] for circuit in circuits
        ]
        assert walking._known is not None


@pytest.mark.parametrize("field", FIELDS)
def test_as_many_exchanges_as_bases_differ_by(
    field: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = list[tuple[int, int]]()
    exchange = coordinates.table_with

    def counted(table: Any, row: int, e: int, prime: int) -> Any:
        made.append((row, e))
        return exchange(table, row, e, prime)

    monkeypatch.setattr(coordinates, "table_with", counted)
    rows = ExactRows(vectors(field, 3)[:13], field)  # no loop among these
    order, some = np.arange(13), 0
    known = rows.over_basis(order[rows.jumps(order, 7)])
    rng = np.random.default_rng(4)
    for _ in range(40):
        assert known is not None
        order = rng.permutation(13)
        greedys = set(order[rows.jumps(order, 7)].tolist())
        differ = len(greedys - set(known.basis.tolist()))
        some += 0 < differ < 7
        if differ:
            assert exchanged_for(known, places_of(order), differ - 1) is None
        made.clear()
        known = exchanged_for(known, places_of(order), differ)
        assert known is not None
        assert len(made) == differ
        assert set(known.basis.tolist()) == greedys
        # residues are kept below 2^27, or products would not be exact
        assert np.abs(known.table).max() <= known.prime / 2 + 2
    assert some > 20


def places_of(order: Places) -> Places:
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return places


def untold(rows: ExactRows, basis: Places) -> Any:
    """BROKEN ON PURPOSE: the first prime is taken to tell."""
    return coordinates.over(basis, rows._modulo(0), rows.prime(0))


@pytest.mark.parametrize("broken", [False, True])
def test_where_one_prime_does_not_tell(broken: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last vectors' determinant is divisible by the first prime, which would take them for
    dependent.
    """
    square = chain(PRIMES[0] * PRIMES[1])
    n = len(square)
    rows = [*np.eye(n, dtype=int).tolist(), *square]
    assert ExactRows(np.array(rows)).over_basis(np.arange(n)) is None
    if broken:
        monkeypatch.setattr(ExactRows, "over_basis", untold)
        monkeypatch.setattr(linear, "exchanges_worth", lambda rank, vectors: rank)
    matroid = LinearMatroid(rows)
    assert matroid.exchanges(tuple(range(n))).any()
    weights = list(range(2 * n))
    assert slow_best(rows, weights) == tuple(range(n, 2 * n))
    assert (matroid.best(weights) != slow_best(rows, weights)) is broken


def test_an_elimination_where_the_order_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """More exchanges than are worth it are not made."""
    found = list[bool]()

    def watched(known: Any, places: Any, most: int) -> Any:
        answer = exchanged_for(known, places, most)
        found.append(answer is not None)
        return answer

    monkeypatch.setattr(linear, "exchanged_for", watched)
    rng = np.random.default_rng(6)
    rows = np.array([rng.permutation(20) < 2 for _ in range(300)], dtype=int)
    matroid, fresh = LinearMatroid(rows), LinearMatroid(rows)
    assert exchanges_worth(20, 300) == 4
    weights = rng.normal(size=300)
    matroid.exchanges(matroid.best(weights))
    assert matroid.best(weights + 1e-9 * rng.normal(size=300)) == fresh.best(weights)
    assert matroid.best(-weights) == fresh.best(-weights)
    assert found == [True, False]
