"""Estimates of an outcome's log-likelihood ratio, learnt from runs; an event is "the score is at
least c".

Each can be written as plain data and made again of it, so that a stranger can play the event.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from dpbandits.auditing.statistical.counting.features import Feature, columns
from dpbandits.core.inputs import Floats

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
