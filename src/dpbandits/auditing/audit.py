"""One question of anything that claims to be private: is it? All levels, one report."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

from dpbandits.auditing.arguments import checked_levels, checked_numbers
from dpbandits.auditing.effort import Effort, Seconds, Work
from dpbandits.auditing.exact import POINTS, deepest_law
from dpbandits.auditing.foreign import ForeignSubject
from dpbandits.auditing.functions import FunctionSubject, RandomizerSubject, arms_for, takes_data
from dpbandits.auditing.local.level import report_law_level
from dpbandits.auditing.mechanism_policy import feed
from dpbandits.auditing.report import AuditReport, LevelResult
from dpbandits.auditing.resolve import WHITE, is_subject, own_claim, resolve, title_of, why_no_claim
from dpbandits.auditing.statistical.level import statistical_level
from dpbandits.auditing.statistical.mechanisms import MechanismSubject
from dpbandits.auditing.statistical.subjects import ROUNDS, PolicySubject, Subject
from dpbandits.auditing.transcript.level import transcript_level
from dpbandits.auditing.transcript.neighbours import draws_gaussians
from dpbandits.core.privacy import Real, as_fraction
from dpbandits.mechanisms.base import Mechanism
from dpbandits.mechanisms.randomizers import Randomizer
from dpbandits.policies.contract import Policy
from dpbandits.version import __version__

LEVELS = ("transcript", "report law", "exact law", "statistical")
SHARES = {"transcript": 0.15, "report law": 0.0, "exact law": 0.25, "statistical": 0.55}
"""The levels' shares of the budget. What one level leaves unused, the next ones share."""

LEAST = 0.5
"""The part of its share that a level gets even if the levels before it took more than theirs."""

EXACT_ROUNDS = 8

PATIENCE = 0.05
"""The part of its share of the budget in which a black box must finish one long tape; at least a
second.
"""

NO_EPSILON = "Gaussian noise keeps no pure epsilon, whatever its scale"
"""Why runs that did not refute such a claim are no evidence for it."""


def audit(
    subject: object,
    claim: Real | None = None,
    *,
    epsilon: Real | None = None,
    levels: Sequence[str] = LEVELS,
    budget: float = 60.0,
    runs: int | None = None,
    seed: int = 0,
    arms: int | None = None,
    rounds: int = ROUNDS,
    name: str | None = None,
    workers: int = 2,
    progress: Callable[[str], None] | None = None,
) -> AuditReport:
    """Is it really epsilon-private, and what is the largest epsilon that can be certified against
    it?

    Args:
        subject: a policy, a mechanism or a local randomizer (white box: all levels that fit), its
            class, or a function that makes one; or a class or function that makes a fresh object
            with `ask()` and `tell(decision, reward)`, or with `select()` and `update(arm, reward)`,
            for each run (black box: the statistical level); or a plain function of data. What makes
            a subject takes no arguments but `seed` (it is given one, below 2³²) and `arms`; a
            function with one other argument that it cannot do without is a function of data, and is
            called with it for each run: rewards, shape (rounds,), or with `arms=` a table, shape
            (rounds, arms). It answers with numbers, text or lists of them. Text is the name of a
            policy of ours, or "module:object".
        claim: the epsilon it is held to; by default what it says itself.
        epsilon: the budget a policy or mechanism is made with where only its name or class is
            given; of a black box, its claim.
        budget: seconds, roughly; how much that buys depends on the machine, and so may the verdict.
            workers: processes that play runs.
        runs: a fixed amount of work in place of the budget, so that the report is the same on every
            machine: so many runs are counted on either table at the statistical level, and as many
            played to choose tables and an event; the other levels do what does not depend on the
            clock either.
        arms: actions of a black box, or of a policy made here; by default 2, or what the function
            that makes it has as its default.
        rounds: of the runs at the statistical level; a black box is also shown longer tapes.
        progress: called with a line on what is being done.

    >>> report = audit("AnytimeLazyUCB", epsilon="1/2", levels=["transcript"])
    >>> report.passed, report.lower_bound
    (True, 0.5)
    """
    levels = checked_levels(levels, LEVELS)
    budget, seed, arms, rounds, workers, runs = checked_numbers(
        budget, seed, arms, rounds, workers, runs
    )
    made = resolve(subject, epsilon, arms)
    title = (
        name
        or (subject if isinstance(subject, str) and not isinstance(made, Policy) else None)
        or title_of(made)
    )
    held, how = (
        claim_on(made, claim, epsilon),
        AuditSetting(seed, arms, rounds, title, workers, runs, progress),
    )
    results: list[LevelResult] = []
    left, asked = budget, [level for level in LEVELS if level in levels]
    for at, level in enumerate(asked):
        started = time.perf_counter()
        how.tell(level)
        results.extend(run_level(level, made, held, share(asked[at:], left, budget), how))
        left -= time.perf_counter() - started
    setting = {
        "version": __version__,
        "seed": seed,
        "runs": runs,
        "budget": None if runs else budget,
        "arms": arms,
        "rounds": rounds,
    }
    if isinstance(subject, str):
        setting["made"] = {
            "subject": subject,
            "epsilon": None if epsilon is None else str(as_fraction(epsilon, "epsilon")),
        }
    return AuditReport(title, held, tuple(results), setting)


