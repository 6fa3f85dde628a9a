"""The index policies of `batches.py` where arms are many: their decisions, bit for bit, by looking
at a few arms an event.

Arms with equally many rounds and draws behind their mean are a group: of these the one with the
largest mean has the largest index, at every round. Mostly that is arms that were released equally
often. Each such group is a heap by means, and
the choice is among the groups' best. Of these only those are looked at whose index may be the
largest: indices grow with t, so the index at a later round is a bound until then.

Rounding may turn the order of two indices about: below a group's best, every arm is looked at whose
index is within `SLACK` of the largest. Many arms may tie exactly, and the lowest of them is to be
found: means that are cut off at 0 or 1 are groups of their own, where one look is enough; an index
of 1, the largest there is, stays 1 until the next release, and the arms that have one are in a heap
by their numbers.
"""

from __future__ import annotations

import math
from typing import Any

from dpbandits.simulation.kernels.batches import (
    ADAP_KLUCB,
    DP_IMED,
    DP_KLUCB,
    RATE_IMED,
    Numbers,
    batch,
    batch_lazy,
    read,
    read_newest,
    score,
    set_size,
)
from dpbandits.simulation.kernels.driver import FAR, player
from dpbandits.simulation.kernels.many_arms.groups import (
    BEST,
    CAPPED,
    EDGES,
    FRESH,
    HIGH,
    INSIDE,
    LEADING,
    LEVEL,
    LOW,
    UNTIL,
    learn,
    lowest_heap,
    start,
    stride,
)
from dpbandits.simulation.parts.jit import clip01, crossing, d_eps, inline, kl, kl_level
from dpbandits.simulation.parts.skew import NONE, pop, push

SLACK, LEAST = 1e-9, 2e-15
"""Of the distance of an index from 1, thousands of times what rounding takes of it; and beside,
ten times what it takes of 1.
"""

AHEAD = 0.1
"""Logarithm of the ratio of rounds for which bounds are made."""


@inline
def bound_groups(p: Any, s: Any, own: Any, log_t: float) -> tuple[int, float]:
    """Bring the bounds up to date; returns the heap with the largest, or −1 if all are empty, and
    the largest bound of the others.
    """
    root, now, valid, best, largest = own.heaps.root, own.now, own.valid, 0.0, NONE
    second = -math.inf
    while now[LOW] < now[HIGH] and root[now[LOW]] < 0:
        now[LOW] += 1
    if p.rule == DP_IMED or p.rule == RATE_IMED:
        now[LEADING] = 0
        for at in range(lowest_heap(now), now[HIGH] + 1, stride(now)):
            if root[at] >= 0:
                mean, n = clip01(s.means[root[at]]), s.n[root[at]]
                if mean > best:
                    best, now[LEADING] = mean, n
                elif mean == best:
                    now[LEADING] = max(now[LEADING], n)
        log_t = 0.0  # indices change with the best mean alone
    if log_t > valid[UNTIL] or best != valid[BEST]:
        valid[UNTIL], valid[BEST], own.owner[:] = log_t + AHEAD, best, NONE
        valid[LEVEL] = kl_level(valid[UNTIL], p.constant) if p.rule == DP_KLUCB else 0.0
    for at in range(lowest_heap(now), now[HIGH] + 1, stride(now)):
        arm = root[at]
        if arm >= 0:
            if own.owner[at] != arm:
                own.owner[at] = arm
                own.bounds[at] = score(p, s, arm, valid[UNTIL], valid[LEVEL], best)
            if largest < 0 or own.bounds[at] > own.bounds[largest]:
                second = own.bounds[largest] if largest >= 0 else second
                largest = at
            else:
                second = max(second, own.bounds[at])
    return largest, second


@inline
def ahead(arm: int, value: float, other: int, top: float) -> bool:
    return value > top or (value == top and arm < other)


@inline
def falls_short(
    p: Any, s: Any, own: Any, at: int, arm: int, least: float, log_t: float, level: float
) -> bool:
    """Whether it takes less than the index to tell that the arm's is smaller: one divergence, a
    tenth of the time of its inverse; or the index of the group's best. For an exact rate is convex
    in the mean, and 0 at the best mean of all; so is what it counts for.
    """
    n, mean = s.n[arm], s.means[arm]
    if p.rule == DP_KLUCB:
        mean = clip01(mean)
        return mean < least and n * d_eps(mean, least, p.eps) > level * (1.0 + SLACK)
    if p.rule == ADAP_KLUCB:
        mean, level = clip01(mean + p.constant * log_t / (p.eps * n)), p.constant * log_t
        return mean < least and n * kl(mean, least) > level * (1.0 + SLACK)
    if p.rule == DP_IMED or p.rule == RATE_IMED:
        index, first = own.bounds[at], s.means[own.heaps.root[at]]
        if mean < first < own.valid[BEST]:
            rate = -index - (p.constant if p.rule == RATE_IMED else 1.0) * math.log(n)
            return index - rate * (first - mean) / (own.valid[BEST] - first) < least
    return False


