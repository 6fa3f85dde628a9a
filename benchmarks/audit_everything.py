"""`make audit`: every registered private policy, the mechanisms, and the broken specimens that must
be caught; written to docs/measured/audit.md.

`python -m benchmarks.audit_everything --out docs/measured/audit.md [--runs 2500]`
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpbandits.auditing.audit import audit
from dpbandits.auditing.report import AuditReport
from dpbandits.auditing.report_text import figure_of
from dpbandits.checks.examples import examples
from dpbandits.core.privacy import printed
from dpbandits.mechanisms import LazyForgetful
from dpbandits.policies import POLICIES
from dpbandits.policies.contract import Policy

TIGHT = {"1/10": 1280, "1/2": 160, "1": 160, "2": 160}
"""Budgets of the mechanism that shows how much the statistical level can certify: one noised sum.
The smallest needs the most runs: so many times those of the others' audits.
"""
SPECIMENS_NEED = 8
"""Times the runs of other audits, where a specimen is to be caught by counting them."""


Reports = list[AuditReport]


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


def one_audit(job: tuple[Any, ...]) -> AuditReport:
    subject, claim, levels, runs = job
    return audit(subject, claim, levels=levels, runs=runs, workers=1)


def specimen_audit(job: tuple[int, int]) -> AuditReport:
    from dpbandits.auditing.broken import SPECIMENS

    at, runs = job
    specimen = SPECIMENS[at]
    runs *= SPECIMENS_NEED if specimen.caught_by == "statistical" else 1
    return audit(
        specimen.make(),
        specimen.claim,
        levels=(specimen.caught_by,),
        runs=runs,
        name=specimen.name,
        workers=1,
    )


def tightest(epsilon: Fraction, runs: int) -> AuditReport:
    """By runs alone, on both cores."""
    return audit(LazyForgetful(epsilon=epsilon), levels=("statistical",), runs=runs, workers=2)


def side_by_side(
    call: Callable[[Any], AuditReport], jobs: Iterable[Any], tell: Callable[[AuditReport], None]
) -> list[AuditReport]:
    """One audit a core."""
    jobs = list(jobs)
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        reports = []
        for report in pool.map(call, jobs):
            tell(report)
            reports.append(report)
    return reports


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


def document(policies: Reports, bare: Reports, tight: Reports, broken: Reports, runs: int) -> str:
    from dpbandits.auditing.broken import SPECIMENS

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


def main() -> int:
    parser = argparse.ArgumentParser(description="Audit everything that is registered.")
    parser.add_argument("--out", type=Path, default=Path("docs/measured/audit.md"))
    parser.add_argument("--runs", type=int, default=2_500, help="counted runs of one audit")
    given = parser.parse_args()
    from dpbandits.auditing.audit import LEVELS
    from dpbandits.auditing.broken import SPECIMENS
    from dpbandits.auditing.broken.half import mechanisms_tried

    start = time.perf_counter()

    def tell(report: AuditReport) -> None:
        print(f"{time.perf_counter() - start:6.0f} s  {' | '.join(row(report))}", flush=True)

    policies = side_by_side(one_audit, [(p, None, LEVELS, given.runs) for p in instances()], tell)
    bare = side_by_side(
        one_audit, [(m, None, LEVELS, given.runs) for _, m in mechanisms_tried()], tell
    )
    tight = [tightest(Fraction(e), given.runs * times) for e, times in TIGHT.items()]
    broken = side_by_side(specimen_audit, [(at, given.runs) for at in range(len(SPECIMENS))], tell)
    given.out.write_text(document(policies, bare, tight, broken, given.runs), encoding="utf-8")
    failed = any(report.failed for report in (*policies, *bare, *tight))
    return int(failed or not all(report.failed for report in broken))


if __name__ == "__main__":
    sys.exit(main())
