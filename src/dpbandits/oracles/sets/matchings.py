"""Pairings of two kinds of nodes, each used once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.arrays import Floats
from dpbandits.oracles.base import DecisionSet
from dpbandits.oracles.inputs import (
    Label,
    SuperArm,
    checked_edges,
    checked_labels,
    largest_first,
    numbered,
    sorted_arms,
)


@final
class Matchings(DecisionSet):
    """Non-empty sets of edges that share no node, in a bipartite graph. The value of a matching is
    the sum of its edges.

    edges: pairs (left label, right label), one arm each; parallel ones are arms of their own. The
        two sides have separate labels: 0 on the left is not 0 on the right.
    left, right: all labels of a side, if edges shall be checked against them.

    The best matching has the greatest sum. Edges of weight <= 0 are left out, unless there are no
    others: then it is the best single edge, the lower number on a tie. Ties between matchings are
    settled by the assignment algorithm (SciPy's, a function of the weights alone). Time is cubic in
    the smaller side and the matrix is dense: fine up to some thousand nodes.

    >>> Matchings([("ann", "day"), ("ann", "night"), ("bob", "day")]).best([0.9, 0.6, 0.5])
    (1, 2)
    """

    def __init__(
        self,
        edges: Iterable[Sequence[Any]] | NDArray[Any],
        left: Iterable[Label] | None = None,
        right: Iterable[Label] | None = None,
    ) -> None:
        self.edges = checked_edges(edges)
        self.left, self.right = checked_labels(left), checked_labels(right)
        lefts = numbered([(u, u) for u, _ in self.edges], self.left)
        rights = numbered([(v, v) for _, v in self.edges], self.right)
        self._rows = np.array([lefts[u] for u, _ in self.edges])
        self._columns = np.array([rights[v] for _, v in self.edges])
        self._shape = len(lefts), len(rights)
        self.arms = len(self.edges)
        self.size = self._largest()

    def parameters(self) -> dict[str, Any]:
        return {
            "edges": [list(edge) for edge in self.edges],
            "left": self.left,
            "right": self.right,
        }

    def _largest(self) -> int:
        from scipy.sparse import csr_array  # slow to import
        from scipy.sparse.csgraph import maximum_bipartite_matching

        graph = csr_array((np.ones(self.arms), (self._rows, self._columns)), shape=self._shape)
        return int((maximum_bipartite_matching(graph) >= 0).sum())

    def _best(self, weights: Floats) -> SuperArm:
        from scipy.optimize import linear_sum_assignment

        order = largest_first(weights)
        # the best last, so that it wins among parallel edges
        positive = order[weights[order] > 0][::-1]
        if len(positive) == 0:
            return (int(order[0]),)
        arm_at = np.full(self._shape, -1)
        arm_at[self._rows[positive], self._columns[positive]] = positive
        table = np.where(arm_at < 0, 0.0, weights[arm_at])
        chosen = arm_at[linear_sum_assignment(table, maximize=True)]
        return sorted_arms(chosen[chosen >= 0])

    def _contains(self, action: SuperArm) -> bool:
        arms = list(action)
        return len(arms) > 0 and len(set(self._rows[arms])) == len(set(self._columns[arms])) == len(
            arms
        )

    def _containing(self, arm: int) -> SuperArm | None:
        return (arm,)
