"""Is it really epsilon-private? `dpbandits.audit(subject)` asks at several levels and returns a
report.
"""

from dpbandits.auditing.report import AuditReport, LevelResult

__all__ = ["AuditReport", "LevelResult"]
