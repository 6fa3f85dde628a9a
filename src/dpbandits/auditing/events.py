"""Events that tell two samples of outcomes apart: features, scores learnt from them, and bounds on
how often they come.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbandits.core.inputs import Floats

# What is looked at in an outcome, a row of numbers: each number, how fine its lattice is, sums and
# differences of any two.
#
# Noise that is used twice cancels in a sum or a difference, of whichever rounds. The lattice is
# the place of a float's lowest bit: floats near 0 are finer than those near 1, so that a reward of
# 1 plus noise has no last bits where noise alone has some (Mironov 2012).


WIDE = 16
"""Numbers of an outcome of which every two are compared; of longer outcomes, neighbours in all and
every two at either end.
"""


class Feature(NamedTuple):
    """kind: "number", "lattice", "sum" or "difference"; of number i, or of numbers i and j."""

    kind: str
    i: int
    j: int = 0

    def of(self, rows: Floats) -> Floats:
        """A number a row."""
        match self.kind:
            case "lattice":
                return lattice(rows[:, self.i])
            case "sum":
                return rows[:, self.i] + rows[:, self.j]
            case "difference":
                return rows[:, self.j] - rows[:, self.i]
        return rows[:, self.i]


def lattice(numbers: Floats) -> Floats:
    """The power of two of the lowest bit that is set; of 0, and of what is no number, 0.

    >>> lattice(np.array([1.0, 6.0, 0.75, 0.0])).tolist()
    [0.0, 1.0, -2.0, 0.0]
    """
    mantissa, exponent = np.frexp(np.where(np.isfinite(numbers), numbers, 0.0))
    whole = (np.abs(mantissa) * 2.0**53).astype(np.int64)
    lowest = np.where(whole == 0, 1, whole & -whole)
    return np.where(whole == 0, 0.0, np.log2(lowest) + exponent - 53)


def features(rows: Floats) -> list[Feature]:
    """What can differ in these outcomes; what is the same in all of them is left out."""
    varied = np.flatnonzero((rows != rows[0]).any(axis=0)).tolist()
    ends = varied if len(varied) <= WIDE else [*varied[: WIDE // 2], *varied[-WIDE // 2 :]]
    pairs = dict.fromkeys([*pairwise(varied), *combinations(ends, 2)])
    found = [Feature("number", i) for i in varied]
    found += [Feature("lattice", i) for i in varied if (np.rint(rows[:, i]) != rows[:, i]).any()]
    return found + [Feature(kind, i, j) for i, j in pairs for kind in ("difference", "sum")]


def columns(found: list[Feature], rows: Floats) -> Floats:
    """Shape (rows, features)."""
    return (
        np.stack([feature.of(rows) for feature in found], axis=1)
        if found
        else np.zeros((len(rows), 0))
    )


TELLING = 24
"""Features an event is made of, at most."""

SAMPLE = 1500
"""Runs a side that choose them."""


def telling(a: Floats, b: Floats) -> list[Feature]:
    """The features in which a sample of these outcomes differs most, best first."""
    a, b = a[:SAMPLE], b[:SAMPLE]
    found = features(np.concatenate([a, b]))
    scores = [chi_square(feature.of(a), feature.of(b)) for feature in found]
    return [found[at] for at in np.argsort(scores, kind="stable")[::-1][:TELLING]]


def chi_square(a: Floats, b: Floats, cells: int = 16) -> float:
    """Chi-square of two samples in cells of like weight."""
    both = np.concatenate([a, b])
    edges = np.unique(np.quantile(both, np.linspace(0, 1, cells + 1)[1:-1], method="nearest"))
    counts = [
        np.bincount(np.searchsorted(edges, part, side="right"), minlength=len(edges) + 1)
        for part in (a, b)
    ]
    total = counts[0] + counts[1]
    return float(((counts[0] - counts[1]) ** 2 / np.maximum(total, 1)).sum() - len(edges))


# Estimates of an outcome's log-likelihood ratio, learnt from runs; an event is "the score is at
# least c".
#
# Each can be written as plain data and made again of it, so that a stranger can play the event.


BINS = (8, 64)
"""Cells each number is cut into: few where there are few runs or little to see, else many."""

JOINT, JOINT_BINS = 3, 8
"""Features that are looked at together, and cells each of them is cut into for that."""

KEYS = np.uint64


def keys_of(rows: Floats) -> NDArray[np.uint64]:
    """One number a row. Rows that should collide are one outcome, which is post-processing: no
    bound is spoilt.
    """
    whole = np.ascontiguousarray(rows).view(KEYS)
    weights = np.random.default_rng(12).integers(1, 2**63, rows.shape[1], dtype=KEYS) * KEYS(
        2
    ) + KEYS(1)
    with np.errstate(over="ignore"):
        mixed = (whole ^ (whole >> KEYS(31))) * weights
        keys: NDArray[np.uint64] = (mixed ^ (mixed >> KEYS(29))).sum(axis=1, dtype=KEYS)
    return keys


@final
@dataclass(frozen=True)
class LogRatioTable:
    """The log-ratio of every outcome that was counted; of others, 0."""

    known: NDArray[np.uint64]
    ratios: Floats

    def __call__(self, rows: Floats) -> Floats:
        keys = keys_of(rows)
        at = np.minimum(np.searchsorted(self.known, keys), len(self.known) - 1)
        return np.where(self.known[at] == keys, self.ratios[at], 0.0)

    def data(self, low: float, high: float) -> dict[str, Any]:
        """Outcomes on neither side of the thresholds are left out, as long as one that is not known
        is on neither side, too.
        """
        kept = (
            (self.ratios >= high) | (self.ratios <= low)
            if low < 0 < high
            else np.ones(len(self.known), bool)
        )
        return {
            "score": "outcomes",
            "known": [str(key) for key in self.known[kept]],
            "ratios": self.ratios[kept].tolist(),
        }


@final
@dataclass(frozen=True)
class Bins:
    """The sum over features of the log-ratio in each one's bin."""

    features: list[Feature]
    edges: list[Floats]
    ratios: list[Floats]

    def __call__(self, rows: Floats) -> Floats:
        total = np.zeros(len(rows))
        for feature, cuts, ratios in zip(self.features, self.edges, self.ratios, strict=True):
            total += ratios[np.searchsorted(cuts, feature.of(rows), side="right")]
        return total

    def data(self, low: float, high: float) -> dict[str, Any]:
        edges, ratios = ([x.tolist() for x in part] for part in (self.edges, self.ratios))
        return {
            "score": "bins",
            "features": [list(f) for f in self.features],
            "edges": edges,
            "ratios": ratios,
        }


