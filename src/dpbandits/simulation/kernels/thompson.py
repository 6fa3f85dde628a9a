"""Thompson sampling with Beta laws: ThompsonBeta round by round, Lazy-DP-TS by candidate rounds.

Between two releases of Lazy-DP-TS the laws drift with ln t only, and the leader wins almost every
round. So a window of rounds gets a level y, and a round is *rare* if the leader's sample falls
below y or a challenger's reaches it; in all others the leader is played. Each arm's rare rounds are
found by geometric jumps at the rate of an envelope that dominates its tail density over the whole
window, each candidate's sample is drawn from the envelope and kept with the exact ratio of
densities. In a rare round the samples that are not rare are drawn from what remains of their laws.
The law of the plays is exact.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dpbandits.simulation.kernels.batches import Lazy, batch_lazy, read_newest
from dpbandits.simulation.kernels.driver import FAR, player
from dpbandits.simulation.parts.envelope import log_beta, log_density, set_envelopes
from dpbandits.simulation.parts.jit import inline, jit, lifted_mean
from dpbandits.simulation.parts.primitives import play

WINDOW = 0.1  # a window lasts until an arm's centre has moved by so many standard deviations
BUSY = 0.5  # rate of candidates above which playing each round is cheaper
END, LEADER, RARE = range(3)


@jit
def play_thompson(
    probabilities: Any, rounds: int, checkpoints: Any, rng: Any, out: Any
) -> tuple[int, int]:
    """ThompsonBeta. Returns (releases, events)."""
    arms = probabilities.shape[0]
    plays, successes = np.zeros(arms, np.int64), np.zeros(arms, np.int64)
    at = 0
    for t in range(rounds):
        chosen, top = 0, -1.0
        for arm in range(arms):
            sample = rng.beta(successes[arm] + 1.0, plays[arm] - successes[arm] + 1.0)
            if sample > top:
                chosen, top = arm, sample
        at = play(chosen, 1, t, plays, checkpoints, out, at)
        successes[chosen] += rng.random() < probabilities[chosen, 1]
    return rounds, rounds


class Windows(NamedTuple):
    """Envelopes of a window (see `parts/envelope.py`), the level y, the rounds at which candidates
    are due; and `now`, three numbers: the window's end, its leader, and whether rare rounds are
    rare enough to jump.
    """

    rates: Any
    slopes: Any
    tops: Any
    laws: Any
    samples: Any
    level: Any
    due: Any
    now: Any


@jit
def start(p: Any, s: Any) -> Any:
    arms = len(s.n)
    a = np.zeros((4, arms))
    due, now = np.zeros(arms, np.int64), np.zeros(3, np.int64)
    return Windows(a[0], a[1], a[2], np.zeros((arms, 4)), a[3], np.zeros(1), due, now)


@inline
def choose(p: Any, s: Any, own: Any, t: int, rng: Any) -> tuple[int, int]:
    """Every arm once, then the leader to the next candidate's round."""
    now, arms = own.now, len(s.n)
    if t <= arms:
        s.chosen[0] = t - 1
        return 1, 1
    if t > now[END]:
        now[END], now[LEADER], own.level[0], now[RARE] = set_window(
            t, s.means, s.n, p.eps, own.laws, own.rates, own.slopes, own.tops
        )
        if now[RARE]:
            for j in range(arms):
                own.due[j] = t - 1 + jump(own.rates[j], rng)
    if not now[RARE]:
        s.chosen[0] = plain_round(t, s.means, s.n, p.eps, rng)
        return 1, 1
    s.chosen[0] = now[LEADER]
    times = min(own.due.min(), now[END] + 1) - t
    if times == 0:
        s.chosen[0], times = rare_round(t, s, p.eps, own, rng), 1
    return 1, times


@inline
def learn(p: Any, s: Any, own: Any, t: int) -> None:
    """A release ends the window."""
    if s.open_[s.chosen[0]] == 0:
        own.now[END] = t


@jit
def jump(rate: float, rng: Any) -> int:
    """Rounds until the next candidate, at least 1: geometric."""
    if rate <= 0.0:
        return FAR // 2
    if rate >= 1.0:
        return 1
    wait = rng.standard_exponential() / -math.log1p(-rate)
    return 1 + int(wait) if wait < FAR / 4 else FAR // 2


