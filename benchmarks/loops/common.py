"""What the loops are compiled with, and what several of them draw or compute."""

from __future__ import annotations

import math
from typing import Any

import numba

loop = numba.njit(cache=False, error_model="numpy")


@loop
def kl_up(p: float, level: float) -> float:
    """KL upper confidence bound by bisection to 1e-6, as published implementations do it."""
    low, high = p, 1.0
    while high - low > 1e-6:
        q = (low + high) / 2
        kl = 0.0
        if p > 0:
            kl += p * math.log(p / q)
        if p < 1:
            kl += (1 - p) * math.log((1 - p) / (1 - q))
        if kl > level:
            high = q
        else:
            low = q
    return low


@loop
def laplace(rng: Any, scale: float) -> float:
    return scale * (rng.standard_exponential() - rng.standard_exponential())
