"""Index policies that fill one arm's batch at a time: AdaP-UCB, AdaP-KLUCB, AdaC-UCB, DP-KLUCB,
DP-IMED, Anytime-Lazy-UCB.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpbandits.simulation.parts.jit import (
    adac_ucb,
    adap_klucb,
    adap_ucb,
    clip01,
    crossing,
    dp_imed,
    dp_klucb,
    growing_batch,
    jit,
    kl_level,
    lazy_ucb,
)
from dpbandits.simulation.parts.primitives import block_sum, gaussian, laplace, play

ADAP_UCB, ADAP_KLUCB, ADAC_UCB, DP_KLUCB, DP_IMED = range(5)


@jit
def score(
    rule: int,
    mean: float,
    n: int,
    log_t: float,
    level: float,
    best: float,
    eps: float,
    constant: float,
) -> float:
    if rule == DP_KLUCB:
        return dp_klucb(mean, n, level, eps)
    if rule == ADAP_UCB:
        return adap_ucb(mean, n, log_t, eps, constant)
    if rule == ADAP_KLUCB:
        return adap_klucb(mean, n, log_t, eps, constant)
    if rule == ADAC_UCB:
        return adac_ucb(mean, n, log_t, eps, constant)
    return dp_imed(mean, n, best, eps)


@jit
def choose(rule: int, t: int, means: Any, n: Any, eps: float, constant: float) -> int:
    """The arm with the largest score, the lowest on a tie; an arm without a release first."""
    best = 0.0
    for arm in range(len(n)):
        if n[arm] == 0:
            return arm
        best = max(best, clip01(means[arm]))
    chosen, top, log_t = 0, -math.inf, math.log(t)
    level = kl_level(log_t, constant) if rule == DP_KLUCB else 0.0
    for arm in range(len(n)):
        value = score(rule, means[arm], n[arm], log_t, level, best, eps, constant)
        if value > top:
            chosen, top = arm, value
    return chosen


@jit
def play_batches(
    rule: int,
    eps: float,
    constant: float,
    first: int,
    alpha: float,
    scale: float,
    steps: int,
    values: Any,
    probabilities: Any,
    rounds: int,
    checkpoints: Any,
    rng: Any,
    out: Any,
) -> tuple[int, int]:
    """`first` = 0: doubling episodes that forget; else cumulative batches, each growing its arm by
    alpha. Returns (releases, events).
    """
    arms = probabilities.shape[0]
    plays, n = np.zeros(arms, np.int64), np.zeros(arms, np.int64)
    totals, means = np.zeros(arms, np.int64), np.zeros(arms)
    t, at, releases, events = 0, 0, 0, 0
    while t < rounds:
        arm = choose(rule, t + 1, means, n, eps, constant)
        size = max(1, plays[arm]) if first == 0 else growing_batch(n[arm], first, alpha)
        at = play(arm, min(size, rounds - t), t, plays, checkpoints, out, at)
        events += 1
        if t + size > rounds:
            break
        t += size
        noisy = block_sum(rng, arm, size, values, probabilities)
        noisy += gaussian(rng, scale) if rule == ADAC_UCB else laplace(rng, scale)
        if first == 0:
            totals[arm], n[arm] = noisy, size
        else:
            totals[arm] += noisy
            n[arm] += size
        means[arm] = totals[arm] / (steps * n[arm])
        releases += 1
    return releases, events


@jit
def play_lazy(
    eps: float,
    scale: float,
    steps: int,
    values: Any,
    probabilities: Any,
    rounds: int,
    checkpoints: Any,
    rng: Any,
    out: Any,
) -> tuple[int, int]:
    """Anytime-Lazy-UCB: an arm is held until its batch is full or another arm's index overtakes.
    Returns (releases, events).
    """
    arms = probabilities.shape[0]
    plays, n, open_ = np.zeros(arms, np.int64), np.zeros(arms, np.int64), np.zeros(arms, np.int64)
    means = np.zeros(arms)
    t, at, releases, events = 0, 0, 0, 0
    while t < rounds:
        arm, top, log_t = 0, -math.inf, math.log(t + 1)
        for j in range(arms):
            value = lazy_ucb(means[j], n[j], log_t, eps) if n[j] > 0 else math.inf
            if value > top:
                arm, top = j, value
        full = t + 1 + max(1, 2 * n[arm] - open_[arm])
        end = full
        if n[arm] > 0:
            for j in range(arms):
                if j != arm:
                    end = crossing(arm, means[arm], n[arm], j, means[j], n[j], t + 1, end, eps)
        times = end - t - 1
        at = play(arm, min(times, rounds - t), t, plays, checkpoints, out, at)
        events += 1
        t += times
        open_[arm] += times
        if t <= rounds and end == full:
            n[arm], open_[arm] = open_[arm], 0
            noisy = block_sum(rng, arm, n[arm], values, probabilities) + laplace(rng, scale)
            means[arm] = noisy / (steps * n[arm])
            releases += 1
    return releases, events
