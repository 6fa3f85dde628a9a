"""Reports that outlive an interrupted run. Audits of everything take an hour or more."""

from __future__ import annotations

import hashlib
import os
import pickle
from pathlib import Path

from benchmarks.auditing.subjects import Asked, code_of, subject_of
from benchmarks.digest import digest_of, source_of
from dpbandits.auditing.report import AuditReport

TABLES = ("dpbandits.policies", "dpbandits.auditing.broken")
"""They list what may be audited. An audit of one policy knows no other."""


class KeptReports:
    """A file an audit. Its name has a hash of the subject, the runs, the file that asks, and the
    code that an audit of this subject imports: what other code found is not used, and a changed
    policy leaves the others' reports. The files are pickles, so the folder is for what this program
    wrote, and for nothing that was sent.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._paths: dict[Asked, Path] = {}

    def of(self, asked: Asked) -> AuditReport | None:
        """None where this has not been asked yet, or where its file is damaged."""
        try:
            report = pickle.loads(self.path(asked).read_bytes())
        except (FileNotFoundError, EOFError, pickle.UnpicklingError):
            return None
        assert isinstance(report, AuditReport)
        return report

    def add(self, asked: Asked, report: AuditReport) -> None:
        """The file appears whole, or not at all; whoever audits beside us has files of their own
        until then.
        """
        path = self.path(asked)
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}")
        unfinished.write_bytes(pickle.dumps(report))
        unfinished.replace(path)

    def path(self, asked: Asked) -> Path:
        if asked not in self._paths:
            subject = f"{subject_of(asked)}, {asked.runs} runs"
            how = hashlib.sha256(source_of("benchmarks.auditing.subjects")).hexdigest()
            digest = digest_of(code_of(asked), TABLES, f"{subject} {how}")
            self._paths[asked] = self.folder / f"{asked.listed}-{digest}.pickle"
        return self._paths[asked]
