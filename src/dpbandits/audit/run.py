"""One question of anything that claims to be private: is it? All levels, one report."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

from dpbandits.audit.exact import deepest_law
from dpbandits.audit.feeding import feed
from dpbandits.audit.foreign import ForeignSubject
from dpbandits.audit.report import AuditReport, LevelResult
from dpbandits.audit.report_law import report_law_level
from dpbandits.audit.resolve import is_subject, own_claim, resolve, title_of, why_no_claim
from dpbandits.audit.statistical import statistical_level
from dpbandits.audit.subjects import ROUNDS, MechanismSubject, PolicySubject, Subject
from dpbandits.audit.transcript import transcript_level
from dpbandits.mechanisms.base import Mechanism
from dpbandits.policy import Policy
from dpbandits.privacy import Real, as_fraction

LEVELS = ("transcript", "report law", "exact law", "statistical")
SHARES = {"transcript": 0.15, "report law": 0.0, "exact law": 0.25, "statistical": 0.55}
"""How they share the budget; what one level leaves, or has no use for, the next ones share."""

LEAST = 0.5
"""Of its share of the whole budget, what a level gets even if the ones before took more than theirs."""

EXACT_ROUNDS = 8


def audit(
    subject: object,
    claim: Real | None = None,
    *,
    epsilon: Real | None = None,
    levels: Sequence[str] = LEVELS,
    budget: float = 60.0,
    seed: int = 0,
    arms: int = 2,
    rounds: int = ROUNDS,
    name: str | None = None,
    workers: int = 2,
) -> AuditReport:
    """Is it really epsilon-private, and what is the largest epsilon that can be certified against it?

    Args:
        subject: a policy or a mechanism (white box: all levels), its class, or a function that makes one; or a function that makes a
            fresh object with `ask()` and `tell(decision, reward)`, or with `select()` and `update(arm, reward)`, for each run (black box:
            the statistical level). If it takes `seed`, it is given one, below 2³². Text is the name of a policy of ours, or
            "module:object".
        claim: the epsilon it is held to; by default what it says itself.
        epsilon: the budget a policy or mechanism is made with where only its name or class is given; of a black box, its claim.
        budget: seconds, roughly. workers: processes that play runs.
        arms: actions of a black box, or of a policy made here.
        rounds: of the runs at the statistical level; a black box is also shown tapes four times as long.

    >>> report = audit("AnytimeLazyUCB", epsilon="1/2", levels=["transcript"])
    >>> report.passed, report.lower_bound
    (True, 0.5)
    """
    check(levels, budget, rounds)
    made = resolve(subject, epsilon, arms)
    title = name or (subject if isinstance(subject, str) and not isinstance(made, Policy) else None) or title_of(made)
    held, how = claim_on(made, claim, epsilon), Setting(seed, arms, rounds, title, workers)
    results: list[LevelResult] = []
    left, asked = budget, [level for level in LEVELS if level in levels]
    for at, level in enumerate(asked):
        started = time.perf_counter()
        results.extend(run_level(level, made, held, share(asked[at:], left, budget), how))
        left -= time.perf_counter() - started
    return AuditReport(title, held, tuple(results))


def check(levels: Sequence[str], budget: float, rounds: int) -> None:
    unknown = set(levels) - set(LEVELS)
    if unknown:
        raise ValueError(f"Expected levels from {', '.join(LEVELS)}; got {', '.join(sorted(unknown))}.")
    if not 0 < budget < math.inf:
        raise ValueError(f"Expected budget={budget!r} to be a finite number of seconds > 0.")
    if isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 1:
        raise ValueError(f"Expected rounds={rounds!r} to be a whole number of at least 1.")


def claim_on(made: Any, claim: Real | None, epsilon: Real | None) -> Fraction | None:
    """The epsilon it is held to; None: none."""
    said = as_fraction(epsilon, "epsilon") if epsilon is not None and not isinstance(made, (Policy, Mechanism)) else own_claim(made)
    if claim is None:
        return said
    held = as_fraction(claim, "claim")
    if epsilon is not None and not isinstance(made, (Policy, Mechanism)) and said != held:
        raise ValueError(f"Got claim={claim} and epsilon={epsilon} for a black box: both are what it is held to. Leave one out.")
    return held


class Setting(NamedTuple):
    seed: int
    arms: int
    rounds: int
    title: str
    workers: int


def share(to_come: Sequence[str], left: float, budget: float) -> float:
    """Seconds for the first of the levels still to come."""
    mine, all_of_them = SHARES[to_come[0]], sum(SHARES[level] for level in to_come)
    return max(LEAST * mine * budget, left * mine / all_of_them) if mine else 0.0


def run_level(level: str, made: Any, claim: Fraction | None, budget: float, how: Setting) -> list[LevelResult]:
    """The level's verdict; nothing where the question does not arise."""
    policy = feed(made) if isinstance(made, Mechanism) else made
    white = isinstance(policy, Policy)
    randomizer = made.randomizer() if isinstance(made, Policy) else None
    match level:
        case "report law":
            return [report_law_level(randomizer, claim)] if randomizer is not None else []
        case "transcript":
            return [transcript_level(policy, claim, budget=budget, seed=how.seed)] if white and randomizer is None else []
        case "exact law":
            return [deepest_law(made, EXACT_ROUNDS, budget, claim=claim)] if isinstance(made, Policy) else []
    subject = black_box(made, how)
    found = statistical_level(subject, claim, budget=budget, seed=how.seed, workers=how.workers, no_claim=why_no_claim(made))
    hint = subject.hint() if isinstance(subject, ForeignSubject) else ""
    return [replace(found, evidence=f"{found.evidence}; {hint}") if hint else found]


def black_box(made: Any, how: Setting) -> Subject:
    if isinstance(made, Policy):
        return PolicySubject(made, rounds=how.rounds)
    if isinstance(made, Mechanism):
        return MechanismSubject(made)
    if is_subject(made):
        subject: Subject = made
        return subject
    if not callable(made):
        raise TypeError(
            f"Expected a policy, a mechanism or a function that makes a fresh object for each run, got {type(made).__name__}. "
            "Pass `lambda: Yours(...)`: runs must not share what an earlier one has learnt."
        )
    return ForeignSubject(made, how.title, arms=how.arms, rounds=how.rounds)
