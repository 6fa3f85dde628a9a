"""What an error keeps beside its words: the frames of the calls that it came through, and in them
local variables, which logs of errors may show. Those of our calls are cleared.
"""

import sys
from collections.abc import Callable, Iterator
from functools import wraps
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from opcode import opmap
from types import FrameType, TracebackType
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

WAITS = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
"""What marks code that may stop midway and go on later."""

YIELD = opmap["YIELD_VALUE"]
"""The instruction at which such code stops, up to Python 3.12."""


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

    Where this itself fails or is cut off (no further call can be made, a signal arrives), the
    frames are let go, and the lines with them.
    """
    try:
        clear_all(error, within)
    except BaseException as cut:
        try:  # no call is made for this, for which there may be no room
            error.__traceback__ = error.__cause__ = error.__context__ = None
        except Exception:  # its class refuses to be changed, as a frozen dataclass does
            for name in ("__traceback__", "__cause__", "__context__"):
                BaseException.__setattr__(error, name, None)
        if not isinstance(cut, RecursionError):
            cut.with_traceback(None)  # the frames where it arrived know those that are let go
            raise


def clear_all(error: BaseException, within: FrameType) -> None:
    """Clear the frames that hang on an error and on those it came from (see `forget`)."""
    left, seen, around = [error], set[int](), set(callers_of(within))
    while left:
        one = left.pop()
        if id(one) in seen or handled_in(around, one):
            continue
        seen.add(id(one))
        known = list(called_by(within, one.__traceback__))
        for frame in known:
            running(frame)
        if one.__suppress_context__ and one.__cause__ is None and (known or one is error):
            # its class may refuse to be changed
            BaseException.__setattr__(one, "__context__", None)
        left += linked_to(one)


def linked_to(error: BaseException) -> list[BaseException]:
    """The errors that one came from, or is made of."""
    members = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    return [each for each in (error.__cause__, error.__context__, *members) if each is not None]


def callers_of(frame: FrameType) -> Iterator[FrameType]:
    """The calls around this one."""
    above = frame.f_back
    while above is not None:
        yield above
        above = above.f_back


def handled_in(around: set[FrameType], error: BaseException) -> bool:
    """Whether an error had come out to one of these calls already: it, and what it came from, were
    there before the call whose error is looked at.
    """
    trace = error.__traceback__
    return trace is not None and trace.tb_frame in around


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
    who called one that waits to go on; and that one would be ended if it were cleared, by Pythons
    that do not refuse.
    """
    if not frame.f_code.co_flags & WAITS:
        return False
    if sys.version_info >= (3, 13):
        return not running(frame)
    return frame.f_code.co_code[frame.f_lasti] != YIELD
