"""Thompson sampling, and Lazy DP-TS by the rare rounds in which its leader may lose."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpbandits.policies import LazyDPTS, ThompsonBeta
from dpbandits.simulation.compiled.batches import read_newest
from dpbandits.simulation.compiled.driver import Kernel, player
from dpbandits.simulation.compiled.jit import inline, jit, lifted_mean, pasted
from dpbandits.simulation.compiled.parts import play

# Beta draws with both parameters at least 1.


@pasted
def gamma(shape: float, rng: Any) -> float:
    """Draw from Gamma(shape, 1), shape at least 1. Marsaglia and Tsang 2000.

    It has the law of the generator's method; inlined, it takes about two thirds of the time.
    """
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        z = rng.standard_normal()
        v = 1.0 + c * z
        if v <= 0.0:
            continue
        v, zz, u = v * v * v, z * z, rng.random()
        if u < 1.0 - 0.0331 * zz * zz:  # nearly always, and no logarithm
            return d * v
        if math.log(u) < 0.5 * zz + d * (1.0 - v + math.log(v)):
            return d * v


@pasted
def beta(a: float, b: float, rng: Any) -> float:
    """Draw from Beta(a, b), a and b at least 1."""
    x = gamma(a, rng)
    return x / (x + gamma(b, rng))


# Envelopes for the rare tails of Lazy-DP-TS's Beta laws over a window of rounds.
#
# In a window, an arm's centre c rises from c0 to c1. For x above the mode the density rises with c,
# below it falls; so the law at c1 dominates every upper tail and the law at c0 every lower tail.
# Beta densities with both parameters at least 1 are log-concave, so the tangent at the level
# dominates the whole tail: an exponential, which is easy to sample.


SEARCH = 12

END, LEADER, RARE, GROUP, NEXT, LOST, WINNER = range(7)
"""Indices of a window's whole numbers: its last round; its leader (the first of a group); whether
rare rounds are jumped to; N of the clipped group (0: one arm leads); the next candidate's round;
the round up to which the leader surely wins; and the winner of that round.
"""


class Windows(NamedTuple):
    """A window of rounds: each arm's envelope (rate, slope and top at the level), the mean wait for
    its candidates, its dominating law, whether it is clipped to 1, and the round of its next
    candidate; the level; and `now`, the whole numbers named above.
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
    """Return ψ(x) for x >= 1, accurate to 1e-12."""
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
    """Set the dominating law of each arm that is not clipped: (a, b, ln B(a, b), ψ(a) − ψ(b)); and
    for the law at the window's other end, ln B and the increase of a. The leader's law dominates at
    the window's start, the others' at its end. Return the largest of the others' centres.
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
    """Return the sum of all arms' candidate rates at this level, inf if some tangent is not an
    envelope; fill the arrays. A clipped group's rate is that of its leader, and exact.

    A rate is the mass of the exponential exp(top + slope·(x − level)) over the tail, an upper bound
    of the tail's probability.
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
    """Set the arms' envelopes at the level with about the smallest total rate; return the level and
    that rate. The window's leader and group are set.
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


# Rare rounds of Lazy-DP-TS (see "by candidate rounds" below): their times and winners.


NEVER = 2**61


@pasted
def jump(wait: float, rng: Any) -> int:
    """Return the rounds until the next candidate, at least 1: geometric, an exponential rounded
    up.
    """
    rounds = wait * rng.standard_exponential()
    return 1 + int(rounds) if rounds < NEVER / 2 else NEVER


@pasted
def sample_arm(arm: int, t: int, s: Any, eps: float, rng: Any) -> float:
    n, centre = s.n[arm], lifted_mean(s.means[arm], s.n[arm], t, eps)
    return beta(centre * n + 1.0, (1.0 - centre) * n + 1.0, rng)


@pasted
def winner_in_group(s: Any, state: Any, rng: Any) -> int:
    """Return the clipped arm whose sample is the largest of the group's."""
    left, last = int(rng.random() * state.now[GROUP]), 0
    for arm in range(len(s.n)):
        if state.clipped[arm]:
            last = arm
            left -= s.n[arm] + 1
            if left < 0:
                return arm
    return last


@pasted
def rare_round(t: int, s: Any, eps: float, state: Any, rng: Any) -> int:
    """Play round t, in which at least one arm has a candidate; return the chosen arm.

    A challenger at the level or above is beaten only by others there: the leader, if it is not
    rare. A leader below the level is beaten by any arm above it.
    """
    now, level = state.now, state.level[0]
    low, arm, high = candidates(t, s, eps, state, rng)
    if arm >= 0:
        if low < 0.0 and leader_above(t, s, eps, state, rng) > high:
            arm = -1
    elif low >= 0.0:
        high = low
        for other in range(len(s.n)):
            if other != now[LEADER] and not state.clipped[other]:
                x = level
                while x >= level:  # not rare in this round: the rest of its law
                    x = sample_arm(other, t, s, eps, rng)
                if x > high:
                    arm, high = other, x
    if arm >= 0:
        return arm
    return winner_in_group(s, state, rng) if now[GROUP] else now[LEADER]


