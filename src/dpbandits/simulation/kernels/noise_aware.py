"""NoiseAwareTS: between releases every round draws an arm from the same weights, so the leader's
streaks are geometric.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpbandits.simulation.parts.jit import growing_batch, jit, neglected, posterior_sd
from dpbandits.simulation.parts.primitives import block_sum, laplace, play

FAR = 2**62
KNOTS = np.array([-9.0, -6.0, -4.0, -2.5, -1.2, 0.0, 1.2, 2.5, 4.0, 6.0, 9.0])
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(8)


@jit
def play_noise_aware(
    eps: float,
    first: int,
    alpha: float,
    c: float,
    net: float,
    optimistic: bool,
    scale: float,
    steps: int,
    values: Any,
    probabilities: Any,
    rounds: int,
    checkpoints: Any,
    rng: Any,
    out: Any,
) -> tuple[int, int]:
    """Returns (releases, events)."""
    arms = probabilities.shape[0]
    plays, n, draws = np.zeros(arms, np.int64), np.zeros(arms, np.int64), np.zeros(arms, np.int64)
    open_, totals = np.zeros(arms, np.int64), np.zeros(arms, np.int64)
    means, sds, weights = np.zeros(arms), np.zeros(arms), np.zeros(arms)
    t, at, releases, events, seen = 0, 0, 0, 0, 0
    leader: Any = 0
    held, due = 0, False  # arm to play to its release, −1: draw afresh; the leader's streak is over
    while t < rounds:
        arm, times = held, FAR
        if held < 0:
            arm, times = leader, 0 if due else streak(weights[leader], rng)
            due = not due
            if due and times == 0:
                continue
            if not due:
                arm, times = challenger(weights, leader, rng), 1
        limit = growing_batch(n[arm], first, alpha)
        times = min(times, limit - open_[arm], rounds - t)
        at = play(arm, times, t, plays, checkpoints, out, at)
        t, events, open_[arm] = t + times, events + 1, open_[arm] + times
        if open_[arm] < limit:
            continue
        totals[arm] += block_sum(rng, arm, limit, values, probabilities) + laplace(rng, scale)
        n[arm], draws[arm], open_[arm], releases = n[arm] + limit, draws[arm] + 1, 0, releases + 1
        means[arm] = totals[arm] / (steps * n[arm])
        sds[arm] = posterior_sd(means[arm], n[arm], draws[arm], eps, c)
        seen, due = min(arms, seen + 1), False
        held = seen if seen < arms else neglected(means, n, math.log(t + 1), eps, net)
        if held < 0:
            set_weights(means, sds, optimistic, weights)
            leader = weights.argmax()
    return releases, events


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


@jit
def set_weights(means: Any, sds: Any, optimistic: bool, weights: Any) -> None:
    """Each arm's probability of the largest sample: ∫ f_a Π F_b by Gauss–Legendre between all arms'
    knots; errors below 1e-9.
    """
    arms = len(means)
    cuts = np.empty(arms * len(KNOTS))
    for arm in range(arms):
        for k in range(len(KNOTS)):
            cuts[arm * len(KNOTS) + k] = means[arm] + sds[arm] * KNOTS[k]
    cuts.sort()
    cdfs, densities = np.empty(arms), np.empty(arms)
    weights[:] = 0.0
    floor = means.max() if optimistic else -math.inf  # an optimistic sample is never below its mean
    for i in range(len(cuts) - 1):
        half, middle = 0.5 * (cuts[i + 1] - cuts[i]), 0.5 * (cuts[i + 1] + cuts[i])
        if half <= 0.0 or cuts[i + 1] <= floor:
            continue
        for node in range(len(NODES)):
            x = middle + half * NODES[node]
            for arm in range(arms):
                densities[arm], cdfs[arm] = density_and_cdf((x - means[arm]) / sds[arm], optimistic)
            for arm in range(arms):
                term = densities[arm] / sds[arm] * half * NODE_WEIGHTS[node]
                for other in range(arms):
                    if other != arm:
                        term *= cdfs[other]
                weights[arm] += term
    weights /= weights.sum()


@jit
def density_and_cdf(u: float, optimistic: bool) -> tuple[float, float]:
    """Of a standard normal, or of its absolute value."""
    density = math.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi)
    if not optimistic:
        return density, 0.5 * math.erfc(-u / math.sqrt(2.0))
    if u < 0.0:
        return 0.0, 0.0
    return 2.0 * density, math.erf(u / math.sqrt(2.0))
