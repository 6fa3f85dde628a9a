"""One call at a time, in one process."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import TypeVar, final

Value = TypeVar("Value")

_mark = [object()]
if hasattr(os, "register_at_fork"):  # where there is fork
    os.register_at_fork(after_in_child=lambda: _mark.__setitem__(0, object()))


def this_process() -> tuple[object, int]:
    """Return a mark of this process: another one in a forked child. A fork that goes round Python
    shows by the process's id.
    """
    return _mark[0], os.getpid()


@final
class CallLock:
    """One call at a time: another thread waits, a call from within a call is refused. A forked
    child begins with nobody inside.

    Args:
        refusal: returns the error for a call from within a call (a signal handler's, say).
    """

    def __init__(self, refusal: Callable[[], Exception]) -> None:
        self._refusal, self._process = refusal, this_process()
        self._lock, self._is_busy = RLock(), False

    def __reduce__(self) -> tuple[type["CallLock"], tuple[Callable[[], Exception]]]:
        """A copy is another lock, which nobody holds."""
        return CallLock, (self._refusal,)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock for a block.

        Raises:
            Exception: the refusal, where this thread holds it already.
        """
        if self._process != this_process():
            self._process, self._lock, self._is_busy = this_process(), RLock(), False
        with self._lock:
            if self._is_busy:
                raise self._refusal()
            self._is_busy = True
            try:
                yield
            finally:
                self._is_busy = False

    def run(self, call: Callable[[], Value]) -> Value:
        """Make a call while the lock is held."""
        with self.held():
            return call()
