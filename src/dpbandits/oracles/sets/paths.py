"""Paths between two nodes of a network: the cheapest, or the most rewarding where there are no
cycles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from math import inf
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.arrays import Floats
from dpbandits.core.inputs import switch
from dpbandits.oracles.base import DecisionSet
from dpbandits.oracles.graphs import Adjacency, adjacency, reachable
from dpbandits.oracles.inputs import Label, SuperArm, checked_edges, checked_label, numbered
from dpbandits.oracles.sets.simple_paths import path_through

LARGEST = 1e300
"""The largest weight whose sums along any path are finite."""

Rank = tuple[float, int]  # cost to the target, and arms on the way: smaller is better


@final
class Paths(DecisionSet):
    """Simple paths from `source` to `target`; the arms are the arcs. Ties: the fewest arms, then
    the lowest next arm.

    edges: pairs of node labels (whole numbers or strings); parallel ones are arms of their own.
    directed: whether an edge can be used from its first node to its second only. Undirected, it is
        one arm both ways.
    costs: True: rewards are 1 - cost, costs in [0, 1]; the best path is the cheapest. An index
        above 1 counts as cost 0: a negative cost could make cycles pay, and no cost is negative.
        False: the path with the most reward, for networks without directed cycles between the two
        nodes (in others that is the longest path problem, which is hard).

    size: the arms of the longest path, where no useful arcs make a cycle; else, where that is hard
        to find, the nodes on walks from source to target less one, or the number of their arcs if
        that is smaller.

    Raises:
        ValueError: no path, unknown nodes, source equal to target, or rewards to be maximised
        around a cycle.

    >>> Paths([("a", "b"), ("b", "c"), ("a", "c")], "a", "c").best([0.9, 0.9, 0.5])
    (0, 1)
    """

    def __init__(
        self,
        edges: Iterable[Sequence[Any]] | NDArray[Any],
        source: Label,
        target: Label,
        *,
        directed: bool = True,
        costs: bool = True,
    ) -> None:
        self.edges, self.directed, self.costs = (
            checked_edges(edges),
            switch(directed, "directed"),
            switch(costs, "costs"),
        )
        self.source, self.target = checked_label(source), checked_label(target)
        index = numbered(self.edges, None)
        for name, node in (("source", self.source), ("target", self.target)):
            if node not in index:
                raise ValueError(f"Expected {name}={node!r} to be a node of some edge.")
        if self.source == self.target:
            raise ValueError(f"Expected source and target to differ, got {self.source!r} twice.")
        self._ends = [(index[u], index[v]) for u, v in self.edges]
        self._nodes, self._from, self._to = len(index), index[self.source], index[self.target]
        self._keep_walks()
        self.arms = len(self.edges)
        order = self._topological()
        self._order = [] if order is None else order
        self.size = min(len(self._alive) - 1, len(self._arcs)) if order is None else self._longest()

    def parameters(self) -> dict[str, Any]:
        edges = [list(edge) for edge in self.edges]
        return {
            "edges": edges,
            "source": self.source,
            "target": self.target,
            "directed": self.directed,
            "costs": self.costs,
        }

    def _keep_walks(self) -> None:
        """Neighbours along arcs that lie on a walk from source to target, leaving out self-loops,
        arcs back and arcs beyond.
        """
        arcs = [arm for arm, (u, v) in enumerate(self._ends) if u != v]
        if self.directed:
            arcs = [
                arm
                for arm in arcs
                if self._ends[arm][0] != self._to and self._ends[arm][1] != self._from
            ]
        ahead = reachable(self._table(arcs), self._from)
        if self._to not in ahead:
            raise ValueError(
                f"Expected a path from {self.source!r} to {self.target!r}; there is none. Add "
                "arcs, or choose other ends."
            )
        self._alive = ahead & reachable(self._table(arcs, backwards=True), self._to)
        useful = [arm for arm in arcs if self._alive.issuperset(self._ends[arm])]
        self._arcs = frozenset(useful)
        self._out, self._in = self._table(useful), self._table(useful, backwards=True)

    def _table(self, arcs: list[int], *, backwards: bool = False) -> Adjacency:
        return adjacency(
            self._ends, self._nodes, directed=self.directed, backwards=backwards, arms=arcs
        )

    def _topological(self) -> list[int] | None:
        """Useful nodes, everything a node leads to before the node; None: there are cycles, around
        which costs can be made smallest.
        """
        if not self.directed:
            if self.costs:
                return None
            raise ValueError(
                "Expected costs=True for undirected paths: the path with the most reward is hard "
                "to find around cycles."
            )
        try:
            return list(
                TopologicalSorter(
                    {u: [v for _, v in self._out[u]] for u in self._alive}
                ).static_order()
            )
        except CycleError as error:
            if self.costs:
                return None
            labels = list(numbered(self.edges, None))
            cycle = " <- ".join(repr(labels[node]) for node in error.args[1])
            raise ValueError(
                f"Expected costs=True, or arcs without a cycle; found {cycle}."
            ) from None

    def _longest(self) -> int:
        length = {self._to: 0}
        for u in self._order:
            length.setdefault(u, 1 + max((length[v] for _, v in self._out[u]), default=0))
        return length[self._from]

    def _best(self, weights: Floats) -> SuperArm:
        extreme = int(np.abs(weights).argmax())
        if abs(weights[extreme]) > LARGEST:
            raise ValueError(
                f"Expected weights[{extreme}]={weights[extreme]:g} to be of size {LARGEST:g} at "
                "most: paths add them up."
            )
        if self.costs:
            lost = np.maximum(1 - weights, 0).tolist()
            return self._walk(lost, self._cheapest(lost))
        gains = weights.tolist()
        rank: list[Rank] = [(inf, 0)] * self._nodes
        rank[self._to] = (0.0, 0)
        lost = [-gain for gain in gains]
        for u in self._order:
            if u != self._to:
                rank[u] = min((lost[arm] + rank[v][0], 1 + rank[v][1]) for arm, v in self._out[u])
        return self._walk(lost, rank)

    def _cheapest(self, lost: list[float]) -> list[Rank]:
        """Dijkstra from the target backwards until the source is settled. Counting arms breaks
        ties, so zero costs make no cycles.
        """
        rank: list[Rank] = [(inf, 0)] * self._nodes
        rank[self._to] = (0.0, 0)
        queue = [(0.0, 0, self._to)]
        while queue:
            cost, arms, node = heappop(queue)
            if node == self._from:
                break
            if (cost, arms) > rank[node]:
                continue
            for arm, other in self._in[node]:
                new = (lost[arm] + cost, arms + 1)
                if new < rank[other]:
                    rank[other] = new
                    heappush(queue, (*new, other))
        return rank

    def _walk(self, lost: list[float], rank: list[Rank]) -> SuperArm:
        """From the source always the lowest arm that keeps the rank; nodes of a better rank are
        settled, so it is exact.
        """
        node, chosen = self._from, []
        while node != self._to:
            arm, node = next(
                (arm, v)
                for arm, v in self._out[node]
                if (lost[arm] + rank[v][0], 1 + rank[v][1]) == rank[node]
            )
            chosen.append(arm)
        return tuple(sorted(chosen))

    def _contains(self, action: SuperArm) -> bool:
        """Follow the arms from the source: at every node exactly one unused arm leads on, and none
        is left at the target.
        """
        table: dict[int, list[tuple[int, int]]] = {}
        for arm in action:
            u, v = self._ends[arm]
            table.setdefault(u, []).append((arm, v))
            if not self.directed:
                table.setdefault(v, []).append((arm, u))
        node, unused = self._from, set(action)
        while node != self._to:
            onward = [(arm, v) for arm, v in table.get(node, []) if arm in unused]
            if len(onward) != 1:
                return False
            arm, node = onward[0]
            unused.discard(arm)
        return not unused

    def _containing(self, arm: int) -> SuperArm | None:
        if arm not in self._arcs:
            return None
        found = path_through(
            self._out, arm, self._ends[arm], self._from, self._to, directed=self.directed
        )
        return None if found is None else tuple(sorted(found))
