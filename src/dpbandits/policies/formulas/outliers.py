"""A prior that lets go of arms that are far from the others.

Source: ours; decision 0027. A prior draws all arms to the centre. Where a super arm's worth is a
sum, arms that are far away on the same side are drawn the same way, and that does not cancel.
"""

from __future__ import annotations

FAR = 1.5
"""Standard deviations from the centre, beyond which an arm has a prior of its own."""

WIDEST = 1.0 / 12.0
"""Variance of a prior that knows nothing: that of a uniform mean."""


def own_spread(weighted: float, precision: float, centre: float, spread: float) -> float:
    """The prior's variance for one arm: `spread`, and for an arm that would be farther than `FAR`
    so much that it is not, up to `WIDEST`.

    weighted, precision: as in `joint.normal_bound`. The distance is that of the arm's released mean
    from the centre, in standard deviations of that mean under the prior, noise and all.
    """
    variance = 1.0 / precision
    distance = (weighted * variance - centre) / FAR
    return max(spread, min(WIDEST, distance * distance - variance))
