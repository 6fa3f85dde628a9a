"""Random small instances of every kind, and slow, plain references."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np

from dpbandits.oracles import (
    Coverage,
    DecisionSet,
    ExplicitMatroid,
    ExplicitSet,
    GraphicMatroid,
    Influence,
    LinearMatroid,
    Matchings,
    Matroid,
    PartitionMatroid,
    Paths,
    SpanningTrees,
    TopK,
    TopKMax,
    TransversalMatroid,
    UniformMatroid,
)

Rng = np.random.Generator


def pairs(rng: Rng, edges: int, nodes: int) -> list[tuple[int, int]]:
    return [(int(u), int(v)) for u, v in rng.integers(nodes, size=(edges, 2))]


def until_valid(make: Callable[[], DecisionSet]) -> DecisionSet:
    """A random draw may have rank 0, no path or no tree; then another."""
    while True:
        try:
            return make()
        except ValueError:
            pass


def linear(rng: Rng) -> LinearMatroid:
    return LinearMatroid(rng.integers(-1, 2, size=(9, 4)))


def binary(rng: Rng) -> LinearMatroid:
    return LinearMatroid(rng.integers(0, 2, size=(9, 4)), field=2)


def ternary(rng: Rng) -> LinearMatroid:
    return LinearMatroid(rng.integers(0, 3, size=(8, 3)), field=3)


def uniform(rng: Rng) -> UniformMatroid:
    return UniformMatroid(arms=8, rank=int(rng.integers(1, 9)))


def partition(rng: Rng) -> PartitionMatroid:
    return PartitionMatroid(
        categories=rng.integers(0, 3, size=9), capacities=rng.integers(0, 4, size=3)
    )


def graphic(rng: Rng) -> GraphicMatroid:
    return GraphicMatroid(pairs(rng, 9, 6))


def transversal(rng: Rng) -> TransversalMatroid:
    return TransversalMatroid([np.flatnonzero(row) for row in rng.random((4, 8)) < 0.3], arms=8)


def explicit(rng: Rng) -> ExplicitMatroid:
    other = graphic(rng)
    return ExplicitMatroid(
        arms=other.arms,
        bases=[b for b in combinations(range(other.arms), other.rank) if other.contains(b)],
    )


def trees(rng: Rng) -> SpanningTrees:
    return SpanningTrees(pairs(rng, 9, 5), costs=bool(rng.integers(2)))


def top_k(rng: Rng) -> TopK:
    return TopK(arms=7, k=int(rng.integers(1, 8)))


MATROIDS: list[Callable[[Rng], Matroid]] = [
    linear,
    binary,
    ternary,
    uniform,
    partition,
    graphic,
    transversal,
    explicit,
    trees,
    top_k,
]


def roads(rng: Rng) -> Paths:
    return Paths(pairs(rng, 11, 5), 0, 1)


def streets(rng: Rng) -> Paths:
    return Paths(pairs(rng, 9, 5), 0, 1, directed=False)


def dag(rng: Rng) -> Paths:
    return Paths([(min(e), max(e)) for e in pairs(rng, 11, 6)], 0, 5, costs=False)


def pairing(rng: Rng) -> Matchings:
    return Matchings(pairs(rng, 9, 4))


def coverage(rng: Rng) -> Coverage:
    return Coverage(pairs(rng, 10, 5), k=2, normalised=bool(rng.integers(2)))


def influence(rng: Rng) -> Influence:
    return Influence(pairs(rng, 8, 5), seeds=2)


def listed(rng: Rng) -> ExplicitSet:
    return ExplicitSet(
        [np.flatnonzero(row) for row in rng.random((12, 7)) < 0.4],
        arms=7,
        costs=bool(rng.integers(2)),
    )


def top_max(rng: Rng) -> TopKMax:
    return TopKMax(arms=6, k=2)


OTHERS: list[Callable[[Rng], DecisionSet]] = [
    roads,
    streets,
    dag,
    pairing,
    coverage,
    influence,
    listed,
    top_max,
]


def draw(kind: Callable[[Rng], DecisionSet], seed: int) -> DecisionSet:
    rng = np.random.default_rng([seed, len(kind.__name__)])
    return until_valid(lambda: kind(rng))


def rational_rank(rows: Sequence[Sequence[int | Fraction]]) -> int:
    """Gaussian elimination with fractions: slow and plain."""
    table = [[Fraction(x) for x in row] for row in rows]
    rank = 0
    for column in range(len(table[0]) if table else 0):
        at = next((i for i in range(rank, len(table)) if table[i][column]), None)
        if at is None:
            continue
        table[rank], table[at] = table[at], table[rank]
        for i in range(rank + 1, len(table)):
            factor = table[i][column] / table[rank][column]
            table[i] = [x - factor * y for x, y in zip(table[i], table[rank], strict=True)]
        rank += 1
    return rank
