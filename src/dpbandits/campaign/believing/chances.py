"""How probable it is that an arm is the best: a model's figure, beside the intervals, which need no
model.

The model: a uniform prior on [0, 1] for every mean, and for a released total a normal law with the
variance of 0/1 rewards of that mean plus that of the noise inside. Integrated numerically: the same
releases always give the same figure.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpbandits.campaign.believing.believed import Believed
from dpbandits.campaign.believing.moments import draws_variance
from dpbandits.campaign.believing.rows import ReleasedRow
from dpbandits.core.arrays import Floats
from dpbandits.mechanisms.meaning import AnswerLaw

POINTS, MOST_POINTS, REACH = 801, 4096, 9.0
"""Points of an arm's own grid and of the common one; standard deviations that the former covers."""


def chances_to_be_best(
    history: Believed,
    rows: dict[int, ReleasedRow],
    law: AnswerLaw,
    unseen: Sequence[int] = (),
) -> dict[int, float]:
    """For each of these arms, the probability that its mean is the largest among theirs.

    unseen: arms of which nothing was released. The model's prior is all that is known of them.
    """
    if not rows:
        return {}
    posteriors = [posterior(history, row, draws_variance(law, row.draws)) for row in rows.values()]
    posteriors += [prior()] * len(unseen)
    common = np.unique(np.concatenate([grid[:: (POINTS - 1) // 80] for grid, _ in posteriors]))
    if len(common) > MOST_POINTS:
        common = common[np.linspace(0, len(common) - 1, MOST_POINTS).astype(np.intp)]
    below = np.stack([np.interp(common, *each, left=0.0, right=1.0) for each in posteriors])
    middle = np.maximum((below[:, 1:] + below[:, :-1]) / 2.0, 1e-300)
    logs = np.log(middle)
    others = np.exp(logs.sum(axis=0) - logs)
    chance = (np.diff(below, axis=1) * others).sum(axis=1)
    return dict(zip([*rows, *unseen], (chance / chance.sum()).tolist(), strict=True))


def prior() -> tuple[Floats, Floats]:
    """Points of [0, 1], each of which is also the prior probability that a mean is no larger."""
    means = np.linspace(0.0, 1.0, POINTS)
    return means, means


def posterior(history: Believed, row: ReleasedRow, variance: float) -> tuple[Floats, Floats]:
    """Points of [0, 1] and the posterior probability that the mean is no larger.

    variance: of the noise inside the row's total.
    """
    zero, one = history.reader.ends
    low, high = plausible(row, variance)
    ends = [(end - zero) / (one - zero) for end in (low, high)]
    low, high = max(0.0, ends[0]), min(1.0, ends[1])
    if low >= high:  # noise put the total far outside
        low, high = 0.0, 1.0
    means = np.linspace(low, high, POINTS)
    summed = zero + means * (one - zero)
    spread = row.rounds * summed * (1.0 - summed) + variance + 1e-9
    score = -0.5 * ((row.total - row.rounds * summed) ** 2 / spread + np.log(spread))
    density = np.exp(score - score.max())
    mass = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2.0)])
    return means, mass / mass[-1]


def plausible(row: ReleasedRow, variance: float) -> tuple[float, float]:
    """The means of what is summed within `REACH` standard deviations of the total: the roots of
    (S − nx)² = c²(nx(1 − x) + v).
    """
    n, total, c2 = float(row.rounds), row.total, REACH * REACH
    a, half = n * n + c2 * n, total * n + c2 * n / 2.0
    inside = half * half - a * (total * total - c2 * variance)
    if inside <= 0.0:
        return 0.0, 1.0
    root = inside**0.5
    return (half - root) / a, (half + root) / a
