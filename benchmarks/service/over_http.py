"""What a server does in a second, with the clients on the same machine.

    python -m benchmarks.service.over_http --out benchmarks/results/service_http.csv
        [--postgresql | --url URL] [--workers N]

By default the store is SQLite's, in a new folder; with --postgresql it is on a database server that
is started for it, and with --url it is any that is empty. Workers are processes of the server, on
PostgreSQL.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx
import numpy as np

from benchmarks.service.places import add_place, place_of, repeated
from benchmarks.service.postgres import free_port
from benchmarks.table import Row, show, write

POLICY = {"name": "DPKLUCB", "arms": ["a", "b", "c", "d", "e"], "epsilon": "1"}
CALLERS, BATCH = 64, 20


@contextmanager
def server(
    url: str, witness: Path, workers: int, environment: Mapping[str, str] = os.environ
) -> Iterator[str]:
    """A server in a process of its own."""
    port = free_port()
    command = [sys.executable, "-m", "dpbandits", "serve", "--store", url, "--port", str(port)]
    command += ["--witness", str(witness), "--workers", str(workers)]
    process = subprocess.Popen(command, env={**environment, "DPBANDITS_KEY": "00" * 32})
    base = f"http://127.0.0.1:{port}"
    try:
        while True:
            try:
                httpx.get(f"{base}/readyz").raise_for_status()
                break
            except httpx.HTTPError:
                time.sleep(0.2)
        yield base
    finally:
        process.terminate()
        process.wait()


class Pace(NamedTuple):
    """Decisions asked and told a second; the time of a call, in ms, at the median and at 99 %."""

    rate: float
    median: float
    slow: float

    def __str__(self) -> str:
        times = f"{self.median:.0f} ms, 99 % {self.slow:.0f} ms"
        return f"{self.rate:,.0f}/s asked and told; a call {times}"


class Caller:
    """Asks and tells over one connection, as plainly as can be: what is measured is the server.

    took: how long each call took, in ms.
    """

    def __init__(self, base: str) -> None:
        self._connection, self.took = HTTPConnection(base.removeprefix("http://")), list[float]()

    def close(self) -> None:
        self._connection.close()

    def call(self, path: str, body: Any) -> Any:
        began = time.perf_counter()
        headers = {"Content-Type": "application/json"}
        self._connection.request("POST", path, json.dumps(body), headers)
        answer = self._connection.getresponse()
        said = answer.read()
        self.took.append(1000 * (time.perf_counter() - began))
        if answer.status >= 400:
            raise RuntimeError(f"The server answered {answer.status}: {said!r}")
        return json.loads(said)

    def turns(self, name: str, batch: int, turns: int) -> list[float]:
        """Asks and tells by turns."""
        for _ in range(turns):
            self.tell(name, self.ask(name, batch))
        return self.took

    def ask(self, name: str, batch: int) -> list[Any]:
        made: list[Any] = self.call(f"/v1/campaigns/{quote(name)}/ask", {"count": batch})[
            "decisions"
        ]
        return made

    def tell(self, name: str, made: list[Any]) -> None:
        tells = [{"id": each["id"], "reward": each["round"] & 1} for each in made]
        found = self.call(f"/v1/campaigns/{quote(name)}/tell", tells)["results"]
        wanted = [{"id": each["id"], "status": "recorded"} for each in made]
        if found != wanted:
            raise RuntimeError("The server did not record every answer.")


def load(base: str, names: list[str], callers: int, batch: int, turns: int) -> Pace:
    """So many callers at once, who share the campaigns."""
    create(base, names)
    with crowd_of(base, callers) as crowd, ThreadPoolExecutor(callers) as pool:
        began = time.perf_counter()
        work = [
            pool.submit(each.turns, names[i % len(names)], batch, turns)
            for i, each in enumerate(crowd)
        ]
        times = np.concatenate([np.array(each.result()) for each in work])
        passed = time.perf_counter() - began
    return Pace(callers * turns * batch / passed, *np.quantile(times, [0.5, 0.99]).tolist())


@contextmanager
def crowd_of(base: str, callers: int) -> Iterator[list[Caller]]:
    """So many callers, each with its own connection."""
    crowd = [Caller(base) for _ in range(callers)]
    try:
        yield crowd
    finally:
        for each in crowd:
            each.close()


def create(base: str, names: list[str]) -> None:
    with crowd_of(base, 1) as (caller,):
        for name in names:
            body = {"name": name, "policy": POLICY, "max_pending": 10**6}
            caller.call("/v1/campaigns", body)


def apart(base: str, names: list[str], callers: int, batch: int, turns: int) -> tuple[float, float]:
    """Decisions asked a second while nobody tells, and told a second while nobody asks."""
    create(base, names)
    whose = [names[i % len(names)] for i in range(callers)]

    def asks(caller: Caller, name: str) -> list[list[Any]]:
        return [caller.ask(name, batch) for _ in range(turns)]

    def tells(caller: Caller, name: str, made: list[list[Any]]) -> None:
        for some in made:
            caller.tell(name, some)

    with crowd_of(base, callers) as crowd, ThreadPoolExecutor(callers) as pool:
        began = time.perf_counter()
        made = list(pool.map(asks, crowd, whose))
        between = time.perf_counter()
        list(pool.map(tells, crowd, whose, made))
        ended = time.perf_counter()
    decisions = callers * turns * batch
    return decisions / (between - began), decisions / (ended - between)


def measured(base: str) -> list[Row]:
    """The settings of the specification: of campaigns, callers and batches."""
    load(base, ["warm"], 4, BATCH, 5)
    crowd = f"{CALLERS} callers, batches of {BATCH}"
    one = load(base, ["one"], CALLERS, BATCH, 8)
    rows = [Row(f"one campaign, {crowd}", str(one), "2,000/s", one.rate >= 2_000)]
    names = [f"apart {i}" for i in range(16)]
    asked, told = apart(base, names, CALLERS, BATCH, 8)
    what = f"16 campaigns, {crowd}, all ask first and then all tell"
    text = f"{asked:,.0f} asked/s, then {told:,.0f} told/s"
    rows.append(Row(what, text, "5,000 told/s in sum", told >= 5_000))
    many = load(base, [f"many {i}" for i in range(16)], CALLERS, BATCH, 8)
    what = f"16 campaigns, {crowd}, asks and tells by turns: for the record"
    rows.append(Row(what, str(many), "", None))
    single = load(base, ["single"], 8, 1, 60)
    calls, met = 2 * single.rate, 2 * single.rate >= 300 and single.slow <= 50
    text = f"{calls:,.0f} calls/s; a call {single.median:.0f} ms, 99 % {single.slow:.0f} ms"
    rows.append(Row("one campaign, 8 callers, single calls", text, "300 calls/s, 99 % 50 ms", met))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    add_place(parser)
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args()
    with place_of(given) as place:
        rows = [place.disk()]
        with server(place.url, place.witness, given.workers) as base:
            rows += measured(base)
    title = f"Campaigns over HTTP, on {place.kind}, {given.workers} process(es)"
    show(title, rows)
    note = (
        f"Server and callers shared {os.cpu_count()} threads; load of the machine when it ended: "
        f"{os.getloadavg()[0]:.1f}.\n"
        "N/s asked and told: N decisions asked and the same N told, in each second."
    )
    command = f"python -m benchmarks.service.over_http{repeated(given)} --out {given.out}"
    write(given.out, command, {title: rows}, note)


if __name__ == "__main__":
    main()
