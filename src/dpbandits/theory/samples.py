"""How many values a stopping rule takes: at most, and at least."""

from __future__ import annotations

import math

from dpbandits.policies.formulas.bars import stopping_time_bound
from dpbandits.policies.formulas.divergences import kl

__all__ = ["free_sample_lower_bound", "private_sample_lower_bound", "stopping_time_bound"]


def private_sample_lower_bound(
    mean: float, width: float, *, alpha: float, beta: float, epsilon: float
) -> float:
    """R ln(1/β)/(12 ε α |μ|): an epsilon-DP rule takes more values with probability above ¼ (Sajed
    and Sheffet 2019, Theorem 3.4).

    On the law of this mean on −R and R, R = `width`; β below ¼.
    """
    if not mean:
        return math.inf
    return width * math.log(1.0 / beta) / (12.0 * epsilon * alpha * abs(mean))


def free_sample_lower_bound(mean: float, width: float, *, alpha: float, beta: float) -> float:
    """(1 − 2β) ln((1 − β)/β)/kl: the values any rule is expected to take, privacy or not.

    On the law of this mean on −R and R: the rule tells it from the one with mean μ(1 − α)/(1 + α)
    with error β on either side, and Wald's identity turns that into values (the argument of Dagum,
    Karp, Luby and Ross 2000; Ω(R² ln(1/β)/(α²μ²)). Corollary 3.6 of Sajed and Sheffet 2019 adds
    it to Theorem 3.4).
    """
    if not mean:
        return math.inf
    other = mean * (1.0 - alpha) / (1.0 + alpha)
    far = kl(0.5 + mean / (2.0 * width), 0.5 + other / (2.0 * width))
    return (1.0 - 2.0 * beta) * math.log((1.0 - beta) / beta) / far
