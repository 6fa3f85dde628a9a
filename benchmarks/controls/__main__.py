"""Audit the controls: `python -m benchmarks.controls [--lists known odd unseen] [--seeds 1]
[--budget 15] [--only TEXT] [--out docs/measured/controls.md]`.

Without a budget every control has its own number of runs, and the same verdict on every machine;
with one it has so many seconds. Verdicts are kept in `--folder`, in a file of this version and
commit, so a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from benchmarks.controls import LISTS
from benchmarks.controls.parts import Control
from benchmarks.table import head
from dpbandits.auditing.audit import LEVELS, audit
from dpbandits.auditing.report import figure_of
from dpbandits.version import __version__


class Judged(NamedTuple):
    """One audit of one control. by: the levels that failed it."""

    listed: str
    name: str
    seed: int
    verdict: str
    bound: float
    by: str
    seconds: float


class Asked(NamedTuple):
    """A control by its list and number: what makes it could not be sent to another process."""

    listed: str
    number: int
    seed: int
    budget: float | None
    processor: bool = False

    def control(self) -> Control:
        return list(LISTS[self.listed]())[self.number]


def judge(asked: Asked) -> Judged:
    """Audit it. A crash of the auditor is a verdict, too, and catches nothing."""
    if asked.processor:
        time.perf_counter = time.process_time
    control, start = asked.control(), time.perf_counter()
    levels = (control.level,) if control.level else LEVELS
    runs = None if asked.budget else control.runs
    try:
        report = audit(
            control.make(),
            control.claim,
            levels=levels,
            budget=asked.budget or 60.0,
            runs=runs,
            seed=asked.seed,
            arms=control.arms,
            workers=1,
        )
    except Exception as error:
        verdict, bound, by = f"crash: {type(error).__name__}: {error}"[:200], 0.0, ""
    else:
        verdict, bound = report.verdict, report.lower_bound
        by = ", ".join(level.level for level in report.levels if level.outcome == "failed")
    seconds = round(time.perf_counter() - start, 2)
    return Judged(asked.listed, control.name, asked.seed, verdict, bound, by, seconds)


def commit() -> str:
    """The commit that is checked out, with a mark if files differ from it."""
    words = ["git", "describe", "--always", "--dirty", "--exclude", "*"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


class Kept:
    """Verdicts of this version and commit that outlive an interrupted run: a line of JSON each."""

    def __init__(self, folder: Path, budget: float | None) -> None:
        self.name = f"{__version__}-{commit()}-{'runs' if budget is None else f'{budget:g}s'}"
        self.path = folder / f"{self.name}.jsonl"
        self.found: dict[tuple[str, str, int, str], Judged] = {}
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        for line in text[: text.rfind("\n") + 1].splitlines():
            level, *row = json.loads(line)
            self.found[(*row[:3], level)] = Judged(*row)

    def add(self, control: Control, judged: Judged) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([control.level, *judged]) + "\n")
        self.found[(*judged[:3], control.level)] = judged


def all_asked(
    lists: Iterable[str], seeds: int, budget: float | None, only: str, processor: bool
) -> Iterator[tuple[Asked, Control]]:
    for seed in range(seeds):
        for listed in lists:
            for number, control in enumerate(LISTS[listed]()):
                if only in control.name:
                    yield Asked(listed, number, seed, budget, processor), control


def table(rows: list[tuple[Control, list[Judged]]]) -> str:
    """A row for each control; bold where it was missed, or refuted though it is right."""
    lines = [
        "| control | what | truth | claim | level | verdict | ε at least | refuted by |",
        "|---" * 8 + "|",
    ]
    for control, judged in rows:
        failed = sum(each.verdict == "failed" for each in judged)
        good = failed == (0 if control.right else len(judged))
        said = judged[0].verdict if control.right else "caught" if failed else judged[0].verdict
        said += f" {failed} of {len(judged)}" if len(judged) > 1 and failed else ""
        bound = figure_of(max(each.bound for each in judged))
        claim = "own" if control.claim is None else f"{float(control.claim):g}"
        by = ", ".join(sorted({each.by for each in judged if each.by}))
        lines.append(
            f"| {control.name} | {control.what} | {control.truth} | {claim} "
            f"| {control.level or 'all'} | {said if good else f'**{said}**'} | {bound} | {by} |"
        )
    return "\n".join(lines)


def page(kept: Kept, lists: list[str], seeds: int, budget: float | None, command: str) -> str:
    """The page of what was judged, in the order of the lists."""
    parts, wrong, caught, right, refuted = list[str](), 0, 0, 0, 0
    for listed in lists:
        rows = []
        for control in LISTS[listed]():
            keys = [(listed, control.name, seed, control.level) for seed in range(seeds)]
            judged = [kept.found[key] for key in keys if key in kept.found]
            if not judged:
                continue
            rows.append((control, judged))
            failed = sum(each.verdict == "failed" for each in judged)
            if control.right:
                right, refuted = right + len(judged), refuted + failed
            elif listed != "missed":
                wrong, caught = wrong + len(judged), caught + failed
        parts.append(f"## {listed.capitalize()}\n\n{table(rows)}\n")
    amount = "a fixed number of runs each" if budget is None else f"{budget:g} s each, one process"
    said = (
        f"{caught} of {wrong} audits of what is wrong caught it, {refuted} of {right} audits of "
        f"what is right refuted it ({amount}; {kept.name}). Bold: missed, or wrongly refuted."
    )
    return head("What the auditor catches", command, said) + "\n".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lists", nargs="+", choices=LISTS, default=[*LISTS][1:])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--budget", type=float, help="seconds; by default each one's own runs")
    parser.add_argument(
        "--processor-time",
        action="store_true",
        help="seconds of the processor, so that a busy machine plays as much as an idle one",
    )
    parser.add_argument("--only", default="", help="controls whose name has this text")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=Path("results/controls"))
    parser.add_argument(
        "--levels",
        nargs="+",
        choices=[*LEVELS, "all"],
        default=[*LEVELS, "all"],
        help="controls that these levels must judge; all: any of them",
    )
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    kept = Kept(given.folder, given.budget)
    missing = [
        (asked, control)
        for asked, control in all_asked(
            given.lists, given.seeds, given.budget, given.only, given.processor_time
        )
        if (asked.listed, control.name, asked.seed, control.level) not in kept.found
        and (control.level or "all") in given.levels
    ]
    with ProcessPoolExecutor(given.workers) as pool:
        for (_, control), judged in zip(
            missing, pool.map(judge, (asked for asked, _ in missing)), strict=True
        ):
            kept.add(control, judged)
            print(*judged, sep=" | ", flush=True)
    command = f"python -m benchmarks.controls --lists {' '.join(given.lists)}"
    command += "" if given.budget is None else f" --budget {given.budget:g}"
    command += " --processor-time" if given.processor_time else ""
    command += f" --levels {' '.join(given.levels)}" if len(given.levels) < 1 + len(LEVELS) else ""
    text = page(kept, given.lists, given.seeds, given.budget, command)
    print(text)
    if given.out:
        given.out.write_text(text, encoding="utf-8")
    bad = [each for each in kept.found.values() if each.verdict == "failed"]
    right = {c.name for listed in given.lists for c in LISTS[listed]() if c.right}
    return int(any(each.name in right and not math.isnan(each.bound) for each in bad))


if __name__ == "__main__":
    raise SystemExit(main())
