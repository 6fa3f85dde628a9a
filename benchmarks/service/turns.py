"""The service beside an earlier version of itself, by turns.

    git worktree add --detach ../before COMMIT
    python -m benchmarks.service.turns --before ../before --out benchmarks/results/service_turns.csv
        [--postgresql] [--turns 31] [--past 100000 1000000 10000000] [--pending 1000000]

Each setting is measured many times with either version, one after the other, in changing order, on
the same machine, disk and database server. A figure is the median of the ratios of neighbours, in
time of the processor of the process that serves (a database server's is not in it): what else the
machine does hardly changes it. Calls are measured at the first decisions and after each number of
past ones, so that rows beside each other show what a past adds. Both versions run on the libraries
of this environment.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from benchmarks.service import worker
from benchmarks.service.over_http import BATCH, CALLERS, load, server
from benchmarks.service.places import Place, lite
from benchmarks.service.postgres import running
from benchmarks.table import Row, show, write

NOW = Path(__file__).parents[2]
OPENINGS, AT_ONCE, CHUNK = 5, 1_000, 50_000
WANTED = 0.8
"""The speed of each setting, over the one before."""

Timed = Callable[[int], float]
"""Seconds of the processor that one version takes at a setting, in the turn of this number."""


def environment(code: Path) -> dict[str, str]:
    """What makes a new process run the code of this folder."""
    return os.environ | {"PYTHONPATH": f"{code / 'src'}:{code}"}


@dataclass
class Compared:
    """What either version took of the processor at a setting, turn by turn, in seconds."""

    what: str
    unit: float  # milliseconds are shown for so many of what is timed
    before: list[float] = field(default_factory=list)
    now: list[float] = field(default_factory=list)

    def row(self) -> Row:
        ratios = np.array(self.before) / np.array(self.now)
        low, middle, high = np.quantile(ratios, [0.25, 0.5, 0.75])
        times = [1000 * np.median(each) / self.unit for each in (self.before, self.now)]
        text = f"{middle:.2f} × ({low:.2f} to {high:.2f} in half of {len(ratios)} turns); "
        text += f"{times[0]:,.2f} ms before, {times[1]:,.2f} ms now"
        return Row(self.what, text, f"at least {WANTED} ×", bool(middle >= WANTED))


def by_turns(what: str, before: Timed, now: Timed, turns: int, unit: float = 1) -> Compared:
    """Measure both, in changing order, once more than is kept: the first turn warms up."""
    found = Compared(what, unit)
    for turn in range(-1, turns):
        both = [(before, found.before), (now, found.now)]
        for timed, kept in both if turn % 2 else reversed(both):
            seconds = timed(turn)
            if turn >= 0:
                kept.append(seconds)
    return found


# Over HTTP


def over_http(places: tuple[Place, Place], before: Path, turns: int) -> Iterator[Compared]:
    """One campaign over HTTP, with many callers. Both servers wait while the other one works."""
    settings = [
        (f"HTTP, {CALLERS} callers, batches of {BATCH}: ask and tell", CALLERS, BATCH, 2),
        ("HTTP, 8 callers, single calls: ask and tell", 8, 1, 20),
    ]
    codes = (before, NOW)
    with (
        server(places[0].url, places[0].witness, 1, environment(codes[0])) as first,
        server(places[1].url, places[1].witness, 1, environment(codes[1])) as second,
    ):
        for what, callers, batch, rounds in settings:

            def at(base: str, of: tuple[Any, ...] = (callers, batch, rounds)) -> Timed:
                def timed(turn: int) -> float:
                    began = busy(base)
                    load(base, [f"{of} {turn}"], *of)
                    return busy(base) - began

                return timed

            yield by_turns(what, at(first), at(second), turns, callers * rounds)


def busy(base: str) -> float:
    """Seconds of the processor that the server at this address has taken so far."""
    (server,) = [
        each for each in psutil.Process().children() if base.rpartition(":")[2] in each.cmdline()
    ]
    times = server.cpu_times()
    return times.user + times.system


# In process


class Process:
    """A worker that runs the code of a folder."""

    def __init__(self, code: Path, place: Place) -> None:
        self._process = subprocess.Popen(
            [sys.executable, worker.__file__, place.url, str(place.witness)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(code),
        )

    def call(self, *command: Any) -> float:
        """Seconds of the processor that a command took."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(command), file=self._process.stdin, flush=True)
        _, busy = json.loads(self._process.stdout.readline())
        return float(busy)

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


