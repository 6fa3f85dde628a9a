"""Policies for any super arms where these are written down, or are the k best arms of which only
the best one counts, or the forests of a large graph: CUCB and its private forms, and indices.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dpbandits.simulation.compiled import matroid, super_arms
from dpbandits.simulation.compiled.driver import FAR, player
from dpbandits.simulation.compiled.jit import inline, jit


class Optimistic(NamedTuple):
    """As in `super_arms.py`. sets: the super arms, `Sets`. worth: what they are worth, `Worth`."""

    spread: float
    spread_t: float
    square: float
    noise: float
    noise_t: float
    laplace: float
    first: int
    scale: float
    tree: bool
    ask: int
    sets: Any
    worth: Any


class Indices(NamedTuple):
    """As in `matroid.py`. sets, worth: as above."""

    rule: int
    eps: float
    constant: float
    first: int
    alpha: float
    scale: float
    sets: Any
    worth: Any


class Sets(NamedTuple):
    """arms: of all super arms, one after the other; super arm i begins at starts[i] and ends where
    the next one begins. An arm costs `cost`. Without starts: any `size` arms or, if arms have
    `ends`, shape (arms, 2), the forests that span that graph, of so many nodes.

    unseen: what an arm weighs, by index, that has no release behind it.
    """

    arms: Any
    starts: Any
    cost: float
    size: int
    ends: Any
    nodes: int
    unseen: float


class Worth(NamedTuple):
    """Of super arms that are worth more or less than their arms: expected rewards, rounds at which
    the sum of all values is kept, and where. Without rounds nothing is kept.
    """

    means: Any
    marks: Any
    earned: Any


class Own(NamedTuple):
    """weights, lower: of all arms. exact, noised, told: as `super_arms.Forest` has them. size: of
    the super arm that is played. at: the next mark, and the round after which the sum stands.
    total: that sum. other, left: room for another super arm, and for marks on arms.
    """

    weights: Any
    lower: Any
    exact: Any
    noised: Any
    told: Any
    size: Any
    at: Any
    total: Any
    other: Any
    left: Any


@jit
def start(p: Any, s: Any) -> Any:
    trees, one = np.zeros((2, len(s.n), 64), np.int64), np.zeros(1, np.int64)
    bounds, rooms = np.zeros((2, len(s.n))), np.zeros((2, len(s.n)), np.int64)
    now, total = np.zeros(2, np.int64), np.zeros(1)
    tree, noised, size = trees[0], trees[1], one.copy()
    return Own(bounds[0], bounds[1], tree, noised, one, size, now, total, rooms[0], rooms[1])


@jit
def best_forest(sets: Any, weights: Any, chosen: Any) -> int:
    """Kruskal's forest into `chosen`, from the heaviest edge on; returns its size. Union-find with
    path halving.
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
    """The first of the heaviest super arms into `chosen`; returns its size."""
    found, most = 0, -math.inf
    for i in range(len(sets.starts) - 1):
        value = 0.0
        for arm in sets.arms[sets.starts[i] : sets.starts[i + 1]]:
            value += weights[arm] - sets.cost
        if value > most:
            found, most = i, value
    first, last = sets.starts[found], sets.starts[found + 1]
    chosen[: last - first] = sets.arms[first:last]
    return last - first


@jit
def best(given: Any, weights: Any, chosen: Any) -> int:
    """The oracle's answer into `chosen`; returns its size."""
    sets = Sets(*given)
    if len(sets.ends) > 0:
        return best_forest(sets, weights, chosen)
    if len(sets.starts) > 0:
        return best_listed(sets, weights, chosen)
    order = np.argsort(-weights, kind="mergesort")  # stable, as above
    chosen[: sets.size] = np.sort(order[: sets.size])
    return sets.size


@inline
def choose_optimistic(p: Any, s: Any, own: Any, t: int, rng: Any) -> tuple[int, int]:
    super_arms.set_optimistic_weights(p, t, s, own.weights, own.lower)
    own.size[0] = best(p.sets, own.weights, s.chosen)
    return own.size[0], FAR


@jit
def stays(p: Any, s: Any, own: Any, size: int) -> bool:
    """Whether the super arm that is played is still the oracle's answer."""
    return best(p.sets, own.weights, own.other) == size and np.array_equal(
        own.other[:size], s.chosen[:size]
    )


@jit
def mark_undecided(p: Any, s: Any, own: Any, size: int) -> int:
    """Marks the arms without which the super arm would not stand, the others at their lower bounds,
    the best known first; returns how many.
    """
    played, upper = s.chosen[:size], own.weights[s.chosen[:size]]
    own.left[played] = 0
    own.weights[played] = own.lower[played]
    if stays(p, s, own, size):
        return 0
    own.weights[played] = upper
    count = 0
    for place in np.argsort(-s.n[played], kind="mergesort"):  # stable: the lower number first
        arm = played[place]
        own.weights[arm] = own.lower[arm]
        if not stays(p, s, own, size):
            own.weights[arm], own.left[arm], count = upper[place], 1, count + 1
    return count


@inline
def observe(p: Any, s: Any, own: Any, size: int) -> tuple[Any, int]:
    """As in `super_arms.py`."""
    told, count = s.chosen, size
    if p.ask != super_arms.ALL:
        told, count = own.told, 1
        if p.ask == super_arms.UNDECIDED and mark_undecided(p, s, own, size) > 0:
            told[0] = -1
            for i in range(size):
                if own.left[s.chosen[i]]:
                    told[0] = super_arms.less_seen(s, told[0], s.chosen[i])
        else:
            super_arms.least_seen(s, s.chosen, size, told)
    return told, count


@inline
def choose_index(p: Any, s: Any, own: Any, t: int, rng: Any) -> tuple[int, int]:
    matroid.set_scores(p.rule, t, 1, s.means, s.n, p.eps, p.constant, own.weights)
    for arm in range(len(s.n)):
        if s.n[arm] == 0:
            own.weights[arm] = Sets(*p.sets).unseen
    own.size[0] = best(p.sets, own.weights, s.chosen)
    return own.size[0], FAR


@inline
def learn(p: Any, s: Any, own: Any, t: int) -> None:
    """What the super arm earned until round t: the chance that one of its arms answers 1."""
    means, marks, earned = p.worth
    if len(marks) > 0:
        none = 1.0
        for arm in s.chosen[: own.size[0]]:
            none *= 1.0 - means[arm]
        while own.at[0] < len(marks) and marks[own.at[0]] <= t:
            rounds = marks[own.at[0]] - own.at[1]
            earned[own.at[0]] = own.total[0] + (1.0 - none) * rounds
            own.at[0] += 1
        own.total[0] += (1.0 - none) * (t - own.at[1])
        own.at[1] = t


PARTS = {"start": start, "learn": learn}
LISTED_OPTIMISTIC = {
    "Numbers": Optimistic,
    "choose": choose_optimistic,
    "batch": super_arms.batch,
    "observe": observe,
    "read": super_arms.read,
    **PARTS,
}
LISTED_INDICES = {
    "Numbers": Indices,
    "choose": choose_index,
    "batch": matroid.batch,
    "read": matroid.fold_block,
    **PARTS,
}
play_listed = player("listed", **LISTED_OPTIMISTIC)
play_listed_indices = player("listed_indices", **LISTED_INDICES)
