"""A mark of this process, and a lock that lets one call at a time into an object."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import RLock
from typing import Any, TypeVar, final

Value = TypeVar("Value")

PROCESS = [object()]
"""Marks this process: a forked child gets another mark."""

if hasattr(os, "register_at_fork"):  # where there is fork
    os.register_at_fork(after_in_child=lambda: PROCESS.__setitem__(0, object()))


def this_process() -> tuple[object, int]:
    """Return an identity of this process that differs in a forked child.

    The process id serves for forks that Python does not see.
    """
    return PROCESS[0], os.getpid()


@final
class BlockLock(type(RLock())):  # type: ignore[misc]  # Any to checkers
    """A lock that a block holds or not, wherever a signal falls. Python looks for signals as a
    function of its own is entered, and after calls of others.

    From 3.14 on it looks after the call that takes the lock of a `with`, and before the block. Here
    that call is one of a Python function; leaving the lock is no Python code.
    """

    def __enter__(self) -> bool:
        try:
            self.acquire()
        except BaseException:
            if self._is_owned():  # it was taken already
                self.release()
            raise
        return True


@final
class CallLock:
    """A lock that makes other threads wait and refuses a call from within a call. In a forked child
    it starts unlocked. Whether a call is under way is what the lock itself says.

    Args:
        refusal: returns the error for a call from within a call (from a signal handler, say).
    """

    def __init__(self, refusal: Callable[[], Exception]) -> None:
        self._refusal = refusal
        self._locks = dict[tuple[object, int], Any]()  # by process: this one, and those it is of

    def __reduce__(self) -> tuple[type["CallLock"], tuple[Callable[[], Exception]]]:
        """Return a new, unlocked lock for a copy."""
        return CallLock, (self._refusal,)

    def held(self) -> AbstractContextManager[Any]:
        """The lock, to be held for a block: `with lock.held(): …`.

        Raises:
            Exception: the refusal, if this thread holds the lock already.
        """
        lock = self._locks.setdefault(this_process(), BlockLock())
        if lock._is_owned():  # what `threading.Condition` asks, too
            raise self._refusal()
        return lock

    def run(self, call: Callable[[], Value]) -> Value:
        """Make a call while the lock is held."""
        with self.held():
            found = call()  # not returned from within: what follows a call would lie outside
        return found  # noqa: RET504
