"""Probabilistic maximum coverage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.arrays import Floats
from dpbandits.core.inputs import switch
from dpbandits.oracles.inputs import SuperArm, checked_probabilities
from dpbandits.oracles.sets.vertices import VertexChoice


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
