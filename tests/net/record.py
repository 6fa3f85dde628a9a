"""Write the data: `python -m tests.net.record`, or with names of families theirs alone.

After a change that is meant to change decisions; the commit says why. Without one it changes
nothing. It prints how much happens in each family, and which cases are not what they were.
"""

import gzip
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from tests.net.driver import Case, play
from tests.net.scenarios import cases

DATA = Path(__file__).with_name("data")


def kept(family: str) -> dict[str, Any]:
    """What is kept of a family's cases, by name; nothing, where it was never written."""
    file = DATA / f"{family}.json.gz"
    if not file.exists():
        return {}
    found: dict[str, Any] = json.loads(gzip.decompress(file.read_bytes()))
    return found


def keep(family: str, found: dict[str, Any]) -> None:
    """A case a line, so that what changed can be found; the same data give the same file."""
    lines = (f"{json.dumps(name)}:{compact(case)}" for name, case in found.items())
    text = "{" + ",\n".join(lines) + "}\n"
    DATA.mkdir(exist_ok=True)
    (DATA / f"{family}.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def compact(data: object) -> str:
    return json.dumps(data, separators=(",", ":"))


class Happened(NamedTuple):
    """How much happened in a case: requests; moments at which something was released; changes from
    one action to another; numbers that the noise source gave.
    """

    requests: int
    releases: int
    moves: int
    noise: int


def happened(record: dict[str, Any]) -> Happened:
    if "plays" not in record:  # an estimator
        return Happened(record["offered"], 1, 0, 0)
    runs = record["plays"][1]
    released = sum(len(part.get("released", ())) for part in record["end"].values())
    releases, noise, at = released or len(record["moments"]) // 3, 0, 0
    while at < len(record["noise"]):
        drawn = record["noise"][at + 2]
        noise, at = noise + drawn, at + 3 + drawn
    return Happened(sum(runs[1::2]), releases, len(runs) // 2 - 1, noise)


def recorded(case: Case) -> dict[str, Any]:
    """What can be seen of a case, whether it is saved on the way or not."""
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        found, saved = play(case, Path(one)), play(case, Path(other), saved=True)
    for name in found:
        if name != "noise" and found[name] != saved[name]:
            raise AssertionError(f"{case.id}: once saved and loaded, {name} differs.")
    return found


def cuts_short(case: Case, found: dict[str, Any]) -> bool:
    """Whether a request leaves a release due: such a case is to be played at other times."""
    if "Joint" not in case.name or case.family == "campaigns":
        return False
    return play(case, DATA, flush=True) != found


def main(families: Sequence[str]) -> None:
    table: dict[str, list[Case]] = {}
    for case in cases():
        table.setdefault(case.family, []).append(case)
    unknown = set(families) - set(table)
    if unknown:
        raise SystemExit(f"Expected names of families, of {', '.join(table)}; got {unknown}.")
    print(f"{'family':12} {'cases':>6} {'requests':>9} {'releases: least':>16} {'all':>7}", end=" ")
    print(f"{'changes of action: least':>25} {'all':>7} {'noise':>7} {'bytes':>7} {'seconds':>8}")
    for family in families or table:
        start, before = time.perf_counter(), kept(family)
        found = {case.name: recorded(case) for case in table[family]}
        assert len(found) == len(table[family]), f"{family} has two cases of one name"
        notes = [f"not what it was: {name}" for name in found if before.get(name) != found[name]]
        notes = notes if before else []
        notes += [
            f"another core may differ: {c.name}"
            for c in table[family]
            if cuts_short(c, found[c.name])
        ]
        if before != found:
            keep(family, found)
        each = [happened(record) for record in found.values()]
        size = (DATA / f"{family}.json.gz").stat().st_size
        print(
            f"{family:12} {len(each):6} {sum(h.requests for h in each):9,}"
            f" {min(h.releases for h in each):16} {sum(h.releases for h in each):7,}"
            f" {min(h.moves for h in each):25} {sum(h.moves for h in each):7,}"
            f" {sum(h.noise for h in each):7,} {size:7,} {time.perf_counter() - start:8.1f}",
            *(f"\n    {note}" for note in notes),
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
