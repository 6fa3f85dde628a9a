"""Compiled twins of the continual counters in `dpbandits.mechanisms`: the tree and the hybrid."""

from __future__ import annotations

from typing import Any

from dpbandits.simulation.parts.jit import inline, jit
from dpbandits.simulation.parts.primitives import laplace


@jit
def tree_leaf(
    exact: Any, noised: Any, leaf: int, x: int, scale: float, rng: Any, prefix: int
) -> int:
    """Add leaf number `leaf` (from 1) to a tree whose noised prefix sum was `prefix`; returns the
    new one.
    """
    level, node = 0, x
    while (leaf >> level) & 1 == 0:
        node += exact[level]
        prefix -= noised[level]
        level += 1
    exact[level] = node
    noised[level] = node + laplace(rng, scale)
    return prefix + noised[level]


@jit
def hybrid_leaf(
    segment: Any, exact: Any, noised: Any, x: int, half: float, first: int, root: bool, rng: Any
) -> int:
    """Add a leaf to a hybrid counter; returns the noised prefix sum.

    segment: its number, leaves and exact sum while open, noised sum of the closed ones. half: noise
        scale of the array side, 1/(epsilon/2) in grid steps. first: 1 where segments double from
        the start (1, 2, 4, …), 0 for 1, 1, 2, 4, …
    """
    size_level = segment[0] if first == 1 else max(0, segment[0] - 1)
    segment[1] += 1
    segment[2] += x
    full = segment[1] == 1 << size_level
    if full and not (root and size_level > 0):
        segment[3] += segment[2] + laplace(rng, half)
        answer = segment[3]
    else:
        leaf, level, node, inside = segment[1], 0, x, 0
        while (leaf >> level) & 1 == 0:
            node += exact[level]
            level += 1
        exact[level] = node
        noised[level] = node + laplace(rng, half * size_level)
        for higher in range(level, size_level + 1):
            if (leaf >> higher) & 1:
                inside += noised[higher]
        answer = segment[3] + inside
        if full:
            segment[3] += segment[2] + laplace(rng, half)
    if full:
        segment[0] += 1
        segment[1] = segment[2] = 0
    return answer


@inline
def popcount(n: int) -> int:
    """Noise draws in a tree's prefix sum of n leaves."""
    bits = 0
    while n:
        n &= n - 1
        bits += 1
    return bits
