"""Lazy-DP-TS by candidate rounds.

Between two releases the laws drift with ln t only, and the leader wins most rounds. So a window of
rounds gets a level y, and a round is *rare* if the leader's sample falls below y or a challenger's
reaches it; in all others the leader is played. Each arm's rare rounds are found by geometric jumps
at the rate of an envelope that dominates its tail density over the whole window, each candidate's
sample is drawn from the envelope and kept with the exact ratio of densities. In a rare round the
samples that are not rare are drawn, where they matter, from what remains of their laws. The law of
the plays is exact.

Arms whose centre is clipped to 1 draw from Beta(n + 1, 1), and their laws stay. The largest of
their samples has the law of one Beta(N, 1), N = Σ (n + 1), whoever wins; the winner is each with
probability (n + 1)/N, whatever the sample. Where there are such arms, they lead as one.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dpbandits.simulation.kernels.batches import read_newest
from dpbandits.simulation.kernels.driver import player
from dpbandits.simulation.parts.envelope import (
    END,
    GROUP,
    LEADER,
    LOST,
    NEXT,
    RARE,
    WINNER,
    Windows,
    set_envelopes,
)
from dpbandits.simulation.parts.jit import inline, jit, lifted_mean, pasted
from dpbandits.simulation.parts.rare import NEVER, jump, one_of_group, rare_round, sample_arm

WINDOW = 0.2  # a window lasts until an arm's centre has moved by so many standard deviations
BUSY = 0.8  # rate of candidates above which playing each round is cheaper


class Lazy(NamedTuple):
    """noise: scale of the mechanism's, in grid steps."""

    eps: float
    noise: float


@jit
def start(p: Any, s: Any) -> Any:
    arms = len(s.n)
    a, b = np.zeros((4, arms)), np.zeros((2, arms), np.int64)
    laws, now = np.zeros((arms, 6)), np.zeros(7, np.int64)
    return Windows(a[0], a[1], a[2], a[3], laws, np.zeros(1), b[0], b[1], now)


@inline
def choose(p: Any, s: Any, own: Any, t: int, rng: Any) -> tuple[int, int]:
    """Every arm once, then the leader to the next round that it loses, which is played then."""
    now = own.now
    if t <= len(s.n):
        s.chosen[0] = t - 1
        return 1, 1
    if t > now[END]:
        open_window(t, s, p.eps, own, rng)
    leader = now[LEADER]
    stop = min(now[END] + 1, t + batch(p, s, own, leader) - s.open_[leader])
    if now[LOST] < t:
        now[LOST] = next_lost(t, stop, s, p.eps, own, rng)
    s.chosen[0] = now[WINNER] if now[LOST] == t else leader
    return 1, max(1, now[LOST] - t)


@inline
def batch(p: Any, s: Any, own: Any, arm: int) -> int:
    return max(1, 2 * s.n[arm])


@inline
def learn(p: Any, s: Any, own: Any, t: int) -> None:
    """A release ends the window."""
    if s.open_[s.chosen[0]] == 0:
        own.now[END] = t


@pasted
def next_lost(t: int, stop: int, s: Any, eps: float, own: Any, rng: Any) -> int:
    """The first round from t on that the leader loses, whose winner is kept, or `stop`, where the
    leader's block or the window ends.
    """
    now = own.now
    while t < stop:
        if not now[RARE]:
            arm = plain_round(t, s, eps, own, rng)
        elif now[NEXT] == t:
            arm = rare_round(t, s, eps, own, rng)
        elif now[GROUP]:
            arm = one_of_group(s, own, rng)
        else:
            t = min(now[NEXT], stop)
            continue
        if arm != now[LEADER]:
            now[WINNER] = arm
            return t
        t += 1
    return stop


@pasted
def plain_round(t: int, s: Any, eps: float, own: Any, rng: Any) -> int:
    chosen, top = -1, -1.0
    if own.now[GROUP]:
        top = math.exp(-rng.standard_exponential() / own.now[GROUP])
    for arm in range(len(s.n)):
        if not own.clipped[arm]:
            sample = sample_arm(arm, t, s, eps, rng)
            if sample > top:
                chosen, top = arm, sample
    return chosen if chosen >= 0 else one_of_group(s, own, rng)


@pasted
def open_window(t: int, s: Any, eps: float, own: Any, rng: Any) -> None:
    """The next window, from round t: its leader, end, level and envelopes, and whether rare rounds
    are rare enough to jump.
    """
    now, stretch = own.now, find_leader(t, s, eps, own)
    now[LOST] = 0
    end = max(t + 8, min(int(t * math.exp(stretch)), t + NEVER // 2))
    own.level[0], total = set_envelopes(t, end, s, own, eps)
    now[RARE], now[END] = total <= BUSY, end - 1
    if not now[RARE]:
        now[END] = min(end, t + max(32, t // 16))
        return
    now[NEXT] = NEVER
    for arm in range(len(s.n)):
        own.due[arm] = t - 1 + jump(own.waits[arm], rng)
        now[NEXT] = min(now[NEXT], own.due[arm])


@pasted
def find_leader(t: int, s: Any, eps: float, own: Any) -> float:
    """The arm with the largest centre, or all that are clipped; returns ln(end/t) of a window that
    moves no centre by more than WINDOW standard deviations.
    """
    stretch, leader, best, group = 1.0, 0, -1.0, 0
    for arm in range(len(s.n)):
        n, centre = s.n[arm], lifted_mean(s.means[arm], s.n[arm], t, eps)
        if centre > best:
            leader, best = arm, centre
        own.clipped[arm] = centre >= 1.0
        if own.clipped[arm]:
            group += n + 1
        elif centre > 0.0 or s.means[arm] < 0.0:
            sd = math.sqrt((centre * (1.0 - centre) + 1.0 / n) / n)
            stretch = min(stretch, WINDOW * sd * eps * n / 3.0)
    own.now[LEADER], own.now[GROUP] = leader, group
    return stretch


play_lazy_ts = player(
    "lazy_ts",
    Numbers=Lazy,
    start=start,
    choose=choose,
    batch=batch,
    read=read_newest,
    learn=learn,
)
