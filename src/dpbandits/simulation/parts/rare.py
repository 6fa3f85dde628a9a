"""Rare rounds of Lazy-DP-TS (see `kernels/lazy_thompson.py`): when they are due, and who plays."""

from __future__ import annotations

import math
from typing import Any

from dpbandits.simulation.parts.beta import beta
from dpbandits.simulation.parts.envelope import GROUP, LEADER, NEXT, log_beta
from dpbandits.simulation.parts.jit import lifted_mean, pasted

NEVER = 2**61


@pasted
def jump(wait: float, rng: Any) -> int:
    """Rounds until the next candidate, at least 1: geometric, an exponential rounded up."""
    rounds = wait * rng.standard_exponential()
    return 1 + int(rounds) if rounds < NEVER / 2 else NEVER


@pasted
def sample_arm(arm: int, t: int, s: Any, eps: float, rng: Any) -> float:
    n, centre = s.n[arm], lifted_mean(s.means[arm], s.n[arm], t, eps)
    return beta(centre * n + 1.0, (1.0 - centre) * n + 1.0, rng)


@pasted
def one_of_group(s: Any, own: Any, rng: Any) -> int:
    """The clipped arm whose sample is the largest of theirs."""
    left, last = int(rng.random() * own.now[GROUP]), 0
    for arm in range(len(s.n)):
        if own.clipped[arm]:
            last = arm
            left -= s.n[arm] + 1
            if left < 0:
                return arm
    return last


@pasted
def rare_round(t: int, s: Any, eps: float, own: Any, rng: Any) -> int:
    """Play round t, at which at least one arm has a candidate; returns the chosen arm.

    A challenger at the level or above is beaten only by others there: the leader, if it is not
    rare. A leader below the level is beaten by whoever is above it.
    """
    now, level = own.now, own.level[0]
    low, arm, high = candidates(t, s, eps, own, rng)
    if arm >= 0:
        if low < 0.0 and leader_above(t, s, eps, own, rng) > high:
            arm = -1
    elif low >= 0.0:
        high = low
        for other in range(len(s.n)):
            if other != now[LEADER] and not own.clipped[other]:
                x = level
                while x >= level:  # not rare in this round: what remains of its law
                    x = sample_arm(other, t, s, eps, rng)
                if x > high:
                    arm, high = other, x
    if arm >= 0:
        return arm
    return one_of_group(s, own, rng) if now[GROUP] else now[LEADER]


@pasted
def candidates(t: int, s: Any, eps: float, own: Any, rng: Any) -> tuple[float, int, float]:
    """The leader's sample if it is rare, else −1; of the rare challengers the largest (−1: none)
    and its sample. Also when candidates are due next.
    """
    now, due, level = own.now, own.due, own.level[0]
    low, chosen, high = -1.0, -1, -1.0
    now[NEXT] = NEVER
    for arm in range(len(due)):
        if due[arm] == t:
            due[arm] = t + jump(own.waits[arm], rng)
            if arm == now[LEADER] and now[GROUP]:  # its rate is exact
                low = level * math.exp(-rng.standard_exponential() / now[GROUP])
            else:
                x = candidate(arm, t, s, eps, own, rng)
                if arm == now[LEADER]:
                    low = x
                elif x > high:
                    chosen, high = arm, x
        now[NEXT] = min(now[NEXT], due[arm])
    return low, chosen, high


@pasted
def leader_above(t: int, s: Any, eps: float, own: Any, rng: Any) -> float:
    """The leader's sample where it is not rare."""
    level, group, x = own.level[0], own.now[GROUP], -1.0
    if group:
        below = level**group
        return (below + rng.random() * (1.0 - below)) ** (1.0 / group)
    while x < level:
        x = sample_arm(own.now[LEADER], t, s, eps, rng)
    return x


@pasted
def candidate(arm: int, t: int, s: Any, eps: float, own: Any, rng: Any) -> float:
    """A sample in the rare tail, or −1: from the exponential envelope exp(top + slope·(x − level)),
    kept with the exact ratio. Most refusals need the dominating law only, whose constant is known;
    most of the kept need a chord only, for ln B is convex in the centre.
    """
    level, slope, n = own.level[0], own.slopes[arm], s.n[arm]
    if slope > 0.0:
        x = level - tail(slope, level, rng)
    else:
        x = level + tail(-slope, 1.0 - level, rng)
    if not 0.0 < x < 1.0:
        return -1.0
    height = own.tops[arm] + slope * (x - level) - rng.standard_exponential()
    a, b, constant = own.laws[arm, 0], own.laws[arm, 1], own.laws[arm, 2]
    log_x, log_y = math.log(x), math.log(1.0 - x)
    if height > (a - 1.0) * log_x + (b - 1.0) * log_y - constant:
        return -1.0
    moved = lifted_mean(s.means[arm], n, t, eps) * n + 1.0 - a
    density = (a + moved - 1.0) * log_x + (b - moved - 1.0) * log_y
    share = moved / own.laws[arm, 5] if own.laws[arm, 5] != 0.0 else 0.0
    if height <= density - constant - share * (own.laws[arm, 4] - constant):
        return x
    return x if height <= density - log_beta(a + moved, b - moved) else -1.0


@pasted
def tail(rate: float, width: float, rng: Any) -> float:
    """Exponential with this rate, conditioned on being below `width`."""
    x = rng.standard_exponential() / rate
    if x < width:
        return x
    return -math.log1p(rng.random() * math.expm1(-rate * width)) / rate
