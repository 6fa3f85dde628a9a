"""`make audit`: every registered private policy, the mechanisms, and the broken specimens that must be caught; written to docs/audit.md.

`python -m dpbandits.audit.everything --out docs/audit.md [--seconds 10]`
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

from dpbandits.audit.report import AuditReport
from dpbandits.audit.run import audit
from dpbandits.audit.words import figure_of
from dpbandits.checks.examples import examples
from dpbandits.mechanisms import LazyForgetful
from dpbandits.policies import POLICIES
from dpbandits.policy import Policy
from dpbandits.privacy import printed

TIGHT = ("1/10", "1/2", "1", "2")
"""Budgets of the mechanism that shows how much the statistical level can certify: one noised sum."""


Reports = list[AuditReport]


def instances() -> list[Policy]:
    """Every private policy and preset, small: two arms, 0/1 rewards, the checks' parameters."""
    made: list[Any] = [policy for name in POLICIES for policy in examples(name, arms=2) if policy.guarantee is not None]
    return [replace(policy, grid=1) if "grid" in {f.name for f in fields(policy)} else policy for policy in made]


def one_audit(job: tuple[Any, ...]) -> AuditReport:
    subject, claim, levels, budget = job
    return audit(subject, claim, levels=levels, budget=budget, workers=1)


def specimen_audit(job: tuple[int, float]) -> AuditReport:
    from dpbandits.audit.broken import SPECIMENS

    at, budget = job
    specimen = SPECIMENS[at]
    return audit(specimen.make(), specimen.claim, levels=(specimen.caught_by,), budget=budget, name=specimen.name, workers=1)


def tightest(epsilon: Fraction, seconds: float) -> AuditReport:
    """On both cores; the smallest budget needs the most runs."""
    longer = 6 if epsilon < Fraction(1, 2) else 1.5
    return audit(LazyForgetful(epsilon=epsilon), levels=("statistical",), budget=longer * seconds, workers=2)


def side_by_side(call: Callable[[Any], AuditReport], jobs: Iterable[Any], tell: Callable[[AuditReport], None]) -> list[AuditReport]:
    """One audit a core."""
    jobs = list(jobs)
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        reports = []
        for report in pool.map(call, jobs):
            tell(report)
            reports.append(report)
    return reports


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [" | ".join(header), " | ".join("---" for _ in header), *(" | ".join(row) for row in rows)]
    return "\n".join(f"| {line} |" for line in lines) + "\n"


def row(report: AuditReport) -> list[str]:
    """Subject, claim, verdict and certified bound of each level, seconds."""
    found = {level.level: level for level in report.levels}
    first = found.get("transcript") or found.get("report law")
    loss = first.details.get("loss_value") if first is not None else None
    unit = " (ρ)" if first is not None and first.details.get("unit") == "rho" else ""
    cells = [f"{first.outcome}, {loss:.4g}{unit}" if first is not None and loss is not None else "–"]
    for name in ("exact law", "statistical"):
        level = found.get(name)
        looked = level is not None and (level.outcome != "not applicable" or level.lower_bound > 0)
        cells.append(f"{level.outcome}, {figure_of(level.lower_bound)}" if level is not None and looked else "–")
    claim = "–" if report.claim is None else printed(report.claim)
    seconds = sum(level.seconds for level in report.levels)
    return [f"`{report.subject}`", claim, *cells, f"{seconds:.0f}"]


HEADER = ("subject", "claim ε", "transcript or report law: loss", "exact law: ε at least", "statistical: ε at least", "seconds")


def document(policies: Reports, bare: Reports, tight: Reports, broken: Reports, seconds: float) -> str:
    from dpbandits.audit.broken import SPECIMENS

    shares = [[printed(r.claim or Fraction(0)), f"{r.lower_bound:.4f}", f"{r.lower_bound / float(r.claim or 1):.3f}"] for r in tight]
    caught = [
        [s.name, s.what, claim_of(s), s.truth, r.levels[0].level if r.levels else s.caught_by, control(r)]
        for s, r in zip(SPECIMENS, broken, strict=True)
    ]
    failed = [report.subject for report in (*policies, *bare, *tight) if report.failed]
    missed = [report.subject for report in broken if not report.failed]
    return "\n".join(
        [
            "# Audit\n",
            "Written by `make audit`. Every private policy and preset with two arms and 0/1 rewards, simulated noise, about "
            f"{seconds / 60:.0f} minutes on two cores. A verdict and the ε (or loss) found: the transcript's loss is exact for the runs "
            "that were replayed; the exact law is of the first decisions; a statistical bound is wrong with probability 10⁻⁶ at most. "
            "Bounds below the claim refute nothing: they are what could be certified in the time.\n",
            f"Failed: {', '.join(failed) or 'none'}. Specimens missed: {', '.join(missed) or 'none'}.\n",
            "## Policies\n",
            markdown(HEADER, map(row, policies)),
            "## Mechanisms\n",
            markdown(HEADER, map(row, bare)),
            "## What the statistical level certifies of a tight mechanism\n",
            "One sum, noised once (`LazyForgetful`), by runs alone.\n",
            markdown(("ε", "certified", "share"), shares),
            "## Positive controls\n",
            "Broken on purpose (`dpbandits.audit.broken`); the level named must fail them.\n",
            markdown(("specimen", "what is wrong", "claim", "truth", "level", "verdict"), caught),
        ]
    )


def claim_of(specimen: Any) -> str:
    return "its ρ" if specimen.claim is None else printed(specimen.claim)


def control(report: AuditReport) -> str:
    if not report.failed:
        return "**missed**"
    bounds = [level.lower_bound or float(level.details.get("loss_value", 0)) for level in report.levels if level.outcome == "failed"]
    return f"caught, {figure_of(max(bounds))}" if max(bounds) else "caught, replay diverges"


def main() -> int:
    parser = argparse.ArgumentParser(description="Audit everything that is registered.")
    parser.add_argument("--out", type=Path, default=Path("docs/audit.md"))
    parser.add_argument("--seconds", type=float, default=10.0, help="budget of one audit")
    given = parser.parse_args()
    from dpbandits.audit.broken import SPECIMENS
    from dpbandits.audit.broken.half import tried
    from dpbandits.audit.run import LEVELS

    start = time.perf_counter()

    def tell(report: AuditReport) -> None:
        print(f"{time.perf_counter() - start:6.0f} s  {' | '.join(row(report))}", flush=True)

    policies = side_by_side(one_audit, [(p, None, LEVELS, given.seconds) for p in instances()], tell)
    bare = side_by_side(one_audit, [(m, None, LEVELS, given.seconds) for _, m in tried()], tell)
    tight = [tightest(Fraction(e), given.seconds) for e in TIGHT]
    broken = side_by_side(specimen_audit, [(at, given.seconds / 2) for at in range(len(SPECIMENS))], tell)
    given.out.write_text(document(policies, bare, tight, broken, time.perf_counter() - start), encoding="utf-8")
    failed = any(report.failed for report in (*policies, *bare, *tight))
    return int(failed or not all(report.failed for report in broken))


if __name__ == "__main__":
    sys.exit(main())
