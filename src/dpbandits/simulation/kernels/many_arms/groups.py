"""Groups of arms with equally many rounds and draws, each a heap by means."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dpbandits.simulation.kernels.batches import ADAP_KLUCB, DP_IMED, DP_KLUCB, RATE_IMED
from dpbandits.simulation.kernels.driver import FAR
from dpbandits.simulation.parts.jit import clip01, growing_batch, inline, jit
from dpbandits.simulation.parts.skew import NONE, empty_heaps, push, remove

AT_0, INSIDE, AT_1 = range(3)
FRESH, LOW, HIGH, CAPPED, USED, LEADING, EDGES = range(7)
MEMBERS, ROUNDS, DRAWS = range(3)
UNTIL, LEVEL, BEST = range(3)


class Groups(NamedTuple):
    """heaps: number 3·g + side holds arms of group g, number CAPPED those with an index of 1. home:
    of each arm its heap. released: of each arm how often. bounds, owner: no index in the heap is
    larger, as long as this arm is its best. stack: room for arms to look at.

    sizes: of each arm its next batch. kinds: of each group its arms, their rounds and draws, where
    they do not follow from how often they were released.
    now: the first arm without a release, the first and last heap that may hold arms, the number of
    the heap for an index of 1, groups in use, most rounds of an arm with the best mean, and
    arms whose mean is cut off. valid: bounds hold until this ln t, at which the level is so much,
    and as long as the best mean is this one.
    """

    heaps: Any
    home: Any
    released: Any
    bounds: Any
    owner: Any
    stack: Any
    sizes: Any
    kinds: Any
    now: Any
    valid: Any


@jit
def start(p: Any, s: Any) -> Any:
    arms, groups, n, free = len(s.n), 64, 0, p.rule == RATE_IMED
    if free:
        groups = arms + 1
    elif p.first > 0:
        groups = 1
        while n < FAR:
            n, groups = n + growing_batch(n, p.first, p.alpha), groups + 1
    capped = 3 * groups
    return Groups(
        empty_heaps(capped + 1, arms),
        np.zeros(arms, np.int64),
        np.zeros(arms, np.int64),
        np.zeros(capped),
        np.full(capped, NONE),
        np.zeros(arms, np.int64),
        np.zeros(arms if free else 0, np.int64),
        np.zeros((3, groups if free else 0), np.int64),
        np.array([0, capped, 0, capped, 0, 0, 0]),
        np.array([-1.0, 0.0, 0.0]),
    )


@inline
def lowest_heap(now: Any) -> int:
    """The first heap that may hold arms; of the side INSIDE, as long as all arms are there."""
    return now[LOW] if now[EDGES] > 0 else now[LOW] - now[LOW] % 3 + INSIDE


@inline
def stride(now: Any) -> int:
    """From a heap that may hold arms to the next."""
    return 1 if now[EDGES] > 0 else 3


@jit
def group_of(p: Any, s: Any, own: Any, arm: int) -> int:
    """The arm's group; where batches are as long as an index asks for, one that is found, or
    begun in the place of one that is empty.
    """
    if p.rule != RATE_IMED:
        return own.released[arm]
    free, now, kinds = NONE, own.now, own.kinds
    for group in range(now[USED]):
        if kinds[MEMBERS, group] == 0:
            free = group if free < 0 else free
        elif kinds[ROUNDS, group] == s.n[arm] and kinds[DRAWS, group] == s.draws[arm]:
            kinds[MEMBERS, group] += 1
            return group
    if free < 0:
        free = now[USED]
        now[USED] += 1
    own.owner[3 * free : 3 * free + 3] = NONE
    kinds[MEMBERS, free], kinds[ROUNDS, free], kinds[DRAWS, free] = 1, s.n[arm], s.draws[arm]
    return free


@inline
def place(p: Any, s: Any, own: Any, arm: int, t: int) -> None:
    """Into the heap of the arm's group, or at once into that of the arms with an index of 1."""
    key, side, now = s.means[arm], INSIDE, own.now
    if p.rule == ADAP_KLUCB and key + p.constant * math.log(t) / (p.eps * s.n[arm]) >= 1.0:
        own.home[arm] = now[CAPPED]
        push(own.heaps, now[CAPPED], arm, 0.0)
        return
    if p.rule == DP_KLUCB or p.rule == DP_IMED or p.rule == RATE_IMED:
        key = clip01(key)
        side = AT_0 if key == 0.0 else AT_1 if key == 1.0 else INSIDE
    own.home[arm] = 3 * group_of(p, s, own, arm) + side
    push(own.heaps, own.home[arm], arm, key)
    now[EDGES] += int(side != INSIDE)
    now[LOW], now[HIGH] = min(now[LOW], own.home[arm]), max(now[HIGH], own.home[arm])


@inline
def learn(p: Any, s: Any, own: Any, t: int) -> None:
    """A released arm goes to the next group."""
    arm = s.chosen[0]
    if s.open_[arm] == 0:
        if own.released[arm] > 0:
            remove(own.heaps, own.home[arm], arm)
            if own.home[arm] != own.now[CAPPED]:
                own.now[EDGES] -= int(own.home[arm] % 3 != INSIDE)
            if p.rule == RATE_IMED:
                own.kinds[MEMBERS, own.home[arm] // 3] -= 1
        else:
            own.now[FRESH] += 1
        own.released[arm] += 1
        place(p, s, own, arm, t)
