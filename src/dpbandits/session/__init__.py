"""Host 1: one real run, round by round, for people's data."""

from dpbandits.core.errors import DecisionError, LedgerError, NotRecordedError
from dpbandits.session.decisions import Decision
from dpbandits.session.segments import SegmentedSession
from dpbandits.session.session import Session

__all__ = [
    "Decision",
    "DecisionError",
    "LedgerError",
    "NotRecordedError",
    "SegmentedSession",
    "Session",
]
