"""Bounds for the worst instance of a kind: full information, paths, and all instances at once."""

from __future__ import annotations

import math

from dpbandits.core.inputs import real_number, shown, whole_number

HALVINGS = 200  # of [0, T]: to the last bit


def full_information_lower_bound(
    actions: int, gap: float, rounds: int, epsilon: float | None = None
) -> float:
    """Regret on the worst of the K instances in which one action is better by `gap`.

    Without privacy max over n <= T of (nΔ/2)(1 − (2nΔ ln((1 + Δ)/(1 − Δ)) + ln 2)/ln K): Fano's
    inequality for means ½ ± Δ/2, the action played most as the guess. With epsilon-DP also
    0.2·0.49·Δ·min(T, ln K/(10 epsilon Δ)): Hu, Huang, Mehta and Hegde 2024, Theorem 12.

    >>> full_information_lower_bound(10, 0.1, 2, epsilon=0.001) <= 2 * 0.1
    True
    """
    actions, rounds = whole_number(actions, "actions", 1), whole_number(rounds, "rounds", 1)
    if actions < 2 or not 0.0 < gap < 1.0:
        return 0.0
    log_k = math.log(actions)
    share, each = 1.0 - math.log(2.0) / log_k, 2.0 * gap * 2.0 * math.atanh(gap) / log_k
    n = min(float(rounds), math.floor(share / (2.0 * each)))
    free = max(0.0, 0.5 * gap * n * (share - n * each))
    if epsilon is None:
        return free
    return max(free, 0.2 * 0.49 * gap * min(float(rounds), log_k / (10.0 * epsilon * gap)))


def private_paths_lower_bound(
    arms: int, size: int, gap: float, rounds: int, epsilon: float
) -> float:
    """(m − K)K ln T/(64(e^ε − 1)²Δ): Chen et al. 2020, Theorem 6, for epsilon-LDP policies.

    On m/K disjoint paths of K arms, those of one path with equal rewards, means ½ on the best and ½
    − Δ/K elsewhere, Δ/K < 0.35. NaN where m/K is not whole or the gap too large.
    """
    if arms % size or not 0.0 < gap / size < 0.35:
        return math.nan
    return (arms - size) * size * math.log(rounds) / (64.0 * math.expm1(epsilon) ** 2 * gap)


def private_largest_error_lower_bound(
    arms: int, smooth: float, gap: float, rounds: int, epsilon: float
) -> float:
    """B∞²(m − 1) ln T/(64(e^ε − 1)²Δ): Chen et al. 2020, Theorem 5, for epsilon-LDP policies.

    On single arms whose rewards count B∞ times, Δ/B∞ < 0.35; NaN elsewhere.
    """
    if not 0.0 < gap / smooth < 0.35:
        return math.nan
    return smooth**2 * (arms - 1) * math.log(rounds) / (64.0 * math.expm1(epsilon) ** 2 * gap)


def semi_bandit_lower_order(arms: int, size: int, gap: float, rounds: int, epsilon: float) -> float:
    """mK ln T/Δ + mK ln T/ε: the order of Chen et al. 2020, Theorem 9, for epsilon-DP policies on
    the worst instance with m >= 2K arms and this gap. It states no constant.
    """
    return arms * size * math.log(rounds) * (1.0 / gap + 1.0 / epsilon)


def minimax_lower_bound(arms: int, rounds: int, epsilon: float | None = None) -> float:
    """What any policy of one arm a round loses on some instance of 0/1 rewards, at this T.

    min(√(KT), T)/20 (Auer et al. 2002b, Theorem 5.1). Of pure epsilon-DP policies, central or
    local, no less than (K − 1)n/2 either, n the root of (K − 1)n = (T − n)e^{−εn}: order
    (K/ε) ln(εT/K), not below the K/ε of Azize and Basu 2022; proved in proofs/worst_instances.md.
    zCDP alone does not imply it.

    >>> [round(minimax_lower_bound(5, 10**5, eps)) for eps in (None, 1.0, 0.1, 0.01)]
    [35, 35, 121, 821]
    """
    arms, rounds = whole_number(arms, "arms", 1), whole_number(rounds, "rounds", 1)
    if arms < 2:
        return 0.0
    free = min(math.sqrt(arms * rounds), float(rounds)) / 20.0
    if epsilon is None:
        return free
    budget = real_number(epsilon)
    if budget is None or not 0 < budget < 1e300:
        raise ValueError(f"Expected epsilon={shown(epsilon)} to be a number above 0, or None.")
    return max(free, private_floor(arms, rounds, float(budget)))


def private_floor(arms: int, rounds: int, epsilon: float) -> float:
    """(K − 1)n/2 at the n of `minimax_lower_bound`, by bisection from below."""
    low, high = 0.0, float(rounds)
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        below = (arms - 1) * middle <= (rounds - middle) * math.exp(-epsilon * middle)
        low, high = (middle, high) if below else (low, middle)
    return (arms - 1) * low / 2.0
