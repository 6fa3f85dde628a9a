"""A written report, recounted by somebody who does not trust its writer: the bound from the counts,
and the event in runs of their own.
"""

import math
import secrets
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from dpbandits.auditing.events import Event, bound, event_of, reach
from dpbandits.auditing.recounting.written import (
    checked_look,
    claim_of,
    counted_levels,
    expect,
    stated_bound,
    tables_of,
    written_setting,
)
from dpbandits.auditing.statistical import ALPHA, Players
from dpbandits.auditing.subjects import MechanismSubject, Subject, feedback_of
from dpbandits.auditing.tables import TwoTables
from dpbandits.core.inputs import LARGEST_SEED, Floats, Integers, whole_number
from dpbandits.core.privacy import printed
from dpbandits.policies import POLICIES

LEAST_RUNS = 1_000
"""Played again on either table, however few the report counted: fewer could not show much."""

RecountVerdict = Literal["passed", "not refuted", "failed", "no verdict"]


class Recounted(NamedTuple):
    """What is to be said, line by line, and the verdict that the figures support."""

    lines: list[str]
    verdict: RecountVerdict


class PlayedAgain(NamedTuple):
    """What is to be said of runs that were played here, and the bound that they give; None: none
    were.
    """

    said: str
    epsilon: float | None = None


def replay(
    report: dict[str, Any],
    subject: str | None = None,
    tell: Callable[[str], None] | None = None,
    seed: int | None = None,
) -> Recounted:
    """Recount a report's statistical level, and play its event again if the subject can be made.

    report: what `AuditReport.to_json` wrote. subject: a policy's name or module:object, if the
        report names none or the wrong one. seed: of the runs that are played again; by default one
        that is drawn here, so that whoever wrote the report cannot have looked for an event that
        comes by chance.

    Raises:
        ValueError: the figures do not follow from the counts, or there are none.
    """
    levels, claim = counted_levels(report), claim_of(report)
    own = secrets.randbits(32) if seed is None else whole_number(seed, "seed", 0, LARGEST_SEED)
    lines = list[str]()
    verdict: RecountVerdict = "no verdict"
    for level in levels:
        said, verdict = recounted(level, claim)
        played = again(report, level["details"], subject, claim, tell or (lambda _: None), own)
        lines += [said, played.said]
        if played.epsilon is not None and claim is not None:
            verdict, contradicted = with_both(verdict, played.epsilon > claim)
            lines += contradicted
    return Recounted([*lines, *unsupported(report, verdict)], verdict)


def with_both(counted: RecountVerdict, leaks: bool) -> tuple[RecountVerdict, list[str]]:
    """The verdict of what was counted there and of what was played here: counts can be invented;
    what was played here cannot, since its seed is the reader's own.
    """
    if leaks:
        return "failed", []
    if counted == "failed":
        return "no verdict", [
            "not reproduced: the counts say that more than the report's claim leaks, and the runs "
            "that were played here do not"
        ]
    return counted, []


def unsupported(report: dict[str, Any], verdict: RecountVerdict) -> Iterator[str]:
    """What the report says besides, for which the reader has its writer's word alone."""
    said = report.get("verdict")
    if said != verdict:
        yield (
            f"the report's own verdict, {said!r}, is not supported by what was recounted: {verdict}"
        )
    others = [
        str(level.get("level")) for level in report["levels"] if level.get("level") != "statistical"
    ]
    if others:
        yield f"not recounted: {', '.join(others)}"