@jit
def sample_arm(arm: int, t: int, means: Any, n: Any, eps: float, rng: Any) -> float:
    centre = lifted_mean(means[arm], n[arm], t, eps)
    return rng.beta(centre * n[arm] + 1.0, (1.0 - centre) * n[arm] + 1.0)


@jit
def plain_round(t: int, means: Any, n: Any, eps: float, rng: Any) -> int:
    chosen, top = 0, -1.0
    for arm in range(len(n)):
        sample = sample_arm(arm, t, means, n, eps, rng)
        if sample > top:
            chosen, top = arm, sample
    return chosen


@jit
def set_window(
    t: int, means: Any, n: Any, eps: float, laws: Any, rates: Any, slopes: Any, tops: Any
) -> tuple[int, int, float, bool]:
    """The next window (t, end] in rounds played: its end, leader, level y, and whether rare rounds
    are rare enough to jump.
    """
    arms = len(n)
    stretch, leader, best = 1.0, 0, -1.0
    for arm in range(arms):
        centre = lifted_mean(means[arm], n[arm], t, eps)
        if centre > best:
            leader, best = arm, centre
        if 0.0 < centre < 1.0 or means[arm] < 0.0:
            sd = math.sqrt((centre * (1.0 - centre) + 1.0 / n[arm]) / n[arm])
            # ln(end/t) that moves the centre by WINDOW sd
            stretch = min(stretch, WINDOW * sd * eps * n[arm] / 3.0)
    end = max(t + 8, min(int(t * math.exp(stretch)), t + FAR // 4))
    level, total = set_envelopes(t, end, means, n, eps, leader, laws, rates, slopes, tops)
    if total > BUSY:
        return min(end, t + 32), leader, level, False
    return end - 1, leader, level, True


@jit
def rare_round(t: int, s: Any, eps: float, own: Any, rng: Any) -> int:
    """Play round t, at which at least one arm has a candidate; returns the chosen arm."""
    arms, leader, level, accepted = len(s.n), own.now[LEADER], own.level[0], False
    samples, due = own.samples, own.due
    for arm in range(arms):
        samples[arm] = -1.0
        if due[arm] == t:
            due[arm] = t + jump(own.rates[arm], rng)
            slope, top, lower = own.slopes[arm], own.tops[arm], arm == leader
            samples[arm] = candidate(arm, t, s.means, s.n, eps, lower, level, slope, top, rng)
            accepted = accepted or samples[arm] >= 0.0
    if not accepted:
        return leader
    for arm in range(arms):
        while samples[arm] < 0.0:  # not rare in this round: what remains of the arm's law
            x = sample_arm(arm, t, s.means, s.n, eps, rng)
            if (x >= level) == (arm == leader):
                samples[arm] = x
    return samples.argmax()


@jit
def candidate(
    arm: int,
    t: int,
    means: Any,
    n: Any,
    eps: float,
    lower: bool,
    level: float,
    slope: float,
    top: float,
    rng: Any,
) -> float:
    """A sample in the rare tail, or −1: from the exponential envelope exp(top + slope·(x − level)),
    kept with the exact ratio.
    """
    width = level if lower else 1.0 - level
    x = level - tail(slope, width, rng) if lower else level + tail(-slope, width, rng)
    if not 0.0 < x < 1.0:
        return -1.0
    centre = lifted_mean(means[arm], n[arm], t, eps)
    a, b = centre * n[arm] + 1.0, (1.0 - centre) * n[arm] + 1.0
    ratio = log_density(x, a, b) - log_beta(a, b) - top - slope * (x - level)
    return x if math.log(1.0 - rng.random()) < ratio else -1.0


@jit
def tail(rate: float, width: float, rng: Any) -> float:
    """Exponential with this rate, conditioned on being below `width`."""
    return -math.log1p(rng.random() * math.expm1(-rate * width)) / rate


play_lazy_ts = player(
    "lazy_ts",
    Numbers=Lazy,
    start=start,
    choose=choose,
    batch=batch_lazy,
    read=read_newest,
    learn=learn,
)
