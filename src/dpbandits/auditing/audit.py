"""One question of anything that claims to be private: is it? All levels, one report."""

import math
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dpbandits.auditing.effort import Seconds, Work
from dpbandits.auditing.exact import POINTS, deepest_law
from dpbandits.auditing.foreign import ForeignSubject, noted
from dpbandits.auditing.functions import FunctionSubject, RandomizerSubject, arms_for, takes_data
from dpbandits.auditing.local.level import report_law_level
from dpbandits.auditing.mechanism_policy import feed
from dpbandits.auditing.report import AuditReport, LevelResult
from dpbandits.auditing.resolve import (
    WHITE,
    AuditSetting,
    checked_levels,
    checked_numbers,
    is_subject,
    own_claim,
    resolve,
    title_of,
    why_no_claim,
)
from dpbandits.auditing.statistical.level import statistical_level
from dpbandits.auditing.statistical.mechanisms import MechanismSubject
from dpbandits.auditing.statistical.subjects import ROUNDS, PolicySubject, Subject
from dpbandits.auditing.transcript.level import REPLAYS, transcript_level
from dpbandits.auditing.transcript.neighbours import draws_gaussians
from dpbandits.core.privacy import Real, as_fraction
from dpbandits.mechanisms import Mechanism, Randomizer
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

PLAYING = (
    "raised while an audit played it on made-up rewards; if it depends on them whether this is "
    "raised, that tells of them"
)

RUNS_A_REPLAY = 25

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
        subject: a policy, mechanism or local randomizer, its class, or a function that makes one; a
            black box; a function of data; or the name of any (see `resolve`).
        claim: the epsilon it is held to; by default what it says itself.
        epsilon: the budget of what is made here from a name or class; of a black box, its claim.
        budget: seconds, roughly; so the verdict may depend on the machine. workers: processes.
        runs: a fixed amount of work (runs counted on either table, and for every 25 of them a
            replay of each written run, at least 40) in place of seconds, so that the report is the
            same on every machine.
        arms: actions of a black box, or of a policy made here; by default 2, or its own default.
        rounds: of counted runs; a black box is also shown longer tapes.
        progress: called with a line on what is being done.

    >>> report = audit("AnytimeLazyUCB", epsilon="1/2", levels=["transcript"], runs=100)
    >>> report.passed, report.lower_bound
    (True, 0.5)
    """
    asked = checked_levels(levels, LEVELS)
    how = checked_numbers(budget, seed, arms, rounds, workers, runs)
    made = resolve(subject, epsilon, how.arms)
    how = how._replace(title=name or title_given(subject, made), progress=progress)
    return audited(made, claim_on(made, claim, epsilon), asked, how, how_made(subject, epsilon))


def title_given(subject: object, made: Any) -> str:
    named = isinstance(subject, str) and not isinstance(made, Policy)
    return str(subject) if named else title_of(made)


def how_made(subject: object, epsilon: Real | None) -> dict[str, Any]:
    """What a stranger needs to make a subject again that was given by name."""
    if not isinstance(subject, str):
        return {}
    budget = None if epsilon is None else str(as_fraction(epsilon, "epsilon"))
    return {"made": {"subject": subject, "epsilon": budget}}


def audited(
    made: Any,
    claim: Fraction | None,
    levels: Sequence[str],
    how: AuditSetting,
    setting: dict[str, Any],
) -> AuditReport:
    """The report of these levels, one after the other. setting: what else it says of how it came
    about.
    """
    results: list[LevelResult] = []
    left, asked = how.budget, [level for level in LEVELS if level in levels]
    for at, level in enumerate(asked):
        started = time.perf_counter()
        how.tell(level)
        with noted(PLAYING) if isinstance(made, WHITE) else nullcontext():
            results.extend(run_level(level, made, claim, share(asked[at:], left, how.budget), how))
        left -= time.perf_counter() - started
    arguments = {
        "version": __version__,
        "seed": how.seed,
        "runs": how.runs,
        "budget": None if how.runs else how.budget,
        "arms": how.arms,
        "rounds": how.rounds,
    }
    return AuditReport(how.title, claim, tuple(results), arguments | setting)


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


def share(to_come: Sequence[str], left: float, budget: float) -> float:
    """Seconds for the next level."""
    mine, all_of_them = SHARES[to_come[0]], sum(SHARES[level] for level in to_come)
    return max(LEAST * mine * budget, left * mine / all_of_them) if mine else 0.0


def run_level(
    level: str, made: Any, claim: Fraction | None, budget: float, how: AuditSetting
) -> list[LevelResult]:
    """The level's verdict; none if the level does not apply."""
    policy = feed(made) if isinstance(made, Mechanism) else made
    randomizer = made.randomizer() if isinstance(made, Policy) else None
    randomizer = made if isinstance(made, Randomizer) else randomizer
    central = isinstance(policy, Policy) and randomizer is None
    match level:
        case "report law" if isinstance(randomizer, Randomizer):
            return [report_law_level(randomizer, claim)]
        case "transcript" if central:
            seconds, replays = (
                (budget, REPLAYS) if how.runs is None else (None, replays_for(how.runs))
            )
            return [transcript_level(policy, claim, replays=replays, budget=seconds, seed=how.seed)]
        case "exact law" if isinstance(made, Policy):
            effort = Seconds(budget) if how.runs is None else Work(POINTS)
            return [deepest_law(made, EXACT_ROUNDS, effort, claim=claim)]
        case "statistical":
            return [counted_level(made, policy if central else None, claim, budget, how)]
    return []


def replays_for(runs: int) -> int:
    """Neighbours to replay of every written run. A replay is longer than a counted run, and has as
    many decisions as dozens of them.
    """
    return max(REPLAYS, runs // RUNS_A_REPLAY)


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
    return replace(found, evidence=f"{found.evidence.rstrip('.')}; {hint}") if hint else found


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
