"""Intervals for the means of all arms that hold at all times at once, from released totals and the
laws of their noise. Proof: proofs/beliefs.md.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dpbandits.campaign.believing.believed import Believed
from dpbandits.campaign.believing.moments import NoiseMoments
from dpbandits.campaign.believing.rows import ArmHistory, ReleasedRow
from dpbandits.core.arrays import Floats


class Interval(NamedTuple):
    """Of one arm's mean, in [0, 1]. changed: the intervals of different times had nothing in
    common, so that the mean has changed meanwhile (or the arm is one of the few that intervals
    miss); the newest alone is given.
    """

    low: float
    high: float
    changed: bool = False


def level(history: Believed, arm: int, delta: float, thetas: int) -> float:
    """ln(1/share): an arm's share of the failure probability, for each theta on each side.

    The K arms at the start have delta/(K + 1) each, the a-th arm ever, added later, delta/(a(a +
    1)): together delta, whatever is added.
    """
    arms = history.first
    share = arms + 1 if arm < arms else (arm + 1) * (arm + 2)
    return math.log(2.0 * thetas * share / delta)


def counted_rows(history: Believed, arm: ArmHistory) -> tuple[ReleasedRow, ...]:
    """The rows that make an arm's interval, oldest first."""
    law = history.reader.law
    newest = arm.newest
    if law is None or newest is None or not arm.kept:
        return ()
    if law.redraws or arm.kept[-1].release == newest.release:
        return arm.kept
    return (*arm.kept, newest)


def least_bounds(totals: Floats, rounds: Floats, noise: Floats, u: Floats, at: Floats) -> Floats:
    """The least of the bounds of all thetas, shape (rows,), within [0, 1]: the closed form
    (1 − exp(−(u + θS + ln M(θ))/n))/(1 − e^(−θ)).

    noise: ln M, shape (rows, thetas). u: shape (rows,). at: the thetas.
    """
    exponent = (u[:, None] + at * totals[:, None] + noise) / rounds[:, None]
    bounds = -np.expm1(-np.maximum(exponent, 0.0)) / -np.expm1(-at)
    return np.asarray(np.clip(bounds.min(axis=1), 0.0, 1.0))


def row_bounds(rows: tuple[ReleasedRow, ...], noise: NoiseMoments, u: Floats) -> Floats:
    """Low and high of each row alone, for the mean of what is summed: shape (rows, 2)."""
    totals = np.array([row.total for row in rows])
    rounds = np.array([row.rounds for row in rows], np.float64)
    moments = noise.of_each(row.draws for row in rows)
    high = least_bounds(totals, rounds, moments, u, noise.thetas)
    low = 1.0 - least_bounds(rounds - totals, rounds, moments, u, noise.thetas)
    return np.stack([low, high], axis=1)


def row_levels(rows: int, u: float, redraws: bool) -> Floats:
    """Where noise is drawn anew, the m-th row has 1/(m(m + 1)) of its arm's share."""
    m = np.arange(1.0, rows + 1.0)
    return u + (np.log(m * (m + 1.0)) if redraws else np.zeros(rows))


def interval(history: Believed, arm: int, delta: float, noise: NoiseMoments) -> Interval | None:
    """The interval of one arm; None where nothing was released."""
    if history.arms[arm].newest is None:
        return None
    rows = counted_rows(history, history.arms[arm])
    if not rows:
        return Interval(0.0, 1.0)
    u = level(history, arm, delta, len(noise.thetas))
    bounds = row_bounds(rows, noise, row_levels(len(rows), u, noise.law.redraws))
    low, high = float(bounds[:, 0].max()), float(bounds[:, 1].min())
    if low > high:
        return Interval(*in_rewards(history, *map(float, bounds[-1])), changed=True)
    return Interval(*in_rewards(history, low, high))


def in_rewards(history: Believed, low: float, high: float) -> tuple[float, float]:
    """Bounds on the mean of what is summed as bounds on the mean reward, rounding included."""
    (zero, one), rounding = history.reader.ends, history.reader.rounding
    wide = one - zero
    return (
        max(0.0, min(1.0, (low - zero) / wide) - rounding),
        min(1.0, max(0.0, (high - zero) / wide) + rounding),
    )


def released_mean(history: Believed, row: ReleasedRow) -> float:
    """The mean of a row, held within [0, 1]."""
    zero, one = history.reader.ends
    return min(1.0, max(0.0, (row.total / row.rounds - zero) / (one - zero)))
