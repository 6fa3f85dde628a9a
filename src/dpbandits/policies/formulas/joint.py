"""Formulas of super arms: bounds of reports, of sums, and of joint releases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

# How far sums of means of reports may miss; a report is a reward in [0, 1] and a Laplace draw of
# scale 1/eps.
#
# Source: ours; proofs/cucb_ldp2_joint.md.


def report_variance(eps: float) -> float:
    """v = 1/4 + 2/eps², no less than the variance of one report."""
    return 0.25 + 2.0 / (eps * eps)


def report_square(n: Any, level: float, eps: float) -> Any:
    """q(n) = (5/2)·v·u/n + 5·(u/(eps·n))² at level u, n a number or an array: the mean of n reports
    misses by √q, and the sum of several arms' means by √Σq, with probability about e^−u.

    √(2Vu) + cu, the sub-gamma bound of variance V = vΣ1/n and scale c = max 1/(eps·n), is at most
    √(5Vu/2 + 5c²u²).
    """
    wide = level / (eps * n)
    return 2.5 * report_variance(eps) * level / n + 5.0 * wide * wide


def joint_level(t: int, size: int, eps: float) -> float:
    """u = 1 + L + K ln(1 + wΛ), of which √Σq is a bound for every super arm of at most K = `size`
    arms, however counts came about: it fails in round t with probability at most 2e^−L, L = ln t +
    2 ln ln t.
    """
    base = math.log(t) + 2.0 * math.log(max(1.0, math.log(t)))
    return raised_level(base, t, size, eps)


def raised_level(base: float, t: int, size: int, eps: float) -> float:
    """The same for another L. Λ = ln((2 + eps)t) is the width of a grid of exponents, w = 2(L + K
    ln(2Λ + 2)) what all arms together can deviate by.
    """
    reach = math.log((2.0 + eps) * t)
    most = 2.0 * (base + size * math.log(2.0 * reach + 2.0))
    return 1.0 + base + size * math.log(1.0 + most * reach)


# Bounds of preset "sharp" where super arms are no bases: their arms' worth is taken for a sum.
#
# A basis trades one element for another, so an element's place among the others is what counts,
# and a prior that draws all to the centre helps. In a sum errors of many arms partly cancel, so
# each needs less room; but what draws many arms the same way does not cancel, so the prior lets go
# of arms that are far from the others, and of those that are hardly read.
#
# Source: ours; decision 7.


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


# Indices that know the exact law of joint noise: how much a released total with this very noise
# speaks against a mean.
#
# total: an element's released total, in rewards, noise included; n: its rounds; drawn: how many of
# its releases had noise that was drawn for k elements together, k = 0, 1, 2, …; u: the level,
# about ln t.
#
# Source: ours; proofs/joint_release.md. One theta alone gives a valid bound (Chernoff); the best
# one is looked for, so an early stop of the search costs width, never validity.


STEPS = 24
"""Of a golden section: the bracket shrinks by 10⁵, and the bound is flat at its minimum."""

GOLDEN = 0.6180339887498949

WIDEST_PRIOR = (0.5, 1.0 / 12.0)
"""Mean and variance of the prior before anything is fitted: those of a uniform law."""

FITTED = 6
"""Steps in which it is."""

AT_ONCE = 4
"""So many elements, or fewer, are explored together in any case."""

EDGE = 1e-9
"""theta stays this far, as a share of eps, from 0 and from eps, where the moments end."""


def log_moment(dimension: int, share: float) -> float:
    """ln E e^(θz) of one coordinate of a joint draw, θ = share·eps, 0 < share < 1:
    [(1 − y)^(−k) − (1 + y)^(−k)]/(2ky), y = share. The continuous law's, which is the larger.
    """
    if share * dimension < 1e-4:
        return share * share * (dimension + 1.0) * (dimension + 2.0) / 6.0
    low, high = math.log1p(-share), math.log1p(share)
    spread = -math.expm1(dimension * (low - high))
    return -dimension * low + math.log(spread / (2.0 * dimension * share))


def rate_bound(
    share: float, total: float, n: int, drawn: Sequence[int], u: float, eps: float
) -> float:
    """The upper confidence bound that this theta = share·eps gives at level u."""
    theta = share * eps
    noise = 0.0
    for dimension in range(1, len(drawn)):
        if drawn[dimension] > 0:
            noise += drawn[dimension] * log_moment(dimension, share)
    return -math.expm1(-(u + theta * total + noise) / n) / -math.expm1(-theta)


def rate_index(total: float, n: int, drawn: Sequence[int], u: float, eps: float) -> float:
    """min(1, inf over 0 < theta < eps of `rate_bound`), by golden section; the total is clipped to
    what n rewards can be.
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
    """The lower confidence bound: what `rate_index` says of the losses."""
    return 1.0 - rate_index(n - total, n, drawn, u, eps)


def joint_variance(dimension: int, eps: float) -> float:
    """(k + 1)(k + 2)/(3 eps²): the variance of one coordinate of a joint draw."""
    return (dimension + 1.0) * (dimension + 2.0) / (3.0 * eps * eps)


def block_precision(total: float, n: int, rounds: int, dimension: int, eps: float) -> float:
    """One over the variance of the noised mean of b = `rounds` rewards:
    p(1 − p)/b + (k + 1)(k + 2)/(3 eps² b²), k the dimension, the first held between .02/b and
    .25/b.

    total, n: all that was released of the element, this block included. p is the mean of all that
    and not of the block: a block whose noise made it small would count for more. Two rewards more
    pull it towards 1/2 (Laplace's rule), for one reward says nothing of its variance.
    """
    p = (total + 1.0) / (n + 2.0)
    sampling = min(0.25, max(0.02, p * (1.0 - p))) / rounds
    return 1.0 / (sampling + joint_variance(dimension, eps) / (rounds * rounds))


def fitted_prior(means: Sequence[float], precisions: Sequence[float]) -> tuple[float, float]:
    """Mean and variance of a normal prior, fitted to the released means of all elements with a
    precision above 0 (Paule and Mandel's estimate, in `FITTED` steps from `WIDEST_PRIOR`).
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
    """factor·ln(t/n), at least factor: the level of preset "sharp" at round t, for an element with
    n released rounds. What was read often needs no more room (as in MOSS, Audibert and Bubeck
    2009); what was read once is looked at again.
    """
    return factor * max(1.0, math.log(t / n))


def normal_bound(
    weighted: float, precision: float, level: float, centre: float, spread: float, side: float
) -> float:
    """Mean of an element's posterior under the normal prior (centre, spread: its variance), plus
    side·√(2·level·variance).

    weighted, precision: of its released blocks, the sum of precision times mean, and of precision.
    """
    both = precision + 1.0 / spread
    return (weighted + centre / spread) / both + side * math.sqrt(2.0 * level / both)


def explored_at_once(size: int) -> int:
    """How many elements of a basis of `size` preset "sharp" explores in one plan: half of them, and
    four where half is fewer. Chosen on instances of their own (decision 7).
    """
    return max(AT_ONCE, (size + 1) // 2)


def hoped_for(centre: float, spread: float) -> float:
    """What an arm without a release counts for where it is not explored on purpose: a standard
    deviation more than the mean of the prior, so that it goes before what is known to be poor.
    """
    return centre + math.sqrt(spread)