@pasted
def candidates(t: int, s: Any, eps: float, state: Any, rng: Any) -> tuple[float, int, float]:
    """Return the leader's sample if it is rare, else −1; and the largest of the rare challengers
    (−1: none) with its sample. Update the times of the next candidates.
    """
    now, due, level = state.now, state.due, state.level[0]
    low, chosen, high = -1.0, -1, -1.0
    now[NEXT] = NEVER
    for arm in range(len(due)):
        if due[arm] == t:
            due[arm] = t + jump(state.waits[arm], rng)
            if arm == now[LEADER] and now[GROUP]:  # its rate is exact
                low = level * math.exp(-rng.standard_exponential() / now[GROUP])
            else:
                x = candidate(arm, t, s, eps, state, rng)
                if arm == now[LEADER]:
                    low = x
                elif x > high:
                    chosen, high = arm, x
        now[NEXT] = min(now[NEXT], due[arm])
    return low, chosen, high


@pasted
def leader_above(t: int, s: Any, eps: float, state: Any, rng: Any) -> float:
    """Draw the leader's sample if it is not rare."""
    level, group, x = state.level[0], state.now[GROUP], -1.0
    if group:
        below = level**group
        return (below + rng.random() * (1.0 - below)) ** (1.0 / group)
    while x < level:
        x = sample_arm(state.now[LEADER], t, s, eps, rng)
    return x


@pasted
def candidate(arm: int, t: int, s: Any, eps: float, state: Any, rng: Any) -> float:
    """Draw a sample in the rare tail, or return −1: from the exponential envelope exp(top +
    slope·(x − level)), accepted with the exact ratio. Most rejections need the dominating law only,
    whose constant is known; most acceptances need a chord only, because ln B is convex in the
    centre.
    """
    level, slope, n = state.level[0], state.slopes[arm], s.n[arm]
    if slope > 0.0:
        x = level - tail(slope, level, rng)
    else:
        x = level + tail(-slope, 1.0 - level, rng)
    if not 0.0 < x < 1.0:
        return -1.0
    height = state.tops[arm] + slope * (x - level) - rng.standard_exponential()
    a, b, constant = state.laws[arm, 0], state.laws[arm, 1], state.laws[arm, 2]
    log_x, log_y = math.log(x), math.log(1.0 - x)
    if height > (a - 1.0) * log_x + (b - 1.0) * log_y - constant:
        return -1.0
    moved = lifted_mean(s.means[arm], n, t, eps) * n + 1.0 - a
    density = (a + moved - 1.0) * log_x + (b - moved - 1.0) * log_y
    share = moved / state.laws[arm, 5] if state.laws[arm, 5] != 0.0 else 0.0
    if height <= density - constant - share * (state.laws[arm, 4] - constant):
        return x
    return x if height <= density - log_beta(a + moved, b - moved) else -1.0


@pasted
def tail(rate: float, width: float, rng: Any) -> float:
    """Draw an exponential with this rate, conditioned on being below `width`."""
    x = rng.standard_exponential() / rate
    if x < width:
        return x
    return -math.log1p(rng.random() * math.expm1(-rate * width)) / rate


# ThompsonBeta, round by round.


@jit
def play_thompson(
    probabilities: Any, rounds: int, checkpoints: Any, rng: Any, out: Any
) -> tuple[int, int]:
    """Play ThompsonBeta; return (releases, events)."""
    arms = probabilities.shape[0]
    plays, successes = np.zeros(arms, np.int64), np.zeros(arms, np.int64)
    at = 0
    for t in range(rounds):
        chosen, top = 0, -1.0
        for arm in range(arms):
            sample = beta(successes[arm] + 1.0, plays[arm] - successes[arm] + 1.0, rng)
            if sample > top:
                chosen, top = arm, sample
        at = play(chosen, 1, t, plays, checkpoints, out, at)
        successes[chosen] += rng.random() < probabilities[chosen, 1]
    return rounds, rounds


# Lazy-DP-TS by candidate rounds.
#
# Between two releases the laws change with ln t only, and the leader wins most rounds. So a window
# of rounds gets a level y, and a round is *rare* if the leader's sample is below y or a
# challenger's reaches it; in all others the leader is played. Rare rounds come from jumps at
# the rate of an envelope that dominates its tail density over the whole window; each candidate's
# sample is drawn from the envelope and accepted with the exact ratio of densities. In a rare round
# the relevant samples that are not rare are drawn from the rest of their laws. The law of the plays
# is exact.
#
# Arms whose centre is clipped to 1 draw from Beta(n + 1, 1), a constant law. The largest of their
# samples has the law of one Beta(N, 1), N = Σ (n + 1); each arm is the winner with probability
# (n + 1)/N, independently of the sample. Such arms lead as one.


