"""Policies on listed super arms, on the k best arms of which only the best one counts, and on the
forests of a large graph: CUCB and its private forms, and indices.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dpbandits.simulation.compiled import matroid, super_arms
from dpbandits.simulation.compiled.driver import UNLIMITED, player
from dpbandits.simulation.compiled.jit import inline, jit


class Optimistic(NamedTuple):
    """As in `super_arms.py`. `sets` are the super arms, `worth` their values."""

    spread: float
    spread_t: float
    square: float
    noise: float
    noise_t: float
    laplace: float
    first: int
    scale: float
    tree: bool
    half: int
    slots: int
    ask: int
    sets: Any
    worth: Any


class Indices(NamedTuple):
    """As in `matroid.py`. `sets` and `worth` as above."""

    rule: int
    eps: float
    constant: float
    first: int
    alpha: float
    scale: float
    sets: Any
    worth: Any


class Sets(NamedTuple):
    """Super arms.

    Args:
        arms: of all super arms in a row; super arm i is arms[starts[i]:], up to the next start.
        starts: of the super arms. Without starts: any `size` arms or, with `ends`, spanning
            forests.
        cost: of one arm.
        size: number of arms without `starts`.
        ends: ends of each edge, shape (arms, 2).
        nodes: number of nodes of that graph.
        unseen: weight of an arm without a release, for indices.
    """

    arms: Any
    starts: Any
    cost: float
    size: int
    ends: Any
    nodes: int
    unseen: float


class Worth(NamedTuple):
    """Values of super arms that are not the sum of their arms: expected rewards, the rounds at
    which the sum of all values is kept, and the array for it. Without rounds nothing is kept.
    """

    means: Any
    marks: Any
    earned: Any


class ListedState(NamedTuple):
    """The state of the player.

    Args:
        weights: of all arms.
        lower: lower bounds of all arms.
        exact: as in `super_arms.Forest`.
        noised: as in `super_arms.Forest`.
        observed: as in `super_arms.Forest`.
        size: of the played super arm.
        at: the next mark, and the round up to which `total` is added.
        total: sum of the values.
        other: buffer for another super arm.
        left: buffer for marks on arms.
    """

    weights: Any
    lower: Any
    exact: Any
    noised: Any
    observed: Any
    size: Any
    at: Any
    total: Any
    other: Any
    left: Any


@jit
def begun(s: Any, slots: int) -> Any:
    bounds, rooms = np.zeros((2, len(s.n))), np.zeros((2, len(s.n)), np.int64)
    exact, noised = np.zeros((len(s.n), 64), np.int64), np.zeros((len(s.n), slots), np.int64)
    one, now, total = np.zeros(1, np.int64), np.zeros(2, np.int64), np.zeros(1)
    return ListedState(
        bounds[0], bounds[1], exact, noised, one, one.copy(), now, total, rooms[0], rooms[1]
    )


@jit
def start(p: Any, s: Any) -> Any:
    return begun(s, p.slots)


@jit
def start_without_trees(p: Any, s: Any) -> Any:
    return begun(s, 0)


@jit
def best_forest(sets: Any, weights: Any, chosen: Any) -> int:
    """Write Kruskal's forest into `chosen`, from the heaviest edge on; return its size. Union-find
    with path halving.
    """
    parent, taken = np.arange(sets.nodes), np.zeros(len(weights), np.bool_)
    left = sets.size
    for arm in np.argsort(-weights, kind="mergesort"):  # stable: ties to the lower number
        u, v = sets.ends[arm, 0], sets.ends[arm, 1]
        while parent[u] != u:
            parent[u] = parent[parent[u]]
            u = parent[u]
        while parent[v] != v:
            parent[v] = parent[parent[v]]
            v = parent[v]
        if u != v:
            parent[u], taken[arm], left = v, True, left - 1
            if left == 0:
                break
    chosen[: sets.size] = np.flatnonzero(taken)
    return sets.size


@jit
def best_listed(sets: Any, weights: Any, chosen: Any) -> int:
    """Write the first of the heaviest super arms into `chosen`; return its size."""
    best_at, most = 0, -math.inf
    for i in range(len(sets.starts) - 1):
        value = 0.0
        for arm in sets.arms[sets.starts[i] : sets.starts[i + 1]]:
            value += weights[arm] - sets.cost
        if value > most:
            best_at, most = i, value
    first, last = sets.starts[best_at], sets.starts[best_at + 1]
    chosen[: last - first] = sets.arms[first:last]
    return last - first


@jit
def best(given: Any, weights: Any, chosen: Any) -> int:
    """Write the oracle's super arm into `chosen`; return its size."""
    sets = Sets(*given)
    if len(sets.ends) > 0:
        return best_forest(sets, weights, chosen)
    if len(sets.starts) > 0:
        return best_listed(sets, weights, chosen)
    order = np.argsort(-weights, kind="mergesort")  # stable, as above
    chosen[: sets.size] = np.sort(order[: sets.size])
    return sets.size


