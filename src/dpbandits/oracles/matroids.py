"""Matroids, whose best basis the greedy algorithm returns: uniform, partition, graphic and
transversal ones.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, SupportsIndex, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbandits.core.inputs import (
    MOST_ARMS,
    Booleans,
    Floats,
    Integers,
    switch,
    whole_number,
)
from dpbandits.oracles.base import (
    Covering,
    DecisionSet,
    Label,
    SuperArm,
    arms_of,
    checked_edges,
    checked_labels,
    checked_probabilities,
    chunks,
    covering,
    largest_first,
    listed,
    numbered,
    sorted_arms,
)

# The base class of matroids. The super arms are the bases.


class Matroid(DecisionSet):
    """Base class of matroids; the super arms are its bases. A subclass implements `_independent`
    and `parameters`, and calls `_set_rank` on construction.

    All bases have `size == rank` arms. The greedy algorithm (heaviest arm first, lower number first
    on a tie, skipping arms that depend on the chosen ones) returns a heaviest basis for weights of
    either sign (Edmonds 1971).

    Source: Oxley, Matroid Theory, chapters 1 and 2.
    """

    rank: int

    @final
    def independent(self, subset: Iterable[SupportsIndex]) -> bool:
        """Return whether these arms are independent; repeated arms are not.

        Raises:
            ValueError: an unknown arm.
        """
        arms = [
            whole_number(arm, "arm", 0, self.arms - 1) for arm in listed(subset, "subset", "arms")
        ]
        return (
            len(arms) <= self.rank
            and len(set(arms)) == len(arms)
            and self._independent(tuple(sorted(arms)))
        )

    @final
    def fundamental_circuit(self, basis: Iterable[SupportsIndex], e: SupportsIndex) -> SuperArm:
        """Return every f in the basis for which basis - f + e is a basis: (e,) if e is in it, ()
        for a loop.

        Raises:
            ValueError: not a basis, or an unknown arm.
        """
        return self.circuits(basis, [e])[0]

    @final
    def exchanges(self, basis: Iterable[SupportsIndex]) -> Booleans:
        """Return all fundamental circuits, shape (arms, rank): entry [e, j] says whether basis -
        basis[j] + e is a basis.

        Columns follow the sorted basis.
        """
        return self._exchanges(self.checked(basis))

    @final
    def circuits(
        self, basis: Iterable[SupportsIndex], arms: Iterable[SupportsIndex]
    ) -> list[SuperArm]:
        """Return `fundamental_circuit` of each of these arms.

        Raises:
            ValueError: not a basis, or an unknown arm.
        """
        wanted = [whole_number(e, "arm", 0, self.arms - 1) for e in listed(arms, "arms", "arms")]
        checked = self.checked(basis) if wanted else ()
        inside = set(checked)
        others = iter(self._circuits(checked, [e for e in wanted if e not in inside]))
        return [(e,) if e in inside else next(others) for e in wanted]

    def _set_rank(self, arms: int, rank: int) -> None:
        """Set the number of arms and the rank.

        Raises:
            ValueError: rank 0: the only basis is empty, so nothing can be played.
        """
        if rank < 1:
            raise ValueError(
                f"Expected a {type(self).__name__} of rank >= 1, got rank 0: {arms} arms, all "
                "loops. Give an independent arm."
            )
        self.arms, self.rank, self.size = arms, rank, rank

    @abstractmethod
    def _independent(self, arms: SuperArm) -> bool:
        """Return whether these sorted, distinct arms, at most `rank` of them, are independent."""

    def _best(self, weights: Floats) -> SuperArm:
        return greedy(largest_first(weights).tolist(), self._independent, self.rank)

    def _contains(self, action: SuperArm) -> bool:
        return len(action) == self.rank and self._independent(action)

    def _loops(self) -> SuperArm:
        return tuple(arm for arm in range(self.arms) if not self._independent((arm,)))

    def _cover(self) -> Covering:
        return covering(self, self.loops)

    def _circuit(self, basis: SuperArm, e: int) -> SuperArm:
        swapped = ((f, (*(x for x in basis if x != f), e)) for f in basis)
        return tuple(f for f, arms in swapped if self._independent(tuple(sorted(arms))))

    def _circuits(self, basis: SuperArm, arms: list[int]) -> list[SuperArm]:
        """Return the circuits of arms outside the basis."""
        return [self._circuit(basis, e) for e in arms]

    def _exchanges(self, basis: SuperArm) -> Booleans:
        table = np.zeros((self.arms, self.rank), dtype=bool)
        for arm in range(self.arms):
            table[arm] = np.isin(basis, (arm,) if arm in basis else self._circuit(basis, arm))
        return table


def greedy(order: Iterable[int], independent: Callable[[SuperArm], bool], rank: int) -> SuperArm:
    """Return the first basis in this order of arms."""
    chosen: SuperArm = ()
    for arm in order:
        longer = sorted_arms((*chosen, arm))
        if independent(longer):
            chosen = longer
            if len(chosen) == rank:
                break
    return chosen


def exchange_rows(basis: SuperArm, table: Booleans) -> Booleans:
    """Fill in the basis arms' rows of a table of circuits: each can replace only itself."""
    table[list(basis)] = np.eye(len(basis), dtype=bool)
    return table


