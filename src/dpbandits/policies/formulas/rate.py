"""What a released total says against a mean when every draw of Laplace noise in it is counted: the
exact rate of one arm.

x: the arm's released mean; q: the mean it is held against; n: its rounds; draws: how many Laplace
draws are in the total.

Source: ours; proofs/dp_rate_imed.md. Every theta in [0, eps) gives a valid (Chernoff) value, so an
early stop of the search costs size, never validity.
"""

from __future__ import annotations

import math

from dpbandits.policies.formulas.divergences import clip01, d_eps
from dpbandits.policies.formulas.schedules import next_rung, slowing_total

NEWTON = 60
"""Steps at most; about five are taken."""

MARGIN = 0.7
"""By so much is an arm settled further than the leader's rounds ask for now."""

NEAREST = 1.0 - 2.0**-40
"""theta/eps stays below: at eps itself the moment of the noise ends."""


def log_laplace(q: float, theta: float) -> float:
    """ln(1 − q + q e^−θ), also where q is 1 or θ is large."""
    if q >= 1.0:
        return -theta
    if theta < 1.0:
        return math.log1p(q * math.expm1(-theta))
    return math.log(1.0 - q + q * math.exp(-theta))


def exponent(share: float, x: float, q: float, n: int, draws: int, eps: float) -> float:
    """−θnx − n ln(1 − q + q e^−θ) + draws·ln(1 − θ²/eps²) at θ = share·eps."""
    theta = share * eps
    noise = math.log1p(-share) + math.log1p(share)
    return -n * (theta * x + log_laplace(q, theta)) + draws * noise


def best_share(x: float, q: float, n: int, draws: int, eps: float) -> float:
    """θ/eps at which `exponent`, which is concave, is largest; x < q.

    Newton's method on the derivative, kept inside a bracket. It starts at the smaller of two points
    beyond the maximum: that without noise, and that with the slope's largest value everywhere.
    """
    slope = eps * n * (q - x)
    low, high = 0.0, min(NEAREST, slope / (draws + math.hypot(draws, slope)))
    if x > 0.0 and q < 1.0:
        high = min(high, math.log(q * (1.0 - x) / (x * (1.0 - q))) / eps)
    share = high
    for _ in range(NEWTON):
        shrunk, room = q * math.exp(-share * eps), (1.0 - share) * (1.0 + share)
        tilted = 1.0 if q >= 1.0 else shrunk / (1.0 - q + shrunk)
        value = eps * n * (tilted - x) - 2.0 * draws * share / room
        if value > 0.0:
            low = share
        else:
            high = share
        bend = eps * eps * n * tilted * (1.0 - tilted)
        bend += 2.0 * draws * (1.0 + share * share) / (room * room)
        new = share + value / bend
        if not low < new < high:
            new = 0.5 * (low + high)
        moved, share = abs(new - share), new
        if moved <= 1e-7 * min(share, 1.0 - share):
            break
    return share


def exact_rate(x: float, q: float, n: int, draws: int, eps: float) -> float:
    """sup over 0 <= θ < eps of −θnx − n ln(1 − q + q e^−θ) + draws·ln(1 − θ²/eps²), x clipped to
    [0, 1]; 0 where x >= q.
    """
    x = clip01(x)
    if x >= q:
        return 0.0
    return max(0.0, exponent(best_share(x, q, n, draws, eps), x, q, n, draws, eps))


def believed(rate: float, doubt: float, trust: float) -> float:
    """What a rate counts for: `doubt` less than it is, but never less than its share `trust`."""
    return max(rate - doubt, trust * rate)


def rate_imed(
    mean: float,
    best: float,
    n: int,
    draws: int,
    level: float,
    eps: float,
    doubt: float = 0.0,
    trust: float = 1.0,
) -> float:
    """−(believed(exact_rate(mean, best)) + level·ln n), best = the largest clipped mean."""
    rate = exact_rate(mean, best, n, draws, eps)
    return -(believed(rate, doubt, trust) + level * math.log(n))


def settling_batch(
    mean: float,
    best: float,
    n: int,
    draws: int,
    leading: int,
    level: float,
    first: int,
    alpha: float,
    eps: float,
    doubt: float = 0.0,
    trust: float = 1.0,
) -> int:
    """Rounds in the next batch of an arm with n released, which end on a rung of the ladder of
    totals (`next_rung`).

    Of an arm that is behind: until its index, should its mean stay, is past the leader's, which
    has `leading` rounds; its rounds grow by alpha at most. Of the leader: so that its rounds grow
    by alpha at first, and by ever less later. draws: in the arm's total after this batch.
    """
    x, total = clip01(mean), next_rung(n, first)
    if x >= best:
        goal = slowing_total(n, first, alpha)
        while total < goal:
            total = next_rung(total, first)
        return total - n
    asked, most = level * math.log(leading) + MARGIN, d_eps(x, best, eps)
    while total < alpha * n:
        left = asked - level * math.log(total)
        # the rate is below total·d_eps, which takes a tenth of its time
        if believed(total * most, doubt, trust) >= left:
            rate = exact_rate(x, best, total, draws, eps)
            if believed(rate, doubt, trust) >= left:
                break
        total = next_rung(total, first)
    return total - n
