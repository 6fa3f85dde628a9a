"""Positive controls: every specimen is caught at its level, and what is correct passes there. `make
controls` repeats it fifty times.

The statistical level is wrong with probability 1e-6 a run; the other levels are exact. What may be
missed is a matter of power; seeds are fixed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import final

import pytest
from benchmarks.controls.repeated import Control, broken, correct, run, verdicts

import dpbandits
from dpbandits.auditing.broken import SPECIMENS
from dpbandits.auditing.broken.half import half, mechanisms_tried
from dpbandits.auditing.statistical import statistical_level
from dpbandits.auditing.subjects import MechanismSubject
from dpbandits.auditing.tables import Neighbours
from dpbandits.core.inputs import Floats
from dpbandits.mechanisms import Mechanism
from dpbandits.policies.contract import Policy

BROKEN = [c for c in broken() if c.level != "statistical"]
# policies: tests of the transcript level
CORRECT = [c for c in correct() if c.level != "transcript" or isinstance(c.make(), Mechanism)]


@pytest.mark.parametrize("control", BROKEN, ids=lambda c: f"{c.name}-{c.level}")
def test_specimen_is_caught(control: Control) -> None:
    row = run(control)
    assert (row.right, row.runs) == (1, 1)


@pytest.mark.long
@pytest.mark.parametrize("control", CORRECT, ids=lambda c: f"{c.name}-{c.level}")
def test_what_is_correct_passes(control: Control) -> None:
    row = run(replace(control, runs=10_000))
    assert (row.right, row.runs) == (1, 1)


HARD = {
    "sparse vector variant 5": "2 rounds of 0, round 1 falls",
    "sparse vector variant 3": "8 rounds of 0, round 1 falls",
    "sparse vector variant 6": "8 rounds of 0, round 1 falls",
    "noisy max with its value, Laplace": "2 rounds of one good arm, round 2 falls",
    "noisy max with its value, exponential": "1 rounds of 0, round 1 falls",
    "batch ends decided on raw sums, black box": "8 rounds of 1, round 2 falls",
    "joint noise of a dimension too few": "8 rounds of 1, 8 a block, round 3 turns from arm 1",
    "half noise: LazyForgetful, black box": "1 rounds of 0, round 1 falls",
}
"""Tables that tell these apart: to look for them takes the statistical level longer than a test
should (`make controls` does).
"""


@final
class Posed:
    """A subject on one pair of tables."""

    def __init__(self, control: Control) -> None:
        self._all, self.name = MechanismSubject(control.make()), control.name

    def pairs(self) -> list[Neighbours]:
        found = [pair for pair in self._all.pairs() if pair.label == HARD[self.name]]
        assert found, "the table has another name now"
        return found[:1]

    def outcomes(self, table: Floats, runs: int, seed: int) -> Floats:
        return self._all.outcomes(table, runs, seed)


@pytest.mark.parametrize(
    "control", [c for c in broken() if c.level == "statistical"], ids=lambda c: c.name
)
def test_specimen_is_caught_by_its_answers_alone(control: Control) -> None:
    found = statistical_level(Posed(control), control.claim, workers=1, runs=control.runs)
    assert found.outcome == "failed", found


def test_every_row_of_the_list_of_broken_things_is_here() -> None:
    names = " / ".join(s.name for s in SPECIMENS)
    for wanted in (
        *(f"sparse vector variant {i}" for i in (3, 4, 5, 6)),
        "noisy max with its value, Laplace",
        "noisy max with its value, exponential",
        "RNM-FTNL as published",
        "Hybrid-UCB as printed",
        "DPUCB-MAT started from one vector",
        "one scalar noise shared by all arms",
        "exact increments between powers of two",
        "first pull not noised",
        "noise redrawn every round",
        "batch ends decided on raw sums",
        "stopping decided on raw sums",
        *(f"half noise: {name}" for name, _ in mechanisms_tried()),
        "half noise: LocalLaplace",
        "half noise: RandomizedResponse",
    ):
        assert wanted in names
    assert len({(s.name, s.caught_by) for s in SPECIMENS}) == len(SPECIMENS)


def test_every_mechanism_has_a_twin() -> None:
    from dpbandits import mechanisms

    concrete = {
        name
        for name in mechanisms.__all__
        if isinstance(cls := getattr(mechanisms, name), type)
        and issubclass(cls, Mechanism)
        and not getattr(cls, "__abstractmethods__", None)
    }
    assert concrete - {"Exact"} == {type(mechanism).__name__ for _, mechanism in mechanisms_tried()}


def test_specimens_are_subjects_and_are_not_exported() -> None:
    for s in SPECIMENS:
        assert isinstance(s.make(), (Policy, Mechanism))
        assert s.claim is None or s.claim > 0
    assert not any(
        hasattr(dpbandits, name) for name in ("SPECIMENS", "Specimen", "HalfNoise", "Questions")
    )


def test_a_twin_promises_what_it_does_not_keep() -> None:
    for _, mechanism in mechanisms_tried():
        assert half(mechanism).promise() == mechanism.promise()


def test_counting() -> None:
    caught, fine = BROKEN[0], CORRECT[0]
    from benchmarks.controls.repeated import Row

    assert verdicts([Row(caught, 50, 49, 0, 0), Row(fine, 50, 50, 0, 0)]) == (1, 1, 0)
    assert verdicts([Row(caught, 50, 48, 0, 0), Row(fine, 50, 47, 0, 0)]) == (1, 2, 3)
