"""Super arms that are chosen by their starting nodes: choose k nodes, play all edges that leave
them; and, of these, probabilistic maximum coverage.
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
from dpbandits.core.inputs import switch
from dpbandits.oracles.base import Covering, DecisionSet
from dpbandits.oracles.inputs import (
    Label,
    SuperArm,
    bounded_whole,
    checked_edges,
    checked_label,
    checked_probabilities,
    chunks,
    sorted_arms,
)

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


@final
class Coverage(VertexChoice):
    """Choose k left nodes of a bipartite graph; each of their edges covers its right node with its
    own probability.

    The value is the expected number of right nodes covered, sum over r of 1 - prod(1 - p) over the
    chosen edges into r, for independent edges. Weights outside [0, 1], as indices may be, count as
    0 or 1 when the best is sought.

    edges: pairs (left label, right label), one arm each. The sides have separate labels.
    k: how many left nodes are chosen.
    normalised: divide the value by the number of right nodes, so that it is at most 1.

    Source: Chen, Wang, Yuan and Wang 2016, section 4.1. Greedy: alpha = 1 - 1/e, ties to the lower
    left node.

    >>> ads = Coverage([("a", 1), ("a", 2), ("b", 2), ("c", 3)], k=2)
    >>> ads.best([0.5, 0.5, 0.9, 0.4]), ads.value((0, 1, 3), [0.5, 0.5, 0.9, 0.4])
    ((0, 1, 2), 1.4)
    """

    def __init__(
        self, edges: Iterable[Sequence[Any]] | NDArray[Any], *, k: int, normalised: bool = False
    ) -> None:
        self._set_edges(edges, k, "k")
        rights = {node: i for i, node in enumerate(dict.fromkeys(v for _, v in self.edges))}
        self._right = np.array([rights[v] for _, v in self.edges])
        self.normalised, self._items = switch(normalised, "normalised"), len(rights)
        # Parallel edges of one left and one right node act as one: `_pair` sorts arms by (left,
        # right), `_starts` cuts there.
        key = self._group * len(rights) + self._right
        self._pair = np.argsort(key, kind="stable")
        self._starts = np.flatnonzero(np.diff(key[self._pair], prepend=-1))
        self._pair_group, self._pair_right = np.divmod(key[self._pair][self._starts], len(rights))

    def parameters(self) -> dict[str, Any]:
        return {
            "edges": [list(edge) for edge in self.edges],
            "k": self.k,
            "normalised": self.normalised,
        }

    @property
    def b_one(self) -> float:
        """An edge covers one right node, so its error counts once."""
        return 1.0 / self._items if self.normalised else 1.0

    def _value(self, action: SuperArm, means: Floats) -> float:
        missed = np.ones(self._items)
        np.multiply.at(
            missed, self._right[list(action)], 1 - checked_probabilities(means)[list(action)]
        )
        covered = float((1 - missed).sum())
        return covered / self._items if self.normalised else covered

    def _best(self, weights: Floats) -> SuperArm:
        # one number a (left, right)
        covers = 1 - np.multiply.reduceat(1 - np.clip(weights, 0, 1)[self._pair], self._starts)
        missed = np.ones(self._items)
        chosen: list[int] = []
        for _ in range(self.k):
            gains = np.bincount(self._pair_group, covers * missed[self._pair_right])
            gains[chosen] = -1
            chosen.append(int(gains.argmax()))
            mine = self._pair_group == chosen[-1]
            missed[self._pair_right[mine]] *= 1 - covers[mine]
        return self._edges_of(chosen)
