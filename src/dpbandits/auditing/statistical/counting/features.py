"""What is looked at in an outcome, a row of numbers: each number, how fine its lattice is, sums and
differences of any two.

Noise that is used twice cancels in a sum or a difference, of whichever rounds. The lattice is the
place of a float's lowest bit: floats near 0 are finer than those near 1, so that a reward of 1 plus
noise has no last bits where noise alone has some (Mironov 2012).
"""

from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from dpbandits.core.inputs import Floats

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
