"""An adversary that learns from runs on two tables which outcomes come of which, and states for
further outcomes how likely either table is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise
from typing import NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbandits.auditing.evidence import ALPHA, LARGEST, SCALE
from dpbandits.core.inputs import Floats, Integers

# What is looked at in an outcome, a row of numbers: each number, how fine its lattice is, sums and
# differences of any two, and the sum of all, which is how often the second of two arms was played.
#
# Noise that is used twice cancels in a sum or a difference, of whichever rounds. The lattice is
# the place of a float's lowest bit: floats near 0 are finer than those near 1, so that a reward of
# 1 plus noise has no last bits where noise alone has some (Mironov 2012).


WIDE = 16
"""Numbers of an outcome of which every two are compared; of longer outcomes, neighbours in all and
every two at either end.
"""


class Feature(NamedTuple):
    """kind: "number", "lattice", "sum" or "difference", of number i, or of numbers i and j; or
    "total", of all.
    """

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
            case "total":
                return np.asarray(rows.sum(axis=1))
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
    found += [Feature("total", 0)] if len(varied) > 2 else []
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
    scores = chi_square(columns(found, a), columns(found, b))
    return [found[at] for at in np.argsort(scores, kind="stable")[::-1][:TELLING]]


MARKS, SELDOM = 2, 0.05
"""Numbers of an outcome that are held for marks, at most, and how often a mark comes, at most."""


def marks(a: Floats, b: Floats) -> list[Feature]:
    """The numbers that nearly always have one of two values: another one may say what the rest of
    the outcome is worth. First those beside which outcomes differ most, then the rarest.
    """
    rows, rare = np.concatenate([a[:SAMPLE], b[:SAMPLE]]), list[tuple[float, float, int]]()
    for at in np.flatnonzero((rows != rows[0]).any(axis=0)).tolist():
        values, often = np.unique(rows[:, at], return_counts=True)
        if len(values) <= 3 and often.min() <= SELDOM * len(rows):
            one, other = (part[part[:, at] == values[often.argmin()]] for part in (a, b))
            enough = min(len(one), len(other)) > GLANCES
            score = float(chi_square(one, other, GLANCES).max()) if enough else 0.0
            rare.append((-score, float(often.min()), at))
    return [Feature("number", at) for *_, at in sorted(rare)[:MARKS]]


def chi_square(a: Floats, b: Floats, cells: int = 16) -> Floats:
    """Chi-square less its degrees of freedom of two samples in cells of like weight, by columns."""
    sides = [np.sort(part.T) for part in (a, b)]
    both = np.sort(np.concatenate(sides, axis=1))
    at = np.unique(np.rint(np.arange(1, cells) * (both.shape[1] - 1) / cells).astype(int))
    scores = np.zeros(len(both))
    for column, edges in enumerate(both[:, at]):
        edges = edges[np.concatenate(([True], edges[1:] != edges[:-1]))]
        # `numpy.diff` takes several times as long
        below = [np.searchsorted(side[column], edges) for side in sides]
        one, other = (
            np.concatenate((found, [side.shape[1]])) - np.concatenate(([0], found))
            for found, side in zip(below, sides, strict=True)
        )
        scores[column] = ((one - other) ** 2 / np.maximum(one + other, 1)).sum() - len(edges)
    return scores


GLANCES = 4
"""Cells for few runs."""


def unlike(a: Floats, b: Floats) -> float:
    """How unlike two samples are in the feature that differs most: chi-square by run, taken two
    standard deviations worse, so that few runs can be compared with many.
    """
    found = features(np.concatenate([a, b]))
    if not found:
        return 0.0
    beyond = chi_square(columns(found, a), columns(found, b), GLANCES)
    spread = np.sqrt(2 * (GLANCES - 1) + 4 * np.maximum(beyond, 0))
    return float((beyond - 2 * spread).max() / (len(a) + len(b)))


# Estimates of an outcome's log-likelihood ratio, learnt from runs.


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


Scorer = Callable[[Floats], Floats]
"""From rows to their scores. It can be sent to other processes."""


def in_table(known: NDArray[np.uint64], ratios: Floats, rows: Floats) -> Floats:
    """The log-ratio of every outcome that was counted; of others, 0."""
    keys = keys_of(rows)
    at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[at] == keys, ratios[at], 0.0)


def in_bins(bins: list[tuple[Feature, Floats, Floats]], rows: Floats) -> Floats:
    """The sum over features of the log-ratio in each one's bin."""
    total = np.zeros(len(rows))
    for feature, cuts, ratios in bins:
        total += ratios[np.searchsorted(cuts, feature.of(rows), side="right")]
    return total


