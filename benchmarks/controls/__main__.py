"""Audit the controls: `python -m benchmarks.controls [--lists known odd unseen] [--seeds 1]
[--budget 15] [--only TEXT] [--out benchmarks/results/controls.csv]`.

Without a budget every control has its own number of runs, and the same verdict on every machine;
with one it has so many seconds, and all levels where it is right. Verdicts are kept in `--folder`
with the commit that they are of: a run that was stopped goes on where it was, and the table has the
newest verdict on each control.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from benchmarks.controls import LISTS, bare
from benchmarks.controls.parts import Control
from benchmarks.table import write_columns
from dpbandits.auditing.audit import LEVELS, audit
from dpbandits.auditing.effort import clock
from dpbandits.auditing.report import figure_of


class Judged(NamedTuple):
    """One audit of one control. by: the levels that failed it."""

    listed: str
    name: str
    seed: int
    verdict: str
    bound: float
    by: str
    seconds: float
    commit: str


class Asked(NamedTuple):
    """A control by its list and number: what makes it could not be sent to another process."""

    listed: str
    number: int
    seed: int
    budget: float | None
    commit: str

    def control(self) -> Control:
        return controls(self.listed, self.budget)[self.number]


def judge(asked: Asked) -> Judged:
    """Audit it. A crash of the auditor is a verdict, too, and catches nothing."""
    control, start = asked.control(), clock()
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
    seconds = round(clock() - start, 2)
    return Judged(asked.listed, control.name, asked.seed, verdict, bound, by, seconds, asked.commit)


def commit() -> str:
    """The commit that is checked out, with a mark if files differ from it."""
    words = ["git", "describe", "--always", "--dirty", "--exclude", "*"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


class Kept:
    """Verdicts that outlive an interrupted run: a line of JSON each, the newest ones last."""

    def __init__(self, folder: Path, budget: float | None) -> None:
        self.path = folder / f"{'runs' if budget is None else f'{budget:g}s'}.jsonl"
        self.found: dict[tuple[str, str, int, str], Judged] = {}
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        whole = text[: text.rfind("\n") + 1]
        if whole != text:  # a line was cut off
            self.path.write_text(whole, encoding="utf-8")
        for line in whole.splitlines():
            level, *row = json.loads(line)
            self.found[(*row[:3], level)] = Judged(*row)

    def add(self, control: Control, judged: Judged) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([control.level, *judged]) + "\n")
        self.found[(*judged[:3], control.level)] = judged


def all_asked(
    lists: Iterable[str], seeds: int, budget: float | None, only: str, commit: str
) -> Iterator[tuple[Asked, Control]]:
    for seed in range(seeds):
        for listed in lists:
            for number, control in enumerate(controls(listed, budget)):
                if only in control.name:
                    yield Asked(listed, number, seed, budget, commit), control


def controls(listed: str, budget: float | None) -> list[Control]:
    """Those of a list. With a budget of seconds what is right is audited once, by all levels, as
    somebody does who wants to know whether it is.
    """
    every = list(LISTS[listed]())
    if budget is None:
        return every
    found = [for_all_levels(each) if each.right else each for each in every]
    return list({(each.name, each.level): each for each in found}.values())


def for_all_levels(control: Control) -> Control:
    return replace(bare(replace(control, level="statistical")), level="")


COLUMNS = (
    *("truth_is", "list", "control", "what", "truth", "claim", "level", "seed"),
    *("verdict", "epsilon_at_least", "refuted_by", "seconds", "commit"),
)


def rows_of(
    kept: Kept, lists: Iterable[str], seeds: int, budget: float | None
) -> Iterator[tuple[object, ...]]:
    """A row for each audit, in the order of the lists."""
    for listed in lists:
        for control in controls(listed, budget):
            for seed in range(seeds):
                judged = kept.found.get((listed, control.name, seed, control.level))
                yield (
                    "right" if control.right else "wrong",
                    *(listed, control.name, control.what, control.truth),
                    "own" if control.claim is None else f"{float(control.claim):g}",
                    *(control.level or "all", seed),
                    *(("not judged", "", "", "", "") if judged is None else found(judged)),
                )


def found(judged: Judged) -> tuple[object, ...]:
    bound = figure_of(judged.bound)
    return judged.verdict, bound, judged.by, f"{judged.seconds:.0f}", judged.commit


def summary(rows: Iterable[tuple[object, ...]]) -> str:
    """How many there are of each verdict, and the names of those whose verdict is not as it should
    be: wrong and not failed, right and failed or without a verdict.
    """
    counts, names = Counter[str](), list[str]()
    for row in rows:
        at = dict(zip(COLUMNS, row, strict=True))
        counts[f"{at['truth_is']}: {at['verdict']}"] += 1
        good = ("failed",) if at["truth_is"] == "wrong" else ("passed", "not refuted")
        if at["verdict"] not in good:
            names.append(f"{at['truth_is']}, {at['verdict']}: {at['control']} (seed {at['seed']})")
    return "\n".join([*(f"{many} {what}" for what, many in sorted(counts.items())), *names])


def is_judged(kept: Kept, asked: Asked, control: Control) -> bool:
    """Whether it was judged at this commit."""
    found = kept.found.get((asked.listed, control.name, asked.seed, control.level))
    return found is not None and found.commit == asked.commit


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lists", nargs="+", choices=LISTS, default=[*LISTS][1:])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--budget", type=float, help="seconds; by default each one's own runs")
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
    parser.add_argument("--kept", action="store_true", help="audit nothing: what was kept")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    kept = Kept(given.folder, given.budget)
    missing = [
        (asked, control)
        for asked, control in all_asked(
            given.lists, given.seeds, given.budget, given.only, commit()
        )
        if not given.kept
        and not is_judged(kept, asked, control)
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
    command += f" --levels {' '.join(given.levels)}" if len(given.levels) < 1 + len(LEVELS) else ""
    command += f" --seeds {given.seeds}" if given.seeds > 1 else ""
    rows = list(rows_of(kept, given.lists, given.seeds, given.budget))
    write_columns(given.out, command, COLUMNS, rows)
    print(summary(rows))
    right = {c.name for listed in given.lists for c in LISTS[listed]() if c.right}
    return int(any(each.verdict == "failed" and each.name in right for each in kept.found.values()))


if __name__ == "__main__":
    raise SystemExit(main())
