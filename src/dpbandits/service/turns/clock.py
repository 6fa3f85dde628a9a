"""A clock that stands still while a transaction is under way: what is due is made before the calls,
and nothing becomes due in their midst.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, final

from dpbandits.session.people import Clock, seconds_of


@final
class TransactionClock:
    """Says the time of the transaction under way, else what `clock` says."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._stopped: float | None = None

    def __call__(self) -> Any:
        return self._clock() if self._stopped is None else self._stopped

    @contextmanager
    def stopped(self) -> Iterator[float]:
        """The time in seconds, which passes no more until the block is left."""
        self._stopped = now = seconds_of(self._clock())
        try:
            yield now
        finally:
            self._stopped = None
