"""The two arms in question, and whether the question is settled: functions of released values and
public counts, compiled as they stand.

means, rounds: of each arm's newest released batches; phases: how many batches were released; pulls:
    rounds told.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpbandits.policies.formulas.thresholds import (
    bit_evidence,
    bit_regret,
    log_price,
    published_gap,
    tight_gap,
)


def leading(
    means: Sequence[float], rounds: Sequence[int], phases: Sequence[int], eps: float
) -> int:
    """The largest mean + √(k/n) + k/(eps n), k the arm's phase; the lowest arm on a tie. AdaP-TT's
    leader (reconstructed).
    """
    best, top = 0, -math.inf
    for arm in range(len(means)):
        value = (
            means[arm] + math.sqrt(phases[arm] / rounds[arm]) + phases[arm] / (eps * rounds[arm])
        )
        if value > top:
            best, top = arm, value
    return best


def challenging(
    leader: int, means: Sequence[float], pulls: Sequence[int], t: int, net: bool
) -> int:
    """The arm that is hardest to tell from the leader: the smallest (gap)₊/√(1/pulls + 1/pulls). At
    least two arms.

    net: an arm with fewer than √t pulls goes first. Without it two equal arms may duel for ever
        while a better one waits.
    """
    chosen, least, fewest = -1, math.inf, leader
    for arm in range(len(means)):
        if pulls[arm] < pulls[fewest]:
            fewest = arm
        if arm != leader:
            cost = max(0.0, means[leader] - means[arm]) / math.sqrt(
                1.0 / pulls[leader] + 1.0 / pulls[arm]
            )
            if cost < least:
                chosen, least = arm, cost
    return fewest if net and fewest != leader and pulls[fewest] < math.sqrt(t) else chosen


def planned(first: int, phase: int) -> int:
    """Rounds in an arm's first `phase` batches: first, first, 2 first, 4 first, …"""
    return first << (phase - 1) if phase > 0 else 0


def settled(
    means: Sequence[float],
    rounds: Sequence[int],
    phases: Sequence[int],
    first: int,
    keep: int,
    delta: float,
    eps: float,
    published: bool,
) -> int:
    """The arm that is surely best, or −1. A mean is of the newest `keep` batches."""
    arms, best = len(means), 0
    for arm in range(arms):
        if means[arm] > means[best]:
            best = arm
    k, n = phases[best], rounds[best]
    late = n - planned(first, k) + planned(first, k - keep)
    for arm in range(arms):
        if arm == best:
            continue
        j, m = phases[arm], rounds[arm]
        if published:
            needed = published_gap(n, m, max(j, k), arms, delta, eps)
        else:
            price = log_price(
                k, j, late, m - planned(first, j) + planned(first, j - keep), arms, delta
            )
            needed = tight_gap(
                means[best], n, min(k, keep), means[arm], m, min(j, keep), eps, price
            )
        if not means[best] - means[arm] > max(0.0, needed):
            return -1
    return best


def leading_bits(means: Sequence[float], rounds: Sequence[int], t: int) -> int:
    """The largest mean + √(ln t/(2n)), the lowest arm on a tie."""
    best, top = 0, -math.inf
    for arm in range(len(means)):
        value = means[arm] + math.sqrt(math.log(t) / (2.0 * rounds[arm]))
        if value > top:
            best, top = arm, value
    return best


def challenging_bits(leader: int, means: Sequence[float], rounds: Sequence[int]) -> int:
    """The arm with the least evidence that the leader is above it; with fewer rounds on a tie, then
    the lowest. At least two arms.
    """
    chosen, least = -1, math.inf
    for arm in range(len(means)):
        if arm != leader:
            evidence = bit_evidence(means[leader], rounds[leader], means[arm], rounds[arm])
            if evidence < least or (evidence == least and rounds[arm] < rounds[chosen]):
                chosen, least = arm, evidence
    return chosen


def settled_bits(means: Sequence[float], rounds: Sequence[int], delta: float) -> int:
    """The arm whose bits are surely the best, or −1."""
    arms, best = len(means), 0
    for arm in range(arms):
        if means[arm] > means[best]:
            best = arm
    own = math.log((arms - 1) / delta) + bit_regret(means[best] * rounds[best], rounds[best])
    for arm in range(arms):
        evidence = bit_evidence(means[best], rounds[best], means[arm], rounds[arm])
        if arm != best and evidence < own + bit_regret(means[arm] * rounds[arm], rounds[arm]):
            return -1
    return best
