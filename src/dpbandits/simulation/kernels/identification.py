"""Top-two identification: AdaPTT by batches, CTBTT by blocks of randomised bits. Both also return
(arm, rounds) of what they found.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpbandits.simulation.parts.jit import (
    challenging,
    challenging_bits,
    jit,
    leading,
    leading_bits,
    planned,
    settled,
    settled_bits,
)
from dpbandits.simulation.parts.primitives import binomial, block_sum, laplace, play


@jit
def play_top_two(
    published: bool,
    eps: float,
    delta: float,
    first: int,
    keep: int,
    scale: float,
    steps: int,
    values: Any,
    probabilities: Any,
    rounds: int,
    checkpoints: Any,
    rng: Any,
    out: Any,
) -> tuple[int, int, int, int]:
    """`keep` newest batches an arm, in a ring. Returns (releases, events, arm or −1, rounds until
    it was known).
    """
    arms = probabilities.shape[0]
    plays, phases = np.zeros(arms, np.int64), np.zeros(arms, np.int64)
    open_, sums = np.zeros(arms, np.int64), np.zeros(arms, np.int64)
    totals, sizes = np.zeros((arms, keep), np.int64), np.zeros((arms, keep), np.int64)
    means, n, left = np.zeros(arms), np.zeros(arms, np.int64), np.zeros(arms, np.int64)
    pair = np.arange(arms)
    t, at, releases, events = 0, 0, 0, 0
    found, decided = (0, 0) if arms == 1 else (-1, 0)
    while t < rounds and found < 0:
        if releases > 0:
            pair = np.zeros(2, np.int64)
            pair[0] = leading(means, n, phases, eps)
            pair[1] = challenging(pair[0], means, plays, t, not published)
        for arm in pair:
            left[arm] = planned(first, phases[arm] + 1) - planned(first, phases[arm]) - open_[arm]
        each = left[pair].min()
        for arm in pair:
            times = min(each, rounds - t)
            if times > 0:
                at = play(arm, times, t, plays, checkpoints, out, at)
                t, events, open_[arm] = t + times, events + 1, open_[arm] + times
                sums[arm] += block_sum(rng, arm, times, values, probabilities)
            if times < each:
                return releases, events, -1, 0
        for arm in pair:
            if left[arm] == each:
                slot = phases[arm] % keep
                totals[arm, slot], sizes[arm, slot] = sums[arm] + laplace(rng, scale), open_[arm]
                n[arm] = sizes[arm].sum()
                means[arm] = totals[arm].sum() / (steps * n[arm])
                phases[arm], open_[arm], sums[arm], releases = phases[arm] + 1, 0, 0, releases + 1
        found, decided = settled(means, n, phases, first, keep, delta, eps, published), t
    if t < rounds:
        play(found, rounds - t, t, plays, checkpoints, out, at)
        events += 1
    return releases, events, found, decided if found >= 0 else 0


@jit
def play_bits(
    delta: float,
    truth: float,
    lazy: int,
    steps: int,
    values: Any,
    probabilities: Any,
    rounds: int,
    checkpoints: Any,
    rng: Any,
    out: Any,
) -> tuple[int, int, int, int]:
    """truth: probability of reporting the true bit. Returns (releases, events, arm or −1, rounds
    until it was known).
    """
    arms, levels = probabilities.shape
    chances = np.zeros(arms)
    for arm in range(arms):
        for level in range(levels):
            chances[arm] += values[level] * probabilities[arm, level] / steps
    chances = truth * chances + (1.0 - truth) * (1.0 - chances)
    plays, ones, means = np.zeros(arms, np.int64), np.zeros(arms, np.int64), np.zeros(arms)
    pair = np.arange(arms)
    t, at, releases, events = 0, 0, 0, 0
    found, decided = (0, 0) if arms == 1 else (-1, 0)
    while t < rounds and found < 0:
        if releases > 0:
            pair = np.zeros(2, np.int64)
            pair[0] = leading_bits(means, plays, t)
            pair[1] = challenging_bits(pair[0], means, plays)
        each = max(1, plays[pair].min() // lazy)
        for arm in pair:
            times = min(each, rounds - t)
            if times > 0:
                at = play(arm, times, t, plays, checkpoints, out, at)
                t, events = t + times, events + 1
                ones[arm] += binomial(rng, times, chances[arm])
            if times < each:
                return releases, events, -1, 0
        for arm in pair:
            means[arm] = ones[arm] / plays[arm]
        releases += len(pair)
        found, decided = settled_bits(means, plays, delta), t
    if t < rounds:
        play(found, rounds - t, t, plays, checkpoints, out, at)
        events += 1
    return releases, events, found, decided if found >= 0 else 0
