"""How much a campaign's calls cost in process: time of this process's processor, and the time that
went by, beside what the disk can do.

    python -m benchmarks.service --out benchmarks/results/service.csv [--past 10000000]

Calls of a campaign with a past and of one that has just begun are timed by turns, so that what else
the machine does burdens both alike; the two lie in databases of their own. A figure is the median
of many calls. With 10⁷ past decisions it takes about ten minutes and 3 GB on the disk.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import dpbandits as dpb
from benchmarks.service.places import Place, lite
from benchmarks.table import Row, show, write

AT_ONCE, CALLS, OPENINGS, CHUNK = 1_000, 41, 3, 50_000
RATE, GROWTH, RESTART = 50_000, 1.25, 5.0
"""What the specification wants: answers a second, a call's cost after many decisions over that at
the first ones, and seconds until a campaign is open."""

ASK, TELL, SINGLE = f"ask({AT_ONCE})", f"tell_many of {AT_ONCE:,}", "ask and tell, one by one"
MANY = {ASK: AT_ONCE, TELL: AT_ONCE, SINGLE: 1}


class Cost(NamedTuple):
    """Seconds of the processor, and seconds that went by."""

    busy: float
    passed: float


Costs = dict[str, list[Cost]]
"""What each call of a kind took."""


def timed(call: Callable[[], Any]) -> tuple[Any, Cost]:
    """What a call gives, and what it took."""
    busy, began = time.process_time(), time.perf_counter()
    given = call()
    return given, Cost(time.process_time() - busy, time.perf_counter() - began)


def middle(costs: list[Cost]) -> Cost:
    return Cost(median(each.busy for each in costs), median(each.passed for each in costs))


def one_turn(campaign: Any, costs: Costs) -> None:
    """One call of each kind, and of the short ones as many as are told apart from the clock."""
    asked, took = timed(lambda: campaign.ask(AT_ONCE))
    costs[ASK].append(took)
    costs[TELL].append(timed(lambda: campaign.tell_many([(d, 1) for d in asked]))[1])
    for _ in range(5):
        costs[SINGLE].append(timed(lambda: campaign.tell(campaign.ask(), 1))[1])


def by_turns(young: Any, old: Any, calls: int = CALLS) -> tuple[Costs, Costs]:
    """What calls of two campaigns took, one after the other. The first of each warms it up."""
    found: tuple[Costs, Costs] = ({name: [] for name in MANY}, {name: [] for name in MANY})
    for campaign in (young, old):
        one_turn(campaign, {name: [] for name in MANY})
    for _ in range(calls):
        for campaign, costs in zip((young, old), found, strict=True):
            one_turn(campaign, costs)
    return found


def described(cost: Cost, many: int) -> str:
    busy, passed = cost
    return (
        f"{1000 * busy:.2f} ms of the processor, {1000 * passed:.1f} ms passed "
        f"({many / busy:,.0f}/s and {many / passed:,.0f}/s)"
    )


def rows_of(costs: Costs, where: str) -> list[Row]:
    """What calls take. What is told a second is judged by the time that passes."""
    rows = list[Row]()
    for name, many in MANY.items():
        found = middle(costs[name])
        wanted, met = "", None
        if name == TELL:
            wanted, met = f"{RATE:,}/s passed", many / found.passed >= RATE
        rows.append(Row(f"{name}, {where}", described(found, many), wanted, met))
    return rows


def growth(young: Costs, old: Costs) -> list[Row]:
    """What a past adds to a call, in time of the processor."""
    rows = list[Row]()
    for name in MANY:
        ratio = middle(old[name]).busy / middle(young[name]).busy
        what = f"{name}: time of the processor, over that at the first decisions"
        rows.append(Row(what, f"{ratio:.2f} ×", f"at most {GROWTH} ×", ratio <= GROWTH))
    return rows


def opened(place: Place, pending: int) -> Row:
    """A new process opens a store and decides something."""

    def begin() -> Any:
        store = place.open()
        store["speed"].ask()
        return store

    costs = list[Cost]()
    for _ in range(OPENINGS):
        store, took = timed(begin)
        store.close()
        costs.append(took)
    busy, passed = middle(costs)
    said = f"{busy:.2f} s of the processor, {passed:.2f} s passed"
    what = f"opened with {pending:,} decisions that wait, and asked once"
    return Row(what, said, f"under {RESTART:g} s passed", passed < RESTART)


def chunks(count: int) -> list[int]:
    """So many decisions, in asks of a handy size."""
    whole, rest = divmod(count, CHUNK)
    return [CHUNK] * whole + [rest] * bool(rest)


def measured(new: Place, used: Place, past: int, pending: int) -> list[Row]:
    """new, used: where the campaign without a past lies, and the one with it."""
    policy = dpb.DPKLUCB(arms=5, epsilon=1)
    with new.open() as first, used.open() as second:
        most = pending + 2 * CHUNK
        young, old = (each.create("speed", policy, max_pending=most) for each in (first, second))
        for count in chunks(past):
            old.tell_many([(d, 1) for d in old.ask(count)])
        costs = by_turns(young, old)
        for count in chunks(pending):
            old.ask(count)
    rows = [used.disk(), *rows_of(costs[0], "at the first decisions")]
    rows += [*rows_of(costs[1], f"after {past:,} decisions"), *growth(*costs)]
    return [*rows, opened(used, pending)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--past", type=int, default=10**7)
    parser.add_argument("--pending", type=int, default=10**6)
    given = parser.parse_args()
    with lite() as new, lite() as used:
        rows = measured(new, used, given.past, given.pending)
    title = "How fast a campaign is in process, on SQLite"
    show(title, rows)
    note = (
        f"One process; load of the machine while it ran: {os.getloadavg()[1]:.1f} on "
        f"{os.cpu_count()} threads. Each figure is the median of {CALLS} calls or more "
        f"(openings: of {OPENINGS}); young and old campaigns were called by turns."
    )
    command = f"python -m benchmarks.service --past {given.past} --pending {given.pending}"
    write(given.out, f"{command} --out {given.out}", {title: rows}, note)


if __name__ == "__main__":
    main()
