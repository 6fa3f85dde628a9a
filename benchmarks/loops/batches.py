"""Policies that release noisy sums of doubling batches: of single arms, of all actions, of a
matroid's elements.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.loops.common import laplace, loop


@loop
def lazy_ucb(means: Any, eps: float, rounds: int, rng: Any) -> Any:
    k = len(means)
    plays, n, mean = np.zeros(k, np.int64), np.zeros(k, np.int64), np.zeros(k)
    open_sum, open_n = np.zeros(k), np.zeros(k, np.int64)
    for t in range(1, rounds + 1):
        arm = t - 1
        if t > k:
            log_t, top = math.log(t), -math.inf
            for j in range(k):
                index = mean[j] + math.sqrt(3 * log_t / n[j]) + 3 * log_t / (eps * n[j])
                if index > top:
                    arm, top = j, index
        plays[arm] += 1
        open_n[arm] += 1
        open_sum[arm] += rng.random() < means[arm]
        if open_n[arm] == max(1, 2 * n[arm]):
            n[arm] = open_n[arm]
            mean[arm] = (open_sum[arm] + laplace(rng, 1 / eps)) / n[arm]
            open_n[arm], open_sum[arm] = 0, 0.0
    return plays


@loop
def lazy_ts(means: Any, eps: float, rounds: int, rng: Any) -> Any:
    k = len(means)
    plays, n, mean = np.zeros(k, np.int64), np.zeros(k, np.int64), np.zeros(k)
    open_sum, open_n = np.zeros(k), np.zeros(k, np.int64)
    for t in range(1, rounds + 1):
        arm = t - 1
        if t > k:
            log_t, top = math.log(t), -math.inf
            for j in range(k):
                c = min(1.0, max(0.0, mean[j] + 3 * log_t / (eps * n[j])))
                sample = rng.beta(c * n[j] + 1, (1 - c) * n[j] + 1)
                if sample > top:
                    arm, top = j, sample
        plays[arm] += 1
        open_n[arm] += 1
        open_sum[arm] += rng.random() < means[arm]
        if open_n[arm] == max(1, 2 * n[arm]):
            n[arm] = open_n[arm]
            mean[arm] = (open_sum[arm] + laplace(rng, 1 / eps)) / n[arm]
            open_n[arm], open_sum[arm] = 0, 0.0
    return plays


@loop
def rnm_ftnl(means: Any, eps: float, rounds: int, rng: Any) -> Any:
    """Follow the noisy leader, every reward of every round drawn."""
    k = len(means)
    plays, sums = np.zeros(k, np.int64), np.zeros(k)
    arm, left, size = 0, 1, 1
    for _ in range(rounds):
        plays[arm] += 1
        for j in range(k):
            sums[j] += rng.random() < means[j]
        left -= 1
        if left == 0:
            top = -math.inf
            for j in range(k):
                noisy = sums[j] + laplace(rng, 2 / eps)
                if noisy > top:
                    arm, top = j, noisy
                sums[j] = 0.0
            size *= 2
            left = size
    return plays


@loop
def dpucb_mat(vectors: Any, means: Any, rank: int, share: float, rounds: int, rng: Any) -> Any:
    """DPUCB-MAT: every round all indices, a sort, and a greedy with Gaussian elimination in
    floating point.
    """
    k, d = vectors.shape
    plays, n, mean = np.zeros(k, np.int64), np.zeros(k, np.int64), np.zeros(k)
    open_sum, open_n, index = np.zeros(k), np.zeros(k, np.int64), np.zeros(k)
    echelon, pivots, row, basis = (
        np.zeros((rank, d)),
        np.zeros(rank, np.int64),
        np.zeros(d),
        np.zeros(rank, np.int64),
    )
    for t in range(1, rounds + 1):
        log_t = math.log(rank * t)
        for j in range(k):
            index[j] = (
                mean[j] + math.sqrt(3 * log_t / n[j]) + 3 * log_t / (share * n[j]) if n[j] else 1e15
            )
        chosen = 0
        for arm in np.argsort(-index):
            row[:] = vectors[arm]
            for i in range(chosen):
                factor = row[pivots[i]]
                if factor != 0.0:
                    for c in range(d):
                        row[c] -= factor * echelon[i, c]
            column = np.argmax(np.abs(row))
            if abs(row[column]) > 1e-9:
                echelon[chosen] = row / row[column]
                pivots[chosen], basis[chosen] = column, arm
                chosen += 1
                if chosen == rank:
                    break
        for arm in basis:
            plays[arm] += 1
            open_n[arm] += 1
            open_sum[arm] += rng.random() < means[arm]
            if open_n[arm] == max(1, 2 * n[arm]):
                n[arm] = open_n[arm]
                mean[arm] = (open_sum[arm] + laplace(rng, 1 / share)) / n[arm]
                open_n[arm], open_sum[arm] = 0, 0.0
    return plays
