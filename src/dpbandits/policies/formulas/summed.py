"""Bounds of preset "sharp" where super arms are no bases: their arms' worth is taken for a sum.

A basis trades one element for another, so an element's place among the others is what counts, and
a prior that draws all to the centre helps. In a sum errors of many arms partly cancel, so each
needs less room; but what draws many arms the same way does not cancel, so the prior lets go of arms
that are far from the others, and of those that are hardly read.

Source: ours; decision 0027.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from dpbandits.policies.formulas.joint import normal_bound

FAR = 1.5
"""Standard deviations from the centre, beyond which an arm has a prior of its own."""

HARDLY = 4.0
"""Logarithm of t/n beyond which an arm is hardly read: in less than one round in e⁴ = 55."""

WIDEST = 1.0 / 12.0
"""Variance of a prior that knows nothing: that of a uniform mean."""


class ReadArm(NamedTuple):
    """What is known of one arm: of its released blocks the sum of precision times mean, and of
    precision; its released rounds.
    """

    weighted: float
    precision: float
    n: int


def summed_bound(
    known: ReadArm, factor: float, t: int, size: int, centre: float, spread: float, side: float
) -> float:
    """Upper (side 1) or lower (−1) bound of an arm's mean at round t, in super arms of up to `size`
    arms; factor: on the level; centre, spread: mean and variance of the prior.

    An arm that is hardly read may have nothing to do with the others. Then neither their means nor
    its own few rewards say how much it varies: it has the widest prior and the largest variance.
    """
    told = known.weighted, known.precision
    level = summed_level(factor, t, known.n, size)
    bound = normal_bound(*told, level, centre, own_spread(*told, centre, spread), side)
    late = math.log(t / known.n) - HARDLY
    if late <= 0.0:
        return bound
    kept = min(1.0, 4.0 * known.n / known.precision)  # of n rewards with the variance 1/4 at least
    told = kept * known.weighted, kept * known.precision
    alone = normal_bound(*told, factor * late, centre, WIDEST, side)
    return side * max(side * bound, side * alone)


def summed_level(factor: float, t: int, n: int, size: int) -> float:
    """`joint.shrinking_level` where super arms of up to `size` arms are no bases: with x = max(1,
    ln(t/n)), factor·min(x, (x + max(0, x − 4)²)/max(1, √(size/4), size/6)).

    An arm that is hardly read gets more room, up to all of it: without that, single runs stay with
    a wrong super arm.
    """
    x = max(1.0, math.log(t / n))
    apart = max(1.0, math.sqrt(size / 4.0), size / 6.0)
    return factor * min(x, (x + max(0.0, x - HARDLY) ** 2) / apart)


def own_spread(weighted: float, precision: float, centre: float, spread: float) -> float:
    """The prior's variance for one arm: `spread`, and for an arm that would be farther than `FAR`
    so much that it is not, up to `WIDEST`.

    weighted, precision: as in `joint.normal_bound`. The distance is that of the arm's released mean
    from the centre, in standard deviations of that mean under the prior, noise and all.
    """
    variance = 1.0 / precision
    distance = (weighted * variance - centre) / FAR
    return max(spread, min(WIDEST, distance * distance - variance))
