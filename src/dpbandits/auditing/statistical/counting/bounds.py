"""Clopper–Pearson: what counts of an event in independent runs say for certain about epsilon, but
for a stated probability.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpbandits.core.arrays import Floats


class Bound(NamedTuple):
    """A certified epsilon: an event of at least this probability on one table, of at most that on
    the other.
    """

    epsilon: float
    least: float
    most: float
    runs: int  # counted on either table
    swapped: bool  # the event is likelier on the second table


def certified(likely: ArrayLike, unlikely: ArrayLike, runs: int, alpha: float) -> Floats:
    """ln(p/q) with p the Clopper–Pearson lower bound of one frequency and q the upper one of the
    other; wrong with probability alpha at most; at least 0.

    >>> float(certified(500, 500, 1000, 1e-6))
    0.0
    """
    low, high = probabilities(likely, unlikely, runs, alpha)
    with np.errstate(divide="ignore"):
        bound: Floats = np.maximum(0.0, np.log(low) - np.log(high))
    return bound


def probabilities(
    likely: ArrayLike, unlikely: ArrayLike, runs: int, alpha: float
) -> tuple[Floats, Floats]:
    """At least, of the first event, and at most, of the other (Clopper–Pearson); one of the two is
    wrong with probability alpha at most.
    """
    from scipy.stats import beta

    hits, others = np.asarray(likely, float), np.asarray(unlikely, float)
    low = np.where(hits > 0, beta.ppf(alpha / 2, np.maximum(hits, 1), runs - hits + 1), 0.0)
    high = np.where(
        others < runs, beta.ppf(1 - alpha / 2, others + 1, np.maximum(runs - others, 1)), 1.0
    )
    return low, high


def bound(counts: ArrayLike, runs: int, alpha: float) -> Bound:
    """The better of two directions, each counted at half of alpha.

    counts: runs in which the events came: (high on a, high on b, low on b, low on a).
    """
    hits = np.asarray(counts)
    ups = [float(certified(hits[2 * i], hits[2 * i + 1], runs, alpha / 2)) for i in (0, 1)]
    best = int(ups[1] > ups[0])
    low, high = probabilities(hits[2 * best], hits[2 * best + 1], runs, alpha / 2)
    return Bound(ups[best], float(low), float(high), runs, bool(best))


def reach(runs: int, alpha: float) -> float:
    """The largest epsilon that so many runs on either table can certify: of an event that always
    comes on one and never on the other.

    >>> round(reach(1000, 1e-6), 2), round(reach(300, 1e-6), 2)
    (4.18, 2.96)
    """
    return bound((runs, 0, 0, runs), runs, alpha).epsilon