@inline
def look_into(
    p: Any, s: Any, own: Any, at: int, arm: int, top: float, log_t: float, level: float
) -> tuple[int, float]:
    """The arm with the largest index, of this heap and the one that had it so far; and the index.
    Arms whose index is 1 go to their heap.
    """
    stack, h, cap = own.stack, own.heaps, p.rule == DP_KLUCB or p.rule == ADAP_KLUCB
    exact = p.rule == DP_IMED or p.rule == RATE_IMED
    stack[0], size = h.root[at], 1
    while size > 0 and stack[size - 1] >= 0:
        size -= 1
        other, least = stack[size], top - SLACK * abs(1.0 - top) - LEAST
        if falls_short(p, s, own, at, other, least, log_t, level):
            continue
        if exact and other == h.root[at]:
            value = own.bounds[at]
        else:
            value = score(p, s, other, log_t, level, own.valid[BEST])
        if ahead(other, value, arm, top):
            arm, top = other, value
        if cap and value >= 1.0 and other == h.root[at]:
            own.home[other] = own.now[CAPPED]
            own.now[EDGES] -= int(at % 3 != INSIDE)
            push(h, own.now[CAPPED], pop(h, at), 0.0)
            stack[0], size = h.root[at], 1
        elif value >= top - SLACK * abs(1.0 - top) - LEAST and at % 3 == INSIDE:
            for child in (h.left[other], h.right[other]):
                if child >= 0:
                    stack[size], size = child, size + 1
    return arm, top


@inline
def choose(p: Any, s: Any, own: Any, t: int, rng: Any) -> tuple[int, int]:
    """The arm with the largest score, the lowest on a tie; an arm without a release first."""
    now, root, arm, top, log_t = own.now, own.heaps.root, len(s.n), -math.inf, math.log(t)
    if now[FRESH] < len(s.n):
        s.chosen[0] = now[FRESH]
        return 1, FAR
    level = kl_level(log_t, p.constant) if p.rule == DP_KLUCB else 0.0
    first, second = bound_groups(p, s, own, log_t)
    if root[now[CAPPED]] >= 0:
        arm, top = root[now[CAPPED]], 1.0
    low, step = lowest_heap(now), stride(now)
    # the first one before the others, by one call that is pasted in: passing arrays costs more
    for turn in range(low - step if first >= 0 else low, now[HIGH] + 1, step):
        at = first if turn < low else turn
        least = top - SLACK * abs(1.0 - top) - LEAST
        if turn == low and second < least:
            break  # no other group comes near
        if root[at] >= 0 and (at != first or turn < low) and own.bounds[at] >= least:
            arm, top = look_into(p, s, own, at, arm, top, log_t, level)
    s.chosen[0] = arm
    if p.rule == RATE_IMED:
        set_size(p, s, own, arm, own.valid[BEST], now[LEADING])
    return 1, FAR


@inline
def choose_until_overtaken(p: Any, s: Any, own: Any, t: int, rng: Any) -> tuple[int, int]:
    """The largest index, until another arm's overtakes it: a group's best is the first of its
    group that can, and none of the arm's own group ever does.
    """
    size, end = choose(p, s, own, t, rng)
    arm, now = s.chosen[0], own.now
    if s.n[arm] > 0:
        end = t + batch_lazy(p, s, own, arm) - s.open_[arm]
        for at in range(lowest_heap(now), now[HIGH] + 1, stride(now)):
            j = own.heaps.root[at]
            if j >= 0 and j != arm:
                end = crossing(arm, s.means[arm], s.n[arm], j, s.means[j], s.n[j], t, end, p.eps)
        end -= t
    return size, end


play_many = player(
    "many", Numbers=Numbers, start=start, choose=choose, batch=batch, read=read, learn=learn
)
play_many_lazy = player(
    "many_lazy",
    Numbers=Numbers,
    start=start,
    choose=choose_until_overtaken,
    batch=batch_lazy,
    read=read_newest,
    learn=learn,
)
