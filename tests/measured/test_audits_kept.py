"""`make audit` goes on where it was stopped."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import pytest
from benchmarks.auditing.__main__ import audit_missing, found, missing
from benchmarks.auditing.kept import KeptReports
from benchmarks.auditing.page import control, document
from benchmarks.auditing.subjects import Asked, every_audit, instances, one_audit
from benchmarks.digest import LOCK, digest_of, imported_by, source_of

from dpbandits.auditing.broken import SPECIMENS
from dpbandits.auditing.report import AuditReport, conclusion

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
    changed(monkeypatch, "dpbandits.vault")
    assert missing(KeptReports(tmp_path), ASKED) == ASKED


@pytest.mark.long
def test_a_changed_policy_leaves_the_others_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = every_audit(2_500)["policies"]
    before = {asked: KeptReports(tmp_path).path(asked) for asked in every}
    changed(monkeypatch, "dpbandits.policies.cumulative")
    kept = KeptReports(tmp_path)
    again = [asked for asked in every if kept.path(asked) != before[asked]]
    assert {type(instances()[asked.number]).__name__ for asked in again} == {"DPRateIMED"}


def changed(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    """As if somebody had written another line into it."""
    monkeypatch.setattr(
        "benchmarks.digest.source_of",
        lambda name: source_of(name) + (b"\n" if name == module else b""),
    )


def test_a_damaged_report_is_asked_again(tmp_path: Path, report: AuditReport) -> None:
    kept = KeptReports(tmp_path)
    kept.add(ASKED[0], report)
    whole = kept.path(ASKED[0]).read_bytes()
    for left in (0, 1, len(whole) // 2, len(whole) - 1):
        kept.path(ASKED[0]).write_bytes(whole[:left])
        assert missing(kept, ASKED) == ASKED
    kept.add(ASKED[0], report)
    assert missing(kept, ASKED) == ASKED[1:]
    assert [path.name for path in tmp_path.iterdir()] == [kept.path(ASKED[0]).name]


@pytest.mark.long
def test_an_audit_that_raises_ends_no_other(tmp_path: Path) -> None:
    kept = KeptReports(tmp_path)
    wrong = ASKED[0]._replace(runs=-1)
    with pytest.raises(Exception, match="runs"):
        audit_missing(kept, [wrong, *ASKED], lambda one: None)
    assert missing(kept, [wrong, *ASKED]) == [wrong]


def test_the_hash_is_of_code_lock_file_and_what_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module without imports, by hand."""
    module = "dpbandits.core.inputs"
    assert imported_by([module], ()) == {module}
    said = f"something\n{sys.version_info[:2]}\n".encode()
    by_hand = said + LOCK.read_bytes() + module.encode() + b"\n" + source_of(module)
    digest = digest_of([module], asked="something")
    assert digest == hashlib.sha256(by_hand).hexdigest()[:16]
    assert digest != digest_of([module], asked="something else")
    changed(monkeypatch, module)
    assert digest != digest_of([module], asked="something")


def test_the_page_has_a_row_for_each(report: AuditReport) -> None:
    """With one report in the place of all, which costs nothing."""
    every = every_audit(2_500)
    page = document({part: [report] * len(asked) for part, asked in every.items()}, 2_500)
    assert page.count(f"| `{report.subject}` |") == len(every["policies"] + every["mechanisms"])
    assert page.count(f"| {control(report)} |") == len(SPECIMENS)