def in_cells(features: list[Feature], edges: list[Floats], ratios: Floats, rows: Floats) -> Floats:
    """The log-ratio in a cell of several features together."""
    return ratios[cell_numbers(columns(features, rows), edges)]


def cell_numbers(numbers: Floats, edges: list[Floats]) -> NDArray[np.int64]:
    """The cell of each row, counted in one number."""
    at = np.zeros(len(numbers), np.int64)
    for column, cuts in zip(numbers.T, edges, strict=True):
        at = at * (len(cuts) + 1) + np.searchsorted(cuts, column, side="right")
    return at


def by_table(a: Floats, b: Floats) -> Scorer | None:
    """Outcomes counted whole; None where they hardly repeat."""
    keys = keys_of(np.concatenate([a, b]))
    known, where = np.unique(keys, return_inverse=True)
    if len(known) > len(keys) / 4:
        return None
    ratios = log_ratios([where[: len(a)], where[len(a) :]], len(known))
    return partial(in_table, known, ratios)


def by_bins(a: Floats, b: Floats, features: list[Feature], bins: int) -> Scorer:
    found = []
    for feature in features:
        parts = feature.of(a), feature.of(b)
        cuts = cuts_of(np.concatenate(parts), bins)
        cells = [np.searchsorted(cuts, part, side="right") for part in parts]
        found.append((feature, cuts, log_ratios(cells, len(cuts) + 1)))
    return partial(in_bins, found)


def by_joint(a: Floats, b: Floats, features: list[Feature]) -> Scorer:
    parts = [columns(features, rows) for rows in (a, b)]
    edges = [
        cuts_of(np.concatenate([part[:, j] for part in parts]), JOINT_BINS)
        for j in range(len(features))
    ]
    size = int(np.prod([len(cuts) + 1 for cuts in edges]))
    ratios = log_ratios([cell_numbers(part, edges) for part in parts], size)
    return partial(in_cells, features, edges, ratios)


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


# An adversary scores outcomes by what half of the runs taught, and calibrates the scores on the
# other half.


FEW = (1, 4)
"""Of the most telling features, so many alone: what many say together drowns what one says."""

CELLS = (4, 16)
"""Cells of like weight that scores are cut into; there are lighter ones at either end."""

DOUBTS = (0.5, 4.0)
"""Runs that are added to those of either table in a cell."""

WORSE, ENOUGH = 1.0, 500
"""Standard deviations, of so many runs and more; of fewer runs less, which could show nothing."""


TRIED = np.geomspace(0.01, 12, 180)
"""Claims that an adversary is compared with others by."""


@final
@dataclass(frozen=True)
class Adversary:
    """States for each outcome the log-odds of the first table, in steps of 1/16.

    Attributes:
        score: grows with the log-odds.
        edges: of the cells of scores.
        levels: stated in each cell.
        bound: about what so many further runs should certify.
    """

    score: Scorer
    edges: Floats
    levels: Integers
    bound: float

    def __call__(self, rows: Floats) -> Integers:
        at = np.searchsorted(self.edges, self.score(rows), side="right")
        return np.asarray(self.levels[at])


