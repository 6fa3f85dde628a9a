"""What is known of arms that are released together, the normal bounds of all of them at once, and
what would be known if all that was asked for had been answered. Public values only.

What is said of all arms at once is bit for bit what `formulas/joint.py`, which the simulator
compiles, says of each; a turn has no time for a call of Python an arm.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dpbandits.core.arrays import Floats, floats_of
from dpbandits.mechanisms.joint import JointAnswer
from dpbandits.policies.formulas import joint


class JointStatistics(NamedTuple):
    """Public state, one entry an arm unless said.

    totals, rounds: released sum of rewards, and the rounds behind it (0: nothing released yet).
    drawn: how many of its releases had noise that was drawn for k arms together, k = 0 … K.
        precisions: of the mean of all releases, each weighted by one over its variance. weighted:
        the sum of weight times mean. t: rounds told.
    """

    totals: tuple[float, ...]
    rounds: tuple[int, ...]
    drawn: tuple[tuple[int, ...], ...]
    precisions: tuple[float, ...]
    weighted: tuple[float, ...]
    t: int


def fitted_to(s: JointStatistics) -> tuple[float, float]:
    """`joint.fitted_prior` of the released means."""
    precisions, weighted = floats_of(s.precisions), floats_of(s.weighted)
    released = precisions > 0.0
    precisions, weighted = precisions[released], weighted[released]
    means, variances = weighted / precisions, 1.0 / precisions
    centre, spread = joint.WIDEST_PRIOR
    for _ in range(joint.FITTED if len(means) else 0):
        weights, gaps = 1.0 / (variances + spread), means - centre
        second = summed_in_order(weights * (gaps * gaps - variances))
        total = summed_in_order(weights)
        centre = min(0.999, max(0.001, summed_in_order(weights * means) / total))
        spread = min(1.0 / 12.0, max(4e-4, second / total))
    return centre, spread


def summed_in_order(numbers: Floats) -> float:
    """Their sum as a loop adds them, one after the other; NumPy's own sum adds in pairs."""
    return float(np.add.accumulate(numbers)[-1])


def normal_bounds(
    s: JointStatistics,
    arms: Sequence[int],
    factor: float,
    centre: float,
    spread: float,
    side: float,
) -> list[float]:
    """`joint.normal_bound` at `joint.shrinking_level`, of these arms, which have releases."""
    if not arms:
        return []
    both = floats_of([s.precisions[arm] for arm in arms]) + 1.0 / spread
    weighted = floats_of([s.weighted[arm] for arm in arms])
    logs = floats_of([math.log((s.t + 1) / s.rounds[arm]) for arm in arms])
    width = np.sqrt(2.0 * (factor * np.maximum(1.0, logs)) / both)
    bounds: list[float] = ((weighted + centre / spread) / both + side * width).tolist()
    return bounds


def expected_means(s: JointStatistics, centre: float, spread: float) -> list[float]:
    """`joint.normal_bound` at level 0, of all arms: without a release the prior's mean."""
    both = floats_of(s.precisions) + 1.0 / spread
    means: list[float] = ((floats_of(s.weighted) + centre / spread) / both).tolist()
    return means


def folded(
    s: JointStatistics, blocks: Iterable[tuple[int, JointAnswer]], epsilon: float, t: int
) -> JointStatistics:
    """The statistics with these answers, each about an arm, after t rounds."""
    totals, rounds = list(s.totals), list(s.rounds)
    drawn = list(s.drawn)
    precisions, weighted = list(s.precisions), list(s.weighted)
    for arm, (total, count, k) in blocks:
        totals[arm] += total
        rounds[arm] += count
        precision = joint.block_precision(totals[arm], rounds[arm], count, k, epsilon)
        drawn[arm] = (*drawn[arm][:k], drawn[arm][k] + 1, *drawn[arm][k + 1 :])
        precisions[arm] += precision
        weighted[arm] += precision * total / count
    means = tuple(precisions), tuple(weighted)
    return JointStatistics(tuple(totals), tuple(rounds), tuple(drawn), *means, t)


def as_if_all_read(
    s: JointStatistics, asked: Mapping[Any, int], epsilon: float
) -> tuple[JointStatistics, Counter[int]]:
    """The statistics as they would stand if all open blocks had been answered, and had left the
    means where they are; and the rounds asked for of arms without a release.

    asked: rounds, by number of the block and the arms that will be read of it.
    """
    flying, t = Counter[int](), s.t
    for (_, released), rounds in asked.items():
        t += rounds
        flying.update({arm: rounds for arm in released if not s.rounds[arm]})
        known = [arm for arm in released if s.rounds[arm]]
        means = [(arm, s.weighted[arm] / s.precisions[arm]) for arm in known]
        answers = [(arm, JointAnswer(m * rounds, rounds, len(released))) for arm, m in means]
        s = folded(s, answers, epsilon, t)
    return s._replace(t=t), flying
