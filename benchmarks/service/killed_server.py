"""Kill a server with SIGKILL at random moments while clients ask and tell over HTTP, and count what
was lost or done twice.

    python -m benchmarks.service.killed_server --kills 200
        --out benchmarks/results/service_killed_server.csv [--postgresql | --url URL]

Clients keep the key of an ask until it is answered, and tell until they get a reply. The server is
started anew after each kill, by a process that has loaded the package once.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

import dpbandits as dpb
from benchmarks.service.places import KEY, Place, add_place, place_of, repeated
from benchmarks.service.postgres import free_port
from benchmarks.service.soak import WRONG, Told, verdict
from benchmarks.table import Row, show, write
from dpbandits.service import client
from dpbandits.service.client import RemoteStore
from dpbandits.service.server.serving import serve

CALLERS, EACH, LONGEST = 4, 5, 1.5
"""Clients, decisions of an ask, and seconds that a server lives at most."""

TWICE = "asked twice"


class Servers:
    """Serves a place again and again, on one port."""

    def __init__(self, place: Place) -> None:
        os.environ["DPBANDITS_KEY"] = KEY.hex()
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["dpbandits.service.server.serving"])
        self._place, self._port = place, free_port()
        self.base = f"http://127.0.0.1:{self._port}"

    @contextmanager
    def one(self) -> Iterator[Any]:
        """A server that is killed in the end, and not before."""
        work = {"witness": self._place.witness, "port": self._port}
        process = self._context.Process(target=serve, args=(self._place.url,), kwargs=work)
        process.start()
        try:
            while True:
                try:
                    httpx.get(f"{self.base}/readyz").raise_for_status()
                    break
                except httpx.HTTPError:
                    if process.exitcode is not None:
                        raise RuntimeError("The server ended by itself.") from None
                    time.sleep(0.02)
            yield process
            if process.exitcode is not None:
                raise RuntimeError("The server ended by itself.")
        finally:
            process.kill()
            process.join()


class Callers:
    """Clients that ask and tell until they are stopped. cut: calls that got no reply."""

    def __init__(self, base: str, name: str) -> None:
        self.told, self.keys, self.cut = Told(), dict[str, list[str]](), 0
        self._base, self._name, self._lock = base, name, threading.Lock()
        self._stopped = threading.Event()
        self._threads = [
            threading.Thread(target=self._call, args=(i,), daemon=True) for i in range(CALLERS)
        ]
        for each in self._threads:
            each.start()

    def stop(self) -> None:
        self._stopped.set()
        for each in self._threads:
            each.join()

    def _call(self, number: int) -> None:
        seen, drawn = 0, random.Random(number)
        with RemoteStore(self._base, timeout=5.0) as store:
            campaign: Any = store._campaign(self._name)
            for turn in range(10**9):
                if self._stopped.is_set():
                    return
                key = f"caller {number}, turn {turn}"
                asked = self._until_answered(lambda key=key: campaign.ask(EACH, key=key))
                pairs = [(each, drawn.random()) for each in asked]
                self._until_answered(lambda pairs=pairs: campaign.tell_many([*pairs, pairs[0]]))
                ids = [each.id for each in asked]
                shown = self._until_answered(lambda seen=seen: campaign.releases(seen))
                with self._lock:
                    self.keys[key] = ids
                    self.told.acknowledged.update(ids)
                    for release in shown:
                        seen = release.step
                        self.told.hear(json.dumps(["release", seen, json.dumps(release.answers)]))

    def _until_answered(self, call: Any) -> Any:
        while True:
            try:
                return call()
            except dpb.StoreError:
                with self._lock:
                    self.cut += 1


def killed(place: Place, kills: int, seed: int) -> Counter[str]:
    """So many kills of the server of one campaign; what was lost, and what was done twice."""
    drawn, name = random.Random(seed), "killed"
    with place.open() as store:
        store.create(name, dpb.DPKLUCB(arms=3, epsilon=1, first=4), noise=dpb.SecureNoise())
    servers = Servers(place)
    client.PAUSE = 0.05  # else clients mostly wait until the next server is there
    callers = Callers(servers.base, name)
    for _ in range(kills):
        with servers.one():
            time.sleep(drawn.uniform(0.0, LONGEST))
    with servers.one():  # the last one lives until all have their replies
        callers.stop()
    found = verdict(place, callers.told, name)
    found["calls without a reply"] = callers.cut
    with place.open() as store:
        asked = store[name].summary().asked
        found[TWICE] = abs(asked - EACH * len(callers.keys))
        for key, ids in callers.keys.items():
            found[TWICE] += ids != [each.id for each in store[name].ask(EACH, key=key)]
        lines = [line for line in store[name].ledger if line.kind == "read"]
    read = Counter((line.coordinate, at) for line in lines for at in range(line.start, line.stop))
    found["read twice"] = sum(many > 1 for many in read.values())
    return found


def rows(found: Counter[str], kills: int) -> list[Row]:
    """What the server had done, and what must not be."""
    made = [Row("killed", f"{kills:,}", "", None)]
    made += [
        Row(what, f"{found[what]:,}", "", None)
        for what in ("calls without a reply", "told", "releases")
    ]
    wrong = (*WRONG, TWICE, "read twice")
    return made + [Row(what, f"{found[what]:,}", "0", not found[what]) for what in wrong]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    add_place(parser)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    with place_of(given) as place:
        table = rows(killed(place, given.kills, given.seed), given.kills)
        kind = place.kind
    title = f"{given.kills:,} kills of a server, on {kind}"
    show(title, table)
    command = f"python -m benchmarks.service.killed_server{repeated(given)}"
    command += f" --kills {given.kills} --out {given.out}"
    write(given.out, command, {title: table})
    bad = [row.what for row in table if row.met is False]
    raise SystemExit(f"broken: {bad}" if bad else 0)


if __name__ == "__main__":
    main()
