"""Paths from a source to a target: shortest paths, longest paths in acyclic graphs, and the arcs
that lie on a simple path.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from math import inf
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.inputs import Floats, switch
from dpbandits.oracles.base import (
    DecisionSet,
    Label,
    SuperArm,
    checked_edges,
    checked_label,
    numbered,
)
from dpbandits.oracles.matroids import Adjacency, adjacency, reachable

# A simple path through a given arc: two node-disjoint paths, to the arc and from it.


ArcPath = list[tuple[int, int]]  # (arm, node it leads to); the start is separate

NODES = 5_000
"""The most nodes in the search tree of the integer program: some seconds. It is a count, so that an
answer does not depend on the machine.
"""


def path_through(
    table: Adjacency, arm: int, ends: tuple[int, int], source: int, target: int, *, directed: bool
) -> list[int] | None:
    """Return the arms of a simple path from source to target over this arc; None if there is none.

    Undirected: there is one if and only if there are two node-disjoint paths between {source,
    target} and the arc's ends (Menger), in either pairing. Directed: the pairing matters, and the
    question is hard in general (Fortune, Hopcroft and Wyllie 1980). If shortest paths intersect but
    two disjoint paths exist in some pairing, an integer program decides.

    Raises:
        ValueError: it cannot decide soon enough.
    """
    u, v = ends
    if directed and (source == v or target == u):
        return None
    first, second = (source, u), (v, target)
    if not directed:
        arms = disjoint(table, (source, target), ends)
    else:
        arms = one_after_the_other(table, first, second) or one_after_the_other(
            table, second, first
        )
        if arms is None and disjoint(table, (source, v), (u, target)) is not None:
            arms = two_commodities(table, first, second)
    return None if arms is None else [*arms, arm]


def one_after_the_other(
    table: Adjacency, first: tuple[int, int], second: tuple[int, int]
) -> list[int] | None:
    """Return the arms of a shortest first path that avoids the second path's ends, and of a
    shortest second path that avoids the first; None if there are none.
    """
    path = shortest(table, *first, set(second))
    if path is None:
        return None
    other = shortest(table, *second, {first[0], *(node for _, node in path)})
    return None if other is None else [arm for arm, _ in path + other]


def shortest(table: Adjacency, start: int, stop: int, avoided: set[int]) -> ArcPath | None:
    """Return a shortest path around the avoided nodes, by breadth-first search."""
    parents = {start: (-1, -1)}
    queue = [start]
    for node in queue:
        for arm, other in table[node]:
            if other not in parents and other not in avoided:
                parents[other] = (arm, node)
                queue.append(other)
    path: ArcPath = []
    while stop != start:
        if stop not in parents:
            return None
        arm, before = parents[stop]
        path.append((arm, stop))
        stop = before
    return path[::-1]


def two_commodities(
    table: Adjacency, first: tuple[int, int], second: tuple[int, int]
) -> list[int] | None:
    """Return the arms of node-disjoint paths first[0] to first[1] and second[0] to second[1], by
    integer programming; None if there are none.

    There are two unit flows, and at most one of them passes any node. Additional cycles of a
    solution are ignored.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp  # slow to import
    from scipy.sparse import csr_array, eye_array, kron

    arms, tails, heads = np.array([(arm, u, v) for u, row in enumerate(table) for arm, v in row]).T
    nodes, arcs = len(table), len(arms)
    one, places = np.ones(arcs), np.arange(arcs)
    leaving = csr_array((one, (tails, places)), shape=(nodes, arcs))
    entering = csr_array((one, (heads, places)), shape=(nodes, arcs))
    balance = np.zeros((2, nodes))
    room = np.ones(nodes)  # capacity for flow into a node: none where a path starts
    for flow, (start, stop) in enumerate((first, second)):
        balance[flow, start] += 1
        balance[flow, stop] -= 1
        room[start] = 0
    conserved = LinearConstraint(
        kron(eye_array(2), leaving - entering), balance.ravel(), balance.ravel()
    )
    disjointed = LinearConstraint(kron(np.ones((1, 2)), entering), -np.inf, room)
    solution = milp(
        np.zeros(2 * arcs),
        constraints=[conserved, disjointed],
        integrality=1,
        bounds=Bounds(0, 1),
        options={"node_limit": NODES},
    )
    if solution.x is None:
        if solution.status != 2:  # neither solved nor infeasible
            raise ValueError(
                "Expected arcs that surely lie on a simple path, or surely on none: of some it "
                "takes too long to say. Leave out arcs that lead back, or take directed=False."
            )
        return None
    used = np.flatnonzero((solution.x.reshape(2, -1) > 0.5).any(axis=0))
    onward = {int(tails[i]): (int(arms[i]), int(heads[i])) for i in used}
    return [arm for start, stop in (first, second) for arm in followed(onward, start, (stop,))]


