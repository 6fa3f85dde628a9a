"""A lock that an interrupted call does not keep: interrupted at each of its lines, the next call
goes on.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest

import dpbandits as dpb
from dpbandits.service.call_lock import CallLock
from dpbandits.service.rows.memory import MemoryBackend
from tests.service.conftest import Open
from tests.service.timelines import Lite, create
from tests.session.test_interruption import Interrupted, interrupt


def entered(lock: CallLock) -> None:
    with lock:
        pass


def in_thread(lock: CallLock) -> bool:
    """Whether another thread gets in; not joined, should it wait for ever."""
    done = Event()
    thread = Thread(target=lambda: (entered(lock), done.set()), daemon=True)
    thread.start()
    return done.wait(30)


@pytest.mark.parametrize("each", ["line", "opcode"])
def test_whatever_line_is_interrupted_the_next_call_goes_on(each: str) -> None:
    lock = CallLock()
    lines = interrupt(lambda: entered(lock), 0, each=each)
    assert lines > 5
    for at in range(1, lines + 1):
        with pytest.raises(Interrupted):
            interrupt(lambda: entered(lock), at, each=each)
        entered(lock)
        assert in_thread(lock), at


def test_a_call_within_the_call_is_refused() -> None:
    lock = CallLock()
    with lock, pytest.raises(dpb.SharedError, match="under way in this thread"):
        entered(lock)
    assert in_thread(lock)


def test_a_call_in_a_context_manager_s_block_is_refused() -> None:
    """The generator that took the lock is not on the stack while the block runs."""
    lock = CallLock()

    @contextmanager
    def within() -> Iterator[None]:
        with lock:
            yield

    with within(), pytest.raises(dpb.SharedError):
        entered(lock)
    entered(lock)


def test_other_threads_wait() -> None:
    lock, inside, go_on, order = CallLock(), Event(), Event(), list[str]()

    def first() -> None:
        with lock:
            inside.set()
            go_on.wait(30)
            order.append("first")

    def second() -> None:
        with lock:
            order.append("second")

    threads = [Thread(target=first), Thread(target=second)]
    threads[0].start()
    assert inside.wait(30)
    threads[1].start()
    go_on.set()
    for thread in threads:
        thread.join(30)
    assert order == ["first", "second"]


@pytest.mark.parametrize("make", ["memory", "sqlite"], indirect=True)
def test_a_campaign_goes_on_whichever_of_its_last_lines_is_interrupted(make: Open) -> None:
    """There the locks are let go: one line that was left out kept every later call waiting."""
    store = make()

    def told(name: str, at: int) -> int:
        campaign = create(store, dpb.DPKLUCB(arms=1, epsilon=1, first=32), name=name)
        (asked,) = campaign.ask(1)
        lines = 0
        try:
            lines = interrupt(lambda: campaign.tell(asked, 1), at)
        except Interrupted:
            assert campaign.tell(asked, 1) in ("recorded", "already")
        return lines

    lines = told("whole", 0)
    last = 25 if isinstance(store._backend, MemoryBackend) else 60
    for at in range(lines - last, lines + 1):
        told(f"at {at}", at)


def test_a_forked_child_with_the_same_process_id_waits_for_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in nested namespaces, where parent and child may both be process 1: the child takes locks
    and connections of its own, though a thread of the parent has the parent's.
    """
    monkeypatch.setattr(os, "getpid", lambda: 1)
    campaign = create(Lite(tmp_path).open())
    campaign.ask()
    began, go_on = Event(), Event()

    def hold() -> None:
        with campaign._turning._lock, campaign._turning.witness._lock:
            began.set()
            go_on.wait(60)

    thread = Thread(target=hold)
    thread.start()
    began.wait(60)
    pools = campaign._turning.backend._engine.pool
    child = os.fork()
    if not child:
        signal.alarm(20)
        campaign.ask()
        own = campaign._turning.backend._engine.pool is not pools
        os._exit(0 if own else 2)
    _, status = os.waitpid(child, 0)
    go_on.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 0
    assert campaign.ask().round == 3


def test_a_store_in_memory_refuses_a_forked_child() -> None:
    """The child has the same open sums, and would noise them once more."""
    store = dpb.open_store("memory:")
    campaign = create(store)
    asked = campaign.ask(4)
    campaign.tell_many([(each, 1) for each in asked[:3]])
    child = os.fork()
    if not child:
        try:
            for call in (lambda: campaign.tell(asked[3], 1), campaign.summary, campaign.settle):
                with pytest.raises(dpb.SharedError, match="store in memory was made before"):
                    call()
            own = create(dpb.open_store("memory:"))
            own.tell(own.ask(), 1)
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert campaign.tell(asked[3], 1) == "recorded"
