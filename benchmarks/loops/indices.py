"""An index of every arm at every release: the policies of growing batches as they are printed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.loops.common import kl_up, laplace, loop


@loop
def dp_index(mean: float, level: float, eps: float) -> float:
    """The largest q with d_eps(mean, q) <= level: in closed form where the infimum is inside."""
    p = min(1.0, max(0.0, mean))
    edge = p / (p + (1 - p) * math.exp(-eps))
    kl = 0.0
    if 0.0 < p < 1.0:
        kl = p * math.log(p / edge) + (1 - p) * math.log((1 - p) / (1 - edge))
    if level >= kl:
        return min(1.0, math.expm1(-(level + eps * p)) / math.expm1(-eps))
    return kl_up(p, level)


@loop
def dp_klucb(means: Any, eps: float, rounds: int, rng: Any, first: int, alpha: float) -> Any:
    k = len(means)
    plays, n, total = np.zeros(k, np.int64), np.zeros(k, np.int64), np.zeros(k)
    arm, left, sum_, size = 0, 0, 0, 0
    for t in range(1, rounds + 1):
        if left == 0:
            top, log_t = -math.inf, math.log(t)
            for j in range(k):
                index = dp_index(total[j] / n[j], log_t / n[j], eps) if n[j] else math.inf
                if index > top:
                    arm, top = j, index
            size = left = math.ceil((alpha - 1) * n[arm]) if n[arm] else first
            sum_ = 0
        plays[arm] += 1
        sum_ += rng.random() < means[arm]
        left -= 1
        if left == 0:
            total[arm] += sum_ + laplace(rng, 1 / eps)
            n[arm] += size
    return plays
