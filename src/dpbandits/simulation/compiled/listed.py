"""Policies on listed super arms, on the k best arms of which only the best one counts, and on the
forests of a large graph: CUCB and its private forms, and indices.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpbandits.core.inputs import Floats
from dpbandits.environments.base import Environment
from dpbandits.oracles.matroids import GraphicMatroid, SpanningTrees, TopKMax
from dpbandits.oracles.sets import ExplicitSet
from dpbandits.policies import CUCBLDP2, DPKLCUCB, DPKLMAT, KLOSM, OMM, CUCBDPMax
from dpbandits.policies.contract import Policy, problem_of
from dpbandits.simulation.compiled import matroid, super_arms
from dpbandits.simulation.compiled.driver import (
    UNLIMITED,
    EventPlayer,
    RunPlayer,
    law_of,
    on_rows,
    player,
    player_together,
)
from dpbandits.simulation.compiled.jit import inline, jit, joint_level, report_square
from dpbandits.simulation.compiled.matroid import index_numbers
from dpbandits.simulation.compiled.parts import binomial
from dpbandits.simulation.compiled.super_arms import OPTIMISTIC, optimistic_numbers

# The constants of a policy are those of `super_arms.py` or `matroid.py`. Their `problem` are the
# super arms, the fields of `Sets`, and for values of super arms that are not the sum of their arms:
# expected rewards, the rounds at which the sum of all values is kept, and the array for it. Without
# rounds nothing is kept.


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
def best_listed(sets: Any, weights: Any, chosen: Any, squares: Any = None) -> int:
    """Write the first of the heaviest super arms into `chosen`; return its size. With `squares`,
    the root of their sum is added to the weights' sum.
    """
    best_at, most = 0, -math.inf
    for i in range(len(sets.starts) - 1):
        value, square = 0.0, 0.0
        for arm in sets.arms[sets.starts[i] : sets.starts[i + 1]]:
            value += weights[arm] - sets.cost
            if squares is not None:
                square += squares[arm]
        value += math.sqrt(square)
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
    state.size[0] = best(p.problem[0], state.weights, s.chosen)
    return state.size[0], UNLIMITED


@jit
def is_still_best(p: Any, s: Any, state: Any, size: int) -> bool:
    """Return whether the played super arm is still the oracle's answer."""
    return best(p.problem[0], state.weights, state.other) == size and np.array_equal(
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
            state.weights[arm] = Sets(*p.problem[0]).unseen
    state.size[0] = best(p.problem[0], state.weights, s.chosen)
    return state.size[0], UNLIMITED


@inline
def learn(p: Any, s: Any, state: Any, t: int) -> None:
    """Add the value of the super arm until round t: the probability that one of its arms gives
    1.
    """
    means, marks, earned = p.problem[1]
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
    "Numbers": super_arms.Numbers,
    "choose": choose_optimistic,
    "batch": super_arms.batch,
    "observe": observe,
    "read": super_arms.read,
}
LISTED_INDICES = {
    "start": start_without_trees,
    "learn": learn,
    "Numbers": matroid.Numbers,
    "choose": choose_index,
    "batch": matroid.batch,
    "read": matroid.fold_block,
}
play_listed = player("listed", **LISTED_OPTIMISTIC)
play_listed_indices = player("listed_indices", **LISTED_INDICES)


# CUCB-LDP2 with one radius for a super arm (`policies/super_arms.py`), on listed super arms.


class JointRadius(NamedTuple):
    """The constants of the policy.

    Args:
        eps: ε of one report.
        proved: True for the proved level.
        size: the most arms of a super arm.
        scale: of a report's noise, in grid steps.
        cover: super arms that contain all arms except loops, in a row, and the start of each and
            the end of the last.
        problem: see above.
    """

    eps: float
    proved: bool
    size: int
    scale: float
    cover: Any
    problem: Any


class Radii(NamedTuple):
    """The squares of every arm's radius, and the arm that is reported."""

    squares: Any
    observed: Any


@jit
def start_radii(p: Any, s: Any) -> Any:
    return Radii(np.zeros(len(s.n)), np.zeros(1, np.int64))


@jit
def uncovered(p: Any, s: Any) -> int:
    """Write the first super arm of the cover with an unseen arm into `s.chosen`; return its size, 0
    for none.
    """
    arms, starts = p.cover
    for i in range(len(starts) - 1):
        for arm in arms[starts[i] : starts[i + 1]]:
            if s.n[arm] == 0:
                s.chosen[: starts[i + 1] - starts[i]] = arms[starts[i] : starts[i + 1]]
                return starts[i + 1] - starts[i]
    return 0


@inline
def choose(p: Any, s: Any, state: Any, t: int, rng: Any) -> tuple[int, int]:
    size = uncovered(p, s)
    if size == 0:
        level = joint_level(t, p.size, p.eps) if p.proved else math.log(t)
        for arm in range(len(s.n)):
            state.squares[arm] = report_square(max(1, s.n[arm]), level, p.eps)
        size = best_listed(Sets(*p.problem[0]), s.means, s.chosen, state.squares)
    return size, UNLIMITED


@inline
def batch(p: Any, s: Any, state: Any, arm: int) -> int:
    return 1


@inline
def observe_least(p: Any, s: Any, state: Any, size: int) -> tuple[Any, int]:
    super_arms.least_seen(s, s.chosen, size, state.observed)
    return state.observed, 1


