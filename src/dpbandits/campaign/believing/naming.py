"""Whether the best arm can be named, and how many more people that would take."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from dpbandits.campaign.believing.believed import Believed
from dpbandits.campaign.believing.intervals import (
    Interval,
    level,
    released_mean,
    row_bounds,
    row_levels,
)
from dpbandits.campaign.believing.moments import NoiseMoments
from dpbandits.campaign.believing.rows import ReleasedRow

MOST_PEOPLE = 2**50
"""Nobody has more; arms that take more to tell apart count as alike."""


def best_apart(intervals: Mapping[int, Interval]) -> int | None:
    """The arm whose interval lies above all others'; None if there is none. It is the best with the
    intervals' confidence.
    """
    if len(intervals) < 2:
        return None
    leader = max(intervals, key=lambda arm: intervals[arm].low)
    others = (interval.high for arm, interval in intervals.items() if arm != leader)
    return leader if intervals[leader].low > max(others) else None


def more_people(
    history: Believed,
    rows: Mapping[int, ReleasedRow],
    intervals: Mapping[int, Interval],
    delta: float,
    noise: NoiseMoments,
) -> int | None:
    """About how many more people it takes to name the best arm, if the means are as released and
    they are shared equally among the arms in question; None if two leading means are alike.

    A forecast, no promise: two digits of it are given.
    """
    if len(rows) < 2:
        return None
    means = {arm: released_mean(history, row) for arm, row in rows.items()}
    leader = max(means, key=lambda arm: means[arm])
    least = intervals[leader].low
    rivals = [arm for arm in rows if arm != leader and intervals[arm].high >= least]
    if not rivals or means[leader] <= max(means[arm] for arm in rivals):
        return None
    group = [leader, *rivals]

    levels = np.array([level_alone(history, arm, delta, noise) for arm in group])

    def apart(each: int) -> bool:
        grown = tuple(grown_row(history, rows[arm], each) for arm in group)
        bounds = row_bounds(grown, noise, levels)
        return bool(bounds[0, 0] > bounds[1:, 1].max())

    high = 1
    while not apart(high):
        high *= 2
        if high > MOST_PEOPLE:
            return None
    low = high // 2
    while high - low > max(1, high // 64):
        middle = (low + high) // 2
        low, high = (low, middle) if apart(middle) else (middle, high)
    return two_digits(high * len(group))


def level_alone(history: Believed, arm: int, delta: float, noise: NoiseMoments) -> float:
    """ln(1/share) of an arm's next row."""
    u = level(history, arm, delta, len(noise.thetas))
    rows = len(history.arms[arm].kept) + 1
    return float(row_levels(rows, u, noise.law.redraws)[-1])


def grown_row(history: Believed, row: ReleasedRow, people: int) -> ReleasedRow:
    """The row after so many more people, at the same mean. Reports bring a draw each; a batch that
    adds a half brings one, as a rule.
    """
    rounds = row.rounds + people
    draws = row.draws
    if history.reader.reports:
        draws = ((1, rounds),)
    elif draws and not (history.reader.law and history.reader.law.redraws):
        (kind, count), *rest = draws
        extra = math.ceil(math.log(rounds / row.rounds) / math.log(1.5))
        draws = ((kind, count + extra), *rest)
    return ReleasedRow(row.release, row.total * rounds / row.rounds, rounds, draws)


def two_digits(number: int) -> int:
    """Rounded up.

    >>> two_digits(12_345), two_digits(7)
    (13000, 7)
    """
    unit: int = 10 ** max(0, len(str(number)) - 2)
    return -(-number // unit) * unit
