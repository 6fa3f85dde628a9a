"""About how much a few runs tell of a pair of tables, so that pairs can be compared."""

import numpy as np
from numpy.typing import ArrayLike

from dpbandits.auditing.statistical.counting.events import certified, choose_event, hits
from dpbandits.auditing.statistical.counting.features import lattice
from dpbandits.auditing.statistical.counting.scorers import cell_numbers, cuts_of, keys_of
from dpbandits.core.inputs import Floats

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