def recounted(level: dict[str, Any], claim: Fraction | None) -> tuple[str, RecountVerdict]:
    """The level's bound, worked out from its counts."""
    seen = level["details"]
    runs, alpha = checked_look(seen)
    found, far = bound(seen["counts"], runs, alpha), reach(runs, alpha)
    if not math.isclose(found.epsilon, stated_bound(level), rel_tol=1e-9, abs_tol=1e-9):
        said = stated_bound(level)
        raise ValueError(
            f"Expected ε ≥ {found.epsilon:.6g}, which follows from the counts; the report says "
            f"{said:.6g}. Do not trust it."
        )
    text = (
        f"recounted: ε ≥ {found.epsilon:.6g} follows from the counts of {runs:,} runs on either "
        f"table (reach {far:.4g})"
    )
    # why the level gave no verdict though the claim was within reach
    if claim is None or "why" in seen:
        return text, "failed" if claim is not None and found.epsilon > claim else "no verdict"
    return (
        text,
        "failed" if found.epsilon > claim else "not refuted" if far > claim else "no verdict",
    )


def again(
    report: dict[str, Any],
    seen: dict[str, Any],
    subject: str | None,
    claim: Fraction | None,
    tell: Any,
    seed: int,
) -> PlayedAgain:
    """The same event in as many runs, or `LEAST_RUNS`, of this seed."""
    from dpbandits.auditing.audit import AuditSetting, black_box, own_claim, resolve

    setting = written_setting(report)
    name = subject or setting.subject
    if name is None:
        return PlayedAgain(
            "not played again: the report does not say how its subject is made; name it as "
            "module:object"
        )
    # the report is a stranger's, and so may the code be that it names
    if subject is None and name not in POLICIES:
        return PlayedAgain(
            f"not played again: that would run {name!r}, which the report names; to run it, name "
            "it yourself"
        )
    what, runs = resolve(name, setting.epsilon, setting.arms), max(LEAST_RUNS, int(seen["runs"]))
    how = AuditSetting(0.0, seed, setting.arms, setting.rounds, 1, runs, name)
    tell(f"{name}: playing {runs:,} runs again")
    found = bound(counted_again(black_box(what, how), seen, runs, seed), runs, ALPHA)
    said = (
        f"played again, {runs:,} runs with seed {seed}: ε ≥ {found.epsilon:.6g}"
        f"{against(found.epsilon, claim, own_claim(what))}; wrong with probability {ALPHA:g} at "
        "most, whatever event the report chose"
    )
    return PlayedAgain(said, found.epsilon)


def against(found: float, claim: Fraction | None, own: Fraction | None) -> str:
    """Whether it is more than the claim, and whose claim that is: the file can say any.

    own: what the subject says itself.
    """
    if claim is None:
        return ""
    if own is None:
        whose = "the subject states none"
    else:
        whose = "as the subject's own" if own == claim else f"the subject's own is {printed(own)}"
    more = "more" if found > claim else "no more"
    return f", {more} than the claim that the report states (ε = {printed(claim)}, {whose})"


def counted_again(subject: Subject, seen: dict[str, Any], runs: int, seed: int) -> Integers:
    """How often the report's event comes in so many runs of this seed."""
    a, b = tables_of(seen)
    arms = getattr(getattr(subject, "policy", subject), "arms", None)
    expect(
        arms is None or a.shape[1:] == (arms,),
        f"tables of {arms} arms, as the subject has, got rows of shape {a.shape[1:]}.",
    )
    expect(
        not records_apart(subject) or int((a != b).sum()) == 1,
        "two tables that differ in one reward: of this subject each is a record of its own.",
    )
    event = written_event(seen, subject.outcomes(a, 2, seed))
    with Players(subject, 1) as players:
        return players.counts(TwoTables(a, b, seen["pair"]), event, runs, seed)


def records_apart(subject: Subject) -> bool:
    """Whether each reward of a row is a record: a mechanism for single rewards is handed those of
    several coordinates at once; to everything else a row is one round.
    """
    return isinstance(subject, MechanismSubject) and feedback_of(subject.mechanism) == "bandit"


def written_event(seen: dict[str, Any], outcomes: Floats) -> Event:
    """The event, which has to be one of such outcomes."""
    try:
        event = event_of(seen["event"])
        event.score(outcomes)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise ValueError(
            "Expected the report's event to be one that an audit wrote of this subject: "
            f"{type(error).__name__}, {error}."
        ) from None
    return event
