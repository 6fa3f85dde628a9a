"""Positive and negative controls of the auditor, and exact losses. `python -m benchmarks.controls
[--repetitions 50] [--out FILE]`.

1. Every specimen, at the level that must catch it; everything correct, at the levels that must pass
  it; and subjects of unusual shape, right and wrong (`benchmarks/odd`). Asked for: no false alarm,
  and no specimen missed more than once in fifty repetitions.
2. The exact loss of short runs, beside what their releases could show.
3. What published constants really hold.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import Any

from benchmarks.audit_controls import (
    Control,
    Row,
    broken,
    correct,
    markdown,
    run,
    verdicts,
)
from benchmarks.controls.losses import EXACT, ONE, exact_text, published_text
from benchmarks.odd import CORRECT, MISSED, WRONG, Odd
from benchmarks.odd.releases import SPECIMENS as RELEASES
from dpbandits.auditing.mechanism_policy import Feeding
from dpbandits.policies.contract import Policy

COUNTED = (
    "blocks left out by the source's coins",
    "redrawn until plausible",
    "rejection by coins",
    "two draws where the sum is large, one told",
    "noise shared in turn by two actions",
    "half of a noisy maximum",
    "coins in plan",
)
FEW = 2_000
"""Odd subjects that are correct and judged by runs, too, and how many: most are played one run
after the other.
"""


def all_broken() -> Iterator[Control]:
    """The shipped specimens, and odd ones."""
    yield from broken()
    for odd in (*WRONG, *RELEASES):
        yield odd_control(odd, "statistical" if odd.runs else "transcript", True)


def all_correct() -> Iterator[Control]:
    """What is shipped, and what is odd: of that the auditor may say nothing, but no ill."""
    yield from correct()
    for odd in CORRECT:
        yield odd_control(odd, "transcript", False)
        if odd.name in COUNTED:
            yield odd_control(odd, "statistical", False)


def all_missed() -> Iterator[Control]:
    """What so many runs cannot show, at the level that comes nearest."""
    for odd in MISSED:
        yield odd_control(odd, "statistical", True)


def odd_control(odd: Odd, level: str, wrong: bool) -> Control:
    truth = (
        "not DP"
        if math.isinf(odd.true)
        else "more than 1"
        if math.isnan(odd.true)
        else f"{odd.true:.4g}"
    )
    return Control(
        odd.name,
        wrong,
        level,
        lambda: bare(odd.make(), level),
        ONE,
        truth,
        runs=odd.runs or FEW,
        open=not wrong,
    )


def bare(policy: Policy, level: str) -> Any:
    """Of a mechanism that is only fed, runs look at the mechanism's answers."""
    return policy.mechanism() if level == "statistical" and isinstance(policy, Feeding) else policy


def judged(kind: Callable[[], Iterator[Control]], repetitions: int) -> list[Row]:
    """Every control, one a core at a time. Controls make their subjects with functions of their
    own, so they are named by their place.
    """
    places = range(len(list(kind())))
    rows = []
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for row in pool.map(one_row, repeat(kind), places, repeat(repetitions)):
            rows.append(Row(list(kind())[row[0]], *row[1:]))
            print(markdown([rows[-1]]).splitlines()[-1], flush=True)
    return rows


def one_row(
    kind: Callable[[], Iterator[Control]], place: int, repetitions: int
) -> tuple[int, int, int, float, float]:
    return place, *run(list(kind())[place], repetitions)[1:]


def controls_text(repetitions: int) -> str:
    bad, good, missed_ones = (
        judged(kind, repetitions) for kind in (all_broken, all_correct, all_missed)
    )
    specimens, missed, alarms = verdicts([*bad, *good])
    runs = sum(row.runs for row in good)
    return (
        f"{specimens} specimens, at most {missed} time(s) missed in {repetitions} repetitions; "
        f"{alarms} false alarms in {runs} audits of "
        f"what is correct.\n\n## Broken on purpose\n\n{markdown(bad)}\n## Broken, and too seldom "
        f"to be seen\n\n{markdown(missed_ones)}\n"
        f"## Correct\n\n{markdown(good)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=50)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    sections = (
        (
            "# Controls of the auditor, and exact losses\n\nWritten by `python -m "
            "benchmarks.controls`; do not edit.\n"
        ),
        controls_text(arguments.repetitions),
        EXACT + exact_text(),
        "## What published constants hold, at ε = 1\n\n" + published_text(),
    )
    text = "\n".join(sections)
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
