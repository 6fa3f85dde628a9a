"""The seconds of an audit, and how much work there is time for in so many of them."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import final

from dpbandits.auditing.report import LevelResult

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

SHORTEST = 1e-6
"""Seconds that anything takes at least: what the clock leaves out is not counted to the last."""


PART = 0.8
"""Of the seconds that are left, so many may the next amount be expected to take."""

STARTING = 0.98
"""The most that is taken for the part of an amount's time that does not grow with it, such as that
in which processes start.
"""

GROWS, MOST = 100, 12_000_000
"""An amount is at most so many times the one before, and at most so large."""


def largest_in_time(
    play: Callable[[int], LevelResult],
    first: int,
    seconds: float,
) -> LevelResult:
    """Play larger and larger amounts, as long as there is time for one at least twice as large, and
    return what the last one showed. An amount is always played to its end, so that it shows the
    same wherever it is played. A failure that is certain ends the search.

    Args:
        play: plays so many runs.
        first: an amount that is played even if there is no time.
    """
    until, amount, before = clock() + seconds, first, (0.0, 0)
    while True:
        began = clock()
        found = play(amount)
        now = clock()
        took = max(SHORTEST, now - began)
        # by how much longer it took than the amount before; of the first, all of its time
        pace = max((took - before[0]) / (amount - before[1]), (1 - STARTING) * took / amount)
        afforded = amount + (PART * (until - now) - took) / pace
        larger = int(min(MOST, GROWS * amount, afforded))
        if larger < 2 * amount or (found.outcome == "failed" and found.confidence == 1.0):
            return found
        amount, before = larger, (took, amount)
