"""Edges without a cycle: forests of any graph, spanning trees of a connected one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.arrays import Booleans, Floats
from dpbandits.core.inputs import switch
from dpbandits.oracles.graphs import adjacency, is_forest, reachable
from dpbandits.oracles.inputs import (
    Label,
    SuperArm,
    checked_edges,
    checked_labels,
    largest_first,
    numbered,
    sorted_arms,
)
from dpbandits.oracles.matroids.matroid import Matroid


class Rooted(NamedTuple):
    """Trees with roots: of each node the next one towards its root, the arm that leads there (-1: a
    root), and how many arms the root is away.
    """

    above: list[int]
    edge: list[int]
    depth: list[int]

    def path(self, u: int, v: int) -> SuperArm:
        """The arms between two nodes of one tree, sorted."""
        arms = []
        while u != v:
            if self.depth[u] < self.depth[v]:
                u, v = v, u
            arms.append(self.edge[u])
            u = self.above[u]
        return tuple(sorted(arms))


class GraphicMatroid(Matroid):
    """One arm an undirected edge; independent sets are forests. Where the graph is disconnected a
    basis spans every part.

    edges: pairs of node labels (whole numbers or strings). Parallel edges are arms of their own,
        self-loops are loops.
    nodes: all labels, if edges shall be checked against them.

    >>> GraphicMatroid([("a", "b"), ("b", "c"), ("a", "c"), ("d", "d")]).best([0.1, 0.3, 0.2, 1])
    (1, 2)
    """

    def __init__(
        self, edges: Iterable[Sequence[Any]] | NDArray[Any], *, nodes: Iterable[Label] | None = None
    ) -> None:
        self.edges, self.nodes = checked_edges(edges), checked_labels(nodes)
        index = numbered(self.edges, self.nodes)
        self._labels = list(index)
        self._ends = [(index[u], index[v]) for u, v in self.edges]
        self._slots()
        parts = self._parts()
        self._set_rank(len(self.edges), len(index) - parts)

    def parameters(self) -> dict[str, Any]:
        return {"edges": [list(edge) for edge in self.edges], "nodes": self.nodes}

    def _slots(self) -> None:
        """The graph without self-loops and parallel edges, in SciPy's layout, and each arm's place
        in it (-1: self-loop).
        """
        lower, upper = np.sort(np.array(self._ends), axis=1).T
        keys, where = np.unique(
            (lower * len(self._labels) + upper)[lower != upper], return_inverse=True
        )
        self._slot = np.full(len(lower), -1, dtype=np.intp)
        self._slot[lower != upper] = where
        starts = np.bincount(
            keys // len(self._labels) + 1, minlength=len(self._labels) + 1
        ).cumsum()
        self._layout = (keys % len(self._labels)).astype(np.int32), starts.astype(np.int32)

    def _parts(self) -> int:
        """How many connected parts the graph has."""
        from scipy.sparse import csr_array  # slow to import
        from scipy.sparse.csgraph import connected_components

        graph = csr_array(
            (np.ones(len(self._layout[0])), *self._layout), shape=(len(self._labels),) * 2
        )
        return int(connected_components(graph, directed=False)[0])

    def _best(self, weights: Floats) -> SuperArm:
        """A minimum spanning forest of places in the order of weights, which are distinct: the
        greedy's basis, and no other.
        """
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import minimum_spanning_tree

        order = largest_first(weights)
        place = np.empty(len(self._layout[0]) + 1)  # the last entry collects self-loops
        # the last write wins: the best of parallel edges
        place[self._slot[order[::-1]]] = np.arange(self.arms, 0, -1)
        graph = csr_array((place[:-1], *self._layout), shape=(len(self._labels),) * 2)
        return sorted_arms(order[minimum_spanning_tree(graph).data.astype(np.intp) - 1])

    def _independent(self, arms: SuperArm) -> bool:
        return is_forest(self._ends, len(self._labels), arms)

    def _loops(self) -> SuperArm:
        return tuple(arm for arm, (u, v) in enumerate(self._ends) if u == v)

    def _circuit(self, basis: SuperArm, e: int) -> SuperArm:
        return self._circuits(basis, [e])[0]

    def _circuits(self, basis: SuperArm, arms: list[int]) -> list[SuperArm]:
        rooted = self._rooted(basis)
        return [rooted.path(*self._ends[e]) for e in arms]

    def _rooted(self, basis: SuperArm) -> Rooted:
        """The basis as trees with roots."""
        table = adjacency(self._ends, len(self._labels), directed=False, arms=basis)
        above = [-1] * len(table)
        edge, depth = above.copy(), above.copy()
        for root in range(len(table)):
            stack = [root] if depth[root] < 0 else []
            depth[root] = max(0, depth[root])
            while stack:
                node = stack.pop()
                for arm, other in table[node]:
                    if depth[other] < 0:
                        above[other], edge[other], depth[other] = node, arm, depth[node] + 1
                        stack.append(other)
        return Rooted(above, edge, depth)

    def _exchanges(self, basis: SuperArm) -> Booleans:
        paths = self._paths(basis)
        ends = np.array(self._ends)
        # two ways to the root share all but the path between them
        table: Booleans = paths[ends[:, 0]] ^ paths[ends[:, 1]]
        return table

    def _paths(self, basis: SuperArm) -> Booleans:
        """Which basis edges lie between each node and the root of its tree, shape (nodes, rank)."""
        table = adjacency(self._ends, len(self._labels), directed=False, arms=basis)
        column = {arm: j for j, arm in enumerate(basis)}
        paths = np.zeros((len(self._labels), len(basis)), dtype=bool)
        seen: set[int] = set()
        for root in range(len(self._labels)):
            stack = [] if root in seen else [root]
            seen.add(root)
            while stack:
                node = stack.pop()
                for arm, other in table[node]:
                    if other not in seen:
                        seen.add(other)
                        stack.append(other)
                        paths[other] = paths[node]
                        paths[other, column[arm]] = True
        return paths


@final
class SpanningTrees(GraphicMatroid):
    """Spanning trees of a connected graph. All have equally many edges, so the best is the same for
    rewards and costs.

    edges, nodes: as in `GraphicMatroid`, where an isolated node of `nodes` counts as not connected.
    costs: rewards are 1 - cost.

    >>> SpanningTrees([(1, 2), (2, 3), (1, 3)], costs=True).value((0, 1), [0.75, 0.5, 0.5])
    -0.75
    """

    def __init__(
        self,
        edges: Iterable[Sequence[Any]] | NDArray[Any],
        *,
        nodes: Iterable[Label] | None = None,
        costs: bool = False,
    ) -> None:
        super().__init__(edges, nodes=nodes)
        self.costs = switch(costs, "costs")
        connected = reachable(adjacency(self._ends, len(self._labels), directed=False), 0)
        if len(connected) < len(self._labels):
            lost = next(label for i, label in enumerate(self._labels) if i not in connected)
            raise ValueError(
                f"Expected a connected graph; node {lost!r} cannot be reached from node "
                f"{self._labels[0]!r}. "
                "Add an edge between the parts, or use GraphicMatroid for a spanning forest."
            )

    def parameters(self) -> dict[str, Any]:
        return super().parameters() | {"costs": self.costs}
