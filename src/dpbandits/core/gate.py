"""One caller at a time, in one process: a second thread, a forked child or a call from within a
call is refused at once. Nobody waits.

A lock would not do: an exception that arrives while the lock is being released (Ctrl-C, an alarm)
leaves it locked for ever. A gate keeps the frame of the call that is inside. If that frame no
longer runs, the call was interrupted on its way out, and the next caller takes its place.

A look at the other thread's stack would not do either: threads may switch during the look, and a
generator that yields meanwhile cuts the stack off. Whether a frame runs is asked in one step.
"""

import os
import sys
from collections.abc import Callable, Iterator
from functools import wraps
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from opcode import opmap
from types import FrameType, TracebackType
from typing import Any, ParamSpec, TypeVar, final

from dpbandits.core.errors import SharedError

P = ParamSpec("P")
R = TypeVar("R")

WAITS = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
"""What marks code that may stop midway and go on later."""

YIELD = opmap["YIELD_VALUE"]
"""The instruction at which such code stops; from Python 3.13 on its frame stands at the next one,
by which it goes on.
"""

MARKS: list[object] = [object()]
"""[this process's mark]; a child that was just forked takes its own. What sees to that, first to
clear and then to make anew, has no line of Python in it, so a signal that arrives right after a
fork cannot prevent it.
"""
os.register_at_fork(after_in_child=MARKS.clear)
os.register_at_fork(after_in_child=map(MARKS.append, iter(object, None)).__next__)


@final
class Home:
    """The process in which an object was made.

    mark: the mark of that process, to be compared with `MARKS[0]`.
    """

    __slots__ = ("_pid", "mark")

    def __init__(self) -> None:
        self.mark, self._pid = MARKS[0], os.getpid()

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

    def require(
        self,
        what: str = "session",
        instead: str = "go on from Session.to_json() in one of the two",
    ) -> None:
        """
        Raises:
            SharedError: this is another process.
        """
        if not self.here:
            raise SharedError(
                f"This {what} was made before the process forked; in the child its people would "
                f"pay twice. Nothing was done. Make it in the process that uses it, or {instead}."
            )


def nowhere() -> Home:
    home = Home()
    home.mark = object()
    return home


def running(frame: FrameType) -> bool:
    """Whether the call still runs, in whatever thread: the frame of one that does cannot be
    cleared.

    Of one that has ended, what it knew is forgotten: its arguments may be private.

    Raises:
        RecursionError: no call can be made here, not even this one's.
    """
    try:
        frame.clear()
    except RecursionError:
        raise
    except RuntimeError:
        return True
    return False


def forget(error: BaseException, within: FrameType) -> None:
    """What the calls knew through which an error came is forgotten: those that this frame made.

    Their frames hang on the error and on those it came from, and whatever logs an error with its
    local variables would log rewards, exact sums and noise. Its lines stay. Errors that somebody
    was handling before are not touched. An error raised `from None` was to hide another one, whose
    own words or values may be private: that is let go.
    """
    try:
        left: list[BaseException | None] = [error]
        seen = set[int]()
        while left:
            one = left.pop()
            if one is None or id(one) in seen:
                continue
            seen.add(id(one))
            known = list(called_by(within, one.__traceback__))
            for frame in known:
                running(frame)
            if one.__suppress_context__ and one.__cause__ is None and (known or one is error):
                one.__context__ = None
            left += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]
    except RecursionError:  # where no further call can be made, the frames themselves are let go
        error.__traceback__ = error.__cause__ = error.__context__ = None


def discreet(call: Callable[P, R]) -> Callable[P, R]:
    """A call that is given what is private: an error that leaves it knows nothing of what the call
    was given, nor of what was known inside (see `forget`).
    """

    @wraps(call)
    def discreetly(*given: P.args, **named: P.kwargs) -> R:
        try:
            return call(*given, **named)
        except BaseException as error:
            forget(error, sys._getframe())
            raise
        finally:
            del given, named

    return discreetly


def called_by(within: FrameType, trace: TracebackType | None) -> Iterator[FrameType]:
    """The frames of a traceback that this one called, or that were called by those. An error may
    have come before through others, of another thread or of a generator that waits to go on.
    """
    known = {within}
    while trace is not None:
        frame = above = trace.tb_frame
        while above not in known and above.f_back is not None:
            above = above.f_back
        if above in known or has_ended(above):
            known.add(frame)
            if frame is not within:
                yield frame
        trace = trace.tb_next


def has_ended(frame: FrameType) -> bool:
    """Whether this is the frame of a generator that ended. Nothing says any more who called it, nor
    who called one that waits to go on; and that one would be ended if it were cleared.
    """
    code, at = frame.f_code, frame.f_lasti
    return bool(code.co_flags & WAITS) and YIELD not in code.co_code[max(at - 2, 0) : at + 1 : 2]


@final
class Gate:
    """The entry to the methods of an object: `gate.enter()`, then in a `finally` `gate.leave()`,
    both called by one function, which is no generator and no coroutine. Where an error comes
    through, what was known inside is forgotten (see `forget`).

    inside: empty, or {0: the frame of that function}. `setdefault` looks and takes in one step; a
        method that is called very often does that itself. After a place was taken over, `id(frame)`
        leads to (frame, the next one), and the one who is inside stands at the end.
    """

    __slots__ = ("home", "inside")

    def __init__(self, home: Home | None = None) -> None:
        self.inside: dict[int, Any] = {}
        self.home = home or Home()

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy has a gate of its own, which nobody has entered."""
        return Gate, (self.home,)

    def enter(self) -> None:
        """Take the place inside.

        Raises:
            SharedError: somebody is inside, or this is another process.
        """
        caller = sys._getframe(1)
        if MARKS[0] is not self.home.mark or self.inside.setdefault(0, caller) is not caller:
            self.take_over(caller)

    def leave(self) -> None:
        """Free the place, unless somebody else has it by now."""
        caller, error = sys._getframe(1), sys.exception()
        if self._occupant() is caller:
            self.inside.clear()
        if error is not None:
            forget(error, caller)

    def take_over(self, caller: FrameType) -> None:
        """Take the place of a caller that was interrupted and is no longer inside.

        Raises:
            SharedError: it is inside, or this is another process.
        """
        self.home.require()
        found = self._occupant()
        if found is not None and running(found):
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

    def _occupant(self) -> FrameType | None:
        """The frame of the one who is inside."""
        found: FrameType | None = self.inside.get(0)
        while found is not None and (link := self.inside.get(id(found))) is not None:
            found = link[1]
        return found
