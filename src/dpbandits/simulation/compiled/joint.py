"""Joint releases (`policies/joint.py`) on the bases of a matroid: the greedy basis for upper
bounds, played for a batch whose undecided elements are released.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpbandits.simulation.compiled.driver import UNLIMITED, player
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
from dpbandits.simulation.compiled.matroid import UNSEEN, Greedy, begin, known
from dpbandits.simulation.compiled.parts import improve, joint_radius
from dpbandits.simulation.compiled.super_arms import replaceable

SHARP, LEVEL, PROVED = range(3)


class Numbers(NamedTuple):
    """The constants of the policy: `steps` are grid steps per unit, and `problem` is the matroid's
    tableau.
    """

    preset: int
    eps: float
    level: float
    first: float
    alpha: float
    steps: int
    problem: Any


class Known(NamedTuple):
    """The statistics of the elements.

    Args:
        greedy: the basis.
        shared: level, mean and variance of the prior.
        means: released means.
        precisions: their precisions.
        weighted: sums of precision times mean.
        drawn: releases by number of elements released together, shape (arms, K + 1).
        released: the elements to release.
        now: their number, the rounds of their batch, the radius of its noise (−1: not drawn yet),
            and the round of the bounds.
    """

    greedy: Greedy
    shared: Any
    means: Any
    precisions: Any
    weighted: Any
    drawn: Any
    released: Any
    now: Any


COUNT, ROUNDS, RADIUS, ROUND = range(4)


@jit
def start(p: Any, s: Any) -> Any:
    greedy = begin(p, s)
    arms, rank = greedy.table.shape
    drawn, released = np.zeros((arms, rank + 1), np.int64), np.zeros(rank, np.int64)
    sums, now = np.zeros((3, arms)), np.zeros(4, np.int64)
    return Known(greedy, np.zeros(3), sums[0], sums[1], sums[2], drawn, released, now)


@jit
def set_bounds(p: Any, s: Any, state: Any, t: int) -> None:
    """Compute the upper bounds of every element at round t, and the shared level and prior."""
    state.now[ROUND], log_t = t, math.log(t)
    level, centre, spread = p.level * log_t, 0.5, 0.0
    if p.preset == PROVED and log_t > 1.0:
        level += 4.0 * p.level * math.log(log_t)
    if p.preset == SHARP:
        centre, spread = fitted_prior(state.means, state.precisions)
    state.shared[0], state.shared[1], state.shared[2] = level, centre, spread
    for e in range(len(s.n)):
        state.greedy.weights[e] = UNSEEN if s.n[e] == 0 else joint_bound(p, s, state, e, 1.0)


@jit
def joint_bound(p: Any, s: Any, state: Any, e: int, side: float) -> float:
    """Return the upper (side 1) or lower (−1) confidence bound of an element with a release."""
    level, centre, spread = state.shared
    if p.preset == SHARP:
        level = shrinking_level(p.level, state.now[ROUND], s.n[e])
        return normal_bound(state.weighted[e], state.precisions[e], level, centre, spread, side)
    total, n, drawn = s.totals[e] / p.steps, s.n[e], state.drawn[e]
    if side > 0.0:
        return rate_index(total, n, drawn, level, p.eps)
    return rate_lower(total, n, drawn, level, p.eps)


@jit
def set_released(p: Any, s: Any, state: Any, basis: Any) -> bool:
    """Set the elements to release: unseen ones alone if there are any. Return whether these are
    unseen.
    """
    state.now[COUNT] = 0
    for f in basis:
        if s.n[f] == 0:
            state.released[state.now[COUNT]] = f
            state.now[COUNT] += 1
    if state.now[COUNT] > 0:
        return True
    for j in range(len(basis)):
        if replaceable(state.greedy, j, basis[j], joint_bound(p, s, state, basis[j], -1.0)):
            state.released[state.now[COUNT]] = basis[j]
            state.now[COUNT] += 1
    return False


@jit
def explore_few(p: Any, s: Any, state: Any, basis: Any) -> None:
    """Set the basis that explores few of the elements to release, as in `policies/joint.py`, and
    the elements to release then.
    """
    count, few, greedy = state.now[COUNT], explored_at_once(len(basis)), state.greedy
    for i in range(few):
        for j in range(i + 1, count):
            e, f = state.released[i], state.released[j]
            if (state.precisions[f], f) < (state.precisions[e], e):
                state.released[i], state.released[j] = f, e
    _, centre, spread = state.shared
    for e in range(len(s.n)):
        kept = False
        for i in range(few):
            kept = kept or state.released[i] == e
        if not kept and s.n[e] == 0:
            greedy.weights[e] = hoped_for(centre, spread)
        elif not kept:
            known = state.weighted[e], state.precisions[e]
            greedy.weights[e] = normal_bound(known[0], known[1], 0.0, centre, spread, 0.0)
    improve(greedy.table, basis, greedy.column, greedy.weights, greedy.order, greedy.prime)
    state.now[COUNT] = few
    for f in basis:
        if s.n[f] == 0 and greedy.weights[f] < UNSEEN:
            state.released[state.now[COUNT]] = f
            state.now[COUNT] += 1


@jit
def choose(p: Any, s: Any, state: Any, t: int, rng: Any) -> tuple[int, int]:
    """Choose the greedy basis for upper bounds, until its batch is full."""
    greedy = state.greedy
    basis = s.chosen[: greedy.table.shape[1]]
    set_bounds(p, s, state, t)
    improve(greedy.table, basis, greedy.column, greedy.weights, greedy.order, greedy.prime)
    unseen = set_released(p, s, state, basis)
    if state.now[COUNT] == 0:
        return len(basis), max(1, int((p.alpha - 1.0) * (t - 1)))
    if p.preset == SHARP and state.now[COUNT] > explored_at_once(len(basis)) and t > 1:
        explore_few(p, s, state, basis)
    count = state.now[COUNT]
    rounds = math.ceil(p.first * math.sqrt(joint_variance(count, p.eps)))
    if not unseen:
        least = s.n[state.released[0]]
        for i in range(1, count):
            least = min(least, s.n[state.released[i]])
        rounds = max(rounds, math.ceil((p.alpha - 1.0) * least))
    state.now[ROUNDS], state.now[RADIUS] = rounds, -1
    return len(basis), UNLIMITED


@inline
def batch(p: Any, s: Any, state: Any, arm: int) -> int:
    return state.now[ROUNDS]


@inline
def observe(p: Any, s: Any, state: Any, size: int) -> tuple[Any, int]:
    """Return the elements to release; the rewards of others are dropped."""
    return state.released, state.now[COUNT]


@jit
def read(p: Any, s: Any, state: Any, arm: int, total: int, rng: Any) -> None:
    """Release one coordinate of the joint draw, whose radius is drawn with the first one."""
    count, rounds = state.now[COUNT], state.now[ROUNDS]
    if state.now[RADIUS] < 0:
        state.now[RADIUS] = joint_radius(rng, count, p.steps / p.eps)
    radius = state.now[RADIUS]
    noised = total + rng.integers(-radius, radius + 1)
    mean = noised / (p.steps * rounds)
    s.totals[arm] += noised
    s.n[arm] += rounds
    precision = block_precision(s.totals[arm] / p.steps, s.n[arm], rounds, count, p.eps)
    s.draws[arm] += 1
    state.drawn[arm, count] += 1
    state.precisions[arm] += precision
    state.weighted[arm] += precision * mean
    state.means[arm] = state.weighted[arm] / state.precisions[arm]


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


def joint_releases(policy: Any, steps: int) -> Callable[..., Any] | None:
    """Return the kernel; None if the problem is not a matroid with a tableau."""
    coordinates = known(policy.problem)
    if coordinates is None:
        return None
    numbers = Numbers(
        list(policy.presets).index(policy.preset),
        float(policy.budget),
        float(policy.level),
        float(policy.first),
        float(policy.alpha),
        steps,
        coordinates,
    )
    return partial(play_joint, tuple(numbers), steps)
