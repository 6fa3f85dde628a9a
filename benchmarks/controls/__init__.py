"""Controls of the auditor: what it must catch, and what it must not refute."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

from benchmarks.controls import known, odd, unseen
from benchmarks.controls.parts import Control
from dpbandits.auditing.subjects import Feeding
from dpbandits.checks.examples import examples
from dpbandits.mechanisms import LazyForgetful
from dpbandits.policies import POLICIES

MORE_RUNS = {
    "RNM-FTNL as published": 20_000,
    "sparse vector variant 3": 200_000,
    "sparse vector variant 6": 100_000,
    "noisy max with its value, Laplace": 50_000,
}
"""Of what leaks little more than it claims."""

COUNTED = (
    "blocks left out by the source's coins",
    "redrawn until plausible",
    "rejection by coins",
    "two draws where the sum is large, one told",
    "noise shared in turn by two actions",
    "half of a noisy maximum",
    "coins in plan",
)
"""Odd subjects that are right and judged by runs, too; most are played one run after the other."""

TIGHT = {"1/2": 40_000, "1": 20_000, "2": 20_000}
"""Budgets of one noised sum, and runs that show how much of them can be certified."""


def ours() -> Iterator[Control]:
    """Every private policy and preset with two arms and 0/1 rewards, the mechanisms, and one that
    is tight.
    """
    for name in POLICIES:
        for policy in examples(name, arms=2):
            small: Any = policy
            if "grid" in {field.name for field in fields(small)}:
                small = replace(small, grid=1)
            if small.guarantee is not None:
                yield right(repr(small), small)
    for name, mechanism in known.mechanisms_tried():
        yield right(name, mechanism)
    for epsilon, runs in TIGHT.items():
        yield replace(
            right(f"one noised sum, ε = {epsilon}", LazyForgetful(epsilon=Fraction(epsilon))),
            level="statistical",
            runs=runs,
        )


def right(name: str, subject: Any) -> Control:
    return Control(name, "", lambda: subject, "", "as claimed", None, True, runs=500)


def wrong() -> Iterator[Control]:
    """Known mistakes, each at the level that must catch it."""
    for each in (*known.PUBLISHED, *known.SUMS, *known.JOINT, *known.HALF):
        yield replace(each, runs=MORE_RUNS.get(each.name, each.runs))


def unusual() -> Iterator[Control]:
    """Odd controls, wrong and right. Of a mechanism that is only fed, runs look at its answers."""
    for each in (*odd.WRONG, *odd.RELEASES, *odd.WRONG_MEMORIES):
        yield bare(each)
    for each in (*odd.CORRECT, *odd.CORRECT_MEMORIES):
        yield replace(each, level="transcript")
        if each.name in COUNTED:
            yield bare(replace(each, level="statistical", runs=2_000))


def missed() -> Iterator[Control]:
    """What is known to escape."""
    return map(bare, odd.MISSED)


def bare(control: Control) -> Control:
    if control.level != "statistical":
        return control

    def made() -> Any:
        subject = control.make()
        return subject.mechanism() if isinstance(subject, Feeding) else subject

    return replace(control, make=made)


def invented() -> Iterator[Control]:
    """Mistakes that the auditor's authors had not seen."""
    for part in ("MECHANISMS", "POLICIES", "RANDOMIZERS", "FUNCTIONS", "BOXES"):
        yield from getattr(unseen, f"WRONG_{part}")
    yield from unseen.RIGHT


LISTS: dict[str, Callable[[], Iterator[Control]]] = {
    "ours": ours,
    "known": wrong,
    "odd": unusual,
    "missed": missed,
    "unseen": invented,
}
