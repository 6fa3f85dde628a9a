"""One call at a time, whatever interrupts it: a second thread waits, a call from within a call is
refused, and nobody waits for ever.

A plain lock would not do. An exception that arrives while it is released (Ctrl-C, an alarm) leaves
it locked; a signal handler waits for its own thread; a forked child waits for a thread that it does
not have. So the call that is inside is remembered. If its frame no longer runs, it was interrupted
on its way out, and the next call takes its place.
"""

import os
import sys
import time
import weakref
from io import FileIO
from threading import get_ident
from types import FrameType
from typing import Any, final

from dpbandits.core.errors import BudgetError

PAUSE = 0.001
"""Seconds between two attempts to take a place that another thread holds: less than it takes to
sync a file.
"""


@final
class Call:
    """One call that is inside, or was."""

    __slots__ = ("file", "forked", "frame", "next", "thread")

    def __init__(self, frame: FrameType) -> None:
        self.frame: FrameType | None = frame
        self.thread = get_ident()
        self.file: FileIO | None = None  # what it holds locked, for a forked child to close
        self.forked = False  # this is a child's copy: the call goes on in the parent
        self.next: dict[int, Call] = {}  # the call that took its place

    def over(self) -> bool:
        """Whether the call has ended: the frame of a running call cannot be cleared."""
        frame = self.frame
        if frame is not None and not self.forked:
            try:
                frame.clear()
            except RuntimeError:
                return False
        return True


@final
class Alone:
    """A place for one call. A method calls `enter()`, and then, in a `finally`, `leave(call)`."""

    def __init__(self) -> None:
        # empty, or {0: call}: setdefault looks and takes in one step
        self.inside: dict[int, Call] = {}
        PLACES.add(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy is another place, with nobody inside."""
        return Alone, ()

    def enter(self) -> Call:
        """Take the place for the calling method; wait while another thread has it.

        Raises:
            BudgetError: a call around this one has it.
        """
        mine = Call(sys._getframe(1))
        while self.inside.setdefault(0, mine) is not mine:
            found = self.holder()
            if found is None:
                continue
            if found.over():
                if self._replace(found, mine):
                    break
            elif found.thread == get_ident():
                raise BudgetError(
                    "Expected no other call of this device's client or budget under way in this "
                    "thread, got one from within another (in a "
                    "signal handler, a noise source or a budget). No report was made. Answer "
                    "after the first call has returned."
                )
            else:
                time.sleep(PAUSE)
        return mine

    def leave(self, call: Call) -> None:
        """Give the place up.

        Raises:
            BudgetError: this is a forked child, and the call is its parent's, which makes the
            report.
        """
        if self.holder() is call:  # not so in a forked child
            self.inside.pop(0, None)
        call.frame = None  # which refers to the call in turn
        if call.forked:
            raise BudgetError(
                "Expected the process that began this call, got its forked child. No report was "
                "made here."
            )

    def holder(self) -> Call | None:
        """The call that is inside: the first one, or the last of those that took over the place."""
        call = self.inside.get(0)
        while call is not None and call.next:
            call = call.next[0]
        return call

    def _replace(self, found: Call, mine: Call) -> bool:
        """Take the place of a call that was interrupted. Several may try, but only one becomes its
        next call; nobody does if the call left before it was cleared.
        """
        found.next.setdefault(0, mine)
        if self.holder() is not mine:
            return False
        if found.file is not None:
            found.file.close()
        return True


PLACES: weakref.WeakSet[Alone] = weakref.WeakSet()


def empty_all() -> None:
    """In a forked child: the calls that were inside go on in the parent, and their locks belong to
    the parent.

    The files are closed here, not unlocked: that would unlock them for the parent, too.
    """
    for place in PLACES:
        call = place.holder()
        if call is not None:
            call.forked = True
            if call.file is not None:
                call.file.close()
        place.inside.clear()


if hasattr(os, "register_at_fork"):  # where there is fork
    os.register_at_fork(after_in_child=empty_all)
