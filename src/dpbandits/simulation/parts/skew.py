"""Heaps of arms that share three arrays: each arm is in one heap at a time, best first.

Skew heaps (Sleator and Tarjan 1986): merging two of k arms together takes O(log k) steps amortised.
Memory is a few numbers an arm, whatever the number of heaps.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dpbandits.simulation.parts.jit import inline, jit

NONE = -1


class Heaps(NamedTuple):
    """root: of each heap its best arm, or −1. left, right: of each arm its children. key: what arms
    are ordered by, the largest first, the lower number on a tie.
    """

    root: Any
    left: Any
    right: Any
    key: Any


@jit
def empty_heaps(heaps: int, arms: int) -> Any:
    root, left = np.full(heaps, NONE), np.full(arms, NONE)
    return Heaps(root, left, np.full(arms, NONE), np.zeros(arms))


@inline
def better(h: Any, a: int, b: int) -> bool:
    return h.key[a] > h.key[b] or (h.key[a] == h.key[b] and a < b)


@jit
def merged(h: Any, a: int, b: int) -> int:
    """The root of both heaps together."""
    if a < 0 or b < 0:
        return max(a, b)
    if better(h, b, a):
        a, b = b, a
    root = a
    while True:
        below = h.right[a]
        h.right[a] = h.left[a]
        if below < 0:
            h.left[a] = b
            return root
        if better(h, below, b):
            h.left[a], a = below, below
        else:
            h.left[a], a, b = b, b, below


@jit
def push(h: Any, heap: int, arm: int, key: float) -> None:
    h.left[arm], h.right[arm], h.key[arm] = NONE, NONE, key
    h.root[heap] = merged(h, h.root[heap], arm)


@jit
def pop(h: Any, heap: int) -> int:
    """Take the best arm out."""
    arm = h.root[heap]
    h.root[heap] = merged(h, h.left[arm], h.right[arm])
    return arm


@jit
def remove(h: Any, heap: int, arm: int) -> None:
    """Take an arm out, which is the best or is among the best: all before it go out and in."""
    if h.root[heap] == arm:
        pop(h, heap)
        return
    before = []
    while h.root[heap] != arm:
        before.append(pop(h, heap))
    pop(h, heap)
    for other in before:
        push(h, heap, other, h.key[other])
