"""Full information: the probability that an action is chosen instead of the best one, and its cost.

After n rounds with gap Δ the sums of an action and the best one differ by D, and E e^{θD} <= r^n, r
= ((1 + Δ)e^{−θ} + (1 − Δ)e^θ)/2 (convexity; the actions' rewards of one round may be dependent).
Two Laplace draws of scale b raise that to r^n (1 − θ²b²)^{−2}. The exponential mechanism and
permute-and-flip choose an action with probability at most min(1, e^{εD/2}) <= e^{θD}, θ <= ε/2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from dpbandits.core.inputs import Floats
from dpbandits.policies.bounds.arms import SHARES, STEEP, whole_cells

Chance = Callable[[Floats, int], Floats]
"""By gaps and an epoch's rounds: an upper bound of the probability that such an action is
chosen.
"""
KINDS = 400
"""With more different gaps than this, gaps within half a percent are merged into the smaller
one.
"""


def rates(gaps: Floats, theta: Floats) -> Floats:
    """Return ln r for each gap and θ, shape (gaps, thetas)."""
    fair = np.log1p(-np.multiply.outer(gaps, np.tanh(theta)))
    return np.asarray(fair + np.log(np.cosh(theta)))


def noisy_chance(gaps: Floats, rounds: int, scale: float) -> Floats:
    """Return the probability bound of two noisy sums in the wrong order; draws of this scale, none
    if 0.
    """
    theta = SHARES * (STEEP if scale == 0.0 else min(STEEP, 1.0 / scale))
    noise = -2.0 * np.log1p(-np.square(theta * scale))
    return np.asarray(np.exp(np.minimum(0.0, (rounds * rates(gaps, theta) + noise).min(axis=1))))


def chosen_chance(gaps: Floats, rounds: int, eps: float) -> Floats:
    """Return the probability bound for the exponential mechanism or permute-and-flip on sums of
    `rounds` rounds.
    """
    theta = np.append(SHARES, 1.0) * min(STEEP, eps / 2.0)
    return np.asarray(np.exp(np.minimum(0.0, (rounds * rates(gaps, theta)).min(axis=1))))


def prefix_chance(gaps: Floats, rounds: int, eps: float) -> Floats:
    """Return the probability bound for a prefix whose length is uniform on (rounds/2, rounds]."""
    theta = np.append(SHARES, 1.0) * min(STEEP, eps / 2.0)
    rate = np.minimum(-1e-15, rates(gaps, theta))
    least, kinds = rounds // 2 + 1, rounds - rounds // 2
    series = np.exp(least * rate) * np.expm1(kinds * rate) / (kinds * np.expm1(rate))
    return np.asarray(np.minimum(1.0, series.min(axis=1)))


def worst_share(gaps: Floats, counts: Floats, chances: Floats) -> float:
    """Return the largest Σ gap·p with p <= chance for each action and Σ p <= 1; gaps are
    decreasing.
    """
    taken = np.minimum(1.0, np.cumsum(counts * chances))
    return float(np.sum(gaps * np.diff(taken, prepend=0.0)))


def kinds_of(means: Sequence[float]) -> tuple[Floats, Floats]:
    """Return the positive gaps, decreasing, and the number of actions with each."""
    gaps = max(means) - np.asarray(means, np.float64)
    values, counts = np.unique(gaps[gaps > 0.0], return_counts=True)
    return values[::-1], counts[::-1].astype(np.float64)


def coarser(gaps: Floats) -> Floats:
    """Return the gaps for which probabilities are computed: all of them or, if there are many,
    smaller ones near them.
    """
    if len(gaps) <= KINDS:
        return gaps
    return np.asarray(np.exp(np.floor(np.log(gaps) * 200.0) / 200.0))


def expert_epochs_bound(means: Sequence[float], rounds: int, chance: Chance) -> float:
    """Return the bound for epochs of 1, 2, 4, … rounds: the first plays action 0, others the chosen
    action.
    """
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
    """Return the bound for choices from random prefixes by the exponential mechanism
    (proofs/prefix_exponential.md).
    """
    gaps, _ = kinds_of(means)
    if not len(gaps):
        return 0.0
    log_k, gap = math.log(len(means)), float(gaps[-1])
    by_gaps = 24.0 * log_k * (1.0 / gap + 1.0 / eps) + 36.0 / gap + 16.0 / eps + 5.0
    return min(by_gaps, prefix_worst(len(means), rounds, eps))


def prefix_worst(actions: int, rounds: int, eps: float) -> float:
    """Return that bound for any gaps: 9√(T ln K) + 24 ln K/ε + 1."""
    log_k = math.log(actions)
    return 9.0 * math.sqrt(rounds * log_k) + 24.0 * log_k / eps + 1.0


def leader_bound(means: Sequence[float], rounds: int) -> float:
    """Return the bound of follow the leader: Σ_t of the probability (1 − Δ²)^{t/2} that an action
    is not behind, action 0 first.
    """
    gaps, counts = kinds_of(means)
    if not len(gaps):
        return 0.0
    cells, total = whole_cells(1, rounds - 1), max(means) - means[0]
    for size, t in zip(cells.sizes.tolist(), cells.first.tolist(), strict=True):
        chances = np.exp(0.5 * t * np.log1p(-np.minimum(gaps**2, 1.0 - 1e-15)))
        total += size * worst_share(gaps, counts, chances)
    return float(total)


def hedge_bound(means: Sequence[float], rounds: int) -> float:
    """Return min(√(T ln K), (4 ln K + 25)/Δ): Mourtada and Gaïffas 2019, Proposition 1 and Theorem
    2.
    """
    gaps, _ = kinds_of(means)
    if not len(gaps):
        return 0.0
    log_k = math.log(len(means))
    tied = sum(1 for mean in means if mean == max(means)) > 1  # theorem 2: one best action
    bounds = [math.sqrt(rounds * log_k), float(gaps[0]) * rounds]
    return min(bounds if tied else [*bounds, (4.0 * log_k + 25.0) / float(gaps[-1])])


def ftrl_bound(means: Sequence[float], rounds: int, later: float) -> float:
    """Return the bound for round 1 with equal weights, plus `later`, which does not depend on
    gaps.
    """
    gaps, counts = kinds_of(means)
    if not len(gaps):
        return 0.0
    first = float(np.sum(gaps * counts)) / len(means)
    return min(first + later, float(gaps[0]) * rounds)


def ftrl_later(actions: int, rounds: int, horizon: int, levels: int, scale: float) -> float:
    """Return ln K/η + ηT/8 with η = √(8 ln K/H), plus the largest noise, for any gaps.

    E max over K sums of `levels` draws <= (ln K − levels·ln(1 − θ²b²))/θ (proofs/tree_ftrl.md).
    """
    theta = SHARES / scale
    log_k = math.log(actions)
    noise = float(np.min((log_k - levels * np.log1p(-np.square(theta * scale))) / theta))
    return hedge_part(actions, rounds, horizon) + noise


def ftrl_any_noise(actions: int, rounds: int, horizon: int, variance: float) -> float:
    """Return ln K/η + ηT/8 + η²(K − 1)vT/4, for noise of any symmetric laws with uncorrelated
    coordinates of at most this variance v (proofs/tree_ftrl.md).
    """
    rate_squared = 8.0 * math.log(actions) / horizon
    noise = rate_squared * (actions - 1) * variance * rounds / 4.0
    return hedge_part(actions, rounds, horizon) + noise


def hedge_part(actions: int, rounds: int, horizon: int) -> float:
    log_k = math.log(actions)
    rate = math.sqrt(8.0 * log_k / horizon)
    return log_k / rate + rate * rounds / 8.0 if log_k else 0.0
