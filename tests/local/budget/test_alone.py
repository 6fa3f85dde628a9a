"""One call of a device at a time: interrupted anywhere, called from a signal handler or copied, no
report is made unpaid.
"""

from __future__ import annotations

import copy
import gc
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.core.errors import BudgetError
from dpbandits.local import messages
from dpbandits.local.budget import Budget, FileBudget, MemoryBudget
from dpbandits.local.client import Client
from dpbandits.mechanisms import LocalLaplace
from tests.session.test_interruption import Traced

ONE = Fraction(1)
DESCRIBED = messages.randomizer_to_json(LocalLaplace(epsilon=ONE), "films")
KINDS: list[Any] = [
    lambda path, total: MemoryBudget(total),
    lambda path, total: FileBudget(path / "budget", total=total),
]


def device(budget: Budget, noise: Any = None) -> Client:
    return Client(
        DESCRIBED, most=1, budget=budget, noise=noise or dpb.SimulatedNoise(1), simulated=True
    )


def asking(id: int) -> str:
    return messages.decision_to_json(id, 0, None, campaign="films")


class Stop(BaseException):
    """What Ctrl-C would raise."""


DEVICE = tuple(
    f"{Path(messages.__file__).parent}{os.sep}{part}" for part in ("budget", "client.py")
)
"""Where the device's own code lies."""


@contextmanager
def at_step(number: int, act: Callable[[], object], event: str) -> Iterator[list[int]]:
    """Do this at the so-manieth line (or instruction) of the device's own code; the list has an
    entry if there are so many.
    """
    passed, done = [0], list[int]()

    def trace(frame: FrameType, what: str, _: object) -> Any:
        if not frame.f_code.co_filename.startswith(DEVICE):
            return None
        frame.f_trace_opcodes = event == "opcode"
        passed[0] += what == event
        if what == event and passed[0] == number:
            sys.settrace(None)
            done.append(number)
            act()
        return trace

    with Traced(trace):
        yield done


def in_time(work: Callable[[], object]) -> bool:
    """Whether another thread gets this done; the minute is for the one that never does."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(60)
    return not thread.is_alive()


@pytest.mark.parametrize(
    ("kind", "event", "stride"),
    [(KINDS[0], "opcode", 1), (KINDS[1], "opcode", 7)],
    ids=["memory", "file"],
)
def test_a_call_from_within_a_call_makes_no_second_report(
    kind: Any, event: str, stride: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a signal handler may do, at every instruction of an answer (of a file's, at every
    seventh): answer, for the same budget.
    """
    monkeypatch.setattr(os, "fsync", lambda _: None)  # the disk is not what is looked at here
    number, refused = 1, 0
    while True:
        (path := tmp_path / str(number)).mkdir()
        budget, reports = kind(path, 1), list[str]()
        first, second = device(budget), device(budget)

        def handler(reports: list[str] = reports, second: Client = second) -> None:
            nonlocal refused
            try:
                reports.append(second.answer(asking(2), 0.25))
            except BudgetError as error:
                refused += "from within another" in str(error)

        with at_step(number, handler, event) as done, suppress(BudgetError):
            reports.append(first.answer(asking(1), 0.75))
        if not done:
            break
        assert len(reports) <= budget.spent <= 1
        assert len(reports) == 1
        number += stride
    assert number > 100
    assert refused > 10


@pytest.mark.parametrize(
    ("kind", "event", "stride"),
    [(KINDS[0], "opcode", 1), (KINDS[1], "opcode", 7)],
    ids=["memory", "file"],
)
# an interruption leaves files to the collector
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_an_interruption_anywhere_holds_no_lock(
    kind: Any, event: str, stride: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped at every instruction: what was handed out is spent, and the next call goes on, in
    this thread and in another.

    In a thread of its own: who raises from a trace function can leave Python handling an error,
    which later tests would find as the context of theirs.
    """
    monkeypatch.setattr(os, "fsync", lambda _: None)
    with ThreadPoolExecutor(1) as thread:
        errors = thread.submit(interrupted_anywhere, kind, event, stride, tmp_path).result()
    assert len(errors) * stride > 100
    errors.clear()
    gc.collect()


def interrupted_anywhere(kind: Any, event: str, stride: int, folder: Path) -> list[Stop]:
    """The interruptions, and with each every frame it went through."""
    number, errors = 1, list[Stop]()
    while True:
        (path := folder / str(number)).mkdir()
        budget, reports = kind(path, 10), list[str]()
        client = device(budget)

        def stop() -> None:
            raise Stop

        with at_step(number, stop, event) as done:
            try:
                reports.append(client.answer(asking(1), 0.75))
            except Stop as error:
                errors.append(error)
        if not done:
            return errors
        assert budget.spent >= len(reports)
        if number % 2:
            assert in_time(lambda: reports.append(client.answer(asking(2), 0.25)))  # noqa: B023
        reports.append(client.answer(asking(3), 0.25))
        assert len(reports) == 1 + number % 2
        assert budget.spent >= len(reports)
        number += stride


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="there is no such signal here")
def test_a_signal_while_the_file_is_written_is_answered_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second budget on the same file, too: one flock does not know that the other is its own
    thread's.
    """
    budget, other, refused = (
        FileBudget(tmp_path / "b", total=2),
        FileBudget(tmp_path / "b", total=2),
        list[str](),
    )
    honest = os.replace

    def handler(*_: object) -> None:
        for one in (budget, other):
            with pytest.raises(BudgetError, match="from within another"):
                one.spend(ONE)
            refused.append("")

    def replace(*args: Any) -> None:
        signal.raise_signal(signal.SIGUSR1)
        honest(*args)

    before = signal.signal(signal.SIGUSR1, handler)
    monkeypatch.setattr(os, "replace", replace)
    try:
        done: list[int] = []
        budget.spend(ONE)
        done.append(1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert (len(refused), budget.spent, len(done)) == (2, 1, 1)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_budget_in_memory_has_no_copies(copied: Callable[[Any], Any]) -> None:
    budget = MemoryBudget(1)
    with pytest.raises(TypeError, match="or use a FileBudget"):
        copied(budget)
    budget.spend(ONE)


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda budget: pickle.loads(pickle.dumps(budget))]
)
def test_a_copy_of_a_file_budget_is_the_same_file(
    copied: Callable[[Any], Any], tmp_path: Path
) -> None:
    budget = FileBudget(tmp_path / "b", total=1)
    copied(budget).spend(ONE)
    with pytest.raises(BudgetError, match="1 of it is spent"):
        budget.spend(ONE)
