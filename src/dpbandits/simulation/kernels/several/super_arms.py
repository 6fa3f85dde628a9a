"""CUCB and its private forms (`policies/super_arms/base.py`) where super arms are the bases
of a matroid, top k among them.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dpbandits.simulation.kernels.driver import FAR, player
from dpbandits.simulation.kernels.several.matroid import FORGET, Greedy, begin, fold_block
from dpbandits.simulation.parts.bases import improve
from dpbandits.simulation.parts.counters import popcount, tree_leaf
from dpbandits.simulation.parts.jit import inline, jit


class Numbers(NamedTuple):
    """At round t, √((spread + spread_t·ln t)/n) + (noise + noise_t·ln t)/n is added to a mean of n
    rewards, and `noise_radius` of Laplace draws of scale `laplace`.

    first: EXACT or FORGET. scale: of the noise, in grid steps. tree: a counter an arm. least:
    one arm of a super arm is told, the least seen one. table, start, prime: the matroid's tableau.
    """

    spread: float
    spread_t: float
    noise: float
    noise_t: float
    laplace: float
    first: int
    scale: float
    tree: bool
    least: bool
    table: Any
    start: Any
    prime: int


class Forest(NamedTuple):
    """greedy: the basis. exact, noised: each arm's tree. told: the arm that is."""

    greedy: Greedy
    exact: Any
    noised: Any
    told: Any


@jit
def start(p: Any, s: Any) -> Any:
    trees = np.zeros((2, len(s.n), 64), np.int64)
    return Forest(begin(p, s), trees[0], trees[1], np.zeros(1, np.int64))


@jit
def set_optimistic_weights(p: Any, t: int, s: Any, weights: Any) -> None:
    """Indices clipped at 1; where some are not above 0, 1 for these alone."""
    log_t, lost = math.log(t), False
    log_term = math.log(2.0) + 3.0 * log_t
    for e in range(len(weights)):
        weights[e], n = 1.0, s.n[e]
        if n > 0:
            draws = max(math.sqrt(s.draws[e]), math.sqrt(log_term))
            spread, noise = p.spread + p.spread_t * log_t, p.noise + p.noise_t * log_t
            noise += p.laplace * draws * math.sqrt(8.0 * log_term)
            weights[e] = min(1.0, s.means[e] + math.sqrt(spread / n) + noise / n)
            lost = lost or weights[e] <= 0.0
    if lost:
        for e in range(len(weights)):
            weights[e] = 1.0 if weights[e] <= 0.0 else 0.0


@inline
def choose(p: Any, s: Any, own: Any, t: int, rng: Any) -> tuple[int, int]:
    """The oracle's answer, until one of its batches is full."""
    basis, greedy = s.chosen[: p.table.shape[1]], own.greedy
    set_optimistic_weights(p, t, s, greedy.weights)
    improve(greedy.table, basis, greedy.column, greedy.weights, greedy.order, p.prime)
    return len(basis), FAR


@inline
def batch(p: Any, s: Any, own: Any, arm: int) -> int:
    return max(1, 2 * s.n[arm]) if p.first == FORGET else 1


@inline
def observe(p: Any, s: Any, own: Any, size: int) -> tuple[Any, int]:
    """All arms, or the least seen one alone, the lowest on a tie."""
    told, count = s.chosen, size
    if p.least:
        told, count = own.told, 1
        told[0] = s.chosen[0]
        for i in range(1, size):
            arm = s.chosen[i]
            if s.n[arm] < s.n[told[0]] or (s.n[arm] == s.n[told[0]] and arm < told[0]):
                told[0] = arm
    return told, count


@inline
def read(p: Any, s: Any, own: Any, arm: int, total: int, rng: Any) -> None:
    if p.tree:
        s.n[arm] += 1
        s.totals[arm] = tree_leaf(
            own.exact[arm], own.noised[arm], s.n[arm], total, p.scale, rng, s.totals[arm]
        )
        s.draws[arm] = popcount(s.n[arm])
    else:
        fold_block(p, s, own, arm, total, rng)


OPTIMISTIC = {
    "Numbers": Numbers,
    "start": start,
    "choose": choose,
    "batch": batch,
    "observe": observe,
    "read": read,
}
play_optimistic = player("optimistic", **OPTIMISTIC)
