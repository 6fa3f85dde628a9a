"""CUCB and its private forms (`policies/super_arms.py`) on the bases of a matroid, such as top
k.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpbandits.mechanisms import SignedCounter
from dpbandits.policies import CUCB, CUCBDP, CUCBLDP1, CUCBLDP2, CUCBDPMax, LazyCUCB
from dpbandits.policies.contract import Policy
from dpbandits.policies.formulas.joint import report_variance
from dpbandits.simulation.compiled.driver import UNLIMITED, player, player_together
from dpbandits.simulation.compiled.jit import inline, jit
from dpbandits.simulation.compiled.matroid import EXACT, FORGET, Greedy, begin, fold_block, known
from dpbandits.simulation.compiled.parts import (
    heavier,
    improve,
    popcount,
    signed_leaf,
    signed_sizes,
    tree_leaf,
)

ALL, LEAST, UNDECIDED = range(3)


class Numbers(NamedTuple):
    """The constants of a policy. At round t, the radius of a mean of n rewards is √((spread +
    spread_t·ln t)/n + (square·ln t/n)²) + (noise + noise_t·ln t)/n, plus the noise of Laplace
    draws of scale `laplace`.

    Args:
        first: EXACT or FORGET.
        scale: of the noise, in grid steps.
        tree: True for a counter for each arm.
        half: the largest digit of a signed tree; 0 for a binary one.
        slots: numbers of a tree's noise.
        ask: ALL, or the one arm of a super arm that is recorded: the LEAST seen one, or that of the
            UNDECIDED ones.
        problem: as in `matroid.Numbers`.
    """

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
    problem: Any


class Forest(NamedTuple):
    """The state of the player: the basis, each arm's tree (exact and noisy; of a signed tree its
    digits, and its noise), the observed arm, and every arm's lower bound.
    """

    greedy: Greedy
    exact: Any
    noised: Any
    observed: Any
    lower: Any


@jit
def start(p: Any, s: Any) -> Any:
    exact, noised = np.zeros((len(s.n), 64), np.int64), np.zeros((len(s.n), p.slots), np.int64)
    return Forest(begin(p, s), exact, noised, np.zeros(1, np.int64), np.zeros(len(s.n)))


@jit
def set_optimistic_weights(p: Any, t: int, s: Any, weights: Any, lower: Any) -> None:
    """Compute indices clipped at 1, and lower bounds clipped at 0. If some index is not above 0,
    only such arms get weight 1, and all lower bounds are above them, so that no arm is undecided.
    """
    log_t, lost = math.log(t), False
    log_term = math.log(2.0) + 3.0 * log_t
    for e in range(len(weights)):
        weights[e], lower[e], n = 1.0, 0.0, s.n[e]
        if n > 0:
            draws = max(math.sqrt(s.draws[e]), math.sqrt(log_term))
            spread, noise = p.spread + p.spread_t * log_t, p.noise + p.noise_t * log_t
            noise += p.laplace * draws * math.sqrt(8.0 * log_term)
            square = p.square * log_t / n
            wide = math.sqrt(spread / n + square * square) + noise / n
            weights[e], lower[e] = min(1.0, s.means[e] + wide), max(0.0, s.means[e] - wide)
            lost = lost or weights[e] <= 0.0
    if lost:
        for e in range(len(weights)):
            weights[e], lower[e] = 1.0 if weights[e] <= 0.0 else 0.0, 2.0


@inline
def choose(p: Any, s: Any, state: Any, t: int, rng: Any) -> tuple[int, int]:
    """Choose the oracle's super arm, until one of its batches is full."""
    greedy = state.greedy
    basis = s.chosen[: greedy.table.shape[1]]
    set_optimistic_weights(p, t, s, greedy.weights, state.lower)
    improve(greedy.table, basis, greedy.column, greedy.weights, greedy.order, greedy.prime)
    return len(basis), UNLIMITED


@inline
def batch(p: Any, s: Any, state: Any, arm: int) -> int:
    return max(1, 2 * s.n[arm]) if p.first == FORGET else 1


@inline
def less_seen(s: Any, arm: int, other: int) -> int:
    """Return the arm with fewer rewards, the lower one on a tie; `other` if arm < 0."""
    if arm < 0 or s.n[other] < s.n[arm] or (s.n[other] == s.n[arm] and other < arm):
        return other
    return arm


@jit
def replaceable(greedy: Any, j: int, f: int, lower: float) -> bool:
    """Return whether basis element f, the j-th, would leave the greedy basis at weight `lower`."""
    table, weights = greedy.table, greedy.weights
    upper, is_replaceable = weights[f], False
    weights[f] = lower
    for e in range(len(weights)):
        if greedy.column[e] < 0 and table[e, j] != 0.0 and heavier(e, f, weights):
            is_replaceable = True
            break
    weights[f] = upper
    return is_replaceable


