"""Small graph algorithms that several oracles share. Nodes are numbered from 0."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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
    """The nodes that each node reaches over one arm. `backwards` reverses the arcs, and `arms`
    keeps only these.
    """
    table: Adjacency = [[] for _ in range(nodes)]
    for arm in range(len(ends)) if arms is None else arms:
        u, v = ends[arm][::-1] if backwards else ends[arm]
        table[u].append((arm, v))
        if not directed and u != v:
            table[v].append((arm, u))
    return table


def reachable(table: Adjacency, start: int) -> set[int]:
    """Every node that can be reached from `start`, itself included."""
    seen = {start}
    stack = [start]
    while stack:
        for _, node in table[stack.pop()]:
            if node not in seen:
                seen.add(node)
                stack.append(node)
    return seen


def is_forest(ends: Pairs, nodes: int, arms: Iterable[int]) -> bool:
    """Whether these edges close no cycle (a self-loop is one). Union-find with path halving."""
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