@contextmanager
def both(places: tuple[Place, Place], before: Path) -> Iterator[tuple[Process, Process]]:
    made = Process(before, places[0]), Process(NOW, places[1])
    try:
        yield made
    finally:
        for each in made:
            each.end()


def calls_of(pair: tuple[Process, Process], where: str, turns: int) -> Iterator[Compared]:
    """The calls of a campaign."""
    for what, name, unit, arguments in (
        (f"ask({AT_ONCE:,})", "ask", 1, [AT_ONCE]),
        (f"tell_many of {AT_ONCE:,}", "tell", 1, []),
        ("ask and tell, one by one", "single", worker.SINGLES, []),
    ):

        def at(
            process: Process, name: str = name, arguments: list[int] = arguments, first: Any = None
        ) -> Timed:
            def timed(turn: int) -> float:
                if name == "tell":
                    process.call("ask", AT_ONCE)
                return process.call(name, *arguments)

            return timed

        yield by_turns(f"{what}, {where}", at(pair[0]), at(pair[1]), turns, unit)


def in_process(places: tuple[Place, Place], given: argparse.Namespace) -> Iterator[Compared]:
    pending, turns, passed = given.pending, given.turns, 0
    with both(places, given.before) as pair:
        for each in pair:
            each.call("create", pending + 2 * CHUNK)
        yield from calls_of(pair, "at the first decisions", turns)
        for past in given.past:
            yield by_turns(
                f"ask({CHUNK:,}) and tell_many of {CHUNK:,}, until {past:,} decisions are past",
                lambda turn: pair[0].call("past", CHUNK),
                lambda turn: pair[1].call("past", CHUNK),
                max(1, (past - passed) // CHUNK - 1),
            )
            passed = past
            yield from calls_of(pair, f"after {past:,} decisions", turns)
            yield opened(pair, f"{past:,} past decisions")
        for each in pair:
            for _ in range(pending // CHUNK):
                each.call("pending", CHUNK)
        yield opened(pair, f"{pending:,} pending and {passed:,} past decisions")


def opened(pair: tuple[Process, Process], what: str) -> Compared:
    return by_turns(
        f"opened with {what}, and asked once",
        lambda turn: reopened(pair[0]),
        lambda turn: reopened(pair[1]),
        OPENINGS,
    )


def reopened(process: Process) -> float:
    process.call("close")
    return process.call("reopen")


def measured(places: Callable[[str], Place], given: argparse.Namespace) -> Iterator[Compared]:
    """places: a place of this name, with nothing in it."""
    http = places("http_before"), places("http_now")
    yield from over_http(http, given.before, given.turns)
    yield from in_process((places("before"), places("now")), given)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, required=True, help="folder of the earlier version")
    parser.add_argument("--postgresql", action="store_true", help="on a server that is started")
    parser.add_argument("--turns", type=int, default=31)
    parser.add_argument("--past", type=int, nargs="+", default=[10**5, 10**6, 10**7])
    parser.add_argument("--pending", type=int, default=10**6)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    given.before = given.before.resolve()
    rows, kind = list[Row](), "PostgreSQL" if given.postgresql else "SQLite"
    with lite() as place:
        assert place.folder is not None
        folder = place.folder

        def file(name: str) -> Place:
            return Place(f"sqlite:///{folder}/{name}.db", folder / f"{name}.witness")

        def noted(found: Iterator[Compared]) -> None:
            for each in found:
                rows.append(each.row())
                print(*rows[-1], sep=" | ", flush=True)

        if given.postgresql:
            with running(Path("/var/tmp")) as database:
                noted(
                    measured(
                        lambda name: Place(database.fresh(name), folder / f"{name}.witness"), given
                    )
                )
        else:
            noted(measured(file, given))
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=given.before,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    title = f"The service by turns, on {kind}"
    show(title, rows)
    note = f"Speed over that of commit {commit}: above 1 × it is faster now. "
    note += (
        f"Load of the machine when it ended: {os.getloadavg()[1]:.1f} on {os.cpu_count()} threads."
    )
    options = " --postgresql" if given.postgresql else ""
    command = f"python -m benchmarks.service.turns --before …{options}"
    command += f" --turns {given.turns} --past {' '.join(map(str, given.past))}"
    command += f" --pending {given.pending} --out {given.out}"
    write(given.out, command, {title: rows}, note)


if __name__ == "__main__":
    main()
