"""How much work an audit may do: for so many seconds, or by a count of work, which gives the same
answer on every machine.

Seconds decide how much is tried beyond a least amount, which is counted. What does not get through
the least amount has no verdict; a pass needs it on every machine, and more time can only refute.
"""

import math
import threading
import time
from pathlib import Path
from typing import final

SCHEDULED = Path("/proc/thread-self/schedstat")
"""Of the calling thread, on Linux: nanoseconds on a processor, and in the queue for one."""


def waited() -> float:
    """Return the seconds for which this thread could have run and something else had the
    processor; 0.0 where the system does not say.
    """
    try:
        return int(SCHEDULED.read_text(encoding="ascii").split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


@final
class AuditClock(threading.local):
    """Seconds of the clock without those in which another program had the processor: on a busy
    machine they buy as much as on an idle one. Only differences mean anything, in one thread.

    Attributes:
        waited_by_workers: seconds in which this thread's workers did not get a processor.
    """

    waited_by_workers = 0.0

    def __call__(self) -> float:
        return time.perf_counter() - waited() - self.waited_by_workers


clock = AuditClock()


@final
class Seconds:
    """Effort measured in seconds; work costs the time it takes."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until = clock() + seconds

    def left(self) -> float:
        return self._until - clock()

    def left_to_confirm(self) -> float:
        """As much again, for making sure of what was found: a finding that is given up at the last
        moment is lost.
        """
        return self.left() + self._seconds

    def spend(self, work: float) -> None:
        """Nothing to do: the time has passed already."""


@final
class Work:
    """Effort measured by counting; the clock is not looked at."""

    def __init__(self, amount: float = math.inf) -> None:
        self._left = amount

    def left(self) -> float:
        return self._left

    def left_to_confirm(self) -> float:
        return self._left

    def spend(self, work: float) -> None:
        self._left -= work


Effort = Seconds | Work
"""How much work is left, in a unit of its own; `spend` records work that was done."""
