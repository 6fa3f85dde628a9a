"""What the enumeration follows: branches of one decision sequence; the laws it comes to, and in
them the worst pair of neighbours: the largest log-ratio of two probabilities, with the error of
the numbers taken against it.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from dpbandits.auditing.exact.lattice import Axis
from dpbandits.auditing.exact.probe import Blocks
from dpbandits.core.errors import Unfit
from dpbandits.core.inputs import Floats
from dpbandits.core.plan import Hold
from dpbandits.policies.base import Statistics

BlockSums = tuple[tuple[int, int], ...]
"""The sum and the rounds of every block released, in order."""


class Mass(NamedTuple):
    """Probability of a decision sequence: at least `low`, at most `low + lost`."""

    low: float
    lost: float


Laws = dict[tuple[int, ...], dict[BlockSums, Mass]]
"""Decisions -> block sums -> probability. One decision sequence has the same blocks whatever the
rewards.
"""


class Step(NamedTuple):
    """A `Hold`, cut off where nothing can follow it any more."""

    arm: int
    rounds: int
    release: tuple[int, ...]


@dataclass(frozen=True)
class Branch:
    """What led to the same decisions and the same counts, with its probability spread over the
    lattice.
    """

    state: Statistics  # totals are those of `exact`, without noise
    step: Step
    blocks: tuple[Blocks, ...]  # by arm
    open: tuple[int, ...]  # rounds since the last release, by arm
    axes: tuple[Axis, ...]
    law: Floats


def dropped_mass(before: Branch, after: Branch) -> float:
    """What the lattice left out of a branch's probability when it was released, and the rounding of
    that difference.
    """
    if before.law is after.law:
        return 0.0
    mass = float(before.law.sum())
    return max(0.0, mass - float(after.law.sum())) + 1e-14 * mass


def after_round(branch: Branch) -> Branch:
    """After one more round of its plan."""
    arm = branch.step.arm
    open_ = tuple(n + (c == arm) for c, n in enumerate(branch.open))
    return replace(branch, step=branch.step._replace(rounds=branch.step.rounds - 1), open=open_)


def cut(plan: Any, left: int) -> Step:
    """The plan as far as it matters when `left` rounds are still to be decided: a release after the
    last of them is seen by nobody.
    """
    if not isinstance(plan, Hold) or not isinstance(plan.action, int) or plan.drop or plan.observe:
        raise Unfit("it plays something else than one arm at a time until a release")
    if plan.rounds >= left:
        return Step(plan.action, left, ())
    return Step(plan.action, plan.rounds, plan.release)


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
