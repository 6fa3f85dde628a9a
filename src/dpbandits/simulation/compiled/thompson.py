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

# Beta draws for Thompson's rounds, where both parameters are at least 1.


@pasted
def gamma(shape: float, rng: Any) -> float:
    """A Gamma(shape, 1) draw, shape at least 1. Marsaglia and Tsang 2000.

    The same law as the generator's own; pasted into its caller it takes about two thirds of the
    time.
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
    """A Beta(a, b) draw, a and b at least 1."""
    x = gamma(a, rng)
    return x / (x + gamma(b, rng))


# Envelopes for the rare tails of Lazy-DP-TS's Beta laws over a window of rounds.
#
# Over the window an arm's centre c rises from c0 to c1. For x above the mode the density rises
# with c, below it falls; so the law at c1 dominates every upper tail and the law at c0 every lower
# tail. Beta densities with both parameters at least 1 are log-concave, so the tangent at the level
# dominates the whole tail: an exponential, easy to draw from.


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


# Rare rounds of Lazy-DP-TS (see "by candidate rounds" below): when they are due, and who plays.


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


# Thompson sampling with Beta laws, round by round: ThompsonBeta.


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
            sample = beta(successes[arm] + 1.0, plays[arm] - successes[arm] + 1.0, rng)
            if sample > top:
                chosen, top = arm, sample
        at = play(chosen, 1, t, plays, checkpoints, out, at)
        successes[chosen] += rng.random() < probabilities[chosen, 1]
    return rounds, rounds


# Lazy-DP-TS by candidate rounds.
#
# Between two releases the laws drift with ln t only, and the leader wins most rounds. So a window
# of rounds gets a level y, and a round is *rare* if the leader's sample falls below y or a
# challenger's reaches it; in all others the leader is played. Each arm's rare rounds are found by
# geometric jumps at the rate of an envelope that dominates its tail density over the whole window,
# each candidate's sample is drawn from the envelope and kept with the exact ratio of densities. In
# a rare round the samples that are not rare are drawn, where they matter, from what remains of
# their laws. The law of the plays is exact.
#
# Arms whose centre is clipped to 1 draw from Beta(n + 1, 1), and their laws stay. The largest of
# their samples has the law of one Beta(N, 1), N = Σ (n + 1), whoever wins; the winner is each with
# probability (n + 1)/N, whatever the sample. Where there are such arms, they lead as one.


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


def lazy_samples(policy: LazyDPTS, steps: int) -> Kernel:
    eps = float(policy.epsilon)
    return partial(play_lazy_ts, (eps, steps / eps), steps)


def thompson(policy: ThompsonBeta, steps: int) -> Kernel:
    return lambda values, probabilities, *rest: play_thompson(probabilities, *rest)
