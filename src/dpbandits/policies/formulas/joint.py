"""Formulas of super arms: bounds of reports, of sums, and of joint releases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

# The error of sums of means of reports; a report is a reward in [0, 1] plus a Laplace draw of scale
# 1/eps.
#
# Source: ours; proofs/cucb_ldp2_joint.md.


def report_variance(eps: float) -> float:
    """Return v = 1/4 + 2/eps², an upper bound of the variance of one report."""
    return 0.25 + 2.0 / (eps * eps)


def report_square(n: Any, level: float, eps: float) -> Any:
    """Return q(n) = (5/2)·v·u/n + 5·(u/(eps·n))² at level u, for a number or an array n. The mean
    of n reports has an error above √q, and the sum of several arms' means one above √Σq, with
    probability about e^−u.

    √(2Vu) + cu, the sub-gamma bound of variance V = vΣ1/n and scale c = max 1/(eps·n), is at most
    √(5Vu/2 + 5c²u²).
    """
    wide = level / (eps * n)
    return 2.5 * report_variance(eps) * level / n + 5.0 * wide * wide


def joint_level(t: int, size: int, eps: float) -> float:
    """Return u = 1 + L + K ln(1 + wΛ), at which √Σq is a bound for every super arm of at most K =
    `size` arms, for any history. It fails in round t with probability at most 2e^−L, L = ln t + 2
    ln ln t.
    """
    base = math.log(t) + 2.0 * math.log(max(1.0, math.log(t)))
    return raised_level(base, t, size, eps)


def raised_level(base: float, t: int, size: int, eps: float) -> float:
    """Return the same for another L. Λ = ln((2 + eps)t) is the width of a grid of exponents, and w
    = 2(L + K ln(2Λ + 2)) bounds the deviation of all arms together.
    """
    reach = math.log((2.0 + eps) * t)
    most = 2.0 * (base + size * math.log(2.0 * reach + 2.0))
    return 1.0 + base + size * math.log(1.0 + most * reach)


# Bounds of the preset "sharp" for super arms that are not bases: the value is treated as a sum.
#
# A basis exchanges one element for another, so an element's rank among the others matters, and a
# prior that shrinks all elements to the centre helps. In a sum, errors of many arms partly cancel,
# so each needs less width. Errors in one direction do not cancel, so arms that are far from the
# others, or hardly released, get a wider prior.
#
# Source: ours; decision 7.


FAR = 1.5
"""Standard deviations from the centre beyond which an arm has a separate prior."""

HARDLY = 4.0
"""Logarithm of t/n beyond which an arm counts as hardly released: in less than one round in e⁴ =
55.
"""

WIDEST = 1.0 / 12.0
"""Variance of an uninformative prior: that of a uniform mean."""


def summed_bound(
    weighted: float,
    precision: float,
    n: int,
    factor: float,
    t: int,
    size: int,
    centre: float,
    spread: float,
    side: float,
) -> float:
    """Return the upper (side 1) or lower (−1) bound of an arm's mean at round t.

    A hardly released arm may be unrelated to the others. Then neither their means nor its few
    rewards show its variance, so it gets the widest prior and the largest variance.

    Args:
        weighted: sum of precision times mean over the arm's released blocks.
        precision: sum of their precisions.
        n: the arm's released rounds.
        factor: factor on the level.
        t: next round.
        size: the most arms of a super arm.
        centre: mean of the prior.
        spread: variance of the prior.
        side: 1 or −1.
    """
    level = summed_level(factor, t, n, size)
    own = spread_for_arm(weighted, precision, centre, spread)
    bound = normal_bound(weighted, precision, level, centre, own, side)
    late = math.log(t / n) - HARDLY
    if late <= 0.0:
        return bound
    kept = min(1.0, 4.0 * n / precision)  # of n rewards with the variance 1/4 at least
    alone = normal_bound(kept * weighted, kept * precision, factor * late, centre, WIDEST, side)
    return side * max(side * bound, side * alone)


def summed_level(factor: float, t: int, n: int, size: int) -> float:
    """Return `shrinking_level` for super arms of up to `size` arms that are not bases: with x =
    max(1, ln(t/n)), factor·min(x, (x + max(0, x − 4)²)/max(1, √(size/4), size/6)).

    A hardly released arm gets more width, up to all of it: otherwise single runs settle on a wrong
    super arm.
    """
    x = max(1.0, math.log(t / n))
    divisor = max(1.0, math.sqrt(size / 4.0), size / 6.0)
    return factor * min(x, (x + max(0.0, x - HARDLY) ** 2) / divisor)


def spread_for_arm(weighted: float, precision: float, centre: float, spread: float) -> float:
    """Return the prior's variance for one arm: `spread`, or for an arm beyond `FAR` the variance at
    which it is not, up to `WIDEST`.

    The distance is that of the arm's released mean from the centre, in standard deviations of that
    mean under the prior, with noise.
    """
    variance = 1.0 / precision
    distance = (weighted * variance - centre) / FAR
    return max(spread, min(WIDEST, distance * distance - variance))


# Indices with the exact law of joint noise.
#
# total: an element's released total, in rewards, with noise; n: its rounds; drawn: number of its
# releases whose noise was drawn for k elements together, k = 0, 1, 2, …; u: the level, about ln t.
#
# Source: ours; proofs/joint_release.md. Any theta gives a valid bound (Chernoff), and a search
# approximates the best one, so an early stop costs width, never validity.


STEPS = 24
"""Golden-section steps: the bracket shrinks by 10⁵, and the bound is flat at its minimum."""

GOLDEN = 0.6180339887498949

WIDEST_PRIOR = (0.5, 1.0 / 12.0)
"""Mean and variance of the prior before it is fitted: those of a uniform law."""

FITTED = 6
"""Number of steps of the fit."""

AT_ONCE = 4
"""Up to this many elements are always explored together."""

EDGE = 1e-9
"""Distance of theta, as a share of eps, from 0 and from eps, where the moments end."""


def log_moment(dimension: int, share: float) -> float:
    """Return ln E e^(θz) of one coordinate of a joint draw, θ = share·eps, 0 < share < 1: [(1 −
    y)^(−k) − (1 + y)^(−k)]/(2ky), y = share. It is that of the continuous law, which is larger.
    """
    if share * dimension < 1e-4:
        return share * share * (dimension + 1.0) * (dimension + 2.0) / 6.0
    low, high = math.log1p(-share), math.log1p(share)
    spread = -math.expm1(dimension * (low - high))
    return -dimension * low + math.log(spread / (2.0 * dimension * share))


def rate_bound(
    share: float, total: float, n: int, drawn: Sequence[int], u: float, eps: float
) -> float:
    """Return the upper confidence bound of theta = share·eps at level u."""
    theta = share * eps
    noise = 0.0
    for dimension in range(1, len(drawn)):
        if drawn[dimension] > 0:
            noise += drawn[dimension] * log_moment(dimension, share)
    return -math.expm1(-(u + theta * total + noise) / n) / -math.expm1(-theta)


def rate_index(total: float, n: int, drawn: Sequence[int], u: float, eps: float) -> float:
    """Return min(1, inf over 0 < theta < eps of `rate_bound`), by golden section; the total is
    clipped to the range of n rewards.
    """
    total = min(float(n), max(0.0, total))
    left, right = EDGE, 1.0 - EDGE
    a, b = right - GOLDEN * (right - left), left + GOLDEN * (right - left)
    at_a = rate_bound(a, total, n, drawn, u, eps)
    at_b = rate_bound(b, total, n, drawn, u, eps)
    for _ in range(STEPS):
        if at_a <= at_b:
            right, b, at_b = b, a, at_a
            a = right - GOLDEN * (right - left)
            at_a = rate_bound(a, total, n, drawn, u, eps)
        else:
            left, a, at_a = a, b, at_b
            b = left + GOLDEN * (right - left)
            at_b = rate_bound(b, total, n, drawn, u, eps)
    return min(1.0, min(at_a, at_b))


def rate_lower(total: float, n: int, drawn: Sequence[int], u: float, eps: float) -> float:
    """Return the lower confidence bound: `rate_index` of the losses."""
    return 1.0 - rate_index(n - total, n, drawn, u, eps)


def joint_variance(dimension: int, eps: float) -> float:
    """Return (k + 1)(k + 2)/(3 eps²), the variance of one coordinate of a joint draw."""
    return (dimension + 1.0) * (dimension + 2.0) / (3.0 * eps * eps)


def block_precision(total: float, n: int, rounds: int, dimension: int, eps: float) -> float:
    """Return one over the variance of the noisy mean of b = `rounds` rewards: p(1 − p)/b + (k +
    1)(k + 2)/(3 eps² b²), k the dimension, the first term between .02/b and .25/b.

    p is the mean of all releases of the element (`total` over `n`, with this block), not of the
    block: otherwise a block with a low noisy mean would get a larger weight. Two rewards more pull
    it towards 1/2 (Laplace's rule), because one reward says nothing about its variance.
    """
    p = (total + 1.0) / (n + 2.0)
    sampling = min(0.25, max(0.02, p * (1.0 - p))) / rounds
    return 1.0 / (sampling + joint_variance(dimension, eps) / (rounds * rounds))


def fitted_prior(means: Sequence[float], precisions: Sequence[float]) -> tuple[float, float]:
    """Return mean and variance of a normal prior, fitted to the released means of all elements with
    positive precision (Paule and Mandel's estimate, in `FITTED` steps from `WIDEST_PRIOR`).
    """
    centre, spread = WIDEST_PRIOR
    for _ in range(FITTED):
        weights, first, second = 0.0, 0.0, 0.0
        for arm in range(len(means)):
            if precisions[arm] > 0.0:
                variance = 1.0 / precisions[arm]
                weight = 1.0 / (variance + spread)
                weights += weight
                first += weight * means[arm]
                gap = means[arm] - centre
                second += weight * (gap * gap - variance)
        if weights == 0.0:
            return centre, spread
        centre = min(0.999, max(0.001, first / weights))
        spread = min(1.0 / 12.0, max(4e-4, second / weights))
    return centre, spread


def shrinking_level(factor: float, t: int, n: int) -> float:
    """Return factor·ln(t/n), at least factor: the level of the preset "sharp" at round t for an
    element with n released rounds. An element with many releases needs no more width (as in MOSS,
    Audibert and Bubeck 2009), and one with few is released again.
    """
    return factor * max(1.0, math.log(t / n))


def normal_bound(
    weighted: float, precision: float, level: float, centre: float, spread: float, side: float
) -> float:
    """Return the mean of an element's posterior plus side·√(2·level·variance).

    Args:
        weighted: sum of precision times mean over its released blocks.
        precision: sum of their precisions.
        level: the level.
        centre: mean of the normal prior.
        spread: variance of the normal prior.
        side: 1 or −1.
    """
    both = precision + 1.0 / spread
    return (weighted + centre / spread) / both + side * math.sqrt(2.0 * level / both)


def explored_at_once(size: int) -> int:
    """Return the number of elements of a basis of `size` that the preset "sharp" explores in one
    plan: half of them, at least four. Chosen on separate instances (decision 7).
    """
    return max(AT_ONCE, (size + 1) // 2)


def hoped_for(centre: float, spread: float) -> float:
    """Return the weight of an arm without a release that is not explored on purpose: the prior's
    mean plus one standard deviation, so that it precedes arms that are known to be poor.
    """
    return centre + math.sqrt(spread)
