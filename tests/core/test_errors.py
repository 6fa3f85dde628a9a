"""Every exception of the package stands in one file, under one base that a caller can catch."""

import dpbandits as dpb
from dpbandits.core import errors


def test_every_exception_that_a_caller_can_meet_is_exported() -> None:
    assert [
        name for name in errors.__all__ if getattr(dpb, name) is not getattr(errors, name)
    ] == []
    assert set(errors.__all__) <= set(dpb.__all__)


PLAIN: dict[type[Exception], tuple[type[Exception], ...]] = {
    ValueError: (
        *(dpb.RewardError, dpb.HorizonError, dpb.DamagedSessionError, dpb.MessageError),
        *(dpb.BudgetError, dpb.DataError, dpb.ConfigError, dpb.DamagedCellError),
    ),
    LookupError: (dpb.DecisionError,),
    RuntimeError: (dpb.NotRecordedError, dpb.SharedError, dpb.LedgerError),
    AssertionError: (dpb.CheckFailed, dpb.OracleCheckFailed, dpb.Diverged),
}


def test_the_built_in_exception_is_caught_still() -> None:
    for plain, errors_of_it in PLAIN.items():
        assert all(issubclass(error, plain) for error in errors_of_it)
