"""Envelopes for the rare tails of Lazy-DP-TS's Beta laws over a window of rounds.

Over the window an arm's centre c rises from c0 to c1. For x above the mode the density rises with
c, below it falls; so the law at c1 dominates every upper tail and the law at c0 every lower tail.
Beta densities with both parameters at least 1 are log-concave, so the tangent at the level
dominates the whole tail: an exponential, easy to draw from.
"""

from __future__ import annotations

import math
from typing import Any

from dpbandits.simulation.parts.jit import jit, lifted_mean

SEARCH = 12


@jit
def log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


@jit
def log_density(x: float, a: float, b: float) -> float:
    """ln of the Beta(a, b) density without its constant."""
    return (a - 1.0) * math.log(x) + (b - 1.0) * math.log1p(-x)


@jit
def digamma(x: float) -> float:
    """ψ(x) for x >= 1, to 1e-12."""
    value = 0.0
    while x < 10.0:
        value -= 1.0 / x
        x += 1.0
    r = 1.0 / (x * x)
    return (
        value
        + math.log(x)
        - 0.5 / x
        - r * (1 / 12.0 - r * (1 / 120.0 - r * (1 / 252.0 - r * (1 / 240.0 - r / 132.0))))
    )


@jit
def set_laws(t: int, end: int, means: Any, n: Any, eps: float, leader: int, laws: Any) -> None:
    """The dominating law of each arm: (a, b, ln B(a, b), ψ(a) − ψ(b)); at the window's start for
    the leader, at its end for others.
    """
    for arm in range(len(n)):
        centre = lifted_mean(means[arm], n[arm], t if arm == leader else end, eps)
        a, b = centre * n[arm] + 1.0, (1.0 - centre) * n[arm] + 1.0
        laws[arm, 0], laws[arm, 1], laws[arm, 2], laws[arm, 3] = (
            a,
            b,
            log_beta(a, b),
            digamma(a) - digamma(b),
        )


@jit
def total_rate(level: float, leader: int, laws: Any, rates: Any, slopes: Any, tops: Any) -> float:
    """Sum of all arms' candidate rates at this level, inf where some tangent is no envelope; the
    arrays are filled on the way.

    rate: mass of the exponential exp(top + slope·(x − level)) over the tail, an upper bound of the
        tail's probability.
    """
    total, log_x, log_y = 0.0, math.log(level), math.log1p(-level)
    for arm in range(len(laws)):
        a, b = laws[arm, 0], laws[arm, 1]
        slope = (a - 1.0) / level - (b - 1.0) / (1.0 - level)
        rising = log_x - log_y - laws[arm, 3]  # sign of the density's change with the centre
        width = level
        if arm != leader:  # an upper tail: the mirror image
            slope, rising, width = -slope, -rising, 1.0 - level
        if slope <= 0.0 or rising > 0.0:
            return math.inf
        tops[arm] = (a - 1.0) * log_x + (b - 1.0) * log_y - laws[arm, 2]
        rates[arm] = math.exp(min(tops[arm], 700.0)) * -math.expm1(-slope * width) / slope
        slopes[arm] = slope if arm == leader else -slope
        total += rates[arm]
    return total


@jit
def set_envelopes(
    t: int,
    end: int,
    means: Any,
    n: Any,
    eps: float,
    leader: int,
    laws: Any,
    rates: Any,
    slopes: Any,
    tops: Any,
) -> tuple[float, float]:
    """Fill the arms' envelopes at the level with about the smallest total rate; returns the level
    and that rate.
    """
    set_laws(t, end, means, n, eps, leader, laws)
    high = lifted_mean(means[leader], n[leader], t, eps)
    low = 0.0
    for arm in range(len(n)):
        if arm != leader:
            low = max(low, lifted_mean(means[arm], n[arm], end, eps))
    best, best_rate = 0.5, math.inf
    for i in range(1, SEARCH):
        level = low + (high - low) * i / SEARCH
        if 1e-12 < level < 1.0 - 1e-12:
            rate = total_rate(level, leader, laws, rates, slopes, tops)
            if rate < best_rate:
                best, best_rate = level, rate
    if best_rate < math.inf:
        total_rate(best, leader, laws, rates, slopes, tops)
    return best, best_rate
