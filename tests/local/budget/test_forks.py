"""A forked child: it waits for no thread that it does not have, keeps no lock of its parent's, and
reports nothing its parent paid for.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.core.errors import BudgetError
from dpbandits.local.budget import FileBudget, MemoryBudget
from tests.local.budget.test_alone import KINDS, ONE, asking, device, in_time

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


class Inside(dpb.SimulatedNoise):
    """Noise that stays in its draw until it is let go."""

    def __init__(self) -> None:
        super().__init__(1)
        self.entered, self.go = threading.Event(), threading.Event()

    def laplace(self, value: int, **options: Any) -> int:
        self.entered.set()
        self.go.wait(60)
        return super().laplace(value, **options)


def exit_of(child: int) -> int:
    """The exit code of a child; one that is stuck is ended after a minute."""
    watch = threading.Timer(60, os.kill, (child, signal.SIGKILL))
    watch.start()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    watch.cancel()
    return code


@forks
def test_a_child_forked_during_an_answer_can_answer(tmp_path: Path) -> None:
    noise = Inside()
    client = device(FileBudget(tmp_path / "b", total=9), noise)
    thread = threading.Thread(target=client.answer, args=(asking(1), 0.75))
    thread.start()
    noise.entered.wait(60)
    child = os.fork()
    if not child:
        noise.go.set()
        client.answer(asking(2), 0.75)
        os._exit(0)
    noise.go.set()
    thread.join(60)
    assert exit_of(child) == 0
    assert FileBudget(tmp_path / "b", total=9).spent == 2


@forks
def test_a_child_does_not_keep_its_parents_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is forked while another thread writes the file, and lives on: neither its end nor its
    parent's frees the file for others.
    """
    budget, entered, go, honest = (
        FileBudget(tmp_path / "b", total=9),
        threading.Event(),
        threading.Event(),
        os.replace,
    )

    def slow(*args: Any) -> None:
        entered.set()
        go.wait(60)
        honest(*args)

    monkeypatch.setattr(os, "replace", slow)
    thread = threading.Thread(target=budget.spend, args=(ONE,))
    thread.start()
    entered.wait(60)
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        os.close(theirs)
        locks = [link for link in descriptors() if link.endswith("b.lock")]
        os.read(ours, 1)  # lives until the parent is done
        os._exit(len(locks))
    os.close(ours)
    go.set()
    thread.join(60)
    assert in_time(lambda: budget.spend(ONE))
    os.close(theirs)
    assert exit_of(child) == 0
    assert budget.spent == 2


def descriptors() -> list[str]:
    """The files this process has open, where the system tells."""
    folder, found = Path("/proc/self/fd"), list[str]()
    for name in os.listdir(folder) if folder.is_dir() else []:
        with suppress(OSError):
            found.append(os.readlink(folder / name))
    return found


@forks
@pytest.mark.parametrize(
    ("kind", "where"),
    [(KINDS[0], "draw"), (KINDS[1], "draw"), (KINDS[1], "write")],
    ids=["memory", "file", "write"],
)
def test_a_child_forked_within_an_answer_makes_no_report(
    kind: Any, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its own thread, in a signal handler say: parent and child both go on in the middle of one
    call that was paid for once.
    """
    pids = list[int]()

    def forking(honest: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            if not pids:
                pids.append(os.fork())
            return honest(*args, **options)

        return call

    budget = kind(tmp_path, 9)
    client = device(budget)
    if where == "draw":
        monkeypatch.setattr(client._noise, "laplace", forking(client._noise.laplace))
    else:
        monkeypatch.setattr(os, "fsync", forking(os.fsync))
    parent = os.getpid()
    try:
        client.answer(asking(1), 0.75)
        reported = True
    except BudgetError:
        reported = False
    if os.getpid() != parent:
        os._exit(1 if reported else 0)
    assert exit_of(pids[0]) == 0
    assert reported
    assert budget.spent == 1


@forks
def test_a_forked_child_does_not_spend_its_parents_budget() -> None:
    budget = MemoryBudget(1)
    child = os.fork()
    if not child:
        try:
            budget.spend(ONE)
        except BudgetError:
            os._exit(0)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    budget.spend(ONE)
