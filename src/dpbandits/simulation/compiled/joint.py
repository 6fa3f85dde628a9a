"""Joint releases (`policies/joint.py`) where super arms are the bases of a matroid: the
greedy basis for upper bounds, held for a batch of which the undecided elements are released.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dpbandits.simulation.compiled.driver import FAR, player
from dpbandits.simulation.compiled.jit import (
    block_precision,
    explored_at_once,
    fitted_prior,
    hoped_for,
    inline,
    jit,
    joint_variance,
    normal_bound,
    rate_index,
    rate_lower,
    shrinking_level,
)
from dpbandits.simulation.compiled.matroid import Greedy, begin
from dpbandits.simulation.compiled.parts import improve, joint_radius
from dpbandits.simulation.compiled.super_arms import replaceable

SHARP, LEVEL, PROVED = range(3)


class Numbers(NamedTuple):
    """steps: grid steps a unit. unseen: the weight of an arm without a release. table, start,
    prime: the matroid's tableau.
    """

    preset: int
    eps: float
    level: float
    first: float
    alpha: float
    steps: int
    unseen: float
    table: Any
    start: Any
    prime: int


class Known(NamedTuple):
    """Beside the basis what is known of each element; `told`, the elements that are released, and
    `now`, four numbers: how many they are, the rounds of their batch, the radius of its noise (−1:
    not drawn yet), and the round of the bounds.

    shared: level, mean and variance of the prior. drawn: shape (arms, K + 1), releases by how many
        elements were released together.
    """

    greedy: Greedy
    shared: Any
    means: Any
    precisions: Any
    weighted: Any
    drawn: Any
    told: Any
    now: Any


COUNT, ROUNDS, RADIUS, ROUND = range(4)


@jit
def start(p: Any, s: Any) -> Any:
    arms, rank = p.table.shape
    drawn, told = np.zeros((arms, rank + 1), np.int64), np.zeros(rank, np.int64)
    sums, now = np.zeros((3, arms)), np.zeros(4, np.int64)
    return Known(begin(p, s), np.zeros(3), sums[0], sums[1], sums[2], drawn, told, now)


@jit
def set_bounds(p: Any, s: Any, own: Any, t: int) -> None:
    """Upper bounds of every element at round t, and what all bounds share."""
    own.now[ROUND], log_t = t, math.log(t)
    level, centre, spread = p.level * log_t, 0.5, 0.0
    if p.preset == PROVED and log_t > 1.0:
        level += 4.0 * p.level * math.log(log_t)
    if p.preset == SHARP:
        centre, spread = fitted_prior(own.means, own.precisions)
    own.shared[0], own.shared[1], own.shared[2] = level, centre, spread
    for e in range(len(s.n)):
        own.greedy.weights[e] = p.unseen if s.n[e] == 0 else joint_bound(p, s, own, e, 1.0)


@jit
def joint_bound(p: Any, s: Any, own: Any, e: int, side: float) -> float:
    """Upper (side 1) or lower (−1) confidence bound of an element with a release."""
    level, centre, spread = own.shared
    if p.preset == SHARP:
        level = shrinking_level(p.level, own.now[ROUND], s.n[e])
        return normal_bound(own.weighted[e], own.precisions[e], level, centre, spread, side)
    total, n, drawn = s.totals[e] / p.steps, s.n[e], own.drawn[e]
    if side > 0.0:
        return rate_index(total, n, drawn, level, p.eps)
    return rate_lower(total, n, drawn, level, p.eps)


@jit
def set_released(p: Any, s: Any, own: Any, basis: Any) -> bool:
    """The elements to release, unseen ones alone while there are any. Returns whether these are
    unseen.
    """
    own.now[COUNT] = 0
    for f in basis:
        if s.n[f] == 0:
            own.told[own.now[COUNT]] = f
            own.now[COUNT] += 1
    if own.now[COUNT] > 0:
        return True
    for j in range(len(basis)):
        if replaceable(own.greedy, j, basis[j], joint_bound(p, s, own, basis[j], -1.0)):
            own.told[own.now[COUNT]] = basis[j]
            own.now[COUNT] += 1
    return False


@jit
def keep_few(p: Any, s: Any, own: Any, basis: Any) -> None:
    """The basis that explores few of the elements that were to be released, as
    `policies/joint.py` has it, and what is released then.
    """
    count, few, greedy = own.now[COUNT], explored_at_once(len(basis)), own.greedy
    for i in range(few):
        for j in range(i + 1, count):
            e, f = own.told[i], own.told[j]
            if (own.precisions[f], f) < (own.precisions[e], e):
                own.told[i], own.told[j] = f, e
    _, centre, spread = own.shared
    for e in range(len(s.n)):
        kept = False
        for i in range(few):
            kept = kept or own.told[i] == e
        if not kept and s.n[e] == 0:
            greedy.weights[e] = hoped_for(centre, spread)
        elif not kept:
            known = own.weighted[e], own.precisions[e]
            greedy.weights[e] = normal_bound(known[0], known[1], 0.0, centre, spread, 0.0)
    improve(greedy.table, basis, greedy.column, greedy.weights, greedy.order, p.prime)
    own.now[COUNT] = few
    for f in basis:
        if s.n[f] == 0 and greedy.weights[f] < p.unseen:
            own.told[own.now[COUNT]] = f
            own.now[COUNT] += 1


@jit
def choose(p: Any, s: Any, own: Any, t: int, rng: Any) -> tuple[int, int]:
    """The greedy basis for upper bounds, until its batch is full."""
    basis, greedy = s.chosen[: p.table.shape[1]], own.greedy
    set_bounds(p, s, own, t)
    improve(greedy.table, basis, greedy.column, greedy.weights, greedy.order, p.prime)
    unseen = set_released(p, s, own, basis)
    if own.now[COUNT] == 0:
        return len(basis), max(1, int((p.alpha - 1.0) * (t - 1)))
    if p.preset == SHARP and own.now[COUNT] > explored_at_once(len(basis)) and t > 1:
        keep_few(p, s, own, basis)
    count = own.now[COUNT]
    rounds = math.ceil(p.first * math.sqrt(joint_variance(count, p.eps)))
    if not unseen:
        least = s.n[own.told[0]]
        for i in range(1, count):
            least = min(least, s.n[own.told[i]])
        rounds = max(rounds, math.ceil((p.alpha - 1.0) * least))
    own.now[ROUNDS], own.now[RADIUS] = rounds, -1
    return len(basis), FAR


@inline
def batch(p: Any, s: Any, own: Any, arm: int) -> int:
    return own.now[ROUNDS]


@inline
def observe(p: Any, s: Any, own: Any, size: int) -> tuple[Any, int]:
    """Those that are released; the rewards of the others are dropped."""
    return own.told, own.now[COUNT]


@jit
def read(p: Any, s: Any, own: Any, arm: int, total: int, rng: Any) -> None:
    """One coordinate of the joint draw, whose radius the first of them draws."""
    count, rounds = own.now[COUNT], own.now[ROUNDS]
    if own.now[RADIUS] < 0:
        own.now[RADIUS] = joint_radius(rng, count, p.steps / p.eps)
    radius = own.now[RADIUS]
    noised = total + rng.integers(-radius, radius + 1)
    mean = noised / (p.steps * rounds)
    s.totals[arm] += noised
    s.n[arm] += rounds
    precision = block_precision(s.totals[arm] / p.steps, s.n[arm], rounds, count, p.eps)
    s.draws[arm] += 1
    own.drawn[arm, count] += 1
    own.precisions[arm] += precision
    own.weighted[arm] += precision * mean
    own.means[arm] = own.weighted[arm] / own.precisions[arm]


play_joint = player(
    "joint",
    Numbers=Numbers,
    start=start,
    choose=choose,
    batch=batch,
    observe=observe,
    read=read,
    TOGETHER=True,
)
