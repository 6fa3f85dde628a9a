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
from types import FrameType
from typing import Any, final

from dpbandits.core.calls.forgetting import forget, running
from dpbandits.core.errors import SharedError

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
