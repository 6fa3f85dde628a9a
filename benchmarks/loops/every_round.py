"""Policies that take in every reward at once, exact or as a local report: an index or a sample for
every arm in every round.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.loops.common import kl_up, laplace, loop


@loop
def ucb1(means: Any, eps: float, rounds: int, rng: Any) -> Any:
    k = len(means)
    plays, total = np.zeros(k, np.int64), np.zeros(k)
    for t in range(1, rounds + 1):
        arm = t - 1
        if t > k:
            log_t, top = math.log(t), -math.inf
            for j in range(k):
                index = total[j] / plays[j] + math.sqrt(2 * log_t / plays[j])
                if index > top:
                    arm, top = j, index
        plays[arm] += 1
        total[arm] += rng.random() < means[arm]
    return plays


@loop
def kl_ucb(means: Any, eps: float, rounds: int, rng: Any) -> Any:
    k = len(means)
    plays, total = np.zeros(k, np.int64), np.zeros(k)
    for t in range(1, rounds + 1):
        arm = t - 1
        if t > k:
            log_t, top = math.log(t), -math.inf
            for j in range(k):
                index = kl_up(total[j] / plays[j], log_t / plays[j])
                if index > top:
                    arm, top = j, index
        plays[arm] += 1
        total[arm] += rng.random() < means[arm]
    return plays


@loop
def thompson(means: Any, eps: float, rounds: int, rng: Any) -> Any:
    k = len(means)
    plays, total = np.zeros(k, np.int64), np.zeros(k)
    for _ in range(rounds):
        arm, top = 0, -1.0
        for j in range(k):
            sample = rng.beta(total[j] + 1, plays[j] - total[j] + 1)
            if sample > top:
                arm, top = j, sample
        plays[arm] += 1
        total[arm] += rng.random() < means[arm]
    return plays


@loop
def ldp_ucb(means: Any, eps: float, rounds: int, rng: Any) -> Any:
    k = len(means)
    plays, total = np.zeros(k, np.int64), np.zeros(k)
    for t in range(1, rounds + 1):
        arm = t - 1
        if t > k:
            log_t, top, forced = math.log(t), -math.inf, -1
            force = 4 * math.log(t + 1)
            for j in range(k):
                if plays[j] <= force and (forced < 0 or plays[j] < plays[forced]):
                    forced = j
                index = (
                    total[j] / plays[j]
                    + math.sqrt(2 * log_t / plays[j])
                    + math.sqrt(32 * log_t / (eps * eps * plays[j]))
                )
                if index > top:
                    arm, top = j, index
            if forced >= 0:
                arm = forced
        plays[arm] += 1
        total[arm] += (rng.random() < means[arm]) + laplace(rng, 1 / eps)
    return plays


@loop
def ldp_klucb(means: Any, eps: float, rounds: int, rng: Any) -> Any:
    k, keep = len(means), 1 / (1 + math.exp(-eps))
    plays, total = np.zeros(k, np.int64), np.zeros(k)
    for t in range(1, rounds + 1):
        arm = t - 1
        if t > k:
            log_t, top = math.log(t), -math.inf
            for j in range(k):
                index = kl_up(total[j] / plays[j], log_t / plays[j])
                if index > top:
                    arm, top = j, index
        plays[arm] += 1
        bit = rng.random() < means[arm]
        total[arm] += bit if rng.random() < keep else not bit
    return plays
