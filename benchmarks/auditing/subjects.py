"""What is audited, and with how many runs: every private policy, the mechanisms, one that is tight
at several budgets, and the broken specimens that must be caught.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any, NamedTuple

from dpbandits.auditing.audit import LEVELS, audit
from dpbandits.auditing.broken import SPECIMENS
from dpbandits.auditing.broken.half import mechanisms_tried
from dpbandits.auditing.report import AuditReport
from dpbandits.checks.examples import examples
from dpbandits.mechanisms import LazyForgetful
from dpbandits.policies import POLICIES
from dpbandits.policies.contract import Policy

TIGHT = {"1/10": 1280, "1/2": 160, "1": 160, "2": 160}
"""Budgets of the mechanism that shows how much the statistical level can certify: one noised sum.
The smallest needs the most runs: so many times those of the others' audits.
"""
SPECIMENS_NEED = 8
"""Times the runs of other audits, where a specimen is to be caught by counting them."""


def instances() -> list[Policy]:
    """Every private policy and preset, small: two arms, 0/1 rewards, the checks' parameters."""
    made: list[Any] = [
        policy
        for name in POLICIES
        for policy in examples(name, arms=2)
        if policy.guarantee is not None
    ]
    return [
        replace(policy, grid=1) if "grid" in {f.name for f in fields(policy)} else policy
        for policy in made
    ]


def mechanism_list() -> list[Any]:
    return [mechanism for _, mechanism in mechanisms_tried()]


class Asked(NamedTuple):
    """One audit: a subject by its list and number, and the runs that are counted."""

    listed: str
    number: int
    runs: int


def one_audit(asked: Asked) -> AuditReport:
    """On one core: two audits go side by side."""
    return AUDITED[asked.listed](asked.number, asked.runs)


def every_audit(runs: int) -> dict[str, list[Asked]]:
    """All that the page has, by its parts."""
    tight = [Asked("tight", i, runs * times) for i, times in enumerate(TIGHT.values())]
    return {
        "policies": [Asked("policies", i, runs) for i in range(len(instances()))],
        "mechanisms": [Asked("mechanisms", i, runs) for i in range(len(mechanism_list()))],
        "tight": tight,
        "specimens": [Asked("specimens", i, runs) for i in range(len(SPECIMENS))],
    }


def subject_of(asked: Asked) -> str:
    """What is audited, with its parameters."""
    listed: dict[str, Callable[[], Any]] = {
        "policies": lambda: instances()[asked.number],
        "mechanisms": lambda: mechanism_list()[asked.number],
        "tight": lambda: list(TIGHT)[asked.number],
        "specimens": lambda: SPECIMENS[asked.number].name,
    }
    return f"{asked.listed}: {listed[asked.listed]()}"


def code_of(asked: Asked) -> tuple[str, ...]:
    """The modules that an audit of this needs; they import the rest."""
    audits = ("dpbandits.auditing.audit", "dpbandits.checks.examples")
    own = {
        "policies": lambda: type(instances()[asked.number]).__module__,
        "mechanisms": lambda: mechanisms_tried.__module__,
        "tight": lambda: LazyForgetful.__module__,
        "specimens": lambda: SPECIMENS[asked.number].make.__module__,
    }
    return (*audits, own[asked.listed]())


def policy_audit(number: int, runs: int) -> AuditReport:
    return audit(instances()[number], levels=LEVELS, runs=runs, workers=1)


def mechanism_audit(number: int, runs: int) -> AuditReport:
    return audit(mechanism_list()[number], levels=LEVELS, runs=runs, workers=1)


def tight_audit(number: int, runs: int) -> AuditReport:
    """By runs alone."""
    mechanism = LazyForgetful(epsilon=Fraction(list(TIGHT)[number]))
    return audit(mechanism, levels=("statistical",), runs=runs, workers=1)


def specimen_audit(number: int, runs: int) -> AuditReport:
    """By the level that must catch it."""
    specimen = SPECIMENS[number]
    runs *= SPECIMENS_NEED if specimen.caught_by == "statistical" else 1
    return audit(
        specimen.make(),
        specimen.claim,
        levels=(specimen.caught_by,),
        runs=runs,
        name=specimen.name,
        workers=1,
    )


AUDITED: dict[str, Callable[[int, int], AuditReport]] = {
    "policies": policy_audit,
    "mechanisms": mechanism_audit,
    "tight": tight_audit,
    "specimens": specimen_audit,
}
