"""Is it really epsilon-private? `dpbandits.audit(subject)` asks at several levels and returns a
report.
"""

from dpbandits.auditing.laws import noisy_max_loss
from dpbandits.auditing.report import AuditReport, LevelResult, Verified, verify

__all__ = ["AuditReport", "LevelResult", "Verified", "noisy_max_loss", "verify"]