def followed(onward: dict[int, tuple[int, int]], start: int, stops: tuple[int, ...]) -> list[int]:
    """Return the arms from start to the first of the stops."""
    arms = []
    while start not in stops:
        arm, start = onward[start]
        arms.append(arm)
    return arms


def disjoint(table: Adjacency, starts: tuple[int, int], stops: tuple[int, int]) -> list[int] | None:
    """Return the arms of two node-disjoint paths from the starts to the stops, in either pairing;
    None if there are none. They are a maximum flow in which every node has capacity 1.
    """
    from scipy.sparse import csr_array  # slow to import
    from scipy.sparse.csgraph import maximum_flow

    nodes = len(table)
    source, sink = 2 * nodes, 2 * nodes + 1
    # flow into node v arrives at v and leaves from nodes + v
    arm_of = {(nodes + u, v): arm for u, row in enumerate(table) for arm, v in row}
    arcs = [*arm_of, *((v, nodes + v) for v in range(nodes))]
    arcs += [(source, start) for start in starts] + [(nodes + stop, sink) for stop in stops]
    graph = csr_array((np.ones(len(arcs), np.int32), np.array(arcs).T), shape=(sink + 1,) * 2)
    found = maximum_flow(graph, source, sink)
    if found.flow_value < 2:
        return None
    used = zip(*(each.tolist() for each in (found.flow > 0).nonzero()), strict=True)
    onward = {u - nodes: (arm_of[u, v], v) for u, v in used if (u, v) in arm_of}
    return [arm for start in starts for arm in followed(onward, start, stops)]


# Paths between two nodes of a network: the cheapest, or the most rewarding in an acyclic graph.


LARGEST = 1e300
"""The largest weight whose sums along any path are finite."""

Rank = tuple[float, int]  # cost and number of arms to the target: smaller is better


@final
class Paths(DecisionSet):
    """Simple paths from `source` to `target`; the arms are the arcs. Ties: the fewest arms, then
    the lowest next arm.

    `size` is the number of arms of the longest path if useful arcs form no cycle. Otherwise that is
    hard to compute, and `size` is the number of nodes on walks from source to target minus one, or
    the number of their arcs if that is smaller.

    Args:
        edges: pairs of node labels (whole numbers or strings); parallel arcs are separate arms.
        source: first node.
        target: last node.
        directed: True if an edge can be used only from its first node to its second. Undirected, it
            is one arm in both directions.
        costs: True: rewards are 1 - cost, costs in [0, 1], and the best path is the cheapest. An
            index above 1 counts as cost 0, because negative costs could make cycles profitable.
            False: the best path has the most reward, for networks without directed cycles between
            the two nodes (in others that is the longest path problem, which is hard).

    Raises:
        ValueError: no path, unknown nodes, source equal to target, or rewards with a cycle.

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
        self.edges = checked_edges(edges)
        self.directed = switch(directed, "directed")
        self.costs = switch(costs, "costs")
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
        """Set the neighbours along arcs that lie on a walk from source to target, without
        self-loops, arcs into the source and arcs out of the target.
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
        """Return useful nodes in reverse topological order; None if there are cycles and costs are
        minimised.
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
                f"Expected costs=True, or arcs without a cycle; got {cycle}."
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
        """Run Dijkstra from the target backwards until the source is settled. Counting arms breaks
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
        """Follow, from the source, always the lowest arm that keeps the rank. Nodes of a better
        rank are settled, so it is exact.
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
        arms = path_through(
            self._out, arm, self._ends[arm], self._from, self._to, directed=self.directed
        )
        return None if arms is None else tuple(sorted(arms))
