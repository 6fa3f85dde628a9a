"""Sums over many rounds by few terms, rounded up."""

from __future__ import annotations

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
def cells(first: int, last: int) -> Cells:
    """The whole numbers from `first` (at least 1) to `last`; none if there are none."""
    starts = [first] if first <= last else []
    while starts and (after := max(starts[-1] + 1, int(starts[-1] * RATIO))) <= last:
        starts.append(after)
    begin = np.array(starts, np.float64)
    return Cells(begin, np.append(begin[1:] - 1.0, float(last))[: len(begin)])


def falling_sum(term: Callable[[Floats], Floats], first: int, last: int) -> float:
    """At least the sum of `term` over first … last, for a term that never grows."""
    found = cells(first, last)
    return float(np.sum(found.sizes * term(found.first))) if len(found.first) else 0.0
