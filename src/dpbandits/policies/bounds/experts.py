"""Full information: how likely each action is taken for the best one, and what that costs.

After n rounds with gap Δ the sums of an action and the best one differ by D, and E e^{θD} <= r^n,
r = ((1 + Δ)e^{−θ} + (1 − Δ)e^θ)/2 (convexity; the actions' rewards of one round may depend on each
other). Two Laplace draws of scale b raise that to r^n (1 − θ²b²)^{−2}. The exponential mechanism
and permute-and-flip take an action with probability at most min(1, e^{εD/2}) <= e^{θD}, θ <= ε/2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from dpbandits.core.inputs import Floats
from dpbandits.policies.bounds.arms import SHARES, STEEP, whole_cells

Chance = Callable[[Floats, int], Floats]
"""For gaps and an epoch's rounds: the probability that such an action is taken, at most."""
KINDS = 400
"""With more different gaps than this, those within half a percent count as the smaller one."""


def rates(gaps: Floats, theta: Floats) -> Floats:
    """ln r for each gap and θ, shape (gaps, thetas)."""
    fair = np.log1p(-np.multiply.outer(gaps, np.tanh(theta)))
    return np.asarray(fair + np.log(np.cosh(theta)))


def noisy_chance(gaps: Floats, rounds: int, scale: float) -> Floats:
    """Two noisy sums in the wrong order; draws of this scale, none if 0."""
    theta = SHARES * (STEEP if scale == 0.0 else min(STEEP, 1.0 / scale))
    noise = -2.0 * np.log1p(-np.square(theta * scale))
    return np.asarray(np.exp(np.minimum(0.0, (rounds * rates(gaps, theta) + noise).min(axis=1))))


def chosen_chance(gaps: Floats, rounds: int, eps: float) -> Floats:
    """Taken by the exponential mechanism or permute-and-flip from sums of so many rounds."""
    theta = np.append(SHARES, 1.0) * min(STEEP, eps / 2.0)
    return np.asarray(np.exp(np.minimum(0.0, (rounds * rates(gaps, theta)).min(axis=1))))


def prefix_chance(gaps: Floats, rounds: int, eps: float) -> Floats:
    """The same from a prefix whose length is uniform on (rounds/2, rounds]."""
    theta = np.append(SHARES, 1.0) * min(STEEP, eps / 2.0)
    rate = np.minimum(-1e-15, rates(gaps, theta))
    least, kinds = rounds // 2 + 1, rounds - rounds // 2
    series = np.exp(least * rate) * np.expm1(kinds * rate) / (kinds * np.expm1(rate))
    return np.asarray(np.minimum(1.0, series.min(axis=1)))


def worst_share(gaps: Floats, counts: Floats, chances: Floats) -> float:
    """The largest Σ gap·p with p <= chance for each action and Σ p <= 1; gaps fall."""
    taken = np.minimum(1.0, np.cumsum(counts * chances))
    return float(np.sum(gaps * np.diff(taken, prepend=0.0)))


def kinds_of(means: Sequence[float]) -> tuple[Floats, Floats]:
    """Gaps above 0, falling, and how many actions have them."""
    gaps = max(means) - np.asarray(means, np.float64)
    found, counts = np.unique(gaps[gaps > 0.0], return_counts=True)
    return found[::-1], counts[::-1].astype(np.float64)


def coarser(gaps: Floats) -> Floats:
    """The gaps that chances are computed for: each of them or, of many, a smaller one near it."""
    if len(gaps) <= KINDS:
        return gaps
    return np.asarray(np.exp(np.floor(np.log(gaps) * 200.0) / 200.0))


def expert_epochs_bound(means: Sequence[float], rounds: int, chance: Chance) -> float:
    """Epochs of 1, 2, 4, … rounds: the first plays action 0, others what was chosen."""
    gaps, counts = kinds_of(means)
    if not len(gaps):
        return 0.0
    near, where = np.unique(coarser(gaps), return_inverse=True)
    total, played, length = max(means) - means[0], 1, 1
    while played < rounds:
        following = min(2 * length, rounds - played)
        total += following * worst_share(gaps, counts, chance(near, length)[where])
        played, length = played + following, 2 * length
    return float(total)


def prefix_theorem(means: Sequence[float], rounds: int, eps: float) -> float:
    """A choice from random prefixes by the exponential mechanism (proofs/prefix_exponential.md)."""
    gaps, _ = kinds_of(means)
    if not len(gaps):
        return 0.0
    log_k, gap = math.log(len(means)), float(gaps[-1])
    by_gaps = 24.0 * log_k * (1.0 / gap + 1.0 / eps) + 36.0 / gap + 16.0 / eps + 5.0
    return min(by_gaps, prefix_worst(len(means), rounds, eps))


def prefix_worst(actions: int, rounds: int, eps: float) -> float:
    """The same whatever the gaps: 9√(T ln K) + 24 ln K/ε + 1."""
    log_k = math.log(actions)
    return 9.0 * math.sqrt(rounds * log_k) + 24.0 * log_k / eps + 1.0


def leader_bound(means: Sequence[float], rounds: int) -> float:
    """Follow the leader: Σ_t of the chance (1 − Δ²)^{t/2} that an action is not behind, action 0
    first.
    """
    gaps, counts = kinds_of(means)
    if not len(gaps):
        return 0.0
    found, total = whole_cells(1, rounds - 1), max(means) - means[0]
    for size, t in zip(found.sizes.tolist(), found.first.tolist(), strict=True):
        chances = np.exp(0.5 * t * np.log1p(-np.minimum(gaps**2, 1.0 - 1e-15)))
        total += size * worst_share(gaps, counts, chances)
    return float(total)


def hedge_bound(means: Sequence[float], rounds: int) -> float:
    """min(√(T ln K), (4 ln K + 25)/Δ): Mourtada and Gaïffas 2019, Proposition 1 and Theorem 2."""
    gaps, _ = kinds_of(means)
    if not len(gaps):
        return 0.0
    log_k = math.log(len(means))
    tied = sum(1 for mean in means if mean == max(means)) > 1  # theorem 2: one best action
    found = [math.sqrt(rounds * log_k), float(gaps[0]) * rounds]
    return min(found if tied else [*found, (4.0 * log_k + 25.0) / float(gaps[-1])])


def ftrl_bound(
    means: Sequence[float], rounds: int, horizon: int, levels: int, scale: float
) -> float:
    """Round 1 by equal weights, then `ftrl_later`, in which no gap is."""
    gaps, counts = kinds_of(means)
    if not len(gaps):
        return 0.0
    arms = len(means)
    first = float(np.sum(gaps * counts)) / arms
    return min(first + ftrl_later(arms, rounds, horizon, levels, scale), float(gaps[0]) * rounds)


def ftrl_later(actions: int, rounds: int, horizon: int, levels: int, scale: float) -> float:
    """ln K/η + ηT/8 with η = √(8 ln K/H), and the largest noise, whatever the gaps.

    E max over K sums of `levels` draws <= (ln K − levels·ln(1 − θ²b²))/θ (proofs/tree_ftrl.md).
    """
    log_k = math.log(actions)
    rate = math.sqrt(8.0 * log_k / horizon)
    theta = SHARES / scale
    noise = float(np.min((log_k - levels * np.log1p(-np.square(theta * scale))) / theta))
    return log_k / rate + rate * rounds / 8.0 + noise
