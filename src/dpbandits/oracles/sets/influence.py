"""Influence maximisation under independent cascade."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.arrays import Floats
from dpbandits.core.inputs import LARGEST_SEED
from dpbandits.oracles.inputs import (
    Label,
    SuperArm,
    bounded_whole,
    checked_labels,
    checked_probabilities,
    numbered,
)
from dpbandits.oracles.sets.sketches import (
    Incoming,
    ReachableSets,
    every_outcome,
    greedy_cover,
    sampled,
)
from dpbandits.oracles.sets.vertices import VertexChoice


@final
class Influence(VertexChoice):
    """Choose seeds in a directed graph; a newly infected node infects each next node with that
    edge's probability, once.

    A super arm is the edges out of the seeds: what the seeds themselves are seen to trigger. (In
    the papers every edge that a cascade reaches is seen; then a super arm would be a random set,
    without a useful bound on its size.) The value is the expected number of infected nodes, seeds
    included, which depends on all edges. Only nodes with an edge out can be seeds.

    edges: pairs of node labels (from, to), one arm each.
    seeds: how many nodes are chosen.
    nodes: all labels, if edges shall be checked against them or nodes without edges exist.
    samples: reverse-reachable sets drawn at most, fewer where they are large; their seed is `seed`,
        a public number. Graphs with up to 10 uncertain edges are solved by listing all outcomes
        instead: their values are exact.

    The greedy over these sets gives alpha = 1 - 1/e up to sampling error: the relative error of a
    spread of S nodes is about sqrt(nodes / (S * sets)). `value` draws its own sets, independent of
    those `best` chose from, so it is unbiased. Weights outside [0, 1], as indices may be, count as
    0 or 1 in `best`.

    Source: Kempe, Kleinberg and Tardos 2003; Tang, Xiao and Shi 2014 for the greedy over
    reverse-reachable sets.

    >>> chain = Influence([(0, 1), (1, 2), (3, 2)], seeds=1)
    >>> chain.best([0.5, 0.5, 0.25]), chain.value((0,), [0.5, 0.5, 0.25])
    ((0,), 1.75)
    """

    def __init__(
        self,
        edges: Iterable[Sequence[Any]] | NDArray[Any],
        *,
        seeds: int,
        nodes: Iterable[Label] | None = None,
        samples: int = 20_000,
        seed: int = 0,
    ) -> None:
        self._set_edges(edges, seeds, "seeds")
        self.nodes, self.samples, self.seed = (
            checked_labels(nodes),
            bounded_whole(samples, "samples", 1, 10**8),
            bounded_whole(seed, "seed", 0, LARGEST_SEED),
        )
        index = numbered(self.edges, self.nodes)
        tails, heads = (np.array([index[edge[end]] for edge in self.edges]) for end in (0, 1))
        self._nodes = len(index)
        self._graph = Incoming.of(tails, heads, self._nodes)
        # of each node that can be a seed
        self._node_of = np.array([index[label] for label in self._chooseable])
        # the sets of the means asked for last: a simulation keeps to one vector
        self._last: tuple[bytes, ReachableSets] | None = None

    def parameters(self) -> dict[str, Any]:
        edges = [list(edge) for edge in self.edges]
        return {
            "edges": edges,
            "seeds": self.k,
            "nodes": self.nodes,
            "samples": self.samples,
            "seed": self.seed,
        }

    def _best(self, weights: Floats) -> SuperArm:
        sets = self._sets(np.clip(weights, 0, 1), 0)
        return self._edges_of(greedy_cover(sets, self._node_of, self._nodes, self.k))

    def _value(self, action: SuperArm, means: Floats) -> float:
        key = means.tobytes()
        last = self._last
        if last is None or last[0] != key:
            last = self._last = key, self._sets(checked_probabilities(means), 1)
        return last[1].spread(self._node_of[np.unique(self._group[list(action)])], self._nodes)

    def _sets(self, probabilities: Floats, stream: int) -> ReachableSets:
        rng = np.random.default_rng([self.seed, stream])
        return every_outcome(self._graph, probabilities) or sampled(
            self._graph, probabilities, self.samples, rng
        )
