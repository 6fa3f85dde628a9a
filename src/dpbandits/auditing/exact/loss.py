"""The worst pair of neighbours: the largest log-ratio of two probabilities, with the error of the
numbers taken against it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from dpbandits.auditing.exact.branches import BlockSums, Laws, Mass


class Worst(NamedTuple):
    """loss: certified, a lower bound; error: by how much the exact loss of this pair may exceed
    it.
    """

    loss: float
    error: float
    decisions: tuple[int, ...] = ()
    sums: tuple[int, ...] = ()  # of the released blocks
    block: int = -1  # the block in which one reward is replaced
    other: int = 0  # its sum afterwards


def log_ratio_bounds(p: Mass, q: Mass) -> tuple[float, float]:
    """ln(p/q), at least and at most."""
    if p.low <= 0:
        return -math.inf, math.inf
    return (
        math.log(p.low / (q.low + q.lost)) if q.low + q.lost > 0 else math.inf,
        math.log((p.low + p.lost) / q.low) if q.low > 0 else math.inf,
    )


def worst_pair(laws: Laws, lost: float) -> Worst:
    """Over all decision sequences and all pairs of tables that differ in one round: one block's sum
    differs by one.

    lost: the most that may have been left out of a sequence that was never seen.
    """
    never = Mass(0.0, lost)
    worst = Worst(0.0, 0.0)
    for decisions, table in laws.items():
        for sums, p in table.items():
            for at, (total, rounds) in enumerate(sums):
                for changed in (total - 1, total + 1):
                    if not 0 <= changed <= rounds:
                        continue
                    other: BlockSums = (*sums[:at], (changed, rounds), *sums[at + 1 :])
                    low, high = log_ratio_bounds(p, table.get(other, never))
                    if low > worst.loss:
                        worst = Worst(
                            low,
                            high - low if low < math.inf else 0.0,
                            decisions,
                            tuple(s for s, _ in sums),
                            at,
                            changed,
                        )
    return worst


def missing_mass(laws: Laws) -> float:
    """How far the probabilities of all decision sequences are from adding up to 1, where every
    reward is 0.
    """
    return abs(
        1.0
        - sum(
            p.low
            for table in laws.values()
            for sums, p in table.items()
            if not any(s for s, _ in sums)
        )
    )
