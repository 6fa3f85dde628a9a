"""Mistakes that the auditor had not seen. `python -m benchmarks.strangers [--budget 30] [--out
FILE]`.

Twenty specimens that are wrong and five that are right, each audited for so many seconds.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import dpbandits as dpb
from benchmarks.strangers import boxes, functions, mechanisms, policies, randomizers
from benchmarks.strangers.right import RIGHT
from benchmarks.strangers.specimen import Specimen
from benchmarks.table import head

WRONG = (
    *mechanisms.WRONG,
    *policies.WRONG,
    *randomizers.WRONG,
    *functions.WRONG,
    *boxes.WRONG,
)
SEED = 20
COLUMNS = "| specimen | what | claim | truth | verdict | ε at least | refuted by |"


class Audited(NamedTuple):
    """A specimen and its verdict. found: the largest certified epsilon. by: the levels that refuted
    the claim.
    """

    specimen: Specimen
    verdict: str
    found: float
    by: str
    seconds: float

    @property
    def refuted(self) -> bool:
        return self.verdict == "failed"


def audited(specimen: Specimen, budget: float) -> Audited:
    """Its verdict; a crash of the auditor is one, too, and refutes nothing."""
    start = time.perf_counter()
    try:
        report = dpb.audit(
            specimen.subject, specimen.claim, budget=budget, seed=SEED, arms=specimen.arms
        )
    except Exception as error:
        crash = f"crash: {type(error).__name__}"
        print(f"{specimen.name}: {crash}: {error}", flush=True)
        return Audited(specimen, crash, 0.0, "", time.perf_counter() - start)
    seconds = time.perf_counter() - start
    print(f"{report}\n{specimen.name}: {report.verdict} in {seconds:.0f} s\n", flush=True)
    by = ", ".join(level.level for level in report.levels if level.outcome == "failed")
    return Audited(specimen, report.verdict, report.lower_bound, by, seconds)


def row(each: Audited) -> str:
    specimen = each.specimen
    said = each.verdict if specimen.right or each.refuted else f"**{each.verdict}**"
    found = "∞" if math.isinf(each.found) else f"{each.found:.4g}"
    return (
        f"| `{specimen.name}` | {specimen.kind}: {specimen.what} | {specimen.claim:g} "
        f"| {specimen.truth} | {said} | {found} | {each.by} |"
    )


def table(audits: Sequence[Audited]) -> str:
    return "\n".join([COLUMNS, "|---" * 7 + "|", *map(row, audits)])


def names(audits: Sequence[Audited]) -> str:
    return ", ".join(f"`{each.specimen.name}`" for each in audits) or "none"


def page(wrong: Sequence[Audited], right: Sequence[Audited], budget: float, command: str) -> str:
    missed = [each for each in wrong if not each.refuted]
    blamed = [each for each in right if each.refuted]
    passed = [each for each in missed if each.verdict == "passed"]
    said = (
        f"Of {len(wrong)} mistakes that the auditor had not seen, {len(wrong) - len(missed)} were "
        f"caught at {budget:g} s each and {len(missed)} missed; of {len(right)} odd specimens that "
        f"are right, {len(blamed)} were refuted.\n\n"
        f"Missed: {names(missed)}. Of these the auditor said that they passed: {names(passed)}. "
        f"Refuted though right: {names(blamed)}.\n\n"
        "The specimens, in `benchmarks/strangers`, were invented after the auditor was mended "
        "(November 2026), by somebody who had read its guide, and neither its code and tests nor "
        "the table of what was known to escape it. They had been played for 2 s each before, to "
        "see that they run; none was changed after a verdict. Whoever mends the auditor by this "
        "page can no longer measure it by this page. They follow a list of kinds of mistakes that "
        "was written by those who mended it, and what one person thought of in an hour is no "
        "sample of all mistakes: the share says little of others.\n\n"
        f"Measured on {time.strftime('%Y-%m-%d')} with dpbandits {dpb.__version__}, seed {SEED}, "
        f"two processes. A verdict depends on the machine: {budget:g} s buy the runs that it makes "
        f'in {budget:g} s. "ε at least" is what was certified. Where it is below the claim and '
        "replays refuted, they gave no figure: a release or a plan changes whatever the noise is. "
        "Bold: missed."
    )
    tables = f"## Wrong\n\n{table(wrong)}\n\n## Right, and odd\n\n{table(right)}\n"
    return f"{head('Mistakes the auditor had not seen', command, said)}{tables}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", type=float, default=30.0, help="seconds for each specimen")
    parser.add_argument("--out", type=Path, help="write the page")
    args = parser.parse_args()
    wrong, right = ([audited(each, args.budget) for each in part] for part in (WRONG, RIGHT))
    command = f"python -m benchmarks.strangers --budget {args.budget:g} --out {args.out}"
    text = page(wrong, right, args.budget, command)
    print(text)
    if args.out:
        args.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
