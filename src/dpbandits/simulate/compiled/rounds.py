"""Policies that release after every round: UCB1, KL-UCB, DP-UCB, DP-UCB-Bound, Hybrid-UCB, LDP-UCB, LDP-KLUCB.

One compiled loop over rounds, memory independent of their number.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpbandits.simulate.compiled.counters import hybrid_leaf, tree_leaf
from dpbandits.simulate.compiled.jit import index, jit
from dpbandits.simulate.compiled.primitives import laplace, play, reward

UCB1, KL_UCB, PUBLISHED, TIGHT, BOUND, HYBRID, LDP_UCB = range(7)
PLAIN, LOCAL_LAPLACE, RESPONSE = range(3)
EXACT, TREE, POWERS, DOUBLING, PRINTED = range(5)

ucb1, kl_ucb, ldp_ucb = index.ucb1, index.kl_ucb, index.ldp_ucb
dp_ucb_published, dp_ucb_tight, dp_ucb_bound = index.dp_ucb_published, index.dp_ucb_tight, index.dp_ucb_bound
hybrid_ucb = index.hybrid_ucb


@jit
def score(rule: int, mean: float, n: int, t: int, draws: int, eps: float, constant: float, arms: int, horizon: int, scale: float) -> float:
    if rule == UCB1:
        return ucb1(mean, n, t)
    if rule == KL_UCB:
        return kl_ucb(mean, n, t, constant)
    if rule == TIGHT:
        return dp_ucb_tight(mean, n, t, draws, scale)
    if rule == PUBLISHED:
        return dp_ucb_published(mean, n, t, eps, arms, horizon, constant)
    if rule == BOUND:
        return dp_ucb_bound(mean, n, t, eps)
    if rule == HYBRID:
        return hybrid_ucb(mean, n, t, eps)
    return ldp_ucb(mean, n, t, eps)


@jit
def choose(rule: int, t: int, means: Any, n: Any, draws: Any, eps: float, constant: float, horizon: int, scale: float) -> int:
    """The arm with the largest score, the lowest on a tie; an unplayed arm first; LDP-UCB: of forced arms the least played."""
    arms = len(n)
    chosen, top, forced = 0, -math.inf, -1
    for arm in range(arms):
        if n[arm] == 0:
            return arm
        value = score(rule, means[arm], n[arm], t, draws[arm], eps, constant, arms, horizon, scale)
        if value == math.inf and rule == LDP_UCB and (forced < 0 or n[arm] < n[forced]):
            forced = arm
        if value > top:
            chosen, top = arm, value
    return forced if forced >= 0 else chosen


@jit
def received(feedback: int, x: int, steps: int, scale: float, keep: float, rng: Any) -> int:
    """What the server gets of a reward of x grid steps."""
    if feedback == LOCAL_LAPLACE:
        return x + laplace(rng, scale)
    if feedback == RESPONSE:
        bit = rng.random() * steps < x
        return steps if bit == (rng.random() < keep) else 0
    return x


@jit
def play_rounds(
    rule: int, feedback: int, counter: int, eps: float, constant: float, horizon: int, scale: float, keep: float, radius_scale: float,
    steps: int, values: Any, probabilities: Any, rounds: int, checkpoints: Any, rng: Any, out: Any,
) -> tuple[int, int]:  # fmt: skip
    """scale: of the counter's node noise per unit budget share, or of the reports (grid steps). Returns (releases, events)."""
    arms = probabilities.shape[0]
    plays, n, draws, means = np.zeros(arms, np.int64), np.zeros(arms, np.int64), np.zeros(arms, np.int64), np.zeros(arms)
    sums = np.zeros(arms, np.int64)
    exact, noised = np.zeros((arms, 64), np.int64), np.zeros((arms, 64), np.int64)
    segments = np.zeros((arms, 4), np.int64)  # number, leaves, exact sum of the open segment; noised sum of the closed ones
    at = 0
    for t in range(rounds):
        arm = choose(rule, t + 1, means, n, draws, eps, constant, horizon, radius_scale)
        at = play(arm, 1, t, plays, checkpoints, out, at)
        x = received(feedback, reward(rng, arm, values, probabilities), steps, scale, keep, rng)
        n[arm] += 1
        if counter == EXACT:
            sums[arm] += x
        elif counter == TREE:
            sums[arm] = tree_leaf(exact[arm], noised[arm], n[arm], x, scale, rng, sums[arm])
            draws[arm] = popcount(n[arm])
        else:
            first = 0 if counter == POWERS else 1
            sums[arm] = hybrid_leaf(segments[arm], exact[arm], noised[arm], x, scale, first, counter == PRINTED, rng)
        means[arm] = sums[arm] / (steps * n[arm])
    return rounds, rounds


@jit
def popcount(n: int) -> int:
    bits = 0
    while n:
        n &= n - 1
        bits += 1
    return bits
