"""How much a campaign's calls cost in process: time of this process's processor, and the time that
went by, beside what the disk can do.

    python -m benchmarks.service --out docs/measured/service.md [--past 1000000]
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dpbandits as dpb
from benchmarks.table import Row, markdown, show
from dpbandits.service.opening import open_store

KEY = bytes(range(32))


def fsyncs(folder: Path, count: int = 200) -> float:
    """How often a second the disk takes a line for good."""
    with open(folder / "fsync", "ab", buffering=0) as file:
        began = time.perf_counter()
        for _ in range(count):
            file.write(b"x" * 100)
            os.fsync(file.fileno())
    return count / (time.perf_counter() - began)


def cost(call: Callable[[], Any], times: int) -> tuple[float, float]:
    """Seconds of the processor and seconds that went by, for one call."""
    busy, began = time.process_time(), time.perf_counter()
    for _ in range(times):
        call()
    return (time.process_time() - busy) / times, (time.perf_counter() - began) / times


def said(found: tuple[float, float], many: int = 1) -> str:
    busy, passed = found
    return (
        f"{1000 * busy:.2f} ms of the processor, {1000 * passed:.1f} ms passed "
        f"({many / busy:,.0f}/s and {many / passed:,.0f}/s)"
    )


def calls(campaign: Any, rows: list[Row], where: str) -> None:
    """What calls cost after so many decisions."""

    def many() -> None:
        asked = campaign.ask(1_000)
        campaign.tell_many([(d, 1) for d in asked])

    def single() -> None:
        campaign.tell(campaign.ask(), 1)

    many()
    waiting: list[Any] = []
    found = cost(lambda: waiting.append(campaign.ask(1_000)), 5)
    rows.append(Row(f"ask(1000), {where}", said(found, 1_000), "", None))
    batches = iter(waiting)
    found = cost(lambda: campaign.tell_many([(d, 1) for d in next(batches)]), 5)
    rows.append(Row(f"tell_many of 1,000, {where}", said(found, 1_000), "", None))
    single()
    rows.append(Row(f"ask and tell, one by one, {where}", said(cost(single, 50)), "", None))


def measured(folder: Path, past: int) -> list[Row]:
    url, witness = f"sqlite:///{folder}/speed.db", folder / "witness"
    rows = [Row("lines a second that the disk takes for good", f"{fsyncs(folder):,.0f}", "", None)]
    store = open_store(url, key=KEY, witness=witness)
    policy = dpb.DPKLUCB(arms=5, epsilon=1)
    campaign = store.create("speed", policy, max_pending=2 * past + 10**5)
    calls(campaign, rows, "at the first decisions")
    while campaign.summary().asked < past:
        asked = campaign.ask(min(50_000, past))
        campaign.tell_many([(d, 1) for d in asked])
    calls(campaign, rows, f"after {past:,} decisions")
    for _ in range(0, past, 50_000):
        campaign.ask(min(50_000, past))
    store.close()
    found = cost(lambda: open_store(url, key=KEY, witness=witness)["speed"].summary(), 1)
    rows.append(Row(f"opened with {past:,} decisions that wait", said(found), "", None))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--past", type=int, default=10**6)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measured(Path(folder), given.past)
    title = "How fast a campaign is in process, on SQLite"
    show(title, rows)
    if given.out:
        load = f"\nOne process; load of the machine while it ran: {os.getloadavg()[1]:.1f} on "
        load += f"{os.cpu_count()} threads, so the time that passed says little here.\n"
        command = f"python -m benchmarks.service --past {given.past} --out {given.out}"
        given.out.write_text(markdown(title, command, rows) + load, "utf-8")


if __name__ == "__main__":
    main()
