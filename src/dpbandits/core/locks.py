"""A mark of this process, and a lock that lets one call at a time into an object."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import TypeVar, final

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
class CallLock:
    """A lock that makes other threads wait and refuses a call from within a call. In a forked child
    it starts unlocked.

    Args:
        refusal: returns the error for a call from within a call (from a signal handler, say).
    """

    def __init__(self, refusal: Callable[[], Exception]) -> None:
        self._refusal, self._process = refusal, this_process()
        self._lock, self._is_busy = RLock(), False

    def __reduce__(self) -> tuple[type["CallLock"], tuple[Callable[[], Exception]]]:
        """Return a new, unlocked lock for a copy."""
        return CallLock, (self._refusal,)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock for a block.

        Raises:
            Exception: the refusal, if this thread holds the lock already.
        """
        if self._process != this_process():
            self._process, self._lock, self._is_busy = this_process(), RLock(), False
        with self._lock:
            if self._is_busy:
                raise self._refusal()
            try:
                self._is_busy = True
                yield
            finally:
                self._is_busy = False

    def run(self, call: Callable[[], Value]) -> Value:
        """Make a call while the lock is held."""
        with self.held():
            return call()