@final
@dataclass(frozen=True)
class Joint:
    """The log-ratio in a cell of several features together."""

    features: list[Feature]
    edges: list[Floats]
    ratios: Floats

    def __call__(self, rows: Floats) -> Floats:
        return self.ratios[cell_numbers(columns(self.features, rows), self.edges)]

    def data(self, low: float, high: float) -> dict[str, Any]:
        edges = [x.tolist() for x in self.edges]
        return {
            "score": "joint",
            "features": [list(f) for f in self.features],
            "edges": edges,
            "ratios": self.ratios.tolist(),
        }


Scorer = LogRatioTable | Bins | Joint
"""Called with rows, it gives their scores; `data` is all that is needed to tell scores of at least
`high` and at most `low`.
"""


def scorer_of(data: dict[str, Any]) -> Scorer:
    """The score that was written down so."""
    match data["score"]:
        case "outcomes":
            known = np.array([int(key) for key in data["known"]], KEYS)
            return (
                LogRatioTable(known, np.array(data["ratios"], float))
                if len(known)
                else LogRatioTable(np.zeros(1, KEYS), np.zeros(1))
            )
        case "bins" | "joint" as kind:
            features, edges = (
                [Feature(str(k), int(i), int(j)) for k, i, j in data["features"]],
                [np.array(x, float) for x in data["edges"]],
            )
            if kind == "joint":
                return Joint(features, edges, np.array(data["ratios"], float))
            return Bins(features, edges, [np.array(x, float) for x in data["ratios"]])
    raise ValueError(f"Expected a score by outcomes, bins or joint, got {data['score']!r}.")


def cell_numbers(numbers: Floats, edges: list[Floats]) -> NDArray[np.int64]:
    """The cell of each row, counted in one number."""
    at = np.zeros(len(numbers), np.int64)
    for column, cuts in zip(numbers.T, edges, strict=True):
        at = at * (len(cuts) + 1) + np.searchsorted(cuts, column, side="right")
    return at


def by_table(a: Floats, b: Floats) -> LogRatioTable | None:
    """Outcomes counted whole; None where they hardly repeat."""
    keys = keys_of(np.concatenate([a, b]))
    known, where = np.unique(keys, return_inverse=True)
    if len(known) > len(keys) / 4:
        return None
    return LogRatioTable(known, log_ratios([where[: len(a)], where[len(a) :]], len(known)))


def by_bins(a: Floats, b: Floats, features: list[Feature], bins: int) -> Bins:
    edges, ratios = [], []
    for feature in features:
        one, other = feature.of(a), feature.of(b)
        cuts = cuts_of(np.concatenate([one, other]), bins)
        edges.append(cuts)
        ratios.append(
            log_ratios(
                [np.searchsorted(cuts, part, side="right") for part in (one, other)], len(cuts) + 1
            )
        )
    return Bins(features, edges, ratios)


