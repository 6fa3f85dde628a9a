"""What is known of arms that are released together, and what would be if all that was asked for had
been answered. Public values only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

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
