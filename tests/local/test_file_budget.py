"""A budget in a file: it outlives the device, under one name, whole and locked, whoever damages,
links, copies, kills, forks or races it.
"""

import multiprocessing
import os
import random
import signal
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.core.errors import BudgetError
from dpbandits.local.budget import FileBudget, MemoryBudget
from tests.local.test_budget import ONE, asking, described, device, steps

Make = Callable[[int], Any]
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


def test_a_file_outlives_the_device(tmp_path: Path) -> None:
    path = tmp_path / "budget"
    first = device(budget=FileBudget(path, total=3)).answer(asking(1), 0.75, datum="jazz")
    for id in (1, 2, 3):  # new processes of the device, and the same reward
        again = device(budget=FileBudget(path, total=3), noise=dpb.SimulatedNoise(id)).answer(
            asking(id), 0.75, datum="jazz"
        )
        assert steps(again) == steps(first)
    assert FileBudget(path, total=3).spent == 1
    budget = FileBudget(path, total=3)
    songs = device(described("songs"), budget=budget, noise=dpb.SimulatedNoise(9))
    assert steps(songs.answer(asking(1, campaign="songs"), 0.75, datum="jazz")) == steps(first)
    assert steps(songs.answer(asking(2, campaign="songs"), 0.75)) != steps(first)
    assert FileBudget(path, total=3).spent == 2
    with pytest.raises(BudgetError, match="total=2; 2 of it is spent"):
        device(budget=FileBudget(path, total=2)).answer(asking(4), 0.75)
    assert b"0.75" not in path.read_bytes()


def test_each_change_waits_for_the_disk(tmp_path: Path) -> None:
    """By SQLite's settings; a journal whose removal is not on disk would undo its change."""
    with FileBudget(tmp_path / "budget", total=3)._opened() as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        assert database.execute("PRAGMA synchronous").fetchone() == (3,)  # EXTRA


@pytest.mark.skipif(os.name == "nt", reason="has no such modes")
def test_a_file_is_its_user_s_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        FileBudget(tmp_path / "budget", total=3).spend(ONE)
        assert {each.stat().st_mode & 0o777 for each in tmp_path.iterdir()} == {0o600}
    finally:
        os.umask(before)


def other_database(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE budget (spent TEXT)")


def edited(sql: str) -> Callable[[Path], None]:
    def edit(path: Path) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.execute(sql)

    return edit


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_text("words " * 300),
        lambda path: path.write_bytes(path.read_bytes()[:5000] + b"\xff" * 5000),
        other_database,
        edited("UPDATE budget SET spent = '-1'"),
        edited("DELETE FROM budget"),
        edited("INSERT INTO budget VALUES ('0')"),
        edited("DROP TABLE budget"),
    ],
    ids=range(7),
)
def test_a_damaged_file_is_no_fresh_budget(tmp_path: Path, damage: Any) -> None:
    path = tmp_path / "budget"
    budget = FileBudget(path, total=3)
    damage(path)
    for use in (lambda: FileBudget(path, total=3), lambda: budget.spend(ONE)):
        with pytest.raises(BudgetError, match="missing or damaged"):
            use()
    path.unlink()
    for use in (lambda: budget.spend(ONE), lambda: budget.recall("x")):
        with pytest.raises(BudgetError, match="missing or damaged"):
            use()
    assert not path.exists()


def spend_many(path: Path, results: Any) -> None:
    budget, done = FileBudget(path, total=30), 0
    for _ in range(30):
        try:
            budget.spend(ONE)
            done += 1
        except BudgetError:
            break
    results.put((done, budget.keep("first", str(os.getpid()))))


