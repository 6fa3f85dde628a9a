"""Every policy on a matroid: the greedy basis for indices or for samples, held to the next release
or drawn every round.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpbandits.simulation.parts.bases import improve, play_basis
from dpbandits.simulation.parts.jit import (
    crossing,
    dp_klucb,
    growing_batch,
    inline,
    jit,
    kl_level,
    kl_ucb,
    lazy_ucb,
    pooled,
    posterior_sd,
    shrunk,
    ucb1,
)
from dpbandits.simulation.parts.primitives import block_sum, laplace

OMM, KL_OSM, DP_UCB, DP_KL, BETA, GAUSSIAN, DP_TS, NOISE_AWARE, POOLED = range(9)
# in place of a first batch: every reward read at once; batches of 1, 2, 4, … that forget
EXACT, FORGET = 0, -1


UNSEEN = 1e15  # as `policies/matroid.py` has it


@inline
def batch_size(n: int, first: int, alpha: float) -> int:
    if first > 0:
        return growing_batch(n, first, alpha)
    return max(1, 2 * n) if first == FORGET else 1


@jit
def set_scores(
    rule: int, t: int, rank: int, means: Any, n: Any, eps: float, constant: float, weights: Any
) -> None:
    """Indices at round t, and what seen elements weigh while a policy that samples covers the
    others.
    """
    log_t = math.log(rank * t) if rule == DP_UCB else math.log(t)
    level = kl_level(log_t, constant) if rule == KL_OSM else constant * log_t
    for e in range(len(n)):
        if n[e] == 0:
            weights[e] = UNSEEN
        elif rule == OMM:
            weights[e] = ucb1(means[e], n[e], log_t)
        elif rule == KL_OSM:
            weights[e] = kl_ucb(means[e], n[e], level)
        elif rule == DP_UCB:
            weights[e] = lazy_ucb(means[e], n[e], log_t, eps)
        elif rule == DP_KL:
            weights[e] = dp_klucb(means[e], n[e], level, eps)
        else:
            weights[e] = means[e] if rule >= NOISE_AWARE else 0.0


@jit
def set_samples(
    rule: int, t: int, rank: int, means: Any, n: Any, sds: Any, eps: float, weights: Any, rng: Any
) -> None:
    """Samples at round t; all elements but the loops have a release behind them, or a prior."""
    bonus = 3.0 * math.log(rank * t) / eps
    for e in range(len(n)):
        if rule == BETA:
            ones = round(means[e] * n[e])
            weights[e] = rng.beta(ones + 1.0, n[e] - ones + 1.0)
        elif rule == DP_TS:
            weights[e] = means[e] + bonus / max(1, n[e]) + rng.standard_normal() * sds[e]
        else:
            weights[e] = means[e] + rng.standard_normal() * sds[e]


@jit
def set_posterior(
    means: Any, n: Any, draws: Any, eps: float, c: float, centres: Any, sds: Any
) -> None:
    """NoiseAwareMAT's samples: their means and standard deviations."""
    centre, spread = pooled(means, n, draws, eps)
    for e in range(len(n)):
        if n[e] > 0:
            centres[e], sd = shrunk(means[e], n[e], draws[e], eps, centre, spread)
            sds[e] = math.sqrt(c) * sd


@jit
def first_swap(
    table: Any,
    basis: Any,
    column: Any,
    weights: Any,
    means: Any,
    n: Any,
    t: int,
    rounds: int,
    eps: float,
) -> int:
    """Rounds for which DPUCB-MAT's basis at round t stays the greedy one, at most `rounds`."""
    rank, end = len(basis), t + rounds
    if rounds == 1:
        return 1
    log_end, lowest = math.log(rank * (end - 1)), math.inf
    for f in basis:
        lowest = min(lowest, weights[f])
    for e in range(len(n)):
        if column[e] >= 0 or n[e] == 0:
            continue
        # indices grow, so e overtakes nobody who is above this now
        top = lazy_ucb(means[e], n[e], log_end, eps)
        if top < lowest:
            continue
        for j in range(rank):
            f = basis[j]
            if table[e, j] != 0.0 and weights[f] <= top and n[f] > 0:
                end = crossing(f, means[f], n[f], e, means[e], n[e], t, end, eps, rank)
    return end - t


