"""One caller at a time, in one process: a second thread, a forked child or a call from within a
call is refused at once. Nobody waits.

A lock would not do: an exception that arrives while the lock is being released (Ctrl-C, an alarm)
leaves it locked for ever. A gate knows who is inside. If that caller no longer has a call under
way, it was interrupted on its way out, and the next caller takes its place.
"""

import os
import sys
from collections import defaultdict
from collections.abc import Callable
from threading import get_ident
from types import CodeType, FrameType
from typing import Any, TypeVar, final

from dpbandits.core.errors import SharedError

Caller = tuple[int]
"""One entry: the thread's number, in an object of its own, so that two entries of one thread can be
told apart.
"""

MARKS: defaultdict[int, object] = defaultdict(object)
"""{0: this process's mark}; empty in a child that was just forked. The function that clears it has
no line of Python in it, so a signal that arrives right after a fork cannot prevent it.
"""
os.register_at_fork(after_in_child=MARKS.clear)

CALLS: set[CodeType] = set()
"""The code of the methods that enter a gate."""

Method = TypeVar("Method", bound=Callable[..., Any])


def gated(method: Method) -> Method:
    """Marks a method, or a function whose first argument is the object, that enters the object's
    `_gate`: `gate.enter()`, then in a `finally` `gate.leave(caller)`.
    """
    CALLS.add(method.__code__)
    return method


@final
class Home:
    """The process in which an object was made.

    mark: the mark of that process, to be compared with `MARKS.get(0)`.
    """

    __slots__ = ("_pid", "mark")

    def __init__(self) -> None:
        self.mark, self._pid = MARKS.setdefault(0, object()), os.getpid()

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy belongs to the process that makes it. But a copy of an object that a forked child
        inherited belongs to no process, however often it is copied.
        """
        return (Home if self.here else nowhere), ()

    @property
    def here(self) -> bool:
        """Whether this is that process. The process number is compared as well: a fork that
        bypasses Python clears no mark.
        """
        return MARKS[0] is self.mark and os.getpid() == self._pid

    def require(self) -> None:
        """
        Raises:
            SharedError: this is another process.
        """
        if not self.here:
            raise SharedError(
                "This session was made before the process forked; in the child its people would "
                "pay twice. Nothing was done. "
                "Make it in the process that uses it, or go on from Session.to_json() in one of "
                "the two."
            )


def nowhere() -> Home:
    home = Home()
    home.mark = object()
    return home


@final
class Gate:
    """The entry to the methods of an object that has it as `_gate`; each of these methods is marked
    `gated`.

    inside: empty, or {0: caller}. `setdefault` looks and takes in one step; a method that is called
        very often does that itself. After a place was taken over, `id(caller)` leads to (caller,
        the next one), and the caller who is inside stands at the end.
    """

    __slots__ = ("home", "inside")

    def __init__(self, home: Home | None = None) -> None:
        self.inside: dict[int, Any] = {}
        self.home = home or Home()

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy has a gate of its own, which nobody has entered."""
        return Gate, (self.home,)

    def enter(self, deep: int = 0) -> Caller:
        """Take the place inside; returns the argument for `leave`.

        deep: the number of functions between the method that is called and the one that calls this.

        Raises:
            SharedError: somebody is inside, or this is another process.
        """
        caller = (get_ident(),)
        if MARKS[0] is not self.home.mark or self.inside.setdefault(0, caller) is not caller:
            self.take_over(caller, deep + 1)
        return caller

    def leave(self, caller: Caller) -> None:
        """Free the place, unless somebody else has it by now."""
        if self._occupant() is caller:
            self.inside.clear()

    def take_over(self, caller: Caller, deep: int = 0) -> None:
        """Take the place of a caller that was interrupted and is no longer inside.

        Raises:
            SharedError: it is inside, or this is another process.
        """
        self.home.require()
        found = self._occupant()
        if found is not None and self._under_way(found[0], deep + 2):
            raise SharedError(
                "Another call of this session is under way, in another thread or around this one "
                "(a signal handler, the noise source, "
                "the policy). Nothing was done. Use a session from one thread at a time."
            )
        if found is None:
            self.inside.setdefault(0, caller)
        else:
            # the first to say so is the next one; `found` lives on with its number
            self.inside.setdefault(id(found), (found, caller))
        if self._occupant() is not caller:
            raise SharedError(
                "Another thread was faster. Nothing was done. Use a session from one thread at a "
                "time."
            )

    def _occupant(self) -> Caller | None:
        """Who is inside."""
        found: Caller | None = self.inside.get(0)
        while found is not None and (link := self.inside.get(id(found))) is not None:
            found = link[1]
        return found

    def _under_way(self, thread: int, deep: int) -> bool:
        """Whether that thread has a call of this gate's object on its stack. For this thread, the
        call that is being made does not count.
        """
        if thread == get_ident():
            frame: FrameType | None = sys._getframe(deep).f_back
        else:
            frame = sys._current_frames().get(thread)
        while frame is not None:
            code = frame.f_code
            # a method's object comes first, whatever it is called there
            if code in CALLS and frame.f_locals[code.co_varnames[0]]._gate is self:
                return True
            frame = frame.f_back
        return False