@forks
def test_processes_on_one_file(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    path = tmp_path / "budget"
    workers = [context.Process(target=spend_many, args=(path, results)) for _ in range(3)]
    for worker in workers:
        worker.start()
    told = [results.get(timeout=300) for _ in workers]
    for worker in workers:
        worker.join()
    assert sum(done for done, _ in told) == 30
    assert len({kept for _, kept in told}) == 1
    assert FileBudget(path, total=30).spent == 30


@forks
def test_kills_spend_nothing_twice_and_lose_nothing_that_was_handed_out(tmp_path: Path) -> None:
    budget, drawn = FileBudget(tmp_path / "budget", total=10_000), random.Random(1)
    handed_out = 0
    for turn in range(25):
        out, into = os.pipe()
        child = os.fork()
        if not child:
            while True:
                budget.spend(ONE)
                os.write(into, b"x")
        os.close(into)
        begun = os.read(out, 1) if turn % 2 else b""  # however long that takes
        time.sleep(drawn.random() / 10)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with os.fdopen(out, "rb") as said:
            handed_out += len(begun + said.read())
        assert handed_out <= budget.spent <= handed_out + 25
    assert handed_out >= 12, "as often as the kill waited for it"


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
    for budget in (real, linked, relative, FileBudget("b", total=1)):
        assert budget.spent == 1
        with pytest.raises(BudgetError, match="1 of it is spent"):
            budget.spend(ONE)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_second_name_and_a_dead_link_are_refused(tmp_path: Path) -> None:
    budget = FileBudget(tmp_path / "b", total=1)
    os.link(tmp_path / "b", tmp_path / "second")
    for use in (lambda: FileBudget(tmp_path / "second", total=1), lambda: budget.spend(ONE)):
        with pytest.raises(BudgetError, match="second name"):
            use()
    (tmp_path / "second").unlink()
    budget.spend(ONE)
    (tmp_path / "dead").symlink_to(tmp_path / "gone")
    with pytest.raises(BudgetError, match="dead link"):
        FileBudget(tmp_path / "dead", total=1)
    assert not (tmp_path / "gone").exists()
    with pytest.raises(BudgetError, match="to be a folder"):
        FileBudget(tmp_path / "no" / "b", total=1)


class Inside(dpb.SimulatedNoise):
    """Noise that does something in its draw."""

    def __init__(self, act: Callable[[], object]) -> None:
        super().__init__(1)
        self.act = act

    def laplace(self, value: int, **options: Any) -> int:
        self.act()
        return super().laplace(value, **options)


def test_a_call_from_within_a_call_makes_no_second_report(budget_of: Make) -> None:
    """As a signal handler would make it."""
    budget, refused = budget_of(9), list[str]()

    def again() -> None:
        with pytest.raises(BudgetError, match="from within another"):
            client.answer(asking(2), 0.25)
        refused.append("")

    client = device(budget=budget, noise=Inside(again))
    client.answer(asking(1), 0.75)
    assert (budget.spent, len(refused)) == (1, 1)
    client._noise = dpb.SimulatedNoise(1)
    client.answer(asking(2), 0.75)
    assert budget.spent == 2


class Alarm(BaseException):
    """What an alarm raises."""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no such timer here")
# an interruption leaves files to the collector, and may come in a hook of it
@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_alarms_hold_no_lock_and_buy_no_report(budget_of: Make) -> None:
    """Interrupted at any time: what was handed out is spent, and the next call goes on, in this
    thread and in another. About half of the alarms come in time, however fast the machine is.
    """

    def ring(*_: object) -> None:
        raise Alarm

    budget = budget_of(10_000)
    client, drawn, rung, handed_out = device(budget=budget), random.Random(1), 0, 0
    longest = 0.001
    before = signal.signal(signal.SIGALRM, ring)
    try:
        for id in range(1, 301):
            try:
                signal.setitimer(signal.ITIMER_REAL, drawn.random() * longest)
                client.answer(asking(2 * id), 0.75)
                handed_out += 1
                signal.setitimer(signal.ITIMER_REAL, 0)
                longest /= 2
            except Alarm:
                rung, longest = rung + 1, longest * 2
            signal.setitimer(signal.ITIMER_REAL, 0)
            if id % 10 == 0:
                other = threading.Thread(
                    target=client.answer, args=(asking(2 * id + 1), 0.75), daemon=True
                )
                other.start()
                other.join(60)
                assert not other.is_alive()
                handed_out += 1
            assert budget.spent >= handed_out
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert rung > 100


@forks
def test_a_child_forked_within_an_answer_makes_no_report(budget_of: Make) -> None:
    """Parent and child both go on in the middle of one call that was paid for once."""
    pids = list[int]()
    budget = budget_of(9)
    client = device(budget=budget, noise=Inside(lambda: pids.append(os.fork())))
    parent, reported = os.getpid(), True
    try:
        client.answer(asking(1), 0.75)
    except BudgetError:
        reported = False
    if os.getpid() != parent:
        os._exit(1 if reported else 0)
    assert os.waitstatus_to_exitcode(os.waitpid(pids[0], 0)[1]) == 0
    assert reported
    assert budget.spent == 1


def in_child(call: Callable[[], object]) -> bool:
    """Whether a forked child may make a call, or is refused."""
    child = os.fork()
    if not child:
        signal.alarm(30)
        with suppress(BudgetError):
            call()
            os._exit(0)
        os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 1)
    return code == 0


@forks
def test_a_forked_child_waits_for_no_thread_of_its_parent_s(tmp_path: Path) -> None:
    entered, go = threading.Event(), threading.Event()

    def stay() -> None:
        entered.set()
        go.wait(60)

    client = device(budget=FileBudget(tmp_path / "b", total=9), noise=Inside(stay))
    thread = threading.Thread(target=client.answer, args=(asking(1), 0.75))
    thread.start()
    entered.wait(60)
    assert in_child(lambda: (go.set(), client.answer(asking(2), 0.75)))
    go.set()
    thread.join(60)
    assert FileBudget(tmp_path / "b", total=9).spent == 2


@forks
def test_a_forked_child_does_not_spend_its_parent_s_budget() -> None:
    budget = MemoryBudget(1)
    assert not in_child(lambda: budget.spend(ONE))
    budget.spend(ONE)
