"""Events that tell two samples of outcomes apart, learnt on one part of the runs and counted on another.

A scorer estimates each outcome's log-likelihood ratio; an event is "the score is at least c". Clopper–Pearson bounds on the counts of
runs that took no part in the choice give a lower bound on epsilon that holds whatever was learnt.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Scorer = Callable[[Floats], Floats]

BINS = (8, 64)
"""Cells each number is cut into: few where there are few runs or little to see, else many."""


class Bound(NamedTuple):
    """A certified epsilon: an event of at least this probability on one table, of at most that on the other."""

    epsilon: float
    least: float
    most: float
    runs: int  # counted on either table
    swapped: bool  # the event is likelier on the second table


def certified(likely: ArrayLike, unlikely: ArrayLike, runs: int, alpha: float) -> Floats:
    """ln(p/q) with p the Clopper–Pearson lower bound of one frequency and q the upper one of the other; wrong with probability
    alpha at most; at least 0.

    >>> float(certified(500, 500, 1000, 1e-6))
    0.0
    """
    low, high = probabilities(likely, unlikely, runs, alpha)
    with np.errstate(divide="ignore"):
        bound: Floats = np.maximum(0.0, np.log(low) - np.log(high))
    return bound


def probabilities(likely: ArrayLike, unlikely: ArrayLike, runs: int, alpha: float) -> tuple[Floats, Floats]:
    """At least, of the first event, and at most, of the other (Clopper–Pearson); one of the two is wrong with probability alpha at most."""
    from scipy.stats import beta

    hits, others = np.asarray(likely, float), np.asarray(unlikely, float)
    low = np.where(hits > 0, beta.ppf(alpha / 2, np.maximum(hits, 1), runs - hits + 1), 0.0)
    high = np.where(others < runs, beta.ppf(1 - alpha / 2, others + 1, np.maximum(runs - others, 1)), 1.0)
    return low, high


def keys_of(rows: Floats) -> NDArray[np.uint64]:
    """One number a row. Rows that should collide are one outcome, which is post-processing: no bound is spoilt."""
    whole = np.ascontiguousarray(rows).view(np.uint64)
    weights = np.random.default_rng(12).integers(1, 2**63, rows.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    with np.errstate(over="ignore"):
        mixed = (whole ^ (whole >> np.uint64(31))) * weights
        keys: NDArray[np.uint64] = (mixed ^ (mixed >> np.uint64(29))).sum(axis=1, dtype=np.uint64)
    return keys


@final
@dataclass(frozen=True)
class Table:
    """The log-ratio of every outcome that was counted; of others, 0."""

    known: NDArray[np.uint64]
    ratios: Floats

    def __call__(self, rows: Floats) -> Floats:
        keys = keys_of(rows)
        at = np.minimum(np.searchsorted(self.known, keys), len(self.known) - 1)
        return np.where(self.known[at] == keys, self.ratios[at], 0.0)


@final
@dataclass(frozen=True)
class Bins:
    """The sum over numbers, and over differences of neighbouring ones, of the log-ratio in each one's bin."""

    edges: list[Floats]
    ratios: list[Floats]

    def __call__(self, rows: Floats) -> Floats:
        total = np.zeros(len(rows))
        for column, cuts, ratios in zip(features(rows).T, self.edges, self.ratios, strict=True):
            total += ratios[np.searchsorted(cuts, column, side="right")]
        return total


def learn(a: Floats, b: Floats) -> list[Scorer]:
    """Scores that grow with ln P[outcome | a]/P[outcome | b]: by bins of each number, and where outcomes repeat by counting them whole."""
    scorers: list[Scorer] = [by_bins(a, b, bins) for bins in BINS]
    keys = keys_of(np.concatenate([a, b]))
    if len(np.unique(keys)) <= len(keys) / 4:
        scorers.append(by_table(keys[: len(a)], keys[len(a) :]))
    return scorers


def by_table(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> Table:
    known, where = np.unique(np.concatenate([a, b]), return_inverse=True)
    hits = [np.bincount(part, minlength=len(known)) + 0.5 for part in (where[: len(a)], where[len(a) :])]
    return Table(known, np.log(hits[0]) - np.log(hits[1]))


def by_bins(a: Floats, b: Floats, bins: int) -> Bins:
    parts = [features(a), features(b)]
    both = np.concatenate(parts)
    edges = [np.unique(np.quantile(column, np.linspace(0, 1, bins + 1)[1:-1])) for column in both.T]
    ratios = []
    for j, cuts in enumerate(edges):
        hits = [np.bincount(np.searchsorted(cuts, part[:, j], side="right"), minlength=len(cuts) + 1) + 0.5 for part in parts]
        ratios.append(np.log(hits[0] / len(a)) - np.log(hits[1] / len(b)))
    return Bins(edges, ratios)


def features(rows: Floats) -> Floats:
    """The numbers that vary, and the differences of neighbouring ones."""
    return rows if rows.shape[1] == 1 else np.concatenate([rows, np.diff(rows, axis=1)], axis=1)


def threshold(scores_a: Floats, scores_b: Floats, runs: int, alpha: float) -> tuple[float, float]:
    """The c whose event "score ≥ c" should certify most in `runs` further runs, its frequencies taken a standard deviation worse;
    and that bound."""
    n = len(scores_a)
    cuts = np.unique(np.quantile(np.concatenate([scores_a, scores_b]), np.linspace(0, 1, 401)))
    more, less = (n - np.searchsorted(np.sort(s), cuts, side="left") for s in (scores_a, scores_b))
    more, less = np.maximum(0, more - np.sqrt(more)), np.minimum(n, less + np.sqrt(less))
    bounds = certified(more * runs / n, less * runs / n, runs, alpha)
    best = int(np.argmax(bounds))
    return (float(cuts[best]), float(bounds[best])) if bounds[best] > 0 else (math.inf, 0.0)


class Event(NamedTuple):
    """A learnt event for each direction: the score reaches `high` (likelier on a), or falls to `low` (likelier on b)."""

    score: Scorer
    high: float
    low: float


def choose(a: Floats, b: Floats, runs: int, alpha: float) -> Event:
    """Learn scores on two thirds of these runs; choose one and its thresholds on the rest, for `runs` runs that will be counted."""
    cut = len(a) * 2 // 3
    found = []
    for score in learn(a[:cut], b[:cut]):
        one, other = score(a[cut:]), score(b[cut:])
        (high, up), (low, down) = threshold(one, other, runs, alpha), threshold(-other, -one, runs, alpha)
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


def bound(counts: NDArray[np.int64], runs: int, alpha: float) -> Bound:
    """The better of the two directions, each counted at half of alpha."""
    ups = [float(certified(counts[2 * i], counts[2 * i + 1], runs, alpha / 2)) for i in (0, 1)]
    best = int(ups[1] > ups[0])
    low, high = probabilities(counts[2 * best], counts[2 * best + 1], runs, alpha / 2)
    return Bound(ups[best], float(low), float(high), runs, bool(best))
