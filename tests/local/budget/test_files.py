"""A budget in a file: it outlives the device, under one name, whole and locked, whoever damages,
links, copies or races it.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.core.errors import BudgetError
from dpbandits.local.budget import FileBudget, file
from tests.local.budget.test_budget import ONE, asking, described, device, steps


def test_a_file_outlives_the_device(tmp_path: Path) -> None:
    path = tmp_path / "budget.json"
    first = device(budget=FileBudget(path, total=3)).answer(asking(1), 0.75, datum="jazz")
    for id in (1, 2, 3):  # new processes of the device, and the same reward
        again = device(budget=FileBudget(path, total=3), noise=dpb.SimulatedNoise(id)).answer(
            asking(id), 0.75, datum="jazz"
        )
        assert steps(again) == steps(first)
    assert FileBudget(path, total=3).spent == 1
    songs = device(
        described("songs"), budget=FileBudget(path, total=3), noise=dpb.SimulatedNoise(9)
    )
    assert steps(songs.answer(asking(1, campaign="songs"), 0.75, datum="jazz")) == steps(first)
    assert steps(songs.answer(asking(2, campaign="songs"), 0.75)) != steps(first)
    assert FileBudget(path, total=3).spent == 2
    with pytest.raises(BudgetError, match="total=2; 2 of it is spent"):
        device(budget=FileBudget(path, total=2)).answer(asking(4), 0.75)
    assert "0.75" not in path.read_text()
    assert os.name == "nt" or path.stat().st_mode & 0o077 == 0


@pytest.mark.skipif(os.name == "nt", reason="has no such modes")
def test_files_are_their_user_s_alone(tmp_path: Path) -> None:
    """Whatever the process's umask, and though another user was there first."""
    path, mine, before = tmp_path / "budget", tmp_path / "mine", os.umask(0)
    try:
        mine.write_text("as it was")
        (tmp_path / f"budget.{os.getpid()}.new").symlink_to(mine)
        FileBudget(path, total=3).spend(ONE)
        assert mine.read_text() == "as it was"
        assert not path.is_symlink()
        for each in (path, path.with_name("budget.lock")):
            assert each.stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)


TWICE = '{"version": 1, "spent": "2", "answers": {}, "spent": "0"}'
DAMAGED = [
    TWICE,
    "",
    "{}",
    '{"version": true, "spent": "0", "answers": {}}',
    '{"version": 1, "spent": "-1", "answers": {}}',
    '{"version": 1, "spent": 0, "answers": {}}',
    "[" * 10**5,
]


