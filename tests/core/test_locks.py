"""One call at a time, wherever an interruption falls."""

import gc
import os
import random
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from dpbandits.core.errors import SharedError
from dpbandits.core.locks import BlockLock, CallLock, this_process


class Interrupted(BaseException):
    """Like KeyboardInterrupt."""


class At:
    """Interrupts the code before a lock is taken at its n-th line, or at its n-th instruction."""

    CODES = (CallLock.held.__code__, this_process.__code__)

    def __init__(self, event: str, left: int) -> None:
        self.event, self.left = event, left

    def __call__(self, frame: Any, event: str, _: object) -> Any:
        if frame.f_code not in self.CODES:
            return None
        frame.f_trace_opcodes = True
        if event == self.event:
            self.left -= 1
            if self.left == 0:
                raise Interrupted
        return self


def refusal() -> Exception:
    return SharedError("A call is under way.")


def by_block(lock: CallLock) -> str:
    with lock.held():
        return "made"


def by_run(lock: CallLock) -> str:
    return lock.run(lambda: "made")


def with_an_error(lock: CallLock) -> str:
    try:
        with lock.held():
            raise OSError
    except OSError:
        return "made"


CALLS = pytest.mark.parametrize("call", [by_block, by_run, with_an_error])


def require_left(lock: CallLock, call: Callable[[CallLock], str]) -> None:
    """This thread and another one can take the lock."""
    made = [call(lock)]
    other = threading.Thread(target=lambda: made.append(call(lock)), daemon=True)
    other.start()
    other.join(30)
    assert made == ["made", "made"]


@CALLS
@pytest.mark.parametrize("event", ["line", "opcode"])
def test_an_interruption_before_the_lock_is_taken(
    event: str, call: Callable[[CallLock], str]
) -> None:
    """At every line and every instruction. Taking and leaving it has none: they are C."""
    lock, at, kept = CallLock(refusal), 1, list[BaseException]()
    while True:
        tracer, before = At(event, at), sys.gettrace()
        sys.settrace(tracer)
        try:
            call(lock)
        except Interrupted as error:
            kept.append(error)
        finally:
            sys.settrace(before)
        if tracer.left > 0:
            break
        require_left(lock, call)
        at += 1
    assert len(kept) == at - 1 >= (4 if event == "line" else 20)


@CALLS
@pytest.mark.parametrize("is_taken", [False, True])
def test_a_signal_that_is_seen_as_the_lock_is_taken(
    is_taken: bool, call: Callable[[CallLock], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While another thread has it, or just after it was taken, as from Python 3.14 on."""
    lock = CallLock(refusal)

    def seen(self: BlockLock) -> bool:
        if is_taken:
            super(BlockLock, self).acquire()
        raise Interrupted

    with monkeypatch.context() as patched:
        patched.setattr(BlockLock, "acquire", seen, raising=False)
        with pytest.raises(Interrupted):
            call(lock)
    require_left(lock, call)


@CALLS
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no such timer here")
def test_alarms_at_any_time_leave_the_lock(call: Callable[[CallLock], str]) -> None:
    """Real signals, so wherever Python looks for them, though each error is kept."""
    lock, drawn, kept = CallLock(refusal), random.Random(1), list[BaseException]()

    def ring(*_: object) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGALRM, ring)
    gc.disable()  # an error that is raised within the collector is lost
    try:
        for _ in range(1000):
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-6 * drawn.randint(1, 60))
                for _ in range(10_000):
                    call(lock)
            except Interrupted as error:
                kept.append(error)
            assert call(lock) == "made"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        gc.enable()
    require_left(lock, call)
    assert len(kept) > 900


def test_a_call_from_within_a_call_is_refused_and_changes_nothing() -> None:
    lock = CallLock(refusal)
    with lock.held():
        for _ in range(2):
            with pytest.raises(SharedError):
                by_block(lock)
    assert by_block(lock) == "made"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_starts_unlocked() -> None:
    lock = CallLock(refusal)
    with lock.held():
        child = os.fork()
        if child == 0:
            os._exit(0 if by_block(lock) == "made" else 1)
        _, status = os.waitpid(child, 0)
    assert status == 0
