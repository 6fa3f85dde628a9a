"""Events that tell two samples of outcomes apart, learnt on one part of the runs and counted on
another.

A scorer estimates each outcome's log-likelihood ratio; an event is "the score is at least c".
Clopper–Pearson bounds on the counts of runs that took no part in the choice give a lower bound on
epsilon that holds whatever was learnt, but for a stated probability.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbandits.auditing.statistical.counting.features import telling
from dpbandits.auditing.statistical.counting.scorers import (
    BINS,
    JOINT,
    Scorer,
    by_bins,
    by_joint,
    by_table,
    scorer_of,
)
from dpbandits.core.inputs import Floats


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


FEW = (1, 4)
"""Of the most telling features, so many alone: what many say together drowns what one says."""

WORSE = 2.5
"""Standard deviations."""


class Event(NamedTuple):
    """A learnt event for each direction: the score reaches `high` (likelier on a), or falls to
    `low` (likelier on b).
    """

    score: Scorer
    high: float
    low: float

    def data(self) -> dict[str, Any]:
        """As plain data; an event that never comes has an infinite threshold, written as text."""
        return self.score.data(self.low, self.high) | {"high": str(self.high), "low": str(self.low)}


def event_of(data: dict[str, Any]) -> Event:
    return Event(scorer_of(data), float(data["high"]), float(data["low"]))


def learned_events(a: Floats, b: Floats) -> list[Scorer]:
    """Scores that grow with ln P[outcome | a]/P[outcome | b]: by bins of what differs most, by
    cells of some features together, and where outcomes repeat by counting them whole.
    """
    best = telling(a, b)
    table, scorers = by_table(a, b), list[Scorer]()
    if best:
        scorers += [by_bins(a, b, best[:few], BINS[-1]) for few in FEW if few < len(best)]
        scorers += [by_bins(a, b, best, bins) for bins in BINS]
        scorers += [by_joint(a, b, best[:JOINT])] if len(best) > 1 else []
    return [*scorers, table] if table is not None else scorers or [by_bins(a, b, [], BINS[0])]


def threshold(scores_a: Floats, scores_b: Floats, runs: int, alpha: float) -> tuple[float, float]:
    """The c whose event "score ≥ c" should certify most in `runs` further runs, its frequencies
    taken some standard deviations worse (the best of many looks better than it is); and that bound.
    """
    n, both = len(scores_a), np.concatenate([scores_a, scores_b])
    # events that come once in many runs
    rare = 1 - 2.0 ** -np.arange(8, max(8, math.log2(len(both))), 0.5)
    cuts = np.unique(
        np.quantile(both, np.concatenate([np.linspace(0, 1, 401), rare]), method="nearest")
    )
    more, less = (n - np.searchsorted(np.sort(s), cuts, side="left") for s in (scores_a, scores_b))
    more, less = (
        np.maximum(0, more - WORSE * np.sqrt(more)),
        np.minimum(n, less + WORSE * np.sqrt(less)),
    )
    bounds = certified(more * runs / n, less * runs / n, runs, alpha)
    best = int(np.argmax(bounds))
    return (float(cuts[best]), float(bounds[best])) if bounds[best] > 0 else (math.inf, 0.0)


def choose_event(a: Floats, b: Floats, runs: int, alpha: float) -> Event:
    """Learn scores on two thirds of these runs; choose one and its thresholds on the rest, for
    `runs` runs that will be counted.
    """
    cut = max(1, len(a) * 2 // 3)
    found = []
    for score in learned_events(a[:cut], b[:cut]):
        one, other = score(a[cut:]), score(b[cut:])
        (high, up), (low, down) = (
            threshold(one, other, runs, alpha),
            threshold(-other, -one, runs, alpha),
        )
        found.append((max(up, down), Event(score, high, -low)))
    return max(found, key=lambda pair: pair[0])[1]


def hits(event: Event, a: Floats, b: Floats) -> NDArray[np.int64]:
    """Runs in which the events came: (high on a, high on b, low on b, low on a)."""
    scores = event.score(a), event.score(b)
    counts = [
        (scores[0] >= event.high).sum(),
        (scores[1] >= event.high).sum(),
        (scores[1] <= event.low).sum(),
        (scores[0] <= event.low).sum(),
    ]
    return np.array(counts, np.int64)