def by_joint(a: Floats, b: Floats, features: list[Feature]) -> Joint:
    parts = [columns(features, rows) for rows in (a, b)]
    edges = [
        cuts_of(np.concatenate([part[:, j] for part in parts]), JOINT_BINS)
        for j in range(len(features))
    ]
    size = int(np.prod([len(cuts) + 1 for cuts in edges]))
    return Joint(features, edges, log_ratios([cell_numbers(part, edges) for part in parts], size))


def log_ratios(parts: Sequence[NDArray[np.int64]], size: int) -> Floats:
    """By cells, of which each run's is given, with half a run added to each."""
    hits = [np.bincount(part, minlength=size) + 0.5 for part in parts]
    return np.asarray(np.log(hits[0] / len(parts[0])) - np.log(hits[1] / len(parts[1])))


def cuts_of(numbers: Floats, bins: int) -> Floats:
    """Edges of cells of like weight, and of lighter and lighter ones at either end, where what is
    rare may be.
    """
    tails = 2.0 ** -np.arange(
        np.log2(bins) + 1, max(np.log2(bins) + 1, np.log2(len(numbers)) - 2), 2
    )
    shares = np.concatenate([tails, np.linspace(0, 1, bins + 1)[1:-1], 1 - tails])
    return np.unique(np.quantile(numbers, shares, method="nearest"))


# Events that tell two samples of outcomes apart, learnt on one part of the runs and counted on
# another.
#
# A scorer estimates each outcome's log-likelihood ratio; an event is "the score is at least c".
# Clopper–Pearson bounds on the counts of runs that took no part in the choice give a lower bound
# on epsilon that holds whatever was learnt, but for a stated probability.


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


# About how much a few runs tell of a pair of tables, so that pairs can be compared.


LEARNING = 1500
"""Runs a side from which on a heat learns events; of fewer, single numbers and whole outcomes are
looked at.
"""

MORE = 20
"""So many times the runs of a heat are thought to be counted in the end."""

ENDS = 32
"""Numbers that are looked at, at either end of an outcome that has many."""


def expected_bound(a: Floats, b: Floats, alpha: float) -> float:
    """About what these runs tell; of many runs, what more of them should certify."""
    if len(a) < LEARNING:
        return rough(a, b)
    half = len(a) // 2
    runs = MORE * (len(a) - half)
    counts = hits(choose_event(a[:half], b[:half], runs, alpha), a[half:], b[half:]).astype(float)
    likely, unlikely = (
        counts[at] + sign * np.sqrt(counts[at]) for at, sign in (([0, 2], -1), ([1, 3], 1))
    )
    return float(
        certified(
            MORE * np.maximum(0, likely), np.minimum(runs, MORE * unlikely), runs, alpha
        ).max()
    )


def rough(a: Floats, b: Floats) -> float:
    """By whole outcomes that repeat, by how many numbers of an outcome are told again in it, and by
    stretches of each number and of its lattice.
    """
    keys, where = np.unique(keys_of(np.concatenate([a, b])), return_inverse=True)
    best = told_by(where[: len(a)], where[len(a) :], len(keys))
    both = np.concatenate([a, b])
    if (np.rint(both) != both).any():  # decisions, which are whole, are told again and again
        again = (np.diff(np.sort(both, axis=1), axis=1) == 0).sum(axis=1)
        best = max(best, told_by(again[: len(a)], again[len(a) :], both.shape[1]))
    vary = np.flatnonzero((both != both[0]).any(axis=0)).tolist()
    # what comes late may be what tells
    for j in vary if len(vary) <= 2 * ENDS else vary[:ENDS] + vary[-ENDS:]:
        for column in (both[:, j], lattice(both[:, j])):
            cuts = cuts_of(column, 16)
            at = cell_numbers(column[:, None], [cuts])
            best = max(best, told_by(at[: len(a)], at[len(a) :], len(cuts) + 1, ordered=True))
    return best


def told_by(a: ArrayLike, b: ArrayLike, size: int, ordered: bool = False) -> float:
    """By single cells, and where they are in order by all up to one, or from one on."""
    one, other = (np.bincount(np.asarray(part), minlength=size) for part in (a, b))
    if ordered:
        one, other = (np.concatenate([h, np.cumsum(h), np.cumsum(h[::-1])]) for h in (one, other))
    return max(cautious_log_ratio(one, other), cautious_log_ratio(other, one))


def cautious_log_ratio(likely: ArrayLike, unlikely: ArrayLike) -> float:
    """The largest log-ratio of frequencies, each taken two standard deviations worse."""
    hits, others = np.asarray(likely, float), np.asarray(unlikely, float)
    return float(
        np.max(
            np.log(np.maximum(hits - 2 * np.sqrt(hits), 0.5))
            - np.log(others + 2 * np.sqrt(others) + 2)
        )
    )
