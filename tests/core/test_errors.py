"""Every exception of the package stands in one file, under one base that a caller can catch."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import pytest

import dpbandits as dpb
from dpbandits.core import errors


def exceptions() -> list[type[BaseException]]:
    """Every exception class that a module of the package defines."""
    modules = [
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages(dpb.__path__, "dpbandits.")
        if module.name != "dpbandits.__main__"
    ]
    return [
        value
        for module in modules
        for value in vars(module).values()
        if inspect.isclass(value)
        and issubclass(value, Exception)
        and value.__module__ == module.__name__
    ]


def test_every_exception_stands_in_one_file_under_one_base() -> None:
    found = exceptions()
    assert len(found) > 20
    assert [error for error in found if error.__module__ != errors.__name__] == []
    assert [error for error in found if not issubclass(error, (dpb.Error, Warning))] == []


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


def test_a_caller_catches_what_a_session_refuses() -> None:
    session = dpb.Session(dpb.DPKLUCB(arms=2, epsilon=1, grid=1), noise=dpb.SimulatedNoise(1))
    decision = session.ask()
    with pytest.raises(dpb.Error):
        session.tell(decision, 2)
    session.tell(decision, 1)
    with pytest.raises(dpb.Error):
        session.tell(decision, 1)
    with pytest.raises(dpb.Error):
        dpb.Session.from_json(session.to_json().replace('"unread": 0', '"unread": 1'))
