"""A written report, recounted by somebody who does not trust its writer: the bound from the counts, and the event in runs of their own."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np

from dpbandits.audit.counting.bounds import bound, reach
from dpbandits.audit.counting.events import event_of
from dpbandits.audit.counting.players import Players
from dpbandits.audit.counting.tables import Neighbours
from dpbandits.audit.statistical import ALPHA
from dpbandits.policies import POLICIES

ANOTHER = 10**9
"""Added to the seed: the runs that are played again are other ones."""

Verdict = Literal["passed", "not refuted", "failed", "no verdict"]


class Recounted(NamedTuple):
    """What is to be said, line by line, and the verdict that the figures support."""

    lines: list[str]
    verdict: Verdict


def replay(report: dict[str, Any], subject: str | None = None, tell: Callable[[str], None] | None = None) -> Recounted:
    """Recount a report's statistical level, and play its event again if the subject can be made.

    report: what `AuditReport.to_json` wrote. subject: a policy's name or module:object, if the report names none or the wrong one.

    Raises:
        ValueError: the figures do not follow from the counts, or there are none.
    """
    levels = [level for level in report.get("levels", []) if level.get("level") == "statistical" and "counts" in level.get("details", {})]
    if not levels:
        raise ValueError("Expected a report with a statistical level that counted an event: only that can be recounted.")
    claim = None if report["claim"] is None else Fraction(report["claim"])
    lines = list[str]()
    verdict: Verdict = "no verdict"
    for level in levels:
        said, verdict = recounted(level, claim)
        lines.append(said)
        lines += again(report, level["details"], subject, claim, tell or (lambda _: None))
    return Recounted(lines, verdict)


def recounted(level: dict[str, Any], claim: Fraction | None) -> tuple[str, Verdict]:
    """The level's bound, worked out from its counts."""
    seen = level["details"]
    runs, alpha = int(seen["runs"]), float(seen["alpha"])
    check(seen, runs, alpha)
    found, far = bound(seen["counts"], runs, alpha), reach(runs, alpha)
    if not math.isclose(found.epsilon, float(level["lower_bound"]), rel_tol=1e-9, abs_tol=1e-9):
        said = float(level["lower_bound"])
        raise ValueError(f"Expected ε ≥ {found.epsilon:.6g}, which follows from the counts; the report says {said:.6g}. Do not trust it.")
    text = f"recounted: ε ≥ {found.epsilon:.6g} follows from the counts of {runs:,} runs on either table (reach {far:.4g})"
    if claim is None or "why" in seen:  # why the level gave no verdict though the claim was within reach
        return text, "failed" if claim is not None and found.epsilon > claim else "no verdict"
    return text, "failed" if found.epsilon > claim else "not refuted" if far > claim else "no verdict"


def check(seen: dict[str, Any], runs: int, alpha: float) -> None:
    counts = seen["counts"]
    if runs < 1 or len(counts) != 4 or any(not 0 <= count <= runs for count in counts):
        raise ValueError(f"Expected four counts between 0 and {runs} runs, got {counts}.")
    if not 0 < alpha <= ALPHA:
        raise ValueError(f"Expected a look that may be wrong with probability {ALPHA:g} at most, got {alpha:g}.")
    a, b = (np.array(table, float) for table in seen["tables"])
    differing = int((a != b).any(axis=-1).sum()) if a.shape == b.shape else -1
    if differing != 1:
        raise ValueError("Expected two tables that differ in one record.")


def again(report: dict[str, Any], seen: dict[str, Any], subject: str | None, claim: Fraction | None, tell: Any) -> Iterator[str]:
    """The same event in as many runs of another seed."""
    from dpbandits.audit.resolve import resolve
    from dpbandits.audit.run import Setting, black_box

    setting = report.get("setting", {})
    made = setting.get("made", {})
    name = subject or made.get("subject")
    if name is None:
        yield "not played again: the report does not say how its subject is made; name it as module:object"
        return
    if subject is None and name not in POLICIES:  # the report is a stranger's, and so may the code be that it names
        yield f"not played again: that would run {name!r}, which the report names; to run it, name it yourself"
        return
    arms, rounds, seed = setting.get("arms"), int(setting.get("rounds", 8)), int(setting.get("seed", 0))
    what = resolve(name, made.get("epsilon"), arms)
    played = black_box(what, Setting(seed, arms, rounds, name, 1, int(seen["runs"]), None))
    a, b = (np.array(table, float) for table in seen["tables"])
    tell(f"{name}: playing {seen['runs']:,} runs again")
    with Players(played, 1) as players:
        counts = players.counts(Neighbours(a, b, seen["pair"]), event_of(seen["event"]), int(seen["runs"]), seed + ANOTHER)
    found = bound(counts, int(seen["runs"]), ALPHA)
    agrees = "" if claim is None else ", more than the claim" if found.epsilon > claim else ", no more than the claim"
    yield f"played again with other seeds: ε ≥ {found.epsilon:.6g}{agrees}"
