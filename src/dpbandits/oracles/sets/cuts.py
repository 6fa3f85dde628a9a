"""Cuts of a graph: colour the nodes with two colours, play the edges between them."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.arrays import Floats
from dpbandits.oracles.base import DecisionSet
from dpbandits.oracles.graphs import Adjacency, adjacency
from dpbandits.oracles.inputs import Label, SuperArm, checked_edges, checked_labels, numbered

EXACT = 12  # nodes up to which `optimum` tries every colouring
PASSES = 100  # over all nodes: single moves can go on for exponentially many
SLACK = 1e-12  # of the total weight: a move that wins less may be rounding


@final
class MaxCut(DecisionSet):
    """Cuts of an undirected graph: an arm is an edge, and a super arm is all edges whose ends have
    different colours, for a colouring of the nodes with two colours that cuts an edge at all. Its
    value is the sum of their weights, the best one's is the maximum cut.

    edges: pairs of node labels (whole numbers or strings). Parallel edges are arms of their own,
        self-loops are loops.
    nodes: all labels, if edges shall be checked against them.

    The oracle colours the nodes in order, each so that it cuts more weight, and then changes the
    colour of single nodes for as long as that wins (at most 100 times through all nodes). alpha =
    1/2: every edge is decided with its later node, and at least half the weight that a node decides
    is cut; no move takes from that, and a cut that no move can better has half the weight, too.
    Edges of weight below 0, as indices may be, count as 0, so the promise is one for weights of at
    least 0. Ties are settled by the order of the nodes: more edges, else the first colour.

    size: the edges, less self-loops and one for each of some cycles of odd length without a common
    edge, since no cut has all edges of such a cycle. `optimum` is exact up to 12 nodes, else the
    value of the oracle's answer.

    Source: Sahni and Gonzalez 1976, the greedy and its ratio.

    Raises:
        ValueError: all edges are self-loops, so that nothing can be cut.

    >>> square = MaxCut([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("a", "c")])
    >>> square.best([0.5, 0.4, 0.5, 0.4, 0.3]), square.size
    ((0, 1, 2, 3), 4)
    """

    alpha = 0.5

    def __init__(
        self, edges: Iterable[Sequence[Any]] | NDArray[Any], *, nodes: Iterable[Label] | None = None
    ) -> None:
        self.edges, self.nodes = checked_edges(edges), checked_labels(nodes)
        index = numbered(self.edges, self.nodes)
        self._ends = [(index[u], index[v]) for u, v in self.edges]
        cuttable = [arm for arm, (u, v) in enumerate(self._ends) if u != v]
        if not cuttable:
            raise ValueError(
                f"Expected an edge between two different nodes; all {len(self.edges)} are "
                "self-loops, which no colouring cuts. Add an edge."
            )
        self._table = adjacency(self._ends, len(index), directed=False, arms=cuttable)
        self._tails, self._heads = np.array(self._ends).T
        self.arms = len(self.edges)
        self.size = len(cuttable) - odd_cycles(self._table)

    def parameters(self) -> dict[str, Any]:
        return {"edges": [list(edge) for edge in self.edges], "nodes": self.nodes}

    def _best(self, weights: Floats) -> SuperArm:
        gains = np.maximum(weights, 0)
        largest = float(gains.max())
        # scaled, so that no sum overflows
        return self._cut(self._coloured((gains / (largest or 1.0)).tolist()))

    def _coloured(self, gains: list[float]) -> list[int]:
        """The colour of each node, 1 or -1."""
        colours = [0] * len(self._table)
        for node, around in enumerate(self._table):
            # zero for nodes without a colour; edges count where weights do not decide
            pull = math.fsum(gains[arm] * colours[other] for arm, other in around)
            pull = pull or sum(colours[other] for _, other in around)
            colours[node] = -1 if pull > 0 else 1
        least = SLACK * math.fsum(gains)
        for _ in range(PASSES):
            moved = False
            for node, around in enumerate(self._table):
                pull = math.fsum(gains[arm] * colours[other] for arm, other in around)
                if pull * colours[node] > least:
                    colours[node], moved = -colours[node], True
            if not moved:
                break
        return colours

    def _cut(self, colours: Sequence[int]) -> SuperArm:
        shown = np.array(colours)
        return tuple(np.flatnonzero(shown[self._tails] != shown[self._heads]).tolist())

    def _contains(self, action: SuperArm) -> bool:
        """Whether some colouring has different colours at the ends of these edges only."""
        cut, colours = set(action), [0] * len(self._table)
        if not cut or any(self._ends[arm][0] == self._ends[arm][1] for arm in cut):
            return False
        for root in range(len(self._table)):
            stack = [] if colours[root] else [root]
            colours[root] = colours[root] or 1
            while stack:
                node = stack.pop()
                for arm, other in self._table[node]:
                    colour = -colours[node] if arm in cut else colours[node]
                    if colours[other] == -colour:
                        return False
                    if not colours[other]:
                        colours[other] = colour
                        stack.append(other)
        return True

    def _optimum(self, means: Floats) -> float:
        found = [self._best(means)]
        if len(self._table) <= EXACT:
            # the first node's colour can be kept
            rest = product((1, -1), repeat=len(self._table) - 1)
            found += [cut for colours in rest if (cut := self._cut((1, *colours)))]
        return max(self._value(action, means) for action in found)


def odd_cycles(table: Adjacency) -> int:
    """How many odd cycles without a common edge a greedy search finds, a short one at a time."""
    left = [dict(around) for around in table]
    found = 0
    for root in range(len(left)):
        while cycle := odd_cycle(left, root):
            found += 1
            for arm, (u, v) in cycle.items():
                del left[u][arm], left[v][arm]
    return found


def odd_cycle(left: Sequence[dict[int, int]], root: int) -> dict[int, tuple[int, int]]:
    """An odd cycle in the part of the graph that `root` is in, breadth first: its edges with their
    ends; empty if there is none.
    """
    above: dict[int, tuple[int, int]] = {}  # the edge and the node towards the root
    depth, queue = {root: 0}, deque([root])
    while queue:
        node = queue.popleft()
        for arm, other in left[node].items():
            if other not in depth:
                above[other], depth[other] = (arm, node), depth[node] + 1
                queue.append(other)
            elif (depth[other] - depth[node]) % 2 == 0:  # neighbours, so of one depth
                cycle, u, v = {arm: (node, other)}, node, other
                while u != v:
                    (at, p), (to, q) = above[u], above[v]
                    cycle |= {at: (u, p), to: (v, q)}
                    u, v = p, q
                return cycle
    return {}
