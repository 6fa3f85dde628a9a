"""`make audit` goes on where it was stopped."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.auditing.__main__ import audit_missing, found, missing
from benchmarks.auditing.kept import KeptReports
from benchmarks.auditing.page import document
from benchmarks.auditing.subjects import Asked, every_audit, one_audit

from dpbandits.auditing.broken import SPECIMENS
from dpbandits.auditing.report_text import conclusion

ASKED = [Asked("specimens", 0, 60), Asked("mechanisms", 0, 60)]


def test_what_was_audited_is_not_audited_again(tmp_path: Path) -> None:
    kept = KeptReports(tmp_path)
    assert missing(kept, ASKED) == ASKED
    kept.add(ASKED[0], one_audit(ASKED[0]))
    told: list[str] = []
    audit_missing(KeptReports(tmp_path), ASKED, lambda report: told.append(report.subject))
    assert len(told) == 1
    assert told != [SPECIMENS[0].name]
    assert missing(kept, ASKED) == []
    assert missing(kept, [ASKED[0]._replace(runs=61)]), "another number of runs is another audit"
    reports = found(kept, ASKED)
    assert [reports[0].subject, reports[1].subject] == [SPECIMENS[0].name, *told]
    again = one_audit(ASKED[0])
    assert conclusion(reports[0]) == conclusion(again)
    assert reports[0].lower_bound == again.lower_bound


def test_what_other_code_found_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    KeptReports(tmp_path).add(ASKED[0], one_audit(ASKED[0]))
    monkeypatch.setattr("benchmarks.auditing.kept.digest_of", lambda modules: "other")
    assert missing(KeptReports(tmp_path), ASKED) == ASKED


def test_the_page_has_a_row_for_each(tmp_path: Path) -> None:
    """With one report in the place of all, which costs nothing."""
    report, every = one_audit(ASKED[1]), every_audit(2_500)
    page = document({part: [report] * len(asked) for part, asked in every.items()}, 2_500)
    assert page.count(f"`{report.subject}`") == len(every["policies"]) + len(every["mechanisms"])
    assert page.count("**missed**") == len(SPECIMENS)