@jit
def least_seen(s: Any, arms: Any, size: int, observed: Any) -> None:
    """Write the arm with the fewest rewards, among the first `size` of `arms`, into `observed`."""
    observed[0] = -1
    for i in range(size):
        observed[0] = less_seen(s, observed[0], arms[i])


@inline
def observe(p: Any, s: Any, state: Any, size: int) -> tuple[Any, int]:
    """Return all arms, or one alone."""
    observed, count = s.chosen, size
    if p.ask != ALL:
        observed, count = state.observed, 1
        observed[0] = -1
        if p.ask == UNDECIDED:
            for j in range(size):
                arm = s.chosen[j]
                if replaceable(state.greedy, j, arm, state.lower[arm]):
                    observed[0] = less_seen(s, observed[0], arm)
        if observed[0] < 0:
            least_seen(s, s.chosen, size, observed)
    return observed, count


@inline
def read(p: Any, s: Any, state: Any, arm: int, total: int, rng: Any) -> None:
    if p.tree and p.half:
        s.n[arm] += 1
        exact, noised = state.exact[arm], state.noised[arm]
        s.totals[arm] = signed_leaf(exact, noised, p.half, total, p.scale, rng, s.totals[arm])
        s.draws[arm] = exact[-1]
    elif p.tree:
        s.n[arm] += 1
        s.totals[arm] = tree_leaf(
            state.exact[arm], state.noised[arm], s.n[arm], total, p.scale, rng, s.totals[arm]
        )
        s.draws[arm] = popcount(s.n[arm])
    else:
        fold_block(p, s, state, arm, total, rng)


PARTS = {
    "Numbers": Numbers,
    "start": start,
    "choose": choose,
    "batch": batch,
    "observe": observe,
    "read": read,
}
play_optimistic = player("optimistic", **PARTS)
play_optimistic_together = player_together("optimistic", **PARTS)


# The constants of each policy


OPTIMISTIC: tuple[type[Policy], ...] = (CUCB, LazyCUCB, CUCBLDP1, CUCBLDP2, CUCBDP, CUCBDPMax)


def optimistic(policy: Any, steps: int, together: bool = False) -> Callable[..., Any] | None:
    """Return the kernel of CUCB and its private forms; None if the problem is not a matroid with a
    tableau, or several arms have one radius.

    Args:
        together: True for the rows of a table, False for independent rewards.
    """
    coordinates = known(policy.problem)
    if coordinates is None or getattr(policy, "radius", "sum") == "joint":
        return None
    numbers = (*optimistic_numbers(policy, steps), coordinates)
    return partial(play_optimistic_together if together else play_optimistic, numbers, steps)


def optimistic_numbers(policy: Any, steps: int) -> tuple[Any, ...]:
    """Return the policy's part of `Numbers`."""
    tree, lazy = isinstance(policy, (CUCBDP, CUCBDPMax)), isinstance(policy, LazyCUCB)
    counter = policy.tree if isinstance(policy, CUCBDP) else None
    if isinstance(policy, CUCB):
        scale = 0.0
    elif tree:
        scale = policy.node_scale
    else:
        scale = (policy.problem.size if lazy else policy.width) / float(policy.budget)
    return (
        *radius(policy, scale),
        FORGET if lazy else EXACT,
        steps * scale,
        tree,
        *(signed_sizes(counter) if isinstance(counter, SignedCounter) else (0, 64)),
        observed_arms(policy),
    )


def observed_arms(policy: Policy) -> int:
    if isinstance(policy, CUCBLDP2) and policy.ask == "undecided":
        return UNDECIDED
    return LEAST if isinstance(policy, (CUCBLDP2, CUCBDPMax)) else ALL


def radius(policy: Any, scale: float) -> tuple[float, float, float, float, float, float]:
    """Return the first six of `Numbers`, from `policy.bonus`. `scale` is that of its noise, in
    rewards.
    """
    log_arms, horizon = math.log(policy.arms), getattr(policy, "horizon", None)
    if isinstance(policy, CUCB):
        return 0.0, 1.5, 0.0, 0.0, 0.0, 0.0
    if isinstance(policy, LazyCUCB):
        return 1.5 * log_arms, 1.5, 0.0, 3.0 * scale * log_arms, 3.0 * scale, 0.0
    preset = getattr(policy, "preset", "")
    if preset == "sharp":
        return 0.0, 2.5 * report_variance(1.0 / scale), math.sqrt(5.0) * scale, 0.0, 0.0, 0.0
    if preset != "published" or horizon is None:
        return 0.0, 1.5, 0.0, 0.0, 0.0, scale
    log_horizon = math.log(horizon)
    if not isinstance(policy, CUCBDP):
        return 32.0 * scale**2 * log_horizon, 0.0, 0.0, 0.0, 0.0, 0.0
    log_horizon = max(math.log(2.0), log_horizon)
    extra = 12.0 * policy.width * log_horizon**3 / float(policy.budget)
    return 4.0 * (log_arms + log_horizon), 0.0, 0.0, extra, 0.0, 0.0