def claim_on(made: Any, claim: Real | None, epsilon: Real | None) -> Fraction | None:
    """The epsilon that the subject is held to; None if there is none."""
    said = (
        as_fraction(epsilon, "epsilon")
        if epsilon is not None and not isinstance(made, WHITE)
        else own_claim(made)
    )
    if claim is None:
        return said
    held = as_fraction(claim, "claim")
    if epsilon is not None and not isinstance(made, WHITE) and said != held:
        raise ValueError(
            f"Got claim={claim} and epsilon={epsilon} for a black box: both are what it is held "
            "to. Leave one out."
        )
    return held


class AuditSetting(NamedTuple):
    seed: int
    arms: int | None
    rounds: int
    title: str
    workers: int
    runs: int | None
    progress: Callable[[str], None] | None

    def tell(self, doing: str) -> None:
        if self.progress is not None:
            self.progress(f"{self.title}: {doing}")

    def effort(self, seconds: float) -> Effort:
        return Seconds(seconds) if self.runs is None else Work(POINTS)


def share(to_come: Sequence[str], left: float, budget: float) -> float:
    """Seconds for the next level."""
    mine, all_of_them = SHARES[to_come[0]], sum(SHARES[level] for level in to_come)
    return max(LEAST * mine * budget, left * mine / all_of_them) if mine else 0.0


def run_level(
    level: str, made: Any, claim: Fraction | None, budget: float, how: AuditSetting
) -> list[LevelResult]:
    """The level's verdict; None if the level does not apply."""
    policy = feed(made) if isinstance(made, Mechanism) else made
    randomizer = made.randomizer() if isinstance(made, Policy) else None
    randomizer = made if isinstance(made, Randomizer) else randomizer
    central = isinstance(policy, Policy) and randomizer is None
    match level:
        case "report law" if isinstance(randomizer, Randomizer):
            return [report_law_level(randomizer, claim)]
        case "transcript" if central:
            seconds = budget if how.runs is None else None
            return [transcript_level(policy, claim, budget=seconds, seed=how.seed)]
        case "exact law" if isinstance(made, Policy):
            return [deepest_law(made, EXACT_ROUNDS, how.effort(budget), claim=claim)]
        case "statistical":
            return [counted_level(made, policy if central else None, claim, budget, how)]
    return []


def counted_level(
    made: Any, policy: Policy | None, claim: Fraction | None, budget: float, how: AuditSetting
) -> LevelResult:
    """Of runs. policy: what plays it, where it can be looked into."""
    subject = black_box(made, how, budget)
    found = statistical_level(
        subject,
        claim,
        budget=budget,
        seed=how.seed,
        workers=how.workers,
        no_claim=why_no_claim(made),
        runs=how.runs,
        tell=how.tell,
    )
    if found.outcome == "not refuted" and policy and draws_gaussians(policy, how.seed):
        evidence, details = f"{NO_EPSILON}; {found.evidence}", found.details | {"why": NO_EPSILON}
        return replace(found, outcome="no verdict", evidence=evidence, details=details)
    hint = subject.hint() if isinstance(subject, ForeignSubject) else ""
    return replace(found, evidence=f"{found.evidence}; {hint}") if hint else found


def black_box(made: Any, how: AuditSetting, budget: float = math.inf) -> Subject:
    if isinstance(made, Policy):
        return PolicySubject(made, rounds=how.rounds)
    if isinstance(made, Mechanism):
        return MechanismSubject(made)
    if isinstance(made, Randomizer):
        return RandomizerSubject(made)
    if is_subject(made):
        subject: Subject = made
        return subject
    if takes_data(made):
        return FunctionSubject(made, how.title, arms=how.arms, rounds=how.rounds)
    patience = math.inf if how.runs is not None else max(1.0, PATIENCE * budget)
    return ForeignSubject(
        made, how.title, arms=arms_for(made, how.arms), rounds=how.rounds, patience=patience
    )
