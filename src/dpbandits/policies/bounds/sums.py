"""Sums over many rounds by few terms, rounded up; and the means at which evidence is enough."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dpbandits.core.arrays import Floats

RATIO = 1.01
"""A cell's end is at most so many times its start, so a sum of falling terms is at most 1 % high
where its terms fall like 1/n.
"""


class Cells(NamedTuple):
    """Whole numbers in order, cut into cells: first and last number of each, as floats."""

    first: Floats
    last: Floats

    @property
    def sizes(self) -> Floats:
        return self.last - self.first + 1.0


@lru_cache(maxsize=256)
def whole_cells(first: int, last: int) -> Cells:
    """The whole numbers from `first` (at least 1) to `last`; none if there are none."""
    starts = [first] if first <= last else []
    while starts and (after := max(starts[-1] + 1, int(starts[-1] * RATIO))) <= last:
        starts.append(after)
    begin = np.array(starts, np.float64)
    return Cells(begin, np.append(begin[1:] - 1.0, float(last))[: len(begin)])


def falling_sum(term: Callable[[Floats], Floats], first: int, last: int) -> float:
    """At least the sum of `term` over first … last, for a term that never grows."""
    found = whole_cells(first, last)
    return float(np.sum(found.sizes * term(found.first))) if len(found.first) else 0.0


BISECTIONS = 60  # to the last bit of a mean


def reaches(target: float, levels: Floats, eps: float = math.inf) -> Floats:
    """The x <= target with d_eps(x, target) = level (kl for eps = inf), from below; −1 where even
    d_eps(0, target) is not above the level.
    """
    low, high = np.zeros(levels.shape), np.full(levels.shape, target)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2.0
        far = evidence(middle, target, eps) > levels
        low, high = np.where(far, middle, low), np.where(far, high, middle)
    return np.asarray(np.where(evidence(np.zeros(1), target, eps) <= levels, -1.0, low))


def evidence(x: Floats, target: float, eps: float) -> Floats:
    """d_eps(x, target) for x <= target, as `formulas.divergences` has it for one x."""
    if target >= 1.0:
        return np.asarray(eps * (1.0 - x)) if math.isfinite(eps) else np.full(x.shape, math.inf)
    some = np.maximum(x, 1e-300)
    plain = (1.0 - x) * (np.log1p(-x) - math.log1p(-target)) + x * np.log(some / target)
    if math.isinf(eps):
        return np.asarray(np.maximum(0.0, plain))
    shrunk = target * math.exp(-eps)
    edge = shrunk / (1.0 - target + shrunk)
    linear = -math.log1p(target * math.expm1(-eps)) - eps * x
    return np.asarray(np.where(x >= edge, np.maximum(0.0, plain), linear))