@jit
def open_rounds(basis: Any, n: Any, open_: Any, first: int, alpha: float) -> int:
    """Rounds until the batch of one of the basis's elements is full."""
    left = batch_size(n[basis[0]], first, alpha) - open_[basis[0]]
    for arm in basis:
        left = min(left, batch_size(n[arm], first, alpha) - open_[arm])
    return left


@jit
def fold_block(
    arm: int, noisy: int, forget: bool, n: Any, draws: Any, open_: Any, totals: Any
) -> None:
    """An element's noised block into its released sum, or in place of it."""
    totals[arm] = noisy if forget else totals[arm] + noisy
    n[arm] = open_[arm] if forget else n[arm] + open_[arm]
    draws[arm], open_[arm] = draws[arm] + 1, 0


@jit
def play_matroid(
    rule: int,
    eps: float,
    constant: float,
    first: int,
    alpha: float,
    scale: float,
    steps: int,
    tableau: Any,
    start: Any,
    prime: int,
    values: Any,
    probabilities: Any,
    rounds: int,
    checkpoints: Any,
    rng: Any,
    out: Any,
) -> tuple[int, int]:
    """eps: an element's share of the budget; scale: of its noise, in grid steps. Returns (releases,
    events).
    """
    arms, rank = tableau.shape
    table, basis, column = tableau.copy(), start.copy(), np.full(arms, -1)
    for j in range(rank):
        column[basis[j]] = j
    plays, n, draws = np.zeros(arms, np.int64), np.zeros(arms, np.int64), np.zeros(arms, np.int64)
    open_, totals = np.zeros(arms, np.int64), np.zeros(arms, np.int64)
    means, sds, weights, order = np.zeros(arms), np.zeros(arms), np.zeros(arms), np.arange(arms)
    centres = np.zeros(arms) if rule == POOLED else means  # of samples
    unseen = 0  # elements without a release that are no loops
    for e in range(arms):
        unseen += int(rule != BETA and np.any(table[e] != 0.0))
    t, at, releases, events, fresh = 0, 0, 0, 0, False
    while t < rounds:
        sampled = rule >= BETA and unseen == 0
        if fresh and rule == POOLED:
            set_posterior(means, n, draws, eps, constant, centres, sds)
            fresh = False
        if sampled:
            set_samples(rule, t + 1, rank, centres, n, sds, eps, weights, rng)
            order = np.argsort(-weights)
        else:
            set_scores(rule, t + 1, rank, centres, n, eps, constant, weights)
        improve(table, basis, column, weights, order, prime)
        times = 1 if sampled else open_rounds(basis, n, open_, first, alpha)
        if rule == DP_UCB:
            times = first_swap(table, basis, column, weights, means, n, t + 1, times, eps)
        times = min(times, rounds - t)
        at = play_basis(basis, times, t, plays, checkpoints, out, at)
        t, events = t + times, events + 1
        for arm in basis:
            open_[arm] += times
            if open_[arm] < batch_size(n[arm], first, alpha):
                continue
            unseen -= int(rule != BETA and n[arm] == 0)
            noisy = block_sum(rng, arm, open_[arm], values, probabilities) + (
                laplace(rng, scale) if scale > 0.0 else 0
            )
            fold_block(arm, noisy, first == FORGET, n, draws, open_, totals)
            means[arm], releases, fresh = totals[arm] / (steps * n[arm]), releases + 1, True
            if rule != POOLED:
                sds[arm] = (
                    posterior_sd(means[arm], n[arm], draws[arm], eps, constant)
                    if rule == NOISE_AWARE
                    else 1.0 / math.sqrt(n[arm])
                )
    return releases, events
