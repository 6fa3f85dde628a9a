"""Is it really epsilon-private? `dpbandits.audit(subject)` asks at several levels and returns a
report.

The package itself can be called, so that both `dpb.audit(policy)` and `dpbandits.auditing.exact`
work.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from dpbandits.auditing.report import AuditReport, LevelResult

__all__ = ["AuditReport", "LevelResult"]


class Callable(ModuleType):
    """A module that is also a function."""

    def __call__(self, subject: object, claim: Any = None, **options: Any) -> AuditReport:
        from dpbandits.auditing.audit import audit

        return audit(subject, claim, **options)


sys.modules[__name__].__class__ = Callable
