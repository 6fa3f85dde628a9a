"""A tree's leaves passed a dyadic block at a time: whether the noise inside the block ever brings
the prefix sum down by a given gap is drawn without drawing the noise.

A leaf dips if the nodes of its prefix inside the block have noise of −gap or less together. A leaf
with c such nodes dips with probability at most M^c exp(−tilt·gap), M the mean of exp(−tilt·noise)
(Chernoff), and the bounds of all leaves of a block of 2^h add up to ((1 + M)^h − 1) exp(−tilt·gap).
With that probability there is a candidate: a leaf drawn in proportion to its bound, its nodes from
the tilted law, kept with probability exp(tilt·(sum + gap)). What is kept has each leaf's dips in
their own law; among k leaves that dip together one is to count, so it is kept with probability 1/k
(Karp and Luby 1989). Nothing kept: no leaf dips. Exact in law. All sums are in grid steps.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dpbandits.simulation.parts.jit import inline, jit
from dpbandits.simulation.parts.primitives import block_sum, laplace

MOST_LEVELS = 14  # levels of a block
CANDIDATES = 0.2  # blocks are so small that at most this share has a candidate


class Chances(NamedTuple):
    """By the levels of a block: tilt, M, and the least gap; room for the noise of a block's nodes,
    and for its prefix sums. scale: of a node's noise.
    """

    tilt: Any
    growth: Any
    gap: Any
    noise: Any
    prefix: Any
    scale: float


@jit
def blocks_of(scale: float) -> Any:
    """The tilts (twentieths of 1/scale) that need the least gap."""
    tilt, growth = np.zeros(MOST_LEVELS + 1), np.zeros(MOST_LEVELS + 1)
    gap, ratio = np.full(MOST_LEVELS + 1, math.inf), math.exp(-1.0 / scale)
    for levels in range(MOST_LEVELS + 1):
        for part in range(1, 20):
            theta = part / (20.0 * scale)
            tails = (1.0 - ratio * math.exp(theta)) * (1.0 - ratio * math.exp(-theta))
            mean = (1.0 - ratio) ** 2 / tails
            need = math.log(((1.0 + mean) ** levels - 1.0 + 1e-300) / CANDIDATES) / theta
            if need < gap[levels]:
                gap[levels], tilt[levels], growth[levels] = need, theta, mean
    room = 1 << MOST_LEVELS
    return Chances(tilt, growth, gap, np.zeros(room, np.int64), np.zeros(room, np.int64), scale)


@inline
def floored(rng: Any, rate: float) -> int:
    return int(rng.standard_exponential() / rate)


@inline
def completed_level(leaf: int) -> int:
    """Of the node that this leaf completes."""
    level = 0
    while (leaf >> level) & 1 == 0:
        level += 1
    return level


@jit
def dip_candidate(b: Any, levels: int, gap: float, rng: Any) -> int:
    """A leaf that dips, with the noise of its nodes in `b.noise`; 0 if it is not kept."""
    leaf, total, scale, tilt = 0, 0, b.scale, b.tilt[levels]
    share = b.growth[levels] / (1.0 + b.growth[levels])
    while leaf == 0:
        for level in range(levels):
            if rng.random() < share:
                leaf |= 1 << level
    node = leaf
    while node:
        up, down = floored(rng, 1.0 / scale + tilt), floored(rng, 1.0 / scale - tilt)
        b.noise[node] = up - down
        total += up - down
        node &= node - 1
    kept = total <= -gap and rng.random() < math.exp(tilt * (total + gap))
    return leaf if kept else 0


@jit
def first_dip(b: Any, levels: int, gap: float, rng: Any) -> int:
    """The first leaf of a block of 2^levels that dips, with the noise of the nodes before it in
    `b.noise`; 0 if none does. gap: more than `b.gap[levels]`.
    """
    bound = CANDIDATES * math.exp(-b.tilt[levels] * (gap - b.gap[levels]))
    if rng.random() >= bound:
        return 0
    leaf = dip_candidate(b, levels, gap, rng)
    if leaf == 0:
        return 0
    first, dips = 0, 0
    for node in range(1, 1 << levels):
        # leaf's own nodes: what is left of it when low bits are taken away
        if leaf & ~((node & -node) - 1) != node:
            b.noise[node] = laplace(rng, b.scale)
        b.prefix[node] = b.prefix[node & (node - 1)] + b.noise[node]
        if b.prefix[node] <= -gap:
            first, dips = first if dips else node, dips + 1
    return first if rng.random() * dips < 1.0 else 0


@jit
def leap(
    exact: Any, noised: Any, n: int, dip: int, levels: int, b: Any, arm: int, law: Any, rng: Any
) -> int:
    """Bring a tree of n leaves, a multiple of 2^levels, to the block's end or to the leaf that
    dips. Returns its leaves. law: levels of the rewards and their probabilities.
    """
    values, probabilities = law
    if dip == 0:
        end = n + (1 << levels)
        level, node = completed_level(end), block_sum(rng, arm, 1 << levels, values, probabilities)
        for below in range(levels, level):
            node += exact[below]
        exact[level], noised[level] = node, node + laplace(rng, b.scale)
        return end
    left = dip
    while left:
        level = completed_level(left)
        exact[level] = block_sum(rng, arm, 1 << level, values, probabilities)
        noised[level] = exact[level] + b.noise[left]
        left &= left - 1
    return n + dip


@inline
def prefix_sum(noised: Any, n: int) -> int:
    total, level = 0, 0
    while n >> level:
        total += noised[level] if (n >> level) & 1 else 0
        level += 1
    return total
