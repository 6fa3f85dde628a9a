"""Super arms that are chosen by their starting nodes: choose k nodes, play all edges that leave
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any, SupportsIndex, final

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.arrays import Floats, Integers
from dpbandits.oracles.base import Covering, DecisionSet
from dpbandits.oracles.inputs import (
    Label,
    SuperArm,
    bounded_whole,
    checked_edges,
    checked_label,
    sorted_arms,
)
from dpbandits.oracles.matroids.uniform import chunks

EXACT = 2000  # choices of nodes that `optimum` tries one by one


class VertexChoice(DecisionSet):
    """What probabilistic coverage and influence share: an arm is an edge, its weight the
    probability that it activates.

    A super arm is all edges out of k different nodes. Nodes without such an edge cannot be chosen,
    so super arms and choices of nodes are the same thing. The greedy's answer is worth at least 1 -
    1/e of the optimum (Nemhauser, Wolsey and Fisher 1978: the value is monotone and submodular in
    the nodes).

    `optimum` is exact up to 2000 choices of nodes, else the value of the greedy's answer.
    """

    alpha = 1 - float(np.exp(-1))
    linear = False

    def _set_edges(self, edges: Iterable[Sequence[Any]] | NDArray[Any], k: int, name: str) -> None:
        """Reads the edges and numbers the nodes they leave, in order of first appearance.

        Raises:
            ValueError: k below 1, or more than there are nodes to choose.
        """
        self.edges = checked_edges(edges)
        self._chooseable = {
            node: i for i, node in enumerate(dict.fromkeys(u for u, _ in self.edges))
        }
        self.k = bounded_whole(k, name, 1)
        if self.k > len(self._chooseable):
            raise ValueError(
                f"Expected {name}={k} to be <= {len(self._chooseable)}, the number of nodes with "
                "an edge to play."
            )
        self._group: Integers = np.array([self._chooseable[u] for u, _ in self.edges])
        self._sizes = np.bincount(self._group)
        self.arms, self.size = len(self.edges), int(np.sort(self._sizes)[::-1][: self.k].sum())

    @final
    def vertices(self, action: Iterable[SupportsIndex]) -> tuple[Label, ...]:
        """The nodes that a super arm chooses, in order of first appearance in the edges."""
        labels = list(self._chooseable)
        return tuple(labels[i] for i in np.unique(self._group[list(self.checked(action))]))

    @final
    def action(self, nodes: Iterable[Label]) -> SuperArm:
        """The super arm that chooses these k nodes.

        Raises:
            ValueError: not k different nodes that can be chosen.
        """
        labels = [checked_label(node) for node in nodes]
        for node in labels:
            if node not in self._chooseable:
                raise ValueError(f"Expected nodes with an edge to play; {node!r} has none.")
        if len(labels) != self.k or len(set(labels)) != self.k:
            raise ValueError(f"Expected {self.k} different nodes, got {labels!r}.")
        return self._edges_of([self._chooseable[node] for node in labels])

    def _edges_of(self, chosen: Iterable[int]) -> SuperArm:
        return sorted_arms(np.concatenate([self._out[i] for i in chosen]))

    @cached_property
    def _out(self) -> list[NDArray[np.intp]]:
        """The edges out of each chooseable node."""
        return np.split(np.argsort(self._group, kind="stable"), np.cumsum(self._sizes)[:-1])

    def _contains(self, action: SuperArm) -> bool:
        groups, counts = np.unique(self._group[list(action)], return_counts=True)
        return len(groups) == self.k and bool(np.all(counts == self._sizes[groups]))

    def _cover(self) -> Covering:
        """k nodes after k, in order: as few super arms as possible, and there are no loops."""
        return tuple(self._edges_of(chosen) for chosen in chunks(len(self._sizes), self.k)), ()

    def _optimum(self, means: Floats) -> float:
        if comb(len(self._sizes), self.k) > EXACT:
            return self._value(self._best(means), means)
        return max(
            self._value(self._edges_of(chosen), means)
            for chosen in combinations(range(len(self._sizes)), self.k)
        )
