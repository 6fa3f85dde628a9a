"""How much work may be done: for so many seconds, or by a count of work, which gives the same
answer on every machine.
"""

import math
import time
from typing import final


@final
class Seconds:
    """Effort measured by the clock; work costs the time it takes."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until = time.monotonic() + seconds

    def left(self) -> float:
        return self._until - time.monotonic()

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
