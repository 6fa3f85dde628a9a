"""The page that `make audit` writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from benchmarks.auditing.subjects import SPECIMENS_NEED
from dpbandits.auditing.broken import SPECIMENS
from dpbandits.auditing.report import AuditReport, figure_of
from dpbandits.core.privacy import printed

Reports = Sequence[AuditReport]


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [
        " | ".join(header),
        " | ".join("---" for _ in header),
        *(" | ".join(row) for row in rows),
    ]
    return "\n".join(f"| {line} |" for line in lines) + "\n"


def row(report: AuditReport) -> list[str]:
    """Subject, claim, verdict and certified bound of each level."""
    found = {level.level: level for level in report.levels}
    first = found.get("transcript") or found.get("report law")
    loss = first.details.get("loss_value") if first is not None else None
    unit = " (ρ)" if first is not None and first.details.get("unit") == "rho" else ""
    cells = [
        f"{first.outcome}, {loss:.4g}{unit}" if first is not None and loss is not None else "–"
    ]
    for name in ("exact law", "statistical"):
        level = found.get(name)
        looked = level is not None and (level.outcome != "not applicable" or level.lower_bound > 0)
        cells.append(
            f"{level.outcome}, {figure_of(level.lower_bound)}"
            if level is not None and looked
            else "–"
        )
    claim = "–" if report.claim is None else printed(report.claim)
    return [f"`{report.subject}`", claim, *cells]


HEADER = (
    "subject",
    "claim ε",
    "transcript or report law: loss",
    "exact law: ε at least",
    "statistical: ε at least",
)


def document(reports: Mapping[str, Reports], runs: int) -> str:
    policies, bare = reports["policies"], reports["mechanisms"]
    tight, broken = reports["tight"], reports["specimens"]
    shares = [
        [
            printed(r.claim or Fraction(0)),
            f"{r.lower_bound:.4f}",
            f"{r.lower_bound / float(r.claim or 1):.3f}",
        ]
        for r in tight
    ]
    caught = [
        [
            s.name,
            s.what,
            claim_of(s),
            s.truth,
            r.levels[0].level if r.levels else s.caught_by,
            control(r),
        ]
        for s, r in zip(SPECIMENS, broken, strict=True)
    ]
    failed = [report.subject for report in (*policies, *bare, *tight) if report.failed]
    missed = [report.subject for report in broken if not report.failed]
    return "\n".join(
        [
            "# Audit\n",
            "Written by `make audit`. Every private policy and preset with two arms and 0/1 "
            "rewards, simulated noise, "
            f"{runs:,} counted runs an audit, {runs * SPECIMENS_NEED:,} of a specimen that they "
            "are to catch: the same figures on every machine. A verdict and the ε (or loss) "
            "found: the transcript's loss is exact for the runs that were replayed; the exact law "
            "is of the first decisions; a statistical bound is wrong with probability 10⁻⁶ at "
            "most. Bounds below the claim refute nothing: they are what so many runs could "
            "certify.\n",
            (
                f"Failed: {', '.join(failed) or 'none'}. Specimens missed: "
                f"{', '.join(missed) or 'none'}.\n"
            ),
            "## Policies\n",
            markdown(HEADER, map(row, policies)),
            "## Mechanisms\n",
            markdown(HEADER, map(row, bare)),
            "## What the statistical level certifies of a tight mechanism\n",
            "One sum, noised once (`LazyForgetful`), by runs alone.\n",
            markdown(("ε", "certified", "share"), shares),
            "## Positive controls\n",
            "Broken on purpose (`dpbandits.auditing.broken`); the level named must fail them.\n",
            markdown(("specimen", "what is wrong", "claim", "truth", "level", "verdict"), caught),
        ]
    )


def claim_of(specimen: Any) -> str:
    return "its ρ" if specimen.claim is None else printed(specimen.claim)


def control(report: AuditReport) -> str:
    if not report.failed:
        return "**missed**"
    bounds = [
        level.lower_bound or float(level.details.get("loss_value", 0))
        for level in report.levels
        if level.outcome == "failed"
    ]
    return f"caught, {figure_of(max(bounds))}" if max(bounds) else "caught, replay diverges"
