"""`make audit` goes on where it was stopped."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.auditing.__main__ import audit_missing, found, missing
from benchmarks.auditing.kept import KeptReports
from benchmarks.auditing.page import control, document
from benchmarks.auditing.subjects import Asked, every_audit, one_audit

from dpbandits.auditing.broken import SPECIMENS
from dpbandits.auditing.report import AuditReport
from dpbandits.auditing.report_text import conclusion

ASKED = [Asked("specimens", 0, 60), Asked("specimens", 0, 61)]
"""Another number of runs is another audit."""


@pytest.fixture(scope="module")
def report() -> AuditReport:
    return one_audit(ASKED[0])


def test_what_was_audited_is_not_audited_again(tmp_path: Path, report: AuditReport) -> None:
    kept = KeptReports(tmp_path)
    assert missing(kept, ASKED) == ASKED
    kept.add(ASKED[0], report)
    told: list[str] = []
    audit_missing(KeptReports(tmp_path), ASKED, lambda one: told.append(conclusion(one)))
    first, second = found(kept, ASKED)
    assert conclusion(first) == conclusion(report)
    assert first.lower_bound == report.lower_bound
    assert told == [conclusion(second)]
    assert missing(kept, ASKED) == []


def test_what_other_code_found_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, report: AuditReport
) -> None:
    KeptReports(tmp_path).add(ASKED[0], report)
    assert missing(KeptReports(tmp_path), ASKED) == ASKED[1:]
    monkeypatch.setattr("benchmarks.auditing.kept.digest_of", lambda modules: "other")
    assert missing(KeptReports(tmp_path), ASKED) == ASKED


def test_the_page_has_a_row_for_each(report: AuditReport) -> None:
    """With one report in the place of all, which costs nothing."""
    every = every_audit(2_500)
    page = document({part: [report] * len(asked) for part, asked in every.items()}, 2_500)
    assert page.count(f"| `{report.subject}` |") == len(every["policies"] + every["mechanisms"])
    assert page.count(f"| {control(report)} |") == len(SPECIMENS)
