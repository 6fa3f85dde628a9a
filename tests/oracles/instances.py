"""Random small instances of every kind, and slow, plain references."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

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


def explicit(rng: Rng) -> ExplicitMatroid:
    other = GraphicMatroid(pairs(rng, 9, 6))
    bases = [b for b in combinations(range(other.arms), other.rank) if other.contains(b)]
    return ExplicitMatroid(arms=other.arms, bases=bases)


def chosen(rows: np.ndarray) -> list[np.ndarray]:
    return [np.flatnonzero(row) for row in rows]


MATROIDS: dict[str, Callable[[Rng], Matroid]] = {
    "linear": lambda rng: LinearMatroid(rng.integers(-1, 2, size=(9, 4))),
    "binary": lambda rng: LinearMatroid(rng.integers(0, 2, size=(9, 4)), field=2),
    "ternary": lambda rng: LinearMatroid(rng.integers(0, 3, size=(8, 3)), field=3),
    "uniform": lambda rng: UniformMatroid(arms=8, rank=int(rng.integers(1, 9))),
    "partition": lambda rng: PartitionMatroid(
        categories=rng.integers(0, 3, size=9), capacities=rng.integers(0, 4, size=3)
    ),
    "graphic": lambda rng: GraphicMatroid(pairs(rng, 9, 6)),
    "transversal": lambda rng: TransversalMatroid(chosen(rng.random((4, 8)) < 0.3), arms=8),
    "explicit": explicit,
    "trees": lambda rng: SpanningTrees(pairs(rng, 9, 5), costs=bool(rng.integers(2))),
    "top_k": lambda rng: TopK(arms=7, k=int(rng.integers(1, 8))),
}
PATHS: dict[str, Callable[[Rng], DecisionSet]] = {
    "roads": lambda rng: Paths(pairs(rng, 11, 5), 0, 1),
    "streets": lambda rng: Paths(pairs(rng, 9, 5), 0, 1, directed=False),
    "tangle": lambda rng: Paths(pairs(rng, 14, 7), 0, 1),
    "dag": lambda rng: Paths([(min(e), max(e)) for e in pairs(rng, 11, 6)], 0, 5, costs=False),
}
OTHERS: dict[str, Callable[[Rng], DecisionSet]] = {
    **PATHS,
    "pairing": lambda rng: Matchings(pairs(rng, 9, 4)),
    "coverage": lambda rng: Coverage(pairs(rng, 10, 5), k=2, normalised=bool(rng.integers(2))),
    "influence": lambda rng: Influence(pairs(rng, 8, 5), seeds=2),
    "listed": lambda rng: ExplicitSet(
        chosen(rng.random((12, 7)) < 0.4), arms=7, costs=bool(rng.integers(2))
    ),
    "top_max": lambda rng: TopKMax(arms=6, k=2),
}
KINDS = MATROIDS | OTHERS


def draw(kind: str, seed: int) -> Any:
    """A random draw may have rank 0, no path or no tree; then another."""
    rng = np.random.default_rng([seed, len(kind)])
    while True:
        try:
            return KINDS[kind](rng)
        except ValueError:
            pass


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
