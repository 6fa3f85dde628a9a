"""A lock that an interrupted call does not keep for ever.

An exception may arrive on a call's way out, before the line that would let go (Ctrl-C, an alarm, a
tracer). With a plain lock every later call would then wait for ever. Here the next call of the same
thread sees that the one before it is over, and lets go for it.
"""

import sys
from inspect import CO_GENERATOR
from threading import RLock
from types import FrameType
from typing import Any, Self, final

from dpbandits.core.errors import SharedError


@final
class CallLock:
    """For one call at a time, whichever thread it is of; others wait. `with lock:` in the function
    that is to be alone, or in a context manager that it uses.

    Raises:
        SharedError: this very call is under way already, around the one that is made.
    """

    def __init__(self) -> None:
        self._lock: Any = RLock()  # it knows its thread, from the moment at which it is taken
        self._frame: FrameType | None = None

    def __enter__(self) -> Self:
        while self._lock._is_owned():
            if self._frame is not None and is_under_way(self._frame):
                raise SharedError(
                    "Another call of this campaign or store is under way in this thread, around "
                    "this one (a signal handler, a noise source, a clock). Nothing was done. Call "
                    "again once it has returned."
                )
            self._lock.release()
        self._lock.acquire()
        self._frame = staying(sys._getframe(1))
        return self

    def __exit__(self, *_: object) -> None:
        self._frame = None
        self._lock.release()


def staying(frame: FrameType) -> FrameType:
    """The function whose `with` this is: context managers made of generators leave the stack while
    their block runs.
    """
    while frame.f_back is not None and (
        frame.f_code.co_flags & CO_GENERATOR or frame.f_globals.get("__name__") == "contextlib"
    ):
        frame = frame.f_back
    return frame


def is_under_way(frame: FrameType) -> bool:
    """Whether this thread is in it."""
    found: FrameType | None = sys._getframe(1)
    while found is not None and found is not frame:
        found = found.f_back
    return found is not None
