"""A network of nodes and edges: roads, links between routers, acquaintances. The edges are the
arms.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.errors import DataError
from dpbandits.core.inputs import Floats
from dpbandits.environments.laws import Bernoulli


@final
@dataclass(frozen=True, eq=False, repr=False)
class Network:
    """Nodes by name, edges as pairs of node numbers (from, to), and what passing each edge costs.

    directed: an edge leads one way only. An undirected edge is listed once.
    cost: free-flow time, latency, or 1, in the file's unit; finite and at least 0; shape (edges,).
    ends_only: nodes where a trip may begin or end, but which no trip passes through (the zones of
        road networks).
    dropped: how many nodes of the file were left out.

    Raises:
        ValueError: no edges, an end that is no node, or a cost that is none.
    """

    nodes: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]
    directed: bool
    cost: Floats
    ends_only: tuple[int, ...] = ()
    dropped: int = 0

    def __post_init__(self) -> None:
        if not self.edges or self.cost.shape != (len(self.edges),):
            raise ValueError(
                f"Expected at least one edge and a cost for each; got {len(self.edges)} edges "
                f"and costs {self.cost.shape}."
            )
        if self.pairs.min() < 0 or self.pairs.max() >= len(self.nodes):
            raise ValueError(
                f"Expected every edge to join two of the nodes 0 to {len(self.nodes) - 1}."
            )
        bad = np.flatnonzero(~((self.cost >= 0) & np.isfinite(self.cost)))
        if len(bad):
            raise ValueError(
                f"Expected finite costs of at least 0; that of edge {bad[0]} is "
                f"{self.cost[bad[0]]}."
            )

    def __repr__(self) -> str:
        return (
            f"Network(nodes={len(self.nodes)}, edges={len(self.edges)}, directed={self.directed})"
        )

    @cached_property
    def pairs(self) -> NDArray[np.int64]:
        """The edges as an array, shape (edges, 2)."""
        return np.array(self.edges, np.int64)

    def scaled_costs(self) -> Floats:
        """Costs divided by the largest, in [0, 1]; all 0 if nothing costs anything."""
        return np.asarray(self.cost / (self.cost.max() or 1.0))

    def rewards(self) -> Bernoulli:
        """Every edge as an arm with mean reward 1 - scaled cost, so that a cheap edge is a good
        one.

        Mind that only super arms of equal size (spanning trees, not paths) rank the same by reward
        and by cost.
        """
        return Bernoulli(1 - self.scaled_costs())

    def indegree_probabilities(self) -> Floats:
        """For independent cascades: 1/(number of edges into the node the edge leads to), shape
        (edges,).

        Raises:
            ValueError: the network is undirected.
        """
        if not self.directed:
            raise ValueError(
                "Expected a directed network: take both_ways() of it, where every edge leads "
                "there and back."
            )
        heads = self.pairs[:, 1]
        return np.asarray(1 / np.bincount(heads)[heads])

    def both_ways(self) -> Network:
        """A directed network with every undirected edge there (in the same order) and then, in the
        second half, back.
        """
        if self.directed:
            return self
        back = tuple((v, u) for u, v in self.edges)
        return Network(
            self.nodes, self.edges + back, True, np.tile(self.cost, 2), self.ends_only, self.dropped
        )

    def simple(self) -> Network:
        """Without loops, and of edges that join the same nodes (the same way, if directed) only the
        cheapest.
        """
        kept: dict[tuple[int, int], int] = {}
        for edge, (u, v) in enumerate(self.edges):
            key = (u, v) if self.directed or u < v else (v, u)
            if u != v and (key not in kept or self.cost[edge] < self.cost[kept[key]]):
                kept[key] = edge
        return self.only(kept.values())

    def connected(self) -> Network:
        """The largest part in which every node can be reached (edges taken both ways); the first of
        the largest on a tie.
        """
        part = parts(len(self.nodes), self.edges)
        mine = part == np.bincount(part).argmax()
        numbers = np.cumsum(mine) - 1
        inside = [edge for edge, (u, _) in enumerate(self.edges) if mine[u]]
        return Network(
            nodes=tuple(name for name, stays in zip(self.nodes, mine, strict=True) if stays),
            edges=tuple(
                (int(numbers[u]), int(numbers[v])) for u, v in (self.edges[edge] for edge in inside)
            ),
            directed=self.directed,
            cost=self.cost[inside],
            ends_only=tuple(int(numbers[node]) for node in self.ends_only if mine[node]),
            dropped=self.dropped + int((~mine).sum()),
        )

    def only(self, edges: Iterable[int]) -> Network:
        """All nodes, and these edges."""
        chosen = list(edges)
        return Network(
            self.nodes,
            tuple(self.edges[e] for e in chosen),
            self.directed,
            self.cost[chosen],
            self.ends_only,
            self.dropped,
        )


def cost(field: str, place: str) -> float:
    """A number in a file that can be a cost; place: file and line."""
    try:
        number = float(field)
    except ValueError:
        number = float("nan")
    if not 0 <= number < float("inf"):
        raise DataError(
            f"{place}: expected the cost to be a finite number of at least 0. Correct or drop "
            "the line."
        )
    return number


def parts(nodes: int, edges: Iterable[tuple[int, int]]) -> NDArray[np.int64]:
    """Number of the connected part each node is in, counted from 0 by the parts' first nodes, shape
    (nodes,).
    """
    from scipy.sparse import coo_array  # slow to import, rarely needed
    from scipy.sparse.csgraph import connected_components

    ends = np.array(list(edges), np.int64).reshape(-1, 2)
    graph = coo_array((np.ones(len(ends)), ends.T), shape=(nodes, nodes))
    _, found = connected_components(graph, directed=False)
    return np.asarray(found, np.int64)