play_rooted = player(
    "rooted",
    Numbers=JointRadius,
    start=start_radii,
    choose=choose,
    batch=batch,
    observe=observe_least,
)


# The player of a policy and problem


def sets_of(problem: object) -> Sets | None:
    """Return the super arms of exactly these kinds of problems; a subclass may have others."""
    none, ends = np.zeros(0, np.int64), np.zeros((0, 2), np.int64)
    if type(problem) is TopKMax:
        return Sets(none, none, 0.0, problem.size, ends, 0, 1.0)
    if type(problem) in (GraphicMatroid, SpanningTrees):
        assert isinstance(problem, GraphicMatroid)
        ends, nodes = np.array(problem._ends, np.int64), len(problem._labels)
        return Sets(none, none, 0.0, problem.size, ends, nodes, matroid.UNSEEN)
    if type(problem) is not ExplicitSet or not problem.linear:
        return None
    rows = problem.super_arms
    starts = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    arms = np.concatenate(rows).astype(np.int64)
    return Sets(arms, starts, float(problem.costs), 0, ends, 0, 1.0)


def rooted_numbers(policy: CUCBLDP2, steps: int) -> tuple[Any, ...]:
    """Return the policy's part of `JointRadius`."""
    rows, eps = policy.problem.cover(), float(policy.budget)
    arms = np.concatenate([np.array(row, np.int64) for row in rows])
    starts = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    return eps, policy.preset == "valid", policy.problem.size, steps / eps, (arms, starts)


BY_INDEX = (DPKLCUCB, DPKLMAT, KLOSM, OMM)
"""DPUCB-MAT is not among these: it plays its basis until another one overtakes it."""


ONE_ARM = (CUCBLDP2, CUCBDPMax)
"""These use one reward a round, so equal and independent rewards of one round are the same to them,
and each arm's law is enough.
"""


def set_player(
    policy: Policy, environment: Environment, rounds: int, seed: int, *, coins: bool = False
) -> RunPlayer | None:
    """Return the player of runs; None for other problems and policies.

    The environment's arms are independent, or share `coins`; then there are players for lists of
    super arms whose values are sums.
    """
    steps, problem = policy.reader.grid.steps, problem_of(policy)
    sets = sets_of(problem)
    if sets is None or problem is None or (coins and not (problem.linear and len(sets.starts))):
        return None
    together = coins and type(policy) not in ONE_ARM
    if type(policy) is CUCBLDP2 and policy.radius == "joint":
        if not len(sets.starts):
            return None
        loop, numbers = play_rooted, rooted_numbers(policy, steps)
    elif type(policy) in BY_INDEX:
        loop = play_coins_by_index if together else play_listed_indices
        numbers = index_numbers(policy, steps)
    elif type(policy) in OPTIMISTIC:
        loop = play_coins if together else play_listed
        numbers = optimistic_numbers(policy, steps)
    else:
        return None
    nothing = np.zeros(0), np.zeros(0, np.int64), np.zeros(0)
    kernel = partial(loop, (*numbers, (tuple(sets), nothing)), steps)
    if together:
        return on_rows(kernel, coin_rows(environment, steps), rounds, seed)
    law = law_of(policy, environment)
    if problem.linear:
        return RunPlayer(partial(kernel, *law, rounds), policy.arms, np.int64, rounds, seed)
    means = np.ascontiguousarray(environment.means, np.float64)
    kernel = partial(play_sets, loop, numbers, tuple(sets), means, steps, *law, rounds)
    return RunPlayer(kernel, policy.arms, np.int64, rounds, seed, "earned")


def play_sets(
    loop: EventPlayer,
    numbers: tuple[Any, ...],
    sets: tuple[Any, ...],
    means: Floats,
    steps: int,
    values: Any,
    probabilities: Any,
    rounds: int,
    checkpoints: Any,
    rng: Any,
    out: Any,
    earned: Floats,
) -> Any:
    """Play one run, and keep the values of super arms that are not sums of their arms' `means`."""
    problem = sets, (means, np.asarray(checkpoints, np.int64), earned)
    return loop((*numbers, problem), steps, values, probabilities, rounds, checkpoints, rng, out)


# Arms that share coins (`SharedCoins`).
#
# A world has three rows and a column for each arm: its coin's number, that coin's success
# probability, and the grid steps of a reward of 1.


@jit
def add_coins(rows: Any, times: int, observed: Any, count: int, sums: Any, rng: Any) -> None:
    """Add the sums of `times` rounds for the first `count` arms of `observed`: one draw for each
    coin, made for its first arm.
    """
    for i in range(count):
        coin, first = rows[0, observed[i]], True
        for j in range(i):
            first = first and rows[0, observed[j]] != coin
        if first:
            total = binomial(rng, times, rows[1, observed[i]]) * int(rows[2, observed[i]])
            for j in range(i, count):
                if rows[0, observed[j]] == coin:
                    sums[observed[j]] += total


play_coins = player_together("coins", add_coins, **LISTED_OPTIMISTIC)
play_coins_by_index = player_together("coins_by_index", add_coins, **LISTED_INDICES)


def coin_rows(environment: Any, steps: int) -> Floats:
    """Return a world of this module, shape (3, arms)."""
    every = np.full(environment.arms, float(steps))
    return np.stack([environment.coins.astype(np.float64), environment.means, every])
