"""Choosing vertices with a submodular value: coverage, and influence in a random graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any, NamedTuple, SupportsIndex, final

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.inputs import LARGEST_SEED, Booleans, Floats, Integers, switch, whole_number
from dpbandits.oracles.base import (
    Covering,
    DecisionSet,
    Label,
    SuperArm,
    checked_edges,
    checked_label,
    checked_labels,
    checked_probabilities,
    chunks,
    numbered,
    sorted_arms,
)

# Super arms by starting nodes: choose k nodes and play all edges that leave them. Probabilistic
# maximum coverage is one of these.


EXACT = 2000  # the most choices of nodes that `optimum` tries one by one


class VertexChoice(DecisionSet):
    """Base class of probabilistic coverage and influence: an arm is an edge, its weight the
    probability that it activates.

    A super arm is all edges out of k different nodes. Nodes without such an edge cannot be chosen,
    so super arms correspond to choices of nodes. The greedy answer is worth at least 1 - 1/e of the
    optimum (Nemhauser, Wolsey and Fisher 1978: the value is monotone and submodular in the nodes).

    `optimum` is exact up to 2000 choices of nodes, otherwise the value of the greedy answer.
    """

    alpha = 1 - float(np.exp(-1))
    linear = False

    def _set_edges(self, edges: Iterable[Sequence[Any]] | NDArray[Any], k: int, name: str) -> None:
        """Set the edges, and number the nodes they leave in order of first appearance.

        Raises:
            ValueError: k is below 1 or above the number of nodes to choose from.
        """
        self.edges = checked_edges(edges)
        self._chooseable = {
            node: i for i, node in enumerate(dict.fromkeys(u for u, _ in self.edges))
        }
        self.k = whole_number(k, name, 1)
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
        """Return the nodes that a super arm chooses, in order of first appearance in the edges."""
        labels = list(self._chooseable)
        return tuple(labels[i] for i in np.unique(self._group[list(self.checked(action))]))

    @final
    def action(self, nodes: Iterable[Label]) -> SuperArm:
        """Return the super arm that chooses these k nodes.

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
        """The edges out of each node that can be chosen."""
        return np.split(np.argsort(self._group, kind="stable"), np.cumsum(self._sizes)[:-1])

    def _contains(self, action: SuperArm) -> bool:
        groups, counts = np.unique(self._group[list(action)], return_counts=True)
        return len(groups) == self.k and bool(np.all(counts == self._sizes[groups]))

    def _cover(self) -> Covering:
        """Return k nodes after k, in order: as few super arms as possible. There are no loops."""
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
    """Choose k left nodes of a bipartite graph; each of their edges covers its right node with the
    edge's probability.

    The value is the expected number of covered right nodes: the sum over r of 1 - prod(1 - p) over
    the chosen edges into r, for independent edges. In `best`, weights outside [0, 1], as indices
    may be, count as 0 or 1. The greedy answer has alpha = 1 - 1/e, with ties to the lower left
    node.

    Source: Chen, Wang, Yuan and Wang 2016, section 4.1.

    Args:
        edges: pairs (left label, right label), one arm each. The sides have separate labels.
        k: number of left nodes that are chosen.
        normalised: True divides the value by the number of right nodes, so that it is at most 1.

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
        """B₁: an edge covers one right node, so its error counts once."""
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


# Reverse-reachable sets: the nodes that could have infected a node. The spread of seeds is the
# weight of the sets they hit.
#
# Under independent cascade, let every edge be live with its own probability. A node is infected if
# and only if a live path leads to it from a seed, that is, if a seed lies in the set of nodes that
# reach it. So spread = nodes * P(seeds hit the set of a random node) (Borgs, Brautbar, Chayes and
# Lucier 2014). `every_outcome` lists all outcomes of all nodes and is exact; `sampled` draws them.
# Seeds, samples and probabilities are all public.


ENUMERATED = 10  # the most uncertain edges of which all outcomes are listed
ENTRIES = 2**18  # ... unless that makes too many sets
EXAMINED = 3_000_000  # edges examined after which no further batch of sets is drawn

# (set, edge): is it live? called once for each edge and set
Live = Callable[[Integers, Integers], Booleans]


class ReachableSets(NamedTuple):
    """Many sets of nodes: entry i says that node `node[i]` is in set `member[i]`. Entries are
    sorted by set.
    """

    member: Integers
    node: Integers
    weight: Floats  # of each set, in nodes; they add up to the graph's number of nodes

    def spread(self, seeds: Integers, nodes: int) -> float:
        """Return the weight of the sets that contain a seed."""
        is_seed = np.zeros(nodes, dtype=bool)
        is_seed[seeds] = True
        hit = np.zeros(len(self.weight), dtype=bool)
        hit[self.member[is_seed[self.node]]] = True
        return float(self.weight[hit].sum())


class Incoming(NamedTuple):
    """A graph by the edges into each node: those of node v are edge[start[v] : start[v + 1]], from
    tail[...].
    """

    start: Integers
    edge: Integers
    tail: Integers

    @classmethod
    def of(cls, tails: Integers, heads: Integers, nodes: int) -> Incoming:
        order = np.argsort(heads, kind="stable")
        start = np.concatenate([[0], np.cumsum(np.bincount(heads, minlength=nodes))])
        return cls(start, order.astype(np.int64), tails[order])

    def grow(self, roots: Integers, live: Live) -> tuple[Integers, Integers, int]:
        """Grow all sets at once, one level a step. Return (set, node) entries sorted by set, and
        the number of edges examined.
        """
        nodes = len(self.start) - 1
        seen = np.zeros(len(roots) * nodes, dtype=bool)
        frontier = np.arange(len(roots)) * nodes + roots  # set * nodes + node
        seen[frontier] = True
        examined = 0
        while len(frontier):
            member, node = np.divmod(frontier, nodes)
            counts = self.start[node + 1] - self.start[node]
            ends = np.cumsum(counts)
            at = np.arange(ends[-1]) + np.repeat(self.start[node] - ends + counts, counts)
            examined += len(at)
            member = np.repeat(member, counts)
            reached = (member * nodes + self.tail[at])[live(member, self.edge[at])]
            frontier = np.unique(reached[~seen[reached]])
            seen[frontier] = True
        member, node = np.divmod(np.flatnonzero(seen), nodes)
        return member, node, examined


def every_outcome(graph: Incoming, probabilities: Floats) -> ReachableSets | None:
    """Return every outcome of the uncertain edges, for every node, weighted by its probability;
    None if there are too many.
    """
    nodes = len(graph.start) - 1
    uncertain = np.flatnonzero((probabilities > 0) & (probabilities < 1))
    if len(uncertain) > ENUMERATED or nodes**2 << len(uncertain) > ENTRIES:
        return None
    # one outcome a row
    table = (np.arange(1 << len(uncertain))[:, None] >> np.arange(len(uncertain))) & 1 == 1
    outcomes = np.tile(probabilities == 1, (len(table), 1))
    outcomes[:, uncertain] = table
    p = probabilities[uncertain]
    weight = np.repeat(np.prod(np.where(table, p, 1 - p), axis=1), nodes)
    roots = np.tile(np.arange(nodes), len(table))
    member, node, _ = graph.grow(roots, lambda member, edge: outcomes[member // nodes, edge])
    return ReachableSets(member, node, weight)


def sampled(
    graph: Incoming, probabilities: Floats, samples: int, rng: np.random.Generator
) -> ReachableSets:
    """Return sets of random nodes: `samples` of them, or fewer (at least 64) if they are large.

    The relative error of a spread of S nodes is about sqrt(nodes / (S * sets)). If sets are large
    so is S, and few sets suffice.
    """
    nodes = len(graph.start) - 1
    members, nodes_found, drawn, examined = [], [], 0, 0
    while drawn < samples and (drawn == 0 or examined < EXAMINED):
        batch = min(samples - drawn, max(64, drawn), max(64, 2**23 // nodes))
        roots = rng.integers(nodes, size=batch)
        member, node, work = graph.grow(
            roots, lambda _, edge: rng.random(len(edge)) < probabilities[edge]
        )
        members.append(member + drawn)
        nodes_found.append(node)
        drawn, examined = drawn + batch, examined + work
    return ReachableSets(
        np.concatenate(members), np.concatenate(nodes_found), np.full(drawn, nodes / drawn)
    )


def greedy_cover(sets: ReachableSets, candidates: Integers, nodes: int, k: int) -> list[int]:
    """Return k candidates, each the one that hits the most weight not hit before (the first on a
    tie).
    """
    left, chosen = sets.weight.copy(), list[int]()
    for _ in range(k):
        gains = np.bincount(sets.node, left[sets.member], minlength=nodes)[candidates]
        gains[chosen] = -1
        chosen.append(int(gains.argmax()))
        left[sets.member[sets.node == candidates[chosen[-1]]]] = 0
    return chosen


@final
class Influence(VertexChoice):
    """Influence maximisation under independent cascade: choose seeds in a directed graph. A newly
    infected node infects each next node once, with that edge's probability.

    A super arm is the edges out of the seeds: the infections that the seeds themselves trigger. (In
    the papers every edge that a cascade reaches is seen; then a super arm would be a random set
    without a useful bound on its size.) The value is the expected number of infected nodes, seeds
    included, which depends on all edges. Only nodes with an outgoing edge can be seeds.

    The greedy answer has alpha = 1 - 1/e up to sampling error: the relative error of a spread of S
    nodes is about sqrt(nodes / (S * sets)). `value` draws separate sets from those of `best`, so it
    is unbiased. In `best`, weights outside [0, 1], as indices may be, count as 0 or 1.

    Source: Kempe, Kleinberg and Tardos 2003; Tang, Xiao and Shi 2014 for the greedy over
    reverse-reachable sets.

    Args:
        edges: pairs of node labels (from, to), one arm each.
        seeds: number of nodes that are chosen.
        nodes: all labels, if edges must be checked against them or nodes without edges exist.
        samples: the most reverse-reachable sets that are drawn; fewer if they are large. Graphs
            with up to 10 uncertain edges are solved exactly by listing all outcomes.
        seed: public seed of these sets.

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
        self.nodes = checked_labels(nodes)
        self.samples = whole_number(samples, "samples", 1, 10**8)
        self.seed = whole_number(seed, "seed", 0, LARGEST_SEED)
        index = numbered(self.edges, self.nodes)
        tails, heads = (np.array([index[edge[end]] for edge in self.edges]) for end in (0, 1))
        self._nodes = len(index)
        self._graph = Incoming.of(tails, heads, self._nodes)
        # of each node that can be a seed
        self._node_of = np.array([index[label] for label in self._chooseable])
        # the sets of the last means: a simulation uses one vector
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
