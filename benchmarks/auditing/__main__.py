"""Every registered private policy, the mechanisms, and the broken specimens that must
be caught; written to docs/measured/audit.md.

`python -m benchmarks.auditing --out docs/measured/audit.md [--runs 2500] [--folder results/audit]`

Reports are kept in `--folder`, so a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from benchmarks.auditing.kept import KeptReports
from benchmarks.auditing.page import document, row
from benchmarks.auditing.subjects import Asked, every_audit, one_audit
from dpbandits.auditing.report import AuditReport


def missing(kept: KeptReports, every: Iterable[Asked]) -> list[Asked]:
    """What nobody has asked yet."""
    return [asked for asked in every if kept.of(asked) is None]


def audit_missing(
    kept: KeptReports, every: Sequence[Asked], tell: Callable[[AuditReport], None]
) -> None:
    """One audit a core; each report is kept as it comes. An audit that raises ends none of the
    others: its error comes last.
    """
    failed = list[BaseException]()
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        running = {pool.submit(one_audit, asked): asked for asked in missing(kept, every)}
        try:
            for done in as_completed(running):
                if error := done.exception():
                    failed.append(error)
                    continue
                kept.add(running[done], done.result())
                tell(done.result())
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    if failed:
        raise failed[0]


def found(kept: KeptReports, every: Iterable[Asked]) -> list[AuditReport]:
    """The reports, all of which are there by now."""
    return [report for asked in every if (report := kept.of(asked)) is not None]


def main() -> int:
    parser = argparse.ArgumentParser(description="Audit everything that is registered.")
    parser.add_argument("--out", type=Path, default=Path("docs/measured/audit.md"))
    parser.add_argument("--runs", type=int, default=2_500, help="counted runs of one audit")
    parser.add_argument("--folder", type=Path, default=Path("results/audit"))
    given = parser.parse_args()
    start = time.perf_counter()

    def tell(report: AuditReport) -> None:
        print(f"{time.perf_counter() - start:6.0f} s  {' | '.join(row(report))}", flush=True)

    kept, every = KeptReports(given.folder), every_audit(given.runs)
    audit_missing(kept, [asked for part in every.values() for asked in part], tell)
    reports = {part: found(kept, asked) for part, asked in every.items()}
    given.out.write_text(document(reports, given.runs), encoding="utf-8")
    right = [*reports["policies"], *reports["mechanisms"], *reports["tight"]]
    wrongly_failed = any(report.failed for report in right)
    return int(wrongly_failed or not all(report.failed for report in reports["specimens"]))


if __name__ == "__main__":
    sys.exit(main())