@inline
def choose_optimistic(p: Any, s: Any, state: Any, t: int, rng: Any) -> tuple[int, int]:
    super_arms.set_optimistic_weights(p, t, s, state.weights, state.lower)
    state.size[0] = best(p.sets, state.weights, s.chosen)
    return state.size[0], UNLIMITED


@jit
def is_still_best(p: Any, s: Any, state: Any, size: int) -> bool:
    """Return whether the played super arm is still the oracle's answer."""
    return best(p.sets, state.weights, state.other) == size and np.array_equal(
        state.other[:size], s.chosen[:size]
    )


@jit
def mark_undecided(p: Any, s: Any, state: Any, size: int) -> int:
    """Mark the arms that the super arm depends on, with the others at their lower bounds, the best
    known first; return their number.
    """
    played, upper = s.chosen[:size], state.weights[s.chosen[:size]]
    state.left[played] = 0
    state.weights[played] = state.lower[played]
    if is_still_best(p, s, state, size):
        return 0
    state.weights[played] = upper
    count = 0
    for place in np.argsort(-s.n[played], kind="mergesort"):  # stable: the lower number first
        arm = played[place]
        state.weights[arm] = state.lower[arm]
        if not is_still_best(p, s, state, size):
            state.weights[arm], state.left[arm], count = upper[place], 1, count + 1
    return count


@inline
def observe(p: Any, s: Any, state: Any, size: int) -> tuple[Any, int]:
    """Return the observed arms, as in `super_arms.py`."""
    observed, count = s.chosen, size
    if p.ask != super_arms.ALL:
        observed, count = state.observed, 1
        if p.ask == super_arms.UNDECIDED and mark_undecided(p, s, state, size) > 0:
            observed[0] = -1
            for i in range(size):
                if state.left[s.chosen[i]]:
                    observed[0] = super_arms.less_seen(s, observed[0], s.chosen[i])
        else:
            super_arms.least_seen(s, s.chosen, size, observed)
    return observed, count


@inline
def choose_index(p: Any, s: Any, state: Any, t: int, rng: Any) -> tuple[int, int]:
    matroid.set_scores(p.rule, t, 1, s.means, s.n, p.eps, p.constant, state.weights)
    for arm in range(len(s.n)):
        if s.n[arm] == 0:
            state.weights[arm] = Sets(*p.sets).unseen
    state.size[0] = best(p.sets, state.weights, s.chosen)
    return state.size[0], UNLIMITED


@inline
def learn(p: Any, s: Any, state: Any, t: int) -> None:
    """Add the value of the super arm until round t: the probability that one of its arms gives
    1.
    """
    means, marks, earned = p.worth
    if len(marks) > 0:
        none = 1.0
        for arm in s.chosen[: state.size[0]]:
            none *= 1.0 - means[arm]
        while state.at[0] < len(marks) and marks[state.at[0]] <= t:
            rounds = marks[state.at[0]] - state.at[1]
            earned[state.at[0]] = state.total[0] + (1.0 - none) * rounds
            state.at[0] += 1
        state.total[0] += (1.0 - none) * (t - state.at[1])
        state.at[1] = t


LISTED_OPTIMISTIC = {
    "start": start,
    "learn": learn,
    "Numbers": Optimistic,
    "choose": choose_optimistic,
    "batch": super_arms.batch,
    "observe": observe,
    "read": super_arms.read,
}
LISTED_INDICES = {
    "start": start_without_trees,
    "learn": learn,
    "Numbers": Indices,
    "choose": choose_index,
    "batch": matroid.batch,
    "read": matroid.fold_block,
}
play_listed = player("listed", **LISTED_OPTIMISTIC)
play_listed_indices = player("listed_indices", **LISTED_INDICES)