@pytest.mark.parametrize("text", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_file_is_no_fresh_budget(tmp_path: Path, text: str) -> None:
    path = tmp_path / "budget.json"
    budget = FileBudget(path, total=3)
    path.write_text(text)
    for use in (
        lambda: FileBudget(path, total=3),
        lambda: budget.spend(ONE),
        lambda: budget.recall("x"),
        lambda: budget.keep("x", "y"),
    ):
        with pytest.raises(BudgetError, match="missing or damaged"):
            use()
    assert path.read_text() == text
    path.unlink()
    with pytest.raises(BudgetError, match="missing or damaged"):
        budget.spend(ONE)


class Crash(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("where", ["fsync", "replace", "keep"])
def test_a_crash_never_spends_twice(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped at every step of the writing: what was handed out is spent, and what is spent stays
    so.
    """
    path, stops = tmp_path / "budget.json", list[int]()

    def stopping_at(count: int, honest: Callable[..., Any]) -> Callable[..., Any]:
        calls = iter(range(count))

        def call(*args: Any) -> Any:
            if next(calls, None) is None:
                stops.append(count)
                raise Crash
            return honest(*args)

        return call

    handed_out = 0
    for count in range(8):
        budget = FileBudget(path, total=100)
        target: Any = FileBudget if where == "keep" else os
        with monkeypatch.context() as patch:
            patch.setattr(target, where, stopping_at(count, getattr(target, where)))
            try:
                device(budget=budget, noise=dpb.SimulatedNoise(count)).answer(
                    asking(count + 1), 0.75
                )
                handed_out += 1
            except Crash:
                pass
        assert FileBudget(path, total=100).spent >= handed_out
    assert len(stops) >= 1
    assert handed_out >= 1


def spend_many(path: Path, results: Any) -> None:
    budget, done = FileBudget(path, total=30), 0
    for _ in range(30):
        try:
            budget.spend(ONE)
            done += 1
        except BudgetError:
            break
    results.put((done, budget.keep("first", str(os.getpid()))))


def test_two_processes_on_one_file(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    workers = [
        context.Process(target=spend_many, args=(tmp_path / "budget.json", results))
        for _ in range(3)
    ]
    for worker in workers:
        worker.start()
    told = [results.get(timeout=300) for _ in workers]
    for worker in workers:
        worker.join()
    assert sum(done for done, _ in told) == 30
    assert len({kept for _, kept in told}) == 1
    assert FileBudget(tmp_path / "budget.json", total=30).spent == 30


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_is_the_file_it_leads_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder := tmp_path / "a").mkdir()
    real, link = FileBudget(tmp_path / "b", total=1), folder / "b"
    link.symlink_to(tmp_path / "b")
    linked = FileBudget(link, total=1)
    monkeypatch.chdir(tmp_path)
    relative = FileBudget("b", total=1)
    monkeypatch.chdir(folder)
    linked.spend(ONE)
    assert link.is_symlink()
    for budget in (real, linked, relative, FileBudget("b", total=1)):
        assert budget.spent == 1
        with pytest.raises(BudgetError, match="1 of it is spent"):
            budget.spend(ONE)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_second_name_and_a_dead_link_are_refused(tmp_path: Path) -> None:
    budget = FileBudget(tmp_path / "b", total=1)
    os.link(tmp_path / "b", tmp_path / "second")
    for use in (
        lambda: FileBudget(tmp_path / "second", total=1),
        lambda: budget.spend(ONE),
        lambda: budget.spent,
    ):
        with pytest.raises(BudgetError, match="second name"):
            use()
    (tmp_path / "second").unlink()
    budget.spend(ONE)
    (tmp_path / "dead").symlink_to(tmp_path / "gone")
    with pytest.raises(BudgetError, match="dead link"):
        FileBudget(tmp_path / "dead", total=1)
    assert not (tmp_path / "gone").exists()


@pytest.mark.skipif(
    not hasattr(os, "fork"), reason="there is no fork here; Windows deletes no open file"
)
@pytest.mark.parametrize(
    "after", [False, True], ids=["before the write", "after the other has read"]
)
def test_a_deleted_lock_file_lets_one_process_spend(
    after: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process comes in on a lock file of its own, and reads before the first one writes; it
    writes before or after that.
    """
    budget, honest, children = FileBudget(tmp_path / "b", total=1), os.replace, list[int]()
    (read, told), (go, let_go) = os.pipe(), os.pipe()

    def second_process() -> None:
        def replace(*args: Any) -> None:
            os.write(told, b"x")
            os.read(go, 1)
            honest(*args)

        os.replace = replace  # type: ignore[assignment]
        try:
            FileBudget(tmp_path / "b", total=1).spend(ONE)
        except BaseException:
            os._exit(1)
        os._exit(0)

    def replace(*args: Any) -> None:
        if not children:
            (tmp_path / "b.lock").unlink()
            children.append(os.fork())
            if not children[0]:
                second_process()
            os.read(read, 1)
            if not after:
                end()
        honest(*args)

    def end() -> None:
        os.write(let_go, b"x")
        assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 0

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(BudgetError, match="deleted or replaced"):
        budget.spend(ONE)
    if after:
        end()
    assert budget.spent == 1


def test_a_lock_file_deleted_while_one_waits_is_waited_for_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    budget, honest, waits = FileBudget(tmp_path / "b", total=1), file.wait_for, list[int]()

    def wait_for(lock: Any) -> None:
        honest(lock)
        waits.append(1)
        if len(waits) == 1:
            (tmp_path / "b.lock").unlink()

    monkeypatch.setattr(file, "wait_for", wait_for)
    budget.spend(ONE)
    assert (len(waits), budget.spent) == (2, 1)
