"""A process that times calls of a campaign, one command a line: see `benchmarks.service.turns`.

It is run with several versions of the package, so it knows nothing but public names.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dpbandits as dpb

KEY, NAME = bytes(range(32)), "speed"
SINGLES = 5


class Worker:
    """A store with one campaign, and the time that calls of it take."""

    def __init__(self, url: str, witness: str) -> None:
        self._url, self._witness = url, Path(witness)
        self._store = self._opened()

    def _opened(self) -> Any:
        return dpb.open_store(self._url, key=KEY, witness=self._witness)

    @property
    def _campaign(self) -> Any:
        return self._store[NAME]

    def create(self, most: int) -> None:
        """A new campaign with five arms. most: decisions that may be pending."""
        self._store.create(NAME, dpb.DPKLUCB(arms=5, epsilon=1), max_pending=most)

    def past(self, count: int) -> None:
        """Decisions that are asked and told in two calls."""
        self._campaign.tell_many([(decision, 1) for decision in self._campaign.ask(count)])

    def pending(self, count: int) -> None:
        """Decisions that are asked, and wait."""
        self._campaign.ask(count)

    def ask(self, count: int) -> None:
        self._asked = self._campaign.ask(count)

    def tell(self) -> None:
        """Tell what `ask` asked, in one call."""
        self._campaign.tell_many([(decision, 1) for decision in self._asked])

    def single(self) -> None:
        for _ in range(SINGLES):
            self._campaign.tell(self._campaign.ask(), 1)

    def reopen(self) -> None:
        """Open the store anew, and ask once."""
        self._store = self._opened()
        self._campaign.ask()

    def close(self) -> None:
        self._store.close()


def timed(call: Callable[[], Any]) -> tuple[float, float]:
    """Seconds that went by, and seconds of this process's processor."""
    busy, began = time.process_time(), time.perf_counter()
    call()
    return time.perf_counter() - began, time.process_time() - busy


def main() -> None:
    worker = Worker(*sys.argv[1:])
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        took = timed(lambda: getattr(worker, name)(*arguments))  # noqa: B023  # called at once
        print(json.dumps(took), flush=True)


if __name__ == "__main__":
    main()
