"""An audit in words: what a reader may quote, and a table as plain text."""

from __future__ import annotations

import math

from dpbandits.audit.report import AuditReport, LevelResult


def figure_of(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "∞ (no ε holds)"


def surely(confidence: float) -> str:
    """1, or one minus a power of ten."""
    return "exact" if confidence == 1.0 else f"1 − {1 - confidence:.0e}"


def heading(report: AuditReport) -> str:
    claim = "no claim of an ε" if report.claim is None else f"claims ε = {figure_of(float(report.claim))}"
    return f"{report.subject}: {claim}"


def conclusion(report: AuditReport) -> str:
    """What a reader may quote: the verdict, what is certain, and how much was looked at."""
    failed = [level.level for level in report.levels if level.outcome == "failed"]
    leak = f"at least ε = {figure_of(report.lower_bound)} is certified to leak (confidence {surely(report.confidence)})"
    if not report.lower_bound:
        leak = "no leak is certified"
    if failed:
        verdict = f"FAILED at {' and '.join(failed)}: {leak}."
    elif report.passed:
        verdict = f"Passed: no level found more than the claim; {leak}."
    elif report.claim is None:
        verdict = f"Nothing to hold it to; {leak}."
    else:
        verdict = f"No verdict: no level could look; {leak}."
    return " ".join([verdict, *coverage(report)])


def coverage(report: AuditReport) -> list[str]:
    """Sentences on what was not looked at."""
    said = []
    for level in report.levels:
        done, of = level.details.get("pairs"), level.details.get("of")
        if done is not None and of is not None and done < of:
            said.append(f"The {level.level} level replayed {done:,} of {of:,} neighbours.")
    looked = [level.level for level in report.levels if level.outcome != "not applicable"]
    if looked == ["statistical"] and not report.lower_bound:
        said.append("Runs were all there was to look at, and nothing was seen in them: that is no evidence of privacy beyond these tapes.")
    return said


def cells(level: LevelResult) -> list[str]:
    seen = level.outcome != "not applicable" or level.lower_bound > 0
    bound = figure_of(level.lower_bound) if seen else "–"
    return [level.level, level.outcome, bound, surely(level.confidence) if seen else "–", f"{level.seconds:.1f}", level.evidence]


def as_text(report: AuditReport) -> str:
    """Heading, a line and its evidence a level, and the conclusion."""
    rows = [("level", "verdict", "ε at least", "confidence", "seconds"), *(tuple(cells(level)[:5]) for level in report.levels)]
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    told = [line for shown, level in zip(lines[1:], report.levels, strict=True) for line in (shown, f"  {level.evidence}")]
    return "\n".join([heading(report), lines[0], *told, conclusion(report)])
