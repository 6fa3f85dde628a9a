"""Few arms are explored at a time, beside the best that are known as far as one knows (ours).

A basis of arms of which nothing is known loses on all of them at once, and noise that is drawn for
all of them is wide. With few in a basis that is good else, less is lost a round, and the noise of
what is released is narrow, so that the batch is short.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dpbandits.policies.formulas.joint import explored_at_once, hoped_for
from dpbandits.policies.super_arms.joint_statistics import JointStatistics, expected_means


def kept_of(s: JointStatistics, released: Sequence[int], size: int) -> tuple[int, ...]:
    """Those that are explored in the coming plan: of what is to be released the arms that are known
    least, the lower numbers first.

    size: the most arms of a super arm.
    """
    order = sorted(released, key=lambda arm: (s.precisions[arm], arm))
    return tuple(order[: explored_at_once(size)])


def weights_for(
    s: JointStatistics,
    upper: Sequence[float],
    as_they_are: Collection[int],
    centre: float,
    spread: float,
) -> list[float]:
    """Weights whose best basis explores few arms: upper bounds of these, and of the others what is
    expected of them; of one without a release what may be hoped for.

    as_they_are: arms whose upper bounds stay. centre, spread: mean and variance of the prior.
    """
    hope, expected = hoped_for(centre, spread), expected_means(s, centre, spread)
    return [
        upper[arm] if arm in as_they_are else expected[arm] if rounds else hope
        for arm, rounds in enumerate(s.rounds)
    ]
