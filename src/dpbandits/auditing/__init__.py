"""Tests of privacy claims: `dpbandits.audit(subject)` looks at several levels and reports."""

from dpbandits.auditing.laws import noisy_max_loss
from dpbandits.auditing.report import AuditReport, LevelResult, Verified, verify

__all__ = ["AuditReport", "LevelResult", "Verified", "noisy_max_loss", "verify"]
