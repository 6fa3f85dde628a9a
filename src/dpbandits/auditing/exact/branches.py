"""What the enumeration follows: branches of one decision sequence, and the laws it comes to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from dpbandits.auditing.exact.lattice import Axis
from dpbandits.auditing.exact.probe import Blocks
from dpbandits.core.arrays import Floats
from dpbandits.core.errors import Unfit
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