# Matroids of counts: a number of arms of each category, or of all arms.


class UniformMatroid(Matroid):
    """The uniform matroid: every set of `rank` arms is a basis.

    Args:
        arms: number of arms.
        rank: arms in a basis, at least 1.

    >>> UniformMatroid(arms=4, rank=2).best([0.5, 0.9, 0.5, 0.1])
    (0, 1)
    """

    def __init__(self, *, arms: int, rank: int) -> None:
        most = whole_number(arms, "arms", 1, MOST_ARMS)
        self._set_rank(most, whole_number(rank, "rank", 0, most))

    def parameters(self) -> dict[str, Any]:
        return {"arms": self.arms, "rank": self.rank}

    def _best(self, weights: Floats) -> SuperArm:
        return top(weights, self.rank)

    def _independent(self, arms: SuperArm) -> bool:
        return True

    def _cover(self) -> Covering:
        return chunks(self.arms, self.rank), ()

    def _circuit(self, basis: SuperArm, e: int) -> SuperArm:
        return basis

    def _exchanges(self, basis: SuperArm) -> Booleans:
        return exchange_rows(basis, np.ones((self.arms, self.rank), dtype=bool))


@final
class TopK(UniformMatroid):
    """The k best arms: the uniform matroid under its other name.

    Args:
        arms: number of arms.
        k: arms in a super arm.

    >>> TopK(arms=4, k=2).best([0.5, 0.9, 0.5, 0.1])
    (0, 1)
    """

    def __init__(self, *, arms: int, k: int) -> None:
        most = whole_number(arms, "arms", 1, MOST_ARMS)
        super().__init__(arms=most, rank=whole_number(k, "k", 1, most))

    def parameters(self) -> dict[str, Any]:
        return {"arms": self.arms, "k": self.rank}


@final
class TopKMax(DecisionSet):
    """Super arms of k arms, with the probability that at least one reward is 1 as their value: 1 -
    prod(1 - mean), for independent 0/1 rewards.

    The k largest means maximise it, so the oracle is exact. The value is not linear: it is a
    Bernoulli case of the expected maximum.

    Args:
        arms: number of arms.
        k: arms in a super arm.

    >>> TopKMax(arms=3, k=2).value((0, 1), [0.5, 0.5, 0.1])
    0.75
    """

    linear = False

    def __init__(self, *, arms: int, k: int) -> None:
        self.arms = whole_number(arms, "arms", 1, MOST_ARMS)
        self.size = whole_number(k, "k", 1, self.arms)

    def parameters(self) -> dict[str, Any]:
        return {"arms": self.arms, "k": self.size}

    @property
    def b_one(self) -> float:
        """B₁: one mean moves the probability by at most its error."""
        return 1.0

    def _best(self, weights: Floats) -> SuperArm:
        return top(weights, self.size)

    def _contains(self, action: SuperArm) -> bool:
        return len(action) == self.size

    def _value(self, action: SuperArm, means: Floats) -> float:
        return 1 - float(np.prod(1 - checked_probabilities(means)[list(action)]))

    def _cover(self) -> Covering:
        return chunks(self.arms, self.size), ()


