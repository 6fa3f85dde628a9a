"""Envelopes for the rare tails of Lazy-DP-TS's Beta laws over a window of rounds.

Over the window an arm's centre c rises from c0 to c1. For x above the mode the density rises with
c, below it falls; so the law at c1 dominates every upper tail and the law at c0 every lower tail.
Beta densities with both parameters at least 1 are log-concave, so the tangent at the level
dominates the whole tail: an exponential, easy to draw from.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from dpbandits.simulation.parts.jit import jit, lifted_mean, pasted

SEARCH = 12

END, LEADER, RARE, GROUP, NEXT, LOST, WINNER = range(7)
"""Places of a window's whole numbers: its last round, its leader (the first of a group), whether
rare rounds are jumped to, N of the clipped group (0: one arm leads), the next candidate's round;
up to which round the leader is known to win, and who wins that one.
"""


class Windows(NamedTuple):
    """Of a window of rounds: each arm's envelope (its rate, slope and top at the level), the mean
    wait for its candidates, its dominating law, whether it is clipped to 1, the round at which its
    next candidate is due; the level; and `now`, the whole numbers named above.
    """

    rates: Any
    slopes: Any
    tops: Any
    waits: Any
    laws: Any
    level: Any
    due: Any
    clipped: Any
    now: Any


@jit
def log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


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


@pasted
def set_laws(t: int, end: int, s: Any, w: Any, eps: float, leader: int) -> float:
    """The dominating law of each arm that is not clipped: (a, b, ln B(a, b), ψ(a) − ψ(b)), and of
    the law at the window's other end: ln B and how much larger its a is. The leader's law dominates
    at the window's start, those of others at its end; the largest of their centres is returned.
    """
    largest = 0.0
    for arm in range(len(s.n)):
        if w.clipped[arm]:
            continue
        n, other = s.n[arm], end if arm == leader else t
        centre = lifted_mean(s.means[arm], n, t + end - other, eps)
        if arm != leader:
            largest = max(largest, centre)
        a, b = centre * n + 1.0, (1.0 - centre) * n + 1.0
        w.laws[arm, 0], w.laws[arm, 1] = a, b
        w.laws[arm, 2], w.laws[arm, 3] = log_beta(a, b), digamma(a) - digamma(b)
        centre = lifted_mean(s.means[arm], n, other, eps)
        w.laws[arm, 4] = log_beta(centre * n + 1.0, (1.0 - centre) * n + 1.0)
        w.laws[arm, 5] = centre * n + 1.0 - a
    return largest


@pasted
def total_rate(level: float, leader: int, group: int, w: Any) -> float:
    """Sum of all arms' candidate rates at this level, inf where some tangent is no envelope; the
    arrays are filled on the way. A clipped group's rate is that of its leader, and exact.

    rate: mass of the exponential exp(top + slope·(x − level)) over the tail, an upper bound of the
        tail's probability.
    """
    total, log_x, log_y = 0.0, math.log(level), math.log1p(-level)
    for arm in range(len(w.laws)):
        if w.clipped[arm]:
            w.rates[arm] = math.exp(group * log_x) if arm == leader else 0.0
            total += w.rates[arm]
            continue
        a, b = w.laws[arm, 0], w.laws[arm, 1]
        slope = (a - 1.0) / level - (b - 1.0) / (1.0 - level)
        rising = log_x - log_y - w.laws[arm, 3]  # sign of the density's change with the centre
        width = level
        if arm != leader:  # an upper tail: the mirror image
            slope, rising, width = -slope, -rising, 1.0 - level
        if slope <= 0.0 or rising > 0.0:
            return math.inf
        top = (a - 1.0) * log_x + (b - 1.0) * log_y - w.laws[arm, 2]
        w.tops[arm], w.slopes[arm] = top, slope if arm == leader else -slope
        whole = 1.0 if slope * width > 40.0 else -math.expm1(-slope * width)
        w.rates[arm] = math.exp(min(top, 700.0)) * whole / slope
        total += w.rates[arm]
    return total


@pasted
def set_envelopes(t: int, end: int, s: Any, w: Any, eps: float) -> tuple[float, float]:
    """Fill the arms' envelopes at the level with about the smallest total rate; returns the level
    and that rate. The window's leader and group are known.
    """
    leader, group = w.now[LEADER], w.now[GROUP]
    low = set_laws(t, end, s, w, eps, leader)
    high = lifted_mean(s.means[leader], s.n[leader], t, eps)
    best, best_rate = 0.5, math.inf
    for i in range(1, SEARCH):
        level = low + (high - low) * i / SEARCH
        if 1e-12 < level < 1.0 - 1e-12:
            rate = total_rate(level, leader, group, w)
            if rate < best_rate:
                best, best_rate = level, rate
    if best_rate < math.inf:
        total_rate(best, leader, group, w)
        for arm in range(len(s.n)):
            w.waits[arm] = -1.0 / math.log1p(-min(w.rates[arm], 1.0))
    return best, best_rate
