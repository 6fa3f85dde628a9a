"""A written report, recounted by somebody who does not trust its writer: the bound from the counts,
and the event in runs of their own.
"""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from dpbandits.auditing.recounting.written import (
    checked_look,
    claim_of,
    counted_levels,
    expect,
    stated_bound,
    tables_of,
    written_setting,
)
from dpbandits.auditing.statistical.counting.events import Event, bound, event_of, reach
from dpbandits.auditing.statistical.counting.pilot import ALPHA
from dpbandits.auditing.statistical.counting.players import Players
from dpbandits.auditing.statistical.counting.tables import TwoTables
from dpbandits.auditing.statistical.subjects import Subject
from dpbandits.core.arrays import Floats, Integers
from dpbandits.policies import POLICIES

ANOTHER = 10**9
"""Added to the seed: the runs that are played again are other ones."""

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
    report: dict[str, Any], subject: str | None = None, tell: Callable[[str], None] | None = None
) -> Recounted:
    """Recount a report's statistical level, and play its event again if the subject can be made.

    report: what `AuditReport.to_json` wrote. subject: a policy's name or module:object, if the
        report names none or the wrong one.

    Raises:
        ValueError: the figures do not follow from the counts, or there are none.
    """
    levels, claim = counted_levels(report), claim_of(report)
    lines = list[str]()
    verdict: RecountVerdict = "no verdict"
    for level in levels:
        said, verdict = recounted(level, claim)
        played = again(report, level["details"], subject, claim, tell or (lambda _: None))
        lines += [said, played.said]
        if played.epsilon is not None and claim is not None:
            verdict, contradicted = with_both(verdict, played.epsilon > claim)
            lines += contradicted
    return Recounted([*lines, *unsupported(report, verdict)], verdict)


def with_both(counted: RecountVerdict, leaks: bool) -> tuple[RecountVerdict, list[str]]:
    """The verdict of what was counted there and of what was played here: counts can be invented,
    what was played here cannot.
    """
    if leaks:
        return "failed", []
    if counted == "failed":
        return "no verdict", [
            "not reproduced: the counts say that more than the claim leaks, and the runs that were "
            "played here do not"
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
) -> PlayedAgain:
    """The same event in as many runs of another seed."""
    from dpbandits.auditing.audit import black_box
    from dpbandits.auditing.resolve import AuditSetting, resolve

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
    what, seed = resolve(name, setting.epsilon, setting.arms), setting.seed
    how = AuditSetting(0.0, seed, setting.arms, setting.rounds, 1, int(seen["runs"]), name)
    tell(f"{name}: playing {seen['runs']:,} runs again")
    found = bound(counted_again(black_box(what, how), seen, seed), int(seen["runs"]), ALPHA)
    agrees = (
        ""
        if claim is None
        else ", more than the claim"
        if found.epsilon > claim
        else ", no more than the claim"
    )
    said = f"played again with other seeds: ε ≥ {found.epsilon:.6g}{agrees}"
    return PlayedAgain(said, found.epsilon)


def counted_again(subject: Subject, seen: dict[str, Any], seed: int) -> Integers:
    """How often the report's event comes in runs of other seeds."""
    a, b = tables_of(seen)
    arms = getattr(getattr(subject, "policy", subject), "arms", None)
    expect(
        arms is None or a.shape[1:] == (arms,),
        f"tables of {arms} arms, as the subject has, got rows of shape {a.shape[1:]}.",
    )
    event = written_event(seen, subject.outcomes(a, 2, seed))
    with Players(subject, 1) as players:
        pair = TwoTables(a, b, seen["pair"])
        return players.counts(pair, event, int(seen["runs"]), seed + ANOTHER)


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
