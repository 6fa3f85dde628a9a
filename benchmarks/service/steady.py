"""A server at full rate for minutes: what it does and how much memory it holds, minute by minute.

python -m benchmarks.service.steady --minutes 10 --out benchmarks/results/service_steady.csv
"""

from __future__ import annotations

import argparse
import os
import threading
import time
from pathlib import Path
from typing import NamedTuple

import psutil

from benchmarks.service.over_http import BATCH, create, crowd_of, server
from benchmarks.service.places import add_place, place_of, repeated
from benchmarks.table import Row, show, write

CAMPAIGNS, CALLERS, GROWTH = 4, 8, 1.05

TITLE = "A server at full rate, minute by minute"


class Minute(NamedTuple):
    """Decisions asked and told a second, and the server's memory at its end."""

    rate: float
    megabytes: float


class Crowd:
    """Callers who ask and tell until they are stopped, each with its own connection."""

    def __init__(self, base: str) -> None:
        self._stopped, self._done = threading.Event(), [0] * CALLERS
        create(base, [f"steady {i}" for i in range(CAMPAIGNS)])
        self._threads = [
            threading.Thread(target=self._call, args=(base, i)) for i in range(CALLERS)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def done(self) -> int:
        """Decisions asked and told so far."""
        return sum(self._done)

    def _call(self, base: str, number: int) -> None:
        with crowd_of(base, 1) as (caller,):
            while not self._stopped.is_set():
                caller.turns(f"steady {number % CAMPAIGNS}", BATCH, 1)
                caller.took.clear()
                self._done[number] += BATCH

    def stop(self) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join()


def resident() -> float:
    """Megabytes of all servers this process has begun."""
    servers = psutil.Process().children(recursive=True)
    return sum(each.memory_info().rss for each in servers) / 1e6


def watched(base: str, minutes: int) -> list[Minute]:
    found, crowd = list[Minute](), Crowd(base)
    try:
        for _ in range(minutes):
            before, began = crowd.done, time.perf_counter()
            time.sleep(60)
            rate = (crowd.done - before) / (time.perf_counter() - began)
            found.append(Minute(rate, resident()))
    finally:
        crowd.stop()
    return found


def rows(found: list[Minute]) -> list[Row]:
    """The second half of the time must not hold more than the first came to."""
    half, last = found[(len(found) - 1) // 2], found[-1]
    made = [
        Row(f"minute {i}", f"{each.rate:,.0f}/s asked and told; {each.megabytes:,.0f} MB", "", None)
        for i, each in enumerate(found, 1)
    ]
    grown = last.megabytes / half.megabytes
    made.append(
        Row("memory at the end, over that at half time", f"{grown:.3f}", f"at most {GROWTH}",
            grown <= GROWTH)
    )  # fmt: skip
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=int, default=10)
    parser.add_argument("--out", type=Path)
    add_place(parser)
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args()
    with place_of(given) as place, server(place.url, place.witness, given.workers) as base:
        found = rows(watched(base, given.minutes))
    show(TITLE, found)
    note = (
        f"{CAMPAIGNS} campaigns on {place.kind}, {CALLERS} callers on the same machine, batches "
        f"of {BATCH}; {os.cpu_count()} threads, load of the machine when it ended: "
        f"{os.getloadavg()[0]:.1f}."
    )
    command = f"python -m benchmarks.service.steady{repeated(given)}"
    command += f" --minutes {given.minutes} --out {given.out}"
    write(given.out, command, {TITLE: found}, note)


if __name__ == "__main__":
    main()
