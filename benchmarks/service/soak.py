"""Kill a process that works on a campaign, again and again, at each place where it may matter, and
count what was lost or done twice.

    python -m benchmarks.service.soak --kills 1000 --out benchmarks/results/service_kills.csv
        [--contexts] [--postgresql | --url URL]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.service.timelines import inside

import dpbandits as dpb
from benchmarks.service.places import Place, add_place, place_of, repeated
from benchmarks.table import Row, show, write
from dpbandits.service.campaign import Campaign
from dpbandits.service.database import Database, Rows
from dpbandits.service.operations import MOST_AT_ONCE
from dpbandits.service.witness import Witness
from dpbandits.session.storing import ChangeRecorder

WRONG = ("lost", "folded twice", "folded too little", "drawn twice", "generations lost")
CONTEXTS = [[at / 8, 0.3] for at in range(6)]
"""Of the decisions of one ask, where the policy decides by contexts."""

CALLS = 12
"""Asks and tells of a child that nobody kills."""


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def before(owner: Any, name: str, count: int) -> None:
    """Die as a method is called for the so-manieth time."""
    inner, left = getattr(owner, name), [count]

    def wrapped(*args: Any, **options: Any) -> Any:
        left[0] -= 1
        if not left[0]:
            die()
        return inner(*args, **options)

    setattr(owner, name, wrapped)


def after(owner: Any, name: str, count: int) -> None:
    """Die as it has returned for the so-manieth time."""
    inner, left = getattr(owner, name), [count]

    def wrapped(*args: Any, **options: Any) -> Any:
        found = inner(*args, **options)
        left[0] -= 1
        if not left[0]:
            die()
        return found

    setattr(owner, name, wrapped)


POINTS: dict[str, Callable[[int], None]] = {
    "before lock": lambda count: before(Database, "transaction", count),
    "after draw": lambda count: after(ChangeRecorder, "_with_readings", count),
    "before commit": lambda count: after(Rows, "write", count),
    "after commit": lambda count: before(Witness, "add", count),
    "after witness": lambda count: after(Witness, "add", count),
    "before reply": lambda count: after(Campaign, "tell_many", count),
}


SELDOM = ("after draw", "after commit", "after witness")
"""What happens only when something is released."""


@dataclass
class Told:
    """What children said before they died. acknowledged: names whose answer was taken; asked: names
    handed out; releases: by step, what was shown.
    """

    acknowledged: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    releases: dict[int, str] = field(default_factory=dict)
    twice: int = 0  # releases that were shown in two versions

    def hear(self, line: str) -> None:
        try:
            what, *said = json.loads(line)
        except ValueError:
            return  # cut short
        if what == "release":
            step, answers = said
            self.twice += self.releases.setdefault(step, answers) != answers
        else:
            getattr(self, what).update(said)


def work(place: Place, say: Callable[..., None], name: str) -> None:
    """Ask, tell what was asked, some of it twice, and show what was released."""
    seen = 0
    with place.open() as store:
        campaign = store[name]
        known = {"context": CONTEXTS} if campaign.summary().features else {}
        for _ in range(CALLS):
            asked = campaign.ask(6, **known)
            say("asked", *(d.id for d in asked))
            pairs = [(d, random.random()) for d in asked]
            campaign.tell_many([*pairs, pairs[0]])
            say("acknowledged", *(d.id for d in asked))
            for release in campaign.releases(seen):
                say("release", release.step, json.dumps(release.answers))
                seen = release.step


def kill_one(place: Place, told: Told, point: str, count: int, name: str) -> bool:
    """A child that dies at this point; whether it did, or else came to its end."""
    out, into = os.pipe()
    child = os.fork()
    if not child:
        os.close(out)
        try:
            POINTS[point](count)
            work(
                place,
                lambda *said: (os.write(into, json.dumps(said).encode() + b"\n"), None)[1],
                name,
            )
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    os.close(into)
    with os.fdopen(out) as lines:
        for line in lines:
            told.hear(line)
    _, status = os.waitpid(child, 0)
    if status not in (0, signal.SIGKILL):
        raise RuntimeError(f"A child ended by itself, with status {status}.")
    return status == signal.SIGKILL


def told_in(rows: Rows, uid: str) -> int:
    """Decisions whose answers count."""
    return sum(row.status == "told" for row in rows.decisions(uid, 0, 2**62))


def verdict(place: Place, told: Told, name: str) -> Counter[str]:
    """What was lost, and what was done twice."""
    found = Counter({"drawn twice": told.twice})
    with place.open() as store:
        campaign = store[name]
        replies = campaign.tell_many([(each, 0) for each in sorted(told.acknowledged)])
        found["lost"] = sum(reply != "already" for reply in replies)
        done, records = inside(
            campaign, lambda part, rows: (told_in(rows, part.uid), part.session._current.records)
        )
        found["folded twice"] = max(0, records - done)
        found["folded too little"] = max(0, done - records)
        final = {r.step: json.dumps(r.answers) for r in campaign.releases(limit=MOST_AT_ONCE)}
        found["drawn twice"] += sum(final[step] != said for step, said in told.releases.items())
        found["generations lost"] = campaign.generation - 1
        if campaign.summary().features:
            kept, open_ = inside(campaign, lambda part, _: contexts_of(part.session))
            found["folded twice"] += max(0, kept - done, open_ - done)
            found["folded too little"] += max(0, done - kept)
        found["told"], found["releases"] = done, len(final)
    return found


def contexts_of(session: Any) -> tuple[int, int]:
    """How many contexts are kept, and how many records there are in the counts of open blocks and
    in releases.
    """
    state = session._current.folded()
    counted = sum(int(each.counts.sum()) for each in state.contexts.open.values())
    counted += sum(fit.read for fit in state.learned.fits)
    return sum(len(rows) for each in state.contexts.recent for rows in each), counted


def small_policy(by_context: bool) -> dpb.Policy:
    if by_context:
        return dpb.DPLinTS(arms=3, features=2, epsilon=1, first=4, public_contexts=CONTEXTS)
    return dpb.DPKLUCB(arms=3, epsilon=1, first=4)


def soak(
    place: Place, kills: int, seed: int, by_context: bool = False
) -> tuple[Counter[str], Counter[str]]:
    """So many kills, ten a campaign; what they did, and how many there were at each point."""
    drawn, found, where = random.Random(seed), Counter[str](), Counter[str]()
    points, at = list(POINTS), 0
    while where.total() < kills:
        name, told = f"soak {where.total()}", Told()
        with place.open() as store:
            store.create(name, small_policy(by_context), noise=dpb.SecureNoise())
        for _ in range(min(10, kills - where.total())):
            point, at = points[at % len(points)], at + 1
            most = 3 if point in SELDOM else CALLS
            if not kill_one(place, told, point, drawn.randrange(1, most), name):
                point = "before lock"  # it came to its end first
                kill_one(place, told, point, 1, name)
            where[point] += 1
        found += verdict(place, told, name)
    return found, where


def rows(found: Counter[str], where: Counter[str]) -> list[Row]:
    """Where processes died, what they had done, and what must not be."""
    made = [Row(f"killed {point}", f"{where[point]:,}", "", None) for point in POINTS]
    made += [Row(name, f"{found[name]:,}", "", None) for name in ("told", "releases")]
    return made + [Row(name, f"{found[name]:,}", "0", not found[name]) for name in WRONG]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1_000)
    add_place(parser)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--contexts", action="store_true", help="of policies that decide by them")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    with place_of(given) as place:
        found, where = soak(place, given.kills, given.seed, given.contexts)
    title = f"{where.total():,} kills, on {place.kind}"
    show(title, rows(found, where))
    command = f"python -m benchmarks.service.soak{repeated(given)} --kills {given.kills}"
    command += f"{' --contexts' * given.contexts} --out {given.out}"
    write(given.out, command, {title: rows(found, where)})
    bad = [name for name in WRONG if found[name]]
    raise SystemExit(f"broken: {bad}" if bad else 0)


if __name__ == "__main__":
    main()
