"""Reports that outlive an interrupted run. Audits of everything take hours on a busy machine."""

from __future__ import annotations

import pickle
from pathlib import Path

from benchmarks.auditing.subjects import Asked
from benchmarks.digest import digest_of
from dpbandits.auditing.report import AuditReport


class KeptReports:
    """A file an audit, in a folder of the code's hash: what other code found is not used. The files
    are pickles, so the folder is for what this program wrote, and for nothing that was sent.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder / digest_of(["benchmarks.auditing.subjects"])

    def of(self, asked: Asked) -> AuditReport | None:
        """None where this has not been asked yet."""
        path = self._path(asked)
        if not path.exists():
            return None
        report = pickle.loads(path.read_bytes())
        assert isinstance(report, AuditReport)
        return report

    def add(self, asked: Asked, report: AuditReport) -> None:
        """The file appears whole, or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self._path(asked)
        unfinished = path.with_suffix(".unfinished")
        unfinished.write_bytes(pickle.dumps(report))
        unfinished.replace(path)

    def _path(self, asked: Asked) -> Path:
        return self.folder / f"{asked.listed}-{asked.number}-{asked.runs}.pickle"