def learned_scores(a: Floats, b: Floats) -> list[Scorer]:
    """Scores that grow with ln P[outcome | a]/P[outcome | b]: by bins of what differs most, by
    cells of some features together, and where outcomes repeat by counting them whole.
    """
    best = telling(a, b)
    table, scorers = by_table(a, b), list[Scorer]()
    if best:
        scorers += [by_bins(a, b, best[:few], BINS[-1]) for few in FEW if few < len(best)]
        scorers += [by_bins(a, b, best, bins) for bins in BINS]
        scorers += [by_joint(a, b, best[:JOINT])] if len(best) > 1 else []
        rare = marks(a, b)
        scorers += [by_joint(a, b, [*rare, number]) for number in best[:JOINT] if rare]
    return [*scorers, table] if table is not None else scorers or [by_bins(a, b, [], BINS[0])]


def learn(a: Floats, b: Floats, runs: int) -> Adversary:
    """Return the adversary that should certify most in so many further runs, learnt from runs on
    either table.
    """
    found = list[Adversary]()
    for score in learned_scores(a[::2], b[::2]):
        scored = score(a[1::2]), score(b[1::2])
        for cells in CELLS:
            edges = cuts_of(np.concatenate(scored), cells)
            found += [calibrated(score, edges, scored, runs, doubt) for doubt in DOUBTS]
    return max(found, key=lambda adversary: adversary.bound)


def calibrated(
    score: Scorer, edges: Floats, scored: tuple[Floats, Floats], runs: int, doubt: float
) -> Adversary:
    """Log-odds of each cell of scores, with `doubt` runs added to either table's; and what bets
    would have won on the runs that were scored, each judged by the others.
    """
    a, b = scored
    counts = [
        np.bincount(np.searchsorted(edges, part, side="right"), minlength=len(edges) + 1)
        for part in scored
    ]
    on_a, on_b, many = counts[0].astype(float), counts[1].astype(float), (len(a), len(b))
    level = stated(on_a, on_b, many, doubt)
    of_a = gain(stated(np.maximum(on_a - 1, 0), on_b, many, doubt))
    of_b = gain(-stated(on_a, np.maximum(on_b - 1, 0), many, doubt))
    # the best of many looks better than it is
    doubtful = np.sqrt(of_a**2 @ on_a + of_b**2 @ on_b)
    won = of_a @ on_a + of_b @ on_b - WORSE * doubtful * min(1.0, sum(many) / ENOUGH)
    each = won * runs / max(1, sum(many)) / -np.log(ALPHA)
    enough = np.flatnonzero(each >= 1)
    if not len(enough):
        return Adversary(score, edges, level, float(each.max()) - 1)
    best = int(enough[-1])
    beyond = each[best] - 1  # of the way to the next claim
    return Adversary(score, edges, level, float(TRIED[best] * (1 + 0.02 * np.tanh(beyond))))


def stated(on_a: Floats, on_b: Floats, many: tuple[int, int], doubt: float) -> Integers:
    """Log-odds in steps of 1/16."""
    odds = np.log((on_a + doubt) / max(1, many[0])) - np.log((on_b + doubt) / max(1, many[1]))
    return np.clip(np.rint(SCALE * odds), -LARGEST, LARGEST).astype(np.int64)


def gain(levels: Integers) -> Floats:
    """The logarithm of what bets on a run of the first table win with these log-odds, shape
    (claims, levels).
    """
    odds, claims = levels[None, :] / SCALE, TRIED[:, None]
    won = np.logaddexp(0, -claims) - np.logaddexp(0, -odds)
    lost = np.logaddexp(0, claims) - np.logaddexp(0, -odds)
    return np.asarray(np.where(odds > claims, won, np.where(odds < -claims, lost, 0.0)))


# About how much a few runs tell of a pair of tables, so that pairs can be compared.


ENDS = 32
"""Numbers that are looked at, at either end of an outcome that has many."""


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
