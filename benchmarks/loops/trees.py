"""Policies that read their sums through trees of noisy nodes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.loops.common import laplace, loop


@loop
def tree_ucb(means: Any, eps: float, rounds: int, rng: Any) -> Any:
    """DP-UCB, "tight": one tree an arm."""
    k, levels = len(means), 1 + int(math.log2(rounds))
    plays, mean = np.zeros(k, np.int64), np.zeros(k)
    exact, noised = np.zeros((k, levels + 1)), np.zeros((k, levels + 1))
    scale = levels / eps
    for t in range(1, rounds + 1):
        arm = t - 1
        if t > k:
            log_t, top = math.log(t), -math.inf
            for j in range(k):
                bits, m = 0, plays[j]
                while m:
                    bits, m = bits + (m & 1), m >> 1
                radius = scale * max(math.sqrt(bits), math.sqrt(4 * log_t)) * math.sqrt(32 * log_t)
                index = mean[j] + math.sqrt(2 * log_t / plays[j]) + radius / plays[j]
                if index > top:
                    arm, top = j, index
        plays[arm] += 1
        node, level, prefix = 1.0 * (rng.random() < means[arm]), 0, 0.0
        while plays[arm] >> level & 1 == 0:
            node += exact[arm, level]
            level += 1
        exact[arm, level] = node
        noised[arm, level] = node + laplace(rng, scale)
        for i in range(level, levels + 1):
            if plays[arm] >> i & 1:
                prefix += noised[arm, i]
        mean[arm] = prefix / plays[arm]
    return plays


@loop
def hybrid_ucb(means: Any, eps: float, rounds: int, rng: Any) -> Any:
    """Hybrid-UCB, corrected: segments of 1, 2, 4, … leaves."""
    k = len(means)
    plays, mean, closed, pending = np.zeros(k, np.int64), np.zeros(k), np.zeros(k), np.zeros(k)
    segment, leaves = np.zeros(k, np.int64), np.zeros(k, np.int64)
    exact, noised = np.zeros((k, 64)), np.zeros((k, 64))
    for t in range(1, rounds + 1):
        arm = t - 1
        if t > k:
            log_t, top = math.log2(t), -math.inf
            for j in range(k):
                bonus = (
                    6
                    * math.sqrt(8)
                    * log_t
                    * math.floor(math.log2(plays[j] + 1))
                    / (eps * plays[j])
                )
                index = mean[j] + math.sqrt(3 * log_t / plays[j]) + bonus
                if index > top:
                    arm, top = j, index
        plays[arm] += 1
        x = 1.0 * (rng.random() < means[arm])
        leaves[arm] += 1
        pending[arm] += x
        total = closed[arm]
        if leaves[arm] == 1 << segment[arm]:
            closed[arm] += pending[arm] + laplace(rng, 2 / eps)
            total = closed[arm]
            segment[arm] += 1
            leaves[arm], pending[arm] = 0, 0.0
        else:
            node, level = x, 0
            while leaves[arm] >> level & 1 == 0:
                node += exact[arm, level]
                level += 1
            exact[arm, level] = node
            noised[arm, level] = node + laplace(rng, 2 * segment[arm] / eps)
            for i in range(level, segment[arm] + 1):
                if leaves[arm] >> i & 1:
                    total += noised[arm, i]
        mean[arm] = total / plays[arm]
    return plays
