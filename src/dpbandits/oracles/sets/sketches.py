"""Reverse-reachable sets: who could have infected a node. The spread of seeds is the weight of the
sets they hit.

Under independent cascade, let every edge be live with its own probability. A node is infected if
and only if a live path leads to it from a seed, that is, if a seed lies in the set of nodes that
reach it. So spread = nodes * P(seeds hit the set of a random node) (Borgs, Brautbar, Chayes and
Lucier 2014). `every_outcome` lists all outcomes of all nodes and is exact; `sampled` draws them.
Seeds, samples and probabilities are all public.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dpbandits.core.arrays import Booleans, Floats, Integers

ENUMERATED = 10  # uncertain edges up to which all outcomes are listed
ENTRIES = 2**18  # ... unless that makes too many sets
EXAMINED = 3_000_000  # edges examined after which no further batch of sets is drawn

# (set, edge): is it live? asked once for each edge and set
Live = Callable[[Integers, Integers], Booleans]


class ReachableSets(NamedTuple):
    """Many sets of nodes: entry i says that node `node[i]` is in set `member[i]`. Entries are
    sorted by set.
    """

    member: Integers
    node: Integers
    weight: Floats  # of each set, in nodes: together as many as the graph has

    def spread(self, seeds: Integers, nodes: int) -> float:
        """The weight of the sets that hold a seed."""
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
        """All sets at once, one level a step: (set, node) entries sorted by set, and how many edges
        were examined.
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
    """Every outcome of the uncertain edges, for every node, weighted by its probability; None where
    there are too many.
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
    """Sets of random nodes: `samples` of them, or fewer (64 or more) where they are large.

    The relative error of a spread of S nodes is about sqrt(nodes / (S * sets)): where sets are
    large so is S, and few do.
    """
    nodes = len(graph.start) - 1
    members, found, drawn, examined = [], [], 0, 0
    while drawn < samples and (drawn == 0 or examined < EXAMINED):
        batch = min(samples - drawn, max(64, drawn), max(64, 2**23 // nodes))
        roots = rng.integers(nodes, size=batch)
        member, node, work = graph.grow(
            roots, lambda _, edge: rng.random(len(edge)) < probabilities[edge]
        )
        members.append(member + drawn)
        found.append(node)
        drawn, examined = drawn + batch, examined + work
    return ReachableSets(
        np.concatenate(members), np.concatenate(found), np.full(drawn, nodes / drawn)
    )


def greedy_cover(sets: ReachableSets, candidates: Integers, nodes: int, k: int) -> list[int]:
    """k candidates, each the one that hits the most weight not yet hit; on a tie the first. Touches
    every entry once or twice.
    """
    by_node = np.argsort(sets.node, kind="stable")
    node_start = np.concatenate([[0], np.cumsum(np.bincount(sets.node, minlength=nodes))])
    set_start = np.concatenate(
        [[0], np.cumsum(np.bincount(sets.member, minlength=len(sets.weight)))]
    )
    gains = np.bincount(sets.node, sets.weight[sets.member], minlength=nodes)
    left = np.ones(len(sets.weight), dtype=bool)
    chosen: list[int] = []
    open_ = np.ones(len(candidates), dtype=bool)
    for _ in range(k):
        best = int(np.where(open_, gains[candidates], -np.inf).argmax())
        open_[best] = False
        chosen.append(best)
        seed = int(candidates[best])
        hit = sets.member[by_node[node_start[seed] : node_start[seed + 1]]]
        hit = hit[left[hit]]
        left[hit] = False
        counts = set_start[hit + 1] - set_start[hit]
        ends = np.cumsum(counts)
        at = np.arange(counts.sum()) + np.repeat(set_start[hit] - ends + counts, counts)
        gains -= np.bincount(sets.node[at], np.repeat(sets.weight[hit], counts), minlength=nodes)
    return chosen