WINDOW = 0.2  # a window ends when an arm's centre has moved by this many standard deviations
BUSY = 0.8  # rate of candidates above which playing each round is cheaper


class Lazy(NamedTuple):
    """The constants of the policy; `noise` is the scale of the mechanism's noise, in grid steps."""

    eps: float
    noise: float


@jit
def start(p: Any, s: Any) -> Any:
    arms = len(s.n)
    a, b = np.zeros((4, arms)), np.zeros((2, arms), np.int64)
    laws, now = np.zeros((arms, 6)), np.zeros(7, np.int64)
    return Windows(a[0], a[1], a[2], a[3], laws, np.zeros(1), b[0], b[1], now)


@inline
def choose(p: Any, s: Any, state: Any, t: int, rng: Any) -> tuple[int, int]:
    """Choose every arm once, then the leader up to the next round that it loses, and then its
    winner.
    """
    now = state.now
    if t <= len(s.n):
        s.chosen[0] = t - 1
        return 1, 1
    if t > now[END]:
        open_window(t, s, p.eps, state, rng)
    leader = now[LEADER]
    stop = min(now[END] + 1, t + batch(p, s, state, leader) - s.open_[leader])
    if now[LOST] < t:
        now[LOST] = next_lost(t, stop, s, p.eps, state, rng)
    s.chosen[0] = now[WINNER] if now[LOST] == t else leader
    return 1, max(1, now[LOST] - t)


@inline
def batch(p: Any, s: Any, state: Any, arm: int) -> int:
    return max(1, 2 * s.n[arm])


@inline
def learn(p: Any, s: Any, state: Any, t: int) -> None:
    """A release ends the window."""
    if s.open_[s.chosen[0]] == 0:
        state.now[END] = t


@pasted
def next_lost(t: int, stop: int, s: Any, eps: float, state: Any, rng: Any) -> int:
    """Return the first round from t on that the leader loses, and set its winner; or `stop`, where
    the leader's block or the window ends.
    """
    now = state.now
    while t < stop:
        if not now[RARE]:
            arm = plain_round(t, s, eps, state, rng)
        elif now[NEXT] == t:
            arm = rare_round(t, s, eps, state, rng)
        elif now[GROUP]:
            arm = winner_in_group(s, state, rng)
        else:
            t = min(now[NEXT], stop)
            continue
        if arm != now[LEADER]:
            now[WINNER] = arm
            return t
        t += 1
    return stop


@pasted
def plain_round(t: int, s: Any, eps: float, state: Any, rng: Any) -> int:
    chosen, top = -1, -1.0
    if state.now[GROUP]:
        top = math.exp(-rng.standard_exponential() / state.now[GROUP])
    for arm in range(len(s.n)):
        if not state.clipped[arm]:
            sample = sample_arm(arm, t, s, eps, rng)
            if sample > top:
                chosen, top = arm, sample
    return chosen if chosen >= 0 else winner_in_group(s, state, rng)


@pasted
def open_window(t: int, s: Any, eps: float, state: Any, rng: Any) -> None:
    """Set the next window, from round t: its leader, end, level and envelopes, and whether rare
    rounds are rare enough for jumps.
    """
    now, stretch = state.now, find_leader(t, s, eps, state)
    now[LOST] = 0
    end = max(t + 8, min(int(t * math.exp(stretch)), t + NEVER // 2))
    state.level[0], total = set_envelopes(t, end, s, state, eps)
    now[RARE], now[END] = total <= BUSY, end - 1
    if not now[RARE]:
        now[END] = min(end, t + max(32, t // 16))
        return
    now[NEXT] = NEVER
    for arm in range(len(s.n)):
        state.due[arm] = t - 1 + jump(state.waits[arm], rng)
        now[NEXT] = min(now[NEXT], state.due[arm])


@pasted
def find_leader(t: int, s: Any, eps: float, state: Any) -> float:
    """Set the arm with the largest centre, or all that are clipped; return ln(end/t) of a window
    that moves no centre by more than WINDOW standard deviations.
    """
    stretch, leader, best, group = 1.0, 0, -1.0, 0
    for arm in range(len(s.n)):
        n, centre = s.n[arm], lifted_mean(s.means[arm], s.n[arm], t, eps)
        if centre > best:
            leader, best = arm, centre
        state.clipped[arm] = centre >= 1.0
        if state.clipped[arm]:
            group += n + 1
        elif centre > 0.0 or s.means[arm] < 0.0:
            sd = math.sqrt((centre * (1.0 - centre) + 1.0 / n) / n)
            stretch = min(stretch, WINDOW * sd * eps * n / 3.0)
    state.now[LEADER], state.now[GROUP] = leader, group
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


def lazy_samples(policy: LazyDPTS, steps: int) -> Kernel:
    eps = float(policy.epsilon)
    return partial(play_lazy_ts, (eps, steps / eps), steps)


def thompson(policy: ThompsonBeta, steps: int) -> Kernel:
    return lambda values, probabilities, *rest: play_thompson(probabilities, *rest)
