"""Every exception of the package stands in one file, under one base that a caller can catch."""

from __future__ import annotations

import pytest

import dpbandits as dpb
from dpbandits.core import errors


def test_every_exception_that_a_caller_can_meet_is_exported() -> None:
    assert [
        name for name in errors.__all__ if getattr(dpb, name) is not getattr(errors, name)
    ] == []
    assert set(errors.__all__) <= set(dpb.__all__)


@pytest.mark.parametrize(
    ("error", "plain"),
    [
        (dpb.RewardError, ValueError),
        (dpb.DecisionError, LookupError),
        (dpb.NotRecordedError, RuntimeError),
        (dpb.SharedError, RuntimeError),
        (dpb.HorizonError, ValueError),
        (dpb.LedgerError, RuntimeError),
        (dpb.DamagedSessionError, ValueError),
        (dpb.MessageError, ValueError),
        (dpb.BudgetError, ValueError),
        (dpb.DataError, ValueError),
        (dpb.ConfigError, ValueError),
        (dpb.DamagedCellError, ValueError),
        (dpb.CheckFailed, AssertionError),
        (dpb.OracleCheckFailed, AssertionError),
        (dpb.Diverged, AssertionError),
    ],
)
def test_the_built_in_exception_is_caught_still(
    error: type[Exception], plain: type[Exception]
) -> None:
    assert issubclass(error, plain)
