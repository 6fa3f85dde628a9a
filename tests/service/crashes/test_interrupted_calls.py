"""Calls of a campaign that an alarm interrupts at any time, and that are made again: nothing is
lost, nothing counts twice, and no later call waits for ever.
"""

from __future__ import annotations

import dis
import gc
import os
import random
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Connection, event
from sqlalchemy.engine.default import DefaultDialect

import dpbandits as dpb
from dpbandits.service import database
from dpbandits.service.operations import told_pairs
from dpbandits.service.transaction import QueuedCall
from tests.service.conftest import Open
from tests.service.timelines import Lite, create, inside

KINDS = pytest.mark.parametrize(
    "make", ["memory", pytest.param("sqlite", marks=pytest.mark.long)], indirect=True
)

pytestmark = [
    pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no such timer here"),
    # an interruption leaves connections to the collector: see `collected`
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """Connections that nobody closed are found here, and not in a later test."""
    yield
    gc.collect()


class Alarm(KeyboardInterrupt):
    """What an alarm raises."""


def ring(*_: object) -> None:
    raise Alarm


def interrupted(call: Callable[[], Any], seconds: float) -> Any:
    """What a call gives; None if the alarm came first."""
    before = signal.signal(signal.SIGALRM, ring)
    found = None
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        found = call()
        signal.setitimer(signal.ITIMER_REAL, 0)
    except (Alarm, dpb.StoreError, dpb.WitnessError):  # the call is made again
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return found


@KINDS
def test_every_reward_is_in_one_sum_and_one_release_and_every_ask_is_made_once(make: Open) -> None:
    """Each reward has a bit of its own in the sum. About half of the alarms come in time."""
    store, drawn, rung, longest = make(), random.Random(1), 0, 0.01

    def tried(call: Callable[[], Any]) -> Any:
        nonlocal rung, longest
        while (found := interrupted(call, drawn.random() * longest)) is None:
            rung, longest = rung + 1, longest * 2
        longest /= 2
        return found

    for at in range(40):
        policy = dpb.DPKLUCB(arms=1, epsilon=1, first=32, grid=2**20)
        campaign = create(store, policy, name=f"{at}")
        asked = tried(partial(campaign.ask, 40, key="visit"))
        answers = [(each, 2.0**-k) for k, each in enumerate(asked[:12], 1)]
        assert {*tried(partial(campaign.tell_many, answers))} <= {"recorded", "already"}
        blocks = inside(campaign, lambda part, _: part.session._current.folded().books.blocks)
        (block,) = blocks.values()
        assert (block.count, list(block.sums)) == (12, [sum(2 ** (20 - k) for k in range(1, 13))])
        tried(partial(campaign.tell_many, [(each, 0) for each in asked[12:]]))
        if at % 10 == 0:  # another thread waits for nobody
            other = threading.Thread(target=campaign.settle, daemon=True)
            other.start()
            other.join(60)
            assert not other.is_alive()
        summary = store[f"{at}"].summary()
        assert (summary.asked, summary.waiting, summary.generation) == (40, 0, 1)
        assert [(line.start, line.stop) for line in campaign.ledger] == [(0, 32)]
    assert rung > 90


def renamed(*_: object) -> None:
    """As SQLAlchemy names an interruption that comes as it leaves a transaction."""
    try:
        raise Alarm
    finally:
        raise AssertionError


@pytest.mark.parametrize(
    ("where", "again"), [("transaction.Written.of", "recorded"), ("witness.begin_alone", "already")]
)
def test_an_interruption_that_sqlalchemy_renames_gives_up_nothing(
    make: Open, monkeypatch: pytest.MonkeyPatch, where: str, again: str
) -> None:
    """It comes after noise was drawn, so an error of another kind would have it fenced."""
    campaign = create(make())
    answers = [(each, 1) for each in campaign.ask(12)]
    with monkeypatch.context() as patched:
        patched.setattr(f"dpbandits.service.{where}", renamed)
        campaign._calls.host._queue.append(QueuedCall(told_pairs(answers)))
        with pytest.raises(Alarm):
            campaign.ask(key="k")
    assert campaign.tell_many(answers) == [again] * 12
    assert (campaign.summary().generation, len(campaign.releases())) == (1, 3)


def test_an_alarm_that_raises_a_timeout_leaves_nothing_locked(lite: Lite) -> None:
    """SQLAlchemy takes it for a lost connection, which closed in a query would keep its lock."""
    store = lite.open()
    campaign = create(store)

    def late(*given: Any) -> None:
        if "FROM dpbandits_head" in given[2]:
            raise TimeoutError

    event.listen(store.database.engine, "after_cursor_execute", late)
    with pytest.raises(dpb.StoreError, match="TimeoutError") as kept:
        campaign.ask()
    event.remove(store.database.engine, "after_cursor_execute", late)
    assert campaign.ask().round == 1
    del kept


class Within:
    """Interrupts a call in these files, where Python looks for the n-th time for a signal."""

    def __init__(self, at: int, files: tuple[str, ...]) -> None:
        self.left, self._files, self._last = at, files, dict[Any, str]()

    def __call__(self, frame: Any, event: str, _: object) -> Any:
        if not any(name in frame.f_code.co_filename for name in self._files):
            return None
        frame.f_trace_opcodes = True
        if event == "call":
            self._last[frame] = "RESUME"
        elif event == "opcode":
            last = self._last.get(frame, "")
            self._last[frame] = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            if last.startswith(("CALL", "JUMP_BACKWARD", "RESUME")):
                self.left -= 1
                if self.left == 0:
                    raise Alarm
        return self

    def runs(self, call: Callable[[], Any]) -> bool:
        """Whether the call was interrupted."""
        before = sys.gettrace()
        sys.settrace(self)
        try:
            call()
        except (Alarm, dpb.StoreError, dpb.WitnessError, AssertionError):
            pass
        finally:
            sys.settrace(before)
            self._last.clear()
        return self.left <= 0


def test_wherever_a_call_is_interrupted_no_later_one_waits_for_ever(make: Open) -> None:
    """Where it takes or leaves a connection or a lock."""
    files = "/sqlalchemy/pool/", "/sqlalchemy/util/queue.py", "/threading.py", "/core/locks.py"
    campaign = create(make(), dpb.DPKLUCB(arms=2, epsilon=1, first=4))
    campaign.ask()
    at = 1
    while Within(at, files).runs(campaign.ask):
        other = threading.Thread(target=campaign.settle, daemon=True)
        other.start()
        other.join(60)
        assert not other.is_alive(), at
        at += 1
    assert at > 50


def test_an_interruption_between_blocks_gives_up_nothing(make: Open) -> None:
    """As Python enters or leaves one. In a thread, for one in a handler keeps its error."""
    store, at, is_interrupted = make(), 0, True
    while is_interrupted:
        at += 1
        campaign = create(store, dpb.DPKLUCB(arms=1, epsilon=1, first=4), name=f"{at}")
        tells = [(each, 1) for each in campaign.ask(4)]
        within = Within(at, ("/contextlib.py",))
        with ThreadPoolExecutor(1) as pool:
            is_interrupted = pool.submit(within.runs, partial(campaign.tell_many, tells)).result()
        campaign.tell_many(tells)
        summary = campaign.summary()
        assert (summary.generation, summary.step) == (1, 1), at
    assert at > 20


def test_a_call_from_within_a_call_is_refused(make: Open) -> None:
    """As a clock, or a signal handler, would make it."""
    within = list[Any]()

    def clock() -> float:
        if within:
            with pytest.raises(dpb.SharedError, match="under way in this thread"):
                within.pop()()
        return 1e6

    campaign = create(make(clock=clock))
    for call in (campaign.ask, campaign.settle, campaign.summary):
        within.append(call)
        campaign.ask()
    assert campaign.summary().asked == 3


def test_a_transaction_that_an_interruption_left_open_keeps_nobody_waiting(
    lite: Lite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It came again as the connection was given back; and whoever keeps the error keeps that."""
    monkeypatch.setattr(database, "PATIENCE", 1)
    campaign = create(lite.open())

    def early(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(DefaultDialect, "do_commit", early)
        patched.setattr(Connection, "close", early)
        with pytest.raises(KeyboardInterrupt) as kept:
            campaign.ask()
    assert campaign.ask().round == 1
    del kept


@pytest.mark.parametrize("same_number", [False, True])
def test_a_forked_child_waits_for_nobody(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, same_number: bool
) -> None:
    """It has locks and connections of its own, also where both have one process id."""
    if same_number:
        monkeypatch.setattr(os, "getpid", lambda: 1)
    with Lite(tmp_path).open() as store:
        campaign = create(store)
        campaign.ask()
        host, began, go_on = campaign._calls.host, threading.Event(), threading.Event()

        def hold() -> None:
            with host._lock.held(), host.witness._opened._lock.held():
                began.set()
                go_on.wait(60)

        thread = threading.Thread(target=hold)
        thread.start()
        began.wait(60)
        pool = host.database.engine.pool
        child = os.fork()
        if not child:
            signal.alarm(20)
            campaign.ask()
            os._exit(0 if host.database.engine.pool is not pool else 2)
        _, status = os.waitpid(child, 0)
        go_on.set()
        thread.join()
        assert os.waitstatus_to_exitcode(status) == 0
        assert campaign.ask().round == 3


def test_a_store_in_memory_refuses_a_forked_child() -> None:
    """The child has the same open sums, and would noise them once more."""
    campaign = create(dpb.open_store("memory:"))
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
