"""Positive and negative controls of the auditor, and exact losses. `python -m benchmarks.controls
[--repetitions 50] [--workers 2] [--out FILE]`.

1. Every specimen, at the level that must catch it; everything correct, at the levels that must pass
  it; and subjects of unusual shape, right and wrong (`benchmarks/odd`). Asked for: no false alarm,
  and no specimen missed more than once in fifty repetitions.
2. The exact loss of short runs, beside what their releases could show.
3. What published constants really hold.

A level without randomness (exact law, report law) is run once and counted once. Judgements are kept
in `--folder`, so a run that was stopped goes on where it was; Ctrl-C writes the page of what is
there. `judged/` has the judgements of the committed page: unpacked into `--folder`, in a clone of
the commit that is in their name, a run goes on from them.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

from benchmarks.controls.kept import Judgement, Kept
from benchmarks.controls.listed import LISTS
from benchmarks.controls.losses import EXACT, exact_text, published_text
from benchmarks.controls.repeated import SEEDED, Control, Row, markdown, run, verdicts


class Place(NamedTuple):
    """A control by its list and number: what makes its subject is a function, which no other
    process could be sent.
    """

    listed: str
    number: int

    def control(self) -> Control:
        return list(LISTS[self.listed]())[self.number]


def key(place: Place, control: Control) -> str:
    return f"{place.listed} {place.number}: {control.name}, {control.level}"


def judge_once(place: Place, repetition: int) -> Judgement:
    control = place.control()
    row = run(control, repetition, 1)
    return Judgement(key(place, control), repetition, bool(row.right), row.bound, row.seconds)


def places() -> Iterator[tuple[Place, Control]]:
    for name, made in LISTS.items():
        for number, control in enumerate(made()):
            yield Place(name, number), control


def judge_all(kept: Kept, repetitions: int, workers: int | None) -> None:
    """What is missing, repetition by repetition, so that at any time every control has about as
    many judgements.
    """
    missing = [
        (place, repetition)
        for repetition in range(repetitions)
        for place, control in places()
        if repetition == 0 or control.level in SEEDED
        if not kept.has(key(place, control), repetition)
    ]
    pool = ProcessPoolExecutor(workers or os.cpu_count())
    try:
        for i, done in enumerate(
            as_completed([pool.submit(judge_once, *each) for each in missing])
        ):
            kept.add(done.result())
            print(f"{i + 1} of {len(missing)}: {done.result()}", flush=True)
    except KeyboardInterrupt:
        print("Stopped; the page has what was judged.", flush=True)
    finally:
        pool.shutdown(cancel_futures=True)


def rows(kept: Kept, listed: str) -> list[Row]:
    """A row for each control of a list that was judged."""
    found = []
    for place, control in places():
        judged = kept.of(key(place, control))
        if place.listed == listed and judged:
            right, seconds = sum(j.right for j in judged), sum(j.seconds for j in judged)
            found.append(Row(control, len(judged), right, max(j.bound for j in judged), seconds))
    return found


def controls_text(kept: Kept) -> str:
    bad, missed, good = (rows(kept, listed) for listed in ("broken", "missed", "correct"))
    specimens, most, alarms = verdicts([*bad, *good])
    least = min(row.runs for row in [*bad, *missed, *good] if row.control.level in SEEDED)
    return (
        f"At least {least} repetitions of each control that has randomness. Of {specimens} "
        f"specimens that are to be caught each was missed at most {most} time(s); "
        f"besides, {len(missed)} whose leak is too seldom to be seen (below). "
        f"{alarms} false alarms in {sum(row.runs for row in good)} "
        f"audits of what is correct.\n\n## Broken on purpose\n\n{markdown(bad)}\n## Broken, and "
        f"too seldom to be seen\n\n{markdown(missed)}\n## Correct\n\n{markdown(good)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=50)
    parser.add_argument("--workers", type=int, help="processes; by default one a core")
    parser.add_argument("--folder", type=Path, default=Path("results/controls"))
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    kept = Kept(arguments.folder)
    judge_all(kept, arguments.repetitions, arguments.workers)
    sections = (
        "# Controls of the auditor, and exact losses\n\nWritten by `python -m benchmarks.controls "
        f"--repetitions {arguments.repetitions}`; do not edit. Judged by the code "
        f"{kept.path.stem}.\n",
        controls_text(kept),
        EXACT + exact_text(),
        "## What published constants hold, at ε = 1\n\n" + published_text(),
    )
    text = "\n".join(sections)
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
