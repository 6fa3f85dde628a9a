"""A simple path through a given arc: two paths without a common node, to the arc and on from it."""

from __future__ import annotations

import numpy as np

from dpbandits.core.arrays import Booleans, Integers
from dpbandits.oracles.graphs import Adjacency

# (node, 0) where a path enters it, (node, 1) where it leaves; (-1, ...) the common source and sink
Node = tuple[int, int]
ArcPath = list[tuple[int, int]]  # (arm, node it leads to), from a start given apart


def path_through(
    table: Adjacency, arm: int, ends: tuple[int, int], source: int, target: int, *, directed: bool
) -> list[int] | None:
    """The arms of a simple path from source to target over this arc; None if there is none.

    Undirected, two node-disjoint paths between {source, target} and the arc's ends decide it
    (Menger), either way round. Directed, the pairing matters and the question is hard in general
    (Fortune, Hopcroft and Wyllie 1980): where shortest paths are in each other's way, but two
    disjoint paths exist in some pairing, an integer program decides.
    """
    u, v = ends
    if not directed:
        pair = disjoint(table, (source, target), (u, v))
        return (
            None
            if pair is None
            else [step[0] for path in pair.values() for step in path[1]] + [arm]
        )
    if source == v or target == u:
        return None
    first, second = (source, u), (v, target)
    joined = one_after_the_other(table, first, second) or one_after_the_other(table, second, first)
    if joined is None and disjoint(table, (source, v), (u, target)) is not None:
        joined = two_commodities(table, first, second)
    return None if joined is None else [*joined, arm]


def one_after_the_other(
    table: Adjacency, first: tuple[int, int], second: tuple[int, int]
) -> list[int] | None:
    """Arms of a shortest first path that leaves the other's ends alone, and of a shortest second
    one that avoids it.
    """
    path = shortest(table, *first, set(second))
    if path is None:
        return None
    other = shortest(table, *second, {first[0], *(node for _, node in path)})
    return None if other is None else [arm for arm, _ in path + other]


def shortest(table: Adjacency, start: int, stop: int, avoided: set[int]) -> ArcPath | None:
    """Breadth first, around the avoided nodes."""
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
    """Arms of paths first[0] to first[1] and second[0] to second[1] without a common node, by
    integer programming.

    Two unit flows, at most one of them through any node. Cycles that a solution has besides are of
    no use and left out.
    """
    arcs = [(arm, u, v) for u, row in enumerate(table) for arm, v in row]
    arms, tails, heads = np.array(arcs).T
    used = disjoint_flows(tails, heads, len(table), first, second)
    if used is None:
        return None
    onward = {int(tails[i]): (int(arms[i]), int(heads[i])) for i in np.flatnonzero(used)}
    return [arm for start, stop in (first, second) for arm in followed(onward, start, stop)]


def disjoint_flows(
    tails: Integers, heads: Integers, nodes: int, first: tuple[int, int], second: tuple[int, int]
) -> Booleans | None:
    """Which arcs, from tails to heads, the two flows use, shape (arcs,); None where there are no
    such flows.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp  # slow to import
    from scipy.sparse import csr_array, eye_array, kron

    arcs = len(tails)
    one, places = np.ones(arcs), np.arange(arcs)
    leaving = csr_array((one, (tails, places)), shape=(nodes, arcs))
    entering = csr_array((one, (heads, places)), shape=(nodes, arcs))
    balance = np.zeros((2, nodes))
    room = np.ones(nodes)  # for flow that enters a node: none where a path starts
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
    )
    if solution.x is None:
        if solution.status != 2:  # neither solved nor infeasible
            raise RuntimeError(f"Could not decide whether disjoint paths exist: {solution.message}")
        return None
    return np.asarray((solution.x.reshape(2, -1) > 0.5).any(axis=0))


def followed(onward: dict[int, tuple[int, int]], start: int, stop: int) -> list[int]:
    """The arms from start to stop."""
    arms = []
    while start != stop:
        arm, start = onward[start]
        arms.append(arm)
    return arms


def disjoint(
    table: Adjacency, starts: tuple[int, int], stops: tuple[int, int]
) -> dict[int, tuple[int, ArcPath]] | None:
    """Two paths from the starts to the stops, in either pairing, without a common node: start to
    (stop, path); None if none.

    Two augmentations of a unit flow in which every node can be passed once.
    """
    flow: dict[Node, dict[Node, int]] = {}  # where flow leaves each half node, and over which arm
    for _ in range(2):
        parents = augmenting(table, flow, starts, stops)
        if parents is None:
            return None
        node: Node = (-1, 1)
        while node != (-1, 0):
            before, arm = parents[node]
            if flow.get(node, {}).pop(before, None) is None:  # no flow to take back: new flow
                flow.setdefault(before, {})[node] = arm
            node = before
    return {start: traced(flow, start) for start in starts}


def augmenting(
    table: Adjacency,
    flow: dict[Node, dict[Node, int]],
    starts: tuple[int, int],
    stops: tuple[int, int],
) -> dict[Node, tuple[Node, int]] | None:
    """Breadth first over half nodes with room: for each the one before it and the arm between; None
    if the sink is not reached.
    """
    parents: dict[Node, tuple[Node, int]] = {}
    taken_back: dict[Node, list[Node]] = {}
    for before, onward in flow.items():
        for after in onward:
            taken_back.setdefault(after, []).append(before)
    queue: list[Node] = [(-1, 0)]
    for here in queue:
        node, side = here
        if here == (-1, 0):
            ahead = [((start, 0), -1) for start in starts]
        elif side == 0:
            ahead = [((node, 1), -1)]
        else:
            ahead = [((other, 0), arm) for arm, other in table[node]]
            ahead += [((-1, 1), -1)] if node in stops else []
        ahead = [(after, arm) for after, arm in ahead if after not in flow.get(here, {})]
        ahead += [(before, -1) for before in taken_back.get(here, [])]
        for after, arm in ahead:
            if after not in parents and after != (-1, 0):
                parents[after] = (here, arm)
                if after == (-1, 1):
                    return parents
                queue.append(after)
    return None


def traced(flow: dict[Node, dict[Node, int]], start: int) -> tuple[int, ArcPath]:
    """Follows one unit of flow: where it stops, and its steps."""
    path: ArcPath = []
    node = start
    while True:
        after, arm = next(iter(flow[(node, 1)].items()))
        if after == (-1, 1):
            return node, path
        node = after[0]
        path.append((arm, node))
