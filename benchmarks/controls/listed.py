"""What is judged: the shipped specimens and policies, and subjects of unusual shape."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from benchmarks.controls.repeated import Control, broken, correct
from benchmarks.odd import CORRECT, MISSED, WRONG, Odd, remembering
from benchmarks.odd.releases import SPECIMENS as RELEASES
from dpbandits.auditing.subjects import Feeding
from dpbandits.policies.contract import Policy

COUNTED = (
    "blocks left out by the source's coins",
    "redrawn until plausible",
    "rejection by coins",
    "two draws where the sum is large, one told",
    "noise shared in turn by two actions",
    "half of a noisy maximum",
    "coins in plan",
)
FEW = 2_000
"""Odd subjects that are correct and judged by runs, too, and how many: most are played one run
after the other.
"""


def all_broken() -> Iterator[Control]:
    """The shipped specimens, and odd ones."""
    yield from broken()
    for odd in (*WRONG, *RELEASES, *remembering.WRONG):
        yield odd_control(odd, "statistical" if odd.runs else "transcript", True)


def all_correct() -> Iterator[Control]:
    """What is shipped, and what is odd: of that the auditor may say nothing, but no ill."""
    yield from correct()
    for odd in (*CORRECT, *remembering.CORRECT):
        yield odd_control(odd, "transcript", False)
        if odd.name in COUNTED:
            yield odd_control(odd, "statistical", False)


def all_missed() -> Iterator[Control]:
    """What so many runs cannot show, at the level that comes nearest."""
    for odd in MISSED:
        yield odd_control(odd, "statistical", True)


def odd_control(odd: Odd, level: str, wrong: bool) -> Control:
    truth = (
        "not DP"
        if math.isinf(odd.true)
        else "more than 1"
        if math.isnan(odd.true)
        else f"{odd.true:.4g}"
    )
    return Control(
        odd.name,
        wrong,
        level,
        lambda: bare(odd.make(), level),
        Fraction(1),
        truth,
        runs=odd.runs or FEW,
        open=not wrong,
    )


def bare(policy: Policy, level: str) -> Any:
    """Of a mechanism that is only fed, runs look at the mechanism's answers."""
    return policy.mechanism() if level == "statistical" and isinstance(policy, Feeding) else policy


LISTS: dict[str, Callable[[], Iterator[Control]]] = {
    "broken": all_broken,
    "missed": all_missed,
    "correct": all_correct,
}