def top(weights: Floats, k: int) -> SuperArm:
    """Return the k heaviest arms, lower numbers first on a tie."""
    return sorted_arms(largest_first(weights)[:k])


@final
class PartitionMatroid(Matroid):
    """At most `capacities[c]` arms of category c; a basis fills every category as far as possible.

    Args:
        categories: category of each arm, shape (arms,), numbered from 0. Give this or `blocks`.
        blocks: arms of each category, every arm in exactly one.
        capacities: one whole number >= 0 per category; arms of a category with capacity 0 are
            loops.

    >>> PartitionMatroid(categories=[0, 0, 1, 1], capacities=[1, 1]).best([0.1, 0.2, 0.4, 0.3])
    (1, 2)
    >>> PartitionMatroid(blocks=[[0, 3], [1, 2]], capacities=[1, 2]).rank
    3
    """

    def __init__(
        self,
        *,
        categories: ArrayLike | None = None,
        blocks: Iterable[Sequence[int]] | None = None,
        capacities: Iterable[int],
    ) -> None:
        limits = [
            whole_number(capacity, f"capacity[{c}]", 0)
            for c, capacity in enumerate(listed(capacities, "capacities", "whole numbers"))
        ]
        if (categories is None) == (blocks is None):
            raise ValueError(
                "Expected either categories (one an arm) or blocks (the arms of each category), "
                "not both."
            )
        self.categories = (
            checked_categories(categories, len(limits))
            if blocks is None
            else from_blocks(blocks, len(limits))
        )
        sizes = np.bincount(self.categories, minlength=len(limits))
        self.capacities = limits
        # number of arms of each category in a basis
        self._filled = np.minimum([min(limit, len(self.categories)) for limit in limits], sizes)
        place = np.arange(len(self.categories)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        self._kept = place < np.repeat(self._filled, sizes)
        self._set_rank(len(self.categories), int(self._filled.sum()))

    def parameters(self) -> dict[str, Any]:
        return {"categories": self.categories.tolist(), "capacities": self.capacities}

    def _best(self, weights: Floats) -> SuperArm:
        order = largest_first(weights)
        by_category = order[np.argsort(self.categories[order], kind="stable")]
        return sorted_arms(by_category[self._kept])

    def _independent(self, arms: SuperArm) -> bool:
        counts = np.bincount(self.categories[list(arms)], minlength=len(self.capacities))
        return bool(np.all(counts <= self._filled))

    def _loops(self) -> SuperArm:
        return sorted_arms(np.flatnonzero(self._filled[self.categories] == 0))

    def _circuit(self, basis: SuperArm, e: int) -> SuperArm:
        return tuple(f for f in basis if self.categories[f] == self.categories[e])

    def _exchanges(self, basis: SuperArm) -> Booleans:
        return exchange_rows(basis, self.categories[:, None] == self.categories[list(basis)])


def checked_categories(categories: ArrayLike | None, count: int) -> Integers:
    """Return a known category for every arm."""
    given = np.asarray(categories)
    if given.ndim != 1 or len(given) == 0 or given.dtype.kind not in "iu":
        raise ValueError(
            "Expected categories to be a non-empty list of whole numbers, got shape "
            f"{given.shape} of {given.dtype}."
        )
    bad = np.flatnonzero((given < 0) | (given >= count))
    if len(bad):
        raise ValueError(
            f"Expected categories[{bad[0]}]={given[bad[0]]} in 0..{count - 1}: there are {count} "
            "capacities."
        )
    return given.astype(np.int64)


def from_blocks(blocks: Iterable[Sequence[int]], count: int) -> Integers:
    """Return each arm's category, from the arms of each category."""
    rows = arms_of(blocks, "blocks")
    if len(rows) != count:
        raise ValueError(f"Expected one capacity a block, got {count} for {len(rows)} blocks.")
    total = sum(len(row) for row in rows)
    categories = np.full(total, -1, dtype=np.int64)
    for c, row in enumerate(rows):
        for arm in row:
            if arm >= total or categories[arm] >= 0:
                what = "is repeated" if arm < total else f"is out of range for {total} arms"
                raise ValueError(
                    f"Expected every arm from 0 on in exactly one block; arm {arm} of "
                    f"blocks[{c}] {what}."
                )
            categories[arm] = c
    return categories


# Graph algorithms shared by several oracles. Nodes are numbered from 0.


Adjacency = list[list[tuple[int, int]]]  # for each node: (arm, next node), by arm number
Pairs = Sequence[tuple[int, int]]  # for each arm: its two ends


def adjacency(
    ends: Pairs,
    nodes: int,
    *,
    directed: bool,
    backwards: bool = False,
    arms: Iterable[int] | None = None,
) -> Adjacency:
    """Return the nodes that each node reaches over one arm. `backwards` reverses the arcs, and
    `arms` restricts them.
    """
    table: Adjacency = [[] for _ in range(nodes)]
    for arm in range(len(ends)) if arms is None else arms:
        u, v = ends[arm][::-1] if backwards else ends[arm]
        table[u].append((arm, v))
        if not directed and u != v:
            table[v].append((arm, u))
    return table


def reachable(table: Adjacency, start: int) -> set[int]:
    """Return every node that can be reached from `start`, with `start`."""
    seen = {start}
    stack = [start]
    while stack:
        for _, node in table[stack.pop()]:
            if node not in seen:
                seen.add(node)
                stack.append(node)
    return seen


def is_forest(ends: Pairs, nodes: int, arms: Iterable[int]) -> bool:
    """Return whether these edges close no cycle (a self-loop is one). Union-find with path
    halving.
    """
    parent = list(range(nodes))
    for arm in arms:
        u, v = ends[arm]
        while parent[u] != u:
            parent[u] = u = parent[parent[u]]
        while parent[v] != v:
            parent[v] = v = parent[parent[v]]
        if u == v:
            return False
        parent[u] = v
    return True


# Forests of a graph, and spanning trees of a connected graph.


class Rooted(NamedTuple):
    """Rooted trees: for each node its parent, the arm to it (-1 for a root), and its distance to
    the root in arms.
    """

    above: list[int]
    edge: list[int]
    depth: list[int]

    def path(self, u: int, v: int) -> SuperArm:
        """Return the arms between two nodes of one tree, sorted."""
        arms = []
        while u != v:
            if self.depth[u] < self.depth[v]:
                u, v = v, u
            arms.append(self.edge[u])
            u = self.above[u]
        return tuple(sorted(arms))


class GraphicMatroid(Matroid):
    """The graphic matroid: an arm is an undirected edge, and independent sets are forests. In a
    disconnected graph, a basis spans every component.

    Args:
        edges: pairs of node labels (whole numbers or strings). Parallel edges are separate arms;
            self-loops are loops.
        nodes: all labels, if edges must be checked against them.

    >>> GraphicMatroid([("a", "b"), ("b", "c"), ("a", "c"), ("d", "d")]).best([0.1, 0.3, 0.2, 1])
    (1, 2)
    """

    def __init__(
        self, edges: Iterable[Sequence[Any]] | NDArray[Any], *, nodes: Iterable[Label] | None = None
    ) -> None:
        self.edges, self.nodes = checked_edges(edges), checked_labels(nodes)
        index = numbered(self.edges, self.nodes)
        self._labels = list(index)
        self._ends = [(index[u], index[v]) for u, v in self.edges]
        self._slots()
        self.arms = len(self.edges)
        self._set_rank(self.arms, len(self._best(np.zeros(self.arms))))

    def parameters(self) -> dict[str, Any]:
        return {"edges": [list(edge) for edge in self.edges], "nodes": self.nodes}

    def _slots(self) -> None:
        """Build the graph without self-loops and parallel edges in SciPy's layout, and each arm's
        slot in it (-1 for a self-loop).
        """
        lower, upper = np.sort(np.array(self._ends), axis=1).T
        keys, where = np.unique(
            (lower * len(self._labels) + upper)[lower != upper], return_inverse=True
        )
        self._slot = np.full(len(lower), -1, dtype=np.intp)
        self._slot[lower != upper] = where
        starts = np.bincount(
            keys // len(self._labels) + 1, minlength=len(self._labels) + 1
        ).cumsum()
        self._layout = (keys % len(self._labels)).astype(np.int32), starts.astype(np.int32)

    def _best(self, weights: Floats) -> SuperArm:
        """Return a minimum spanning forest for positions in the order of weights, which are
        distinct: exactly the greedy basis.
        """
        from scipy.sparse import csr_array  # slow to import
        from scipy.sparse.csgraph import minimum_spanning_tree

        order = largest_first(weights)
        place = np.empty(len(self._layout[0]) + 1)  # the last entry collects self-loops
        # the last write wins: the best of parallel edges
        place[self._slot[order[::-1]]] = np.arange(self.arms, 0, -1)
        graph = csr_array((place[:-1], *self._layout), shape=(len(self._labels),) * 2)
        return sorted_arms(order[minimum_spanning_tree(graph).data.astype(np.intp) - 1])

    def _independent(self, arms: SuperArm) -> bool:
        return is_forest(self._ends, len(self._labels), arms)

    def _loops(self) -> SuperArm:
        return tuple(arm for arm, (u, v) in enumerate(self._ends) if u == v)

    def _circuits(self, basis: SuperArm, arms: list[int]) -> list[SuperArm]:
        rooted = self._rooted(basis)
        return [rooted.path(*self._ends[e]) for e in arms]

    def _rooted(self, basis: SuperArm) -> Rooted:
        """Return the basis as rooted trees."""
        table = adjacency(self._ends, len(self._labels), directed=False, arms=basis)
        above = [-1] * len(table)
        edge, depth = above.copy(), above.copy()
        for root in range(len(table)):
            stack = [root] if depth[root] < 0 else []
            depth[root] = max(0, depth[root])
            while stack:
                node = stack.pop()
                for arm, other in table[node]:
                    if depth[other] < 0:
                        above[other], edge[other], depth[other] = node, arm, depth[node] + 1
                        stack.append(other)
        return Rooted(above, edge, depth)

    def _exchanges(self, basis: SuperArm) -> Booleans:
        paths = self._paths(basis)
        ends = np.array(self._ends)
        # two paths to the root share all arms except the path between them
        return paths[ends[:, 0]] ^ paths[ends[:, 1]]

    def _paths(self, basis: SuperArm) -> Booleans:
        """Return which basis edges lie between each node and the root of its tree, shape (nodes,
        rank).
        """
        above, edge, depth = self._rooted(basis)
        column = {arm: j for j, arm in enumerate(basis)}
        paths = np.zeros((len(self._labels), len(basis)), dtype=bool)
        for node in np.argsort(depth).tolist():
            if depth[node]:
                paths[node] = paths[above[node]]
                paths[node, column[edge[node]]] = True
        return paths


@final
class SpanningTrees(GraphicMatroid):
    """Spanning trees of a connected graph. All have the same number of edges, so the best one is
    the same for rewards and costs.

    Args:
        edges: as in `GraphicMatroid`.
        nodes: as in `GraphicMatroid`; an isolated node counts as not connected.
        costs: True if rewards are 1 - cost.

    >>> SpanningTrees([(1, 2), (2, 3), (1, 3)], costs=True).value((0, 1), [0.75, 0.5, 0.5])
    -0.75
    """

    def __init__(
        self,
        edges: Iterable[Sequence[Any]] | NDArray[Any],
        *,
        nodes: Iterable[Label] | None = None,
        costs: bool = False,
    ) -> None:
        super().__init__(edges, nodes=nodes)
        self.costs = switch(costs, "costs")
        connected = reachable(adjacency(self._ends, len(self._labels), directed=False), 0)
        if len(connected) < len(self._labels):
            lost = next(label for i, label in enumerate(self._labels) if i not in connected)
            raise ValueError(
                f"Expected a connected graph; node {lost!r} cannot be reached from node "
                f"{self._labels[0]!r}. "
                "Add an edge between the parts, or use GraphicMatroid for a spanning forest."
            )

    def parameters(self) -> dict[str, Any]:
        return super().parameters() | {"costs": self.costs}


@final
class TransversalMatroid(Matroid):
    """The transversal matroid: independent arms have a system of distinct representatives, in which
    arm e may represent any set that contains it.

    Args:
        sets: arms of each set, for instance the workers who can do each job.
        arms: number of arms; by default one more than the largest named. Arms in no set are loops.

    >>> TransversalMatroid([[0, 1], [1, 2]]).best([0.9, 0.1, 0.8])
    (0, 2)
    """

    def __init__(self, sets: Iterable[Iterable[int]], *, arms: int | None = None) -> None:
        self.sets = [sorted(set(row)) for row in arms_of(sets, "sets")]
        most = max((row[-1] for row in self.sets if row), default=-1) + 1
        count = most if arms is None else whole_number(arms, "arms", 1, MOST_ARMS)
        if count < most:
            raise ValueError(f"Expected arms below arms={count} in every set, got arm {most - 1}.")
        self._sets_of: dict[int, list[int]] = {}  # arms that are in some set; others may be many
        for i, row in enumerate(self.sets):
            for arm in row:
                self._sets_of.setdefault(arm, []).append(i)
        self._set_rank(count, len(self._match(sorted(self._sets_of))))

    def parameters(self) -> dict[str, Any]:
        return {"sets": self.sets, "arms": self.arms}

    def _best(self, weights: Floats) -> SuperArm:
        return sorted_arms(self._match(largest_first(weights).tolist(), self.rank).values())

    def _independent(self, arms: SuperArm) -> bool:
        return len(self._match(arms)) == len(arms)

    def _loops(self) -> SuperArm:
        return tuple(arm for arm in range(self.arms) if arm not in self._sets_of)

    def _circuit(self, basis: SuperArm, e: int) -> SuperArm:
        return self._freed(e, self._match(basis))

    def _exchanges(self, basis: SuperArm) -> Booleans:
        owner = self._match(basis)
        table = np.array([np.isin(basis, self._freed(arm, owner)) for arm in range(self.arms)])
        return exchange_rows(basis, table)

    def _freed(self, e: int, owner: dict[int, int]) -> SuperArm:
        """Return the arms that e can replace: those matched to sets that alternating paths from e
        reach.
        """
        reached, _ = self._search(e, owner, set())
        return tuple(sorted(owner[i] for i in reached if i in owner))

    def _match(self, arms: Iterable[int], most: int | None = None) -> dict[int, int]:
        """Return the greedy matching, from set to arm. A set seen in a failed search never leads to
        a free set later, so it is skipped.
        """
        owner: dict[int, int] = {}
        set_of: dict[int, int] = {}  # from arm to set
        dead: set[int] = set()
        for arm in arms:
            reached, end = self._search(arm, owner, dead)
            if end is None:
                dead.update(reached)
            # back along the path: every arm takes the next set and leaves its set
            while end is not None:
                taker = reached[end]
                owner[end] = taker
                set_of[taker], end = end, set_of.get(taker)
            if len(owner) == most:
                break
        return owner

    def _search(
        self, arm: int, owner: dict[int, int], dead: set[int]
    ) -> tuple[dict[int, int], int | None]:
        """Search breadth-first from an arm over sets that it could take from others. Return the arm
        that reached each set, and the first free set.
        """
        reached: dict[int, int] = {}
        queue = [arm]
        for current in queue:
            for i in self._sets_of.get(current, ()):
                if i in reached or i in dead:
                    continue
                reached[i] = current
                if i not in owner:
                    return reached, i
                queue.append(owner[i])
        return reached, None
