"""NoiseAwareTS: between releases every round draws an arm from the same weights, so the leader's
streaks are geometric.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dpbandits.simulation.kernels.driver import FAR, player
from dpbandits.simulation.parts.jit import growing_batch, inline, jit, neglected, posterior_sd
from dpbandits.simulation.parts.largest import arm_changed, empty_table, set_weights

LEADER, HELD, DUE = range(3)


class Numbers(NamedTuple):
    """first: rounds in an arm's first batch; alpha: growth of an arm's rounds by the next. c:
    factor on the samples' variances. net: see `neglected`.
    """

    eps: float
    first: int
    alpha: float
    c: float
    net: float
    optimistic: bool
    scale: float


class Weights(NamedTuple):
    """Each arm's standard deviation and probability; and `now`, three numbers: the leader, the arm
    to play to its release (−1: draw afresh), and whether the leader's streak is over. table: see
    `parts/largest.py`.
    """

    sds: Any
    weights: Any
    now: Any
    table: Any


@jit
def start(p: Any, s: Any) -> Any:
    arms = len(s.n)
    return Weights(np.zeros(arms), np.zeros(arms), np.zeros(3, np.int64), empty_table(arms))


@inline
def choose(p: Any, s: Any, own: Any, t: int, rng: Any) -> tuple[int, int]:
    """The arm that is held; else the leader for a streak, and a challenger for one round."""
    now, times = own.now, FAR
    s.chosen[0] = now[HELD]
    if now[HELD] < 0:
        s.chosen[0] = now[LEADER]
        times = 0 if now[DUE] else streak(own.weights[now[LEADER]], rng)
        now[DUE] = not now[DUE]
        if times == 0:
            s.chosen[0], times, now[DUE] = challenger(own.weights, now[LEADER], rng), 1, False
    return 1, times


@inline
def batch(p: Any, s: Any, own: Any, arm: int) -> int:
    return growing_batch(s.n[arm], p.first, p.alpha)


@inline
def learn(p: Any, s: Any, own: Any, t: int) -> None:
    """After a release: each arm in turn at first, then one that was neglected, if any, else new
    weights.
    """
    arm, arms, now = s.chosen[0], len(s.n), own.now
    if s.open_[arm] > 0:
        return
    own.sds[arm] = posterior_sd(s.means[arm], s.n[arm], s.draws[arm], p.eps, p.c)
    arm_changed(own.table, arm, s.means, own.sds, p.optimistic)
    seen = min(arms, s.draws.sum())
    now[DUE] = False
    now[HELD] = seen if seen < arms else neglected(s.means, s.n, math.log(t + 1), p.eps, p.net)
    if now[HELD] < 0:
        set_weights(own.table, s.means, own.sds, p.optimistic, own.weights)
        now[LEADER] = own.weights.argmax()


@jit
def streak(weight: float, rng: Any) -> int:
    """Rounds in a row that go to an arm drawn with this weight: geometric, from 0."""
    if weight <= 0.0:
        return 0
    if weight >= 1.0:
        return 2**61
    wait = rng.standard_exponential() / -math.log(weight)
    return int(wait) if wait < 2.0**61 else 2**61


@jit
def challenger(weights: Any, leader: int, rng: Any) -> int:
    """An arm other than the leader, by weight."""
    u = rng.random() * (1.0 - weights[leader])
    last = leader
    for arm in range(len(weights)):
        if arm != leader and weights[arm] > 0.0:
            last = arm
            u -= weights[arm]
            if u < 0.0:
                return arm
    return last


play_noise_aware = player(
    "noise_aware", Numbers=Numbers, start=start, choose=choose, batch=batch, learn=learn
)
