"""Attribution windows: an answer is awaited for a fixed time, then the default is recorded.

So callers may report conversions only. Whether somebody answered is private; only the end of the
window is public. `Tables.held` keeps the answers until then. They are recorded in the order of the
decisions.
"""

from collections import OrderedDict
from datetime import datetime, timedelta
from typing import Any, Self, final

from msgspec import Struct

from dpbandits.core.inputs import Finite, Number, Seconds, converted, damaged, shown
from dpbandits.session.people import EARLIEST, Clock, seconds_of


@final
class AttributionWindow:
    """The end of each pending decision's window. Public: it contains no answers.

    Attributes:
        seconds: length of a window.
        latest: the latest time seen.
        due: the end of the window, by pending decision.
    """

    def __init__(self, seconds: float, clock: Clock | None) -> None:
        self.seconds, self._clock, self.latest = seconds, clock, EARLIEST
        self.due: OrderedDict[int, float] = OrderedDict()

    def time(self) -> float:
        """Return the time in seconds. It never goes back, even if the clock does."""
        return max(self.latest, seconds_of(self._clock() if self._clock else datetime.now()))

    def is_over(self, id: int) -> bool:
        """Return whether a decision's window has ended. Changes nothing."""
        return id in self.due and self.due[id] <= self.time()

    def due_now(self) -> list[int]:
        """Return the decisions whose window has ended, oldest first. Changes nothing."""
        now, ids = self.time(), list[int]()
        for id, due in self.due.items():
            if due > now:
                break
            ids.append(id)
        return ids

    def advance(self) -> list[int]:
        """Advance `latest` to now, and return `due_now()`."""
        self.latest = self.time()
        return self.due_now()

    def to_data(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        due = [list(pair) for pair in self.due.items()]
        return {"seconds": self.seconds, "latest": self.latest, "due": due}

    @classmethod
    def restored(cls, data: object, clock: Clock | None, asked: int) -> Self:
        """What `to_data` wrote.

        Raises:
            DamagedSessionError: it is not that.
        """
        saved = converted(data, AttributionData, "public.attribution")
        window = cls(saved.seconds, clock)
        window.latest, window.due = saved.latest, OrderedDict(saved.due)
        times = list(window.due.values())
        is_wrong = len(times) < len(saved.due) or times != sorted(times)
        if is_wrong or max(window.due, default=0) > asked:
            raise damaged("public.attribution has a decision twice, to come, or out of order")
        return window


class AttributionData(Struct):
    """`AttributionWindow`, of a saved session."""

    seconds: Seconds
    latest: Finite
    due: list[tuple[Number, Finite]]


def require_clock(clock: object, *windows: object) -> None:
    """Check a clock.

    Args:
        windows: the options that need a clock; if given, one of them has to be set.

    Raises:
        TypeError: it is not callable.
        ValueError: nothing needs a clock.
    """
    if clock is None:
        return
    if not callable(clock):
        raise TypeError(
            f"Expected clock={shown(clock)} to be a function that returns the time, as a datetime "
            "or a number of seconds; for example time.time."
        )
    if windows and all(window is None for window in windows):
        raise ValueError(
            "Expected no clock=: this session has nothing to time. Make it with window=, "
            "attribution_window= or period=, too."
        )


def attribution_of(window: object, clock: Clock | None) -> AttributionWindow | None:
    """Return the window of this option; None if it is None.

    Raises:
        ValueError: it is not a positive timedelta.
    """
    if window is None:
        return None
    if not isinstance(window, timedelta) or window <= timedelta(0):
        raise ValueError(
            f"Expected attribution_window={shown(window)} to be a datetime.timedelta above 0, for "
            "example timedelta(days=7)."
        )
    return AttributionWindow(window.total_seconds(), clock)
