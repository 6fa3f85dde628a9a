"""The frontier of preset "safe": what a thin tail costs. `python -m benchmarks.rate.safe [--runs
20000] [--mean-runs 600] [--store FILE] [--out FILE]`. Arms are in a random order in every run.

Candidates on tuning instances, none of which is reported: their mean over the balanced preset's at
T = 10⁵ and 10⁶ on all of them, and the worst of many runs over the candidate's own mean on those
with small gaps. The same at T = 10⁸, with a tenth of the runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

import dpbandits as dpb
from benchmarks.rate.instances import HARD, Cell, safe_cells
from benchmarks.rate.played import ROUNDS, Figures, Store, ratios
from benchmarks.table import Row, show, write

LONG = (10**8,)
NOTE = """\
Preset "safe" of `DPRateIMED`: the mean over the balanced preset's, and the worst run over the
candidate's own mean. Tuning instances only; what is reported is in rate.csv. The price of a plain
level grows with T, that of a doubt does not (decision 8)."""


class Candidate(NamedTuple):
    """first: times epsilon."""

    level: float
    first: int
    doubt: float = 0.0
    trust: float = 1.0

    def policy(self, cell: Cell) -> dpb.Policy:
        return dpb.DPRateIMED(
            arms=len(cell.means),
            epsilon=cell.epsilon,
            level=self.level,
            first=int(np.ceil(self.first / cell.epsilon)),
            alpha=dpb.DPRateIMED.presets["safe"].alpha,
            doubt=self.doubt,
            trust=self.trust,
        )

    def __str__(self) -> str:
        doubts = f", doubt {self.doubt:g}, trust {self.trust:g}" if self.doubt else ""
        return f"level {self.level:g}, first {self.first}/ε{doubts}"


BEFORE, NOW = Candidate(2, 40), Candidate(1.5, 48, 4, 0.6)
CANDIDATES = (
    BEFORE,
    Candidate(2, 56),
    Candidate(2.3, 44),
    Candidate(1, 40, 6, 0.33),
    Candidate(1, 40, 10, 0.1),
    Candidate(1.2, 40, 7, 0.4),
    Candidate(1.3, 48, 5.5, 0.48),
    NOW,
)


def balanced(cell: Cell) -> dpb.Policy:
    return dpb.DPRateIMED(arms=len(cell.means), epsilon=cell.epsilon)


def hard_cells() -> list[Cell]:
    return [cell for cell in safe_cells() if cell.name in HARD and cell.epsilon in (1, 0.1)]


def worst(figures: Sequence[Figures], power: int) -> list[float]:
    """Worst runs over means."""
    return [f[f"{power} worst"] / f[f"{power} mean"] for f in figures]


def price(mine: Sequence[Figures], other: Sequence[Figures], power: int) -> str:
    mean, most = ratios(mine, other, f"{power} mean")
    return f"T = 10^{power}: mean ×{mean:.2f} (at most {most:.2f})"


def row(store: Store, candidate: Candidate, runs: int, mean_runs: int) -> Row:
    """One candidate against the goals; the last part is T = 10⁸, of which nothing was asked."""
    cells, hard = safe_cells(), hard_cells()
    policies = [candidate.policy(cell) for cell in cells]
    mine = [store.played(p, c, mean_runs) for p, c in zip(policies, cells, strict=True)]
    other = [store.played(balanced(cell), cell, 4 * mean_runs) for cell in cells]
    tails = worst([store.played(candidate.policy(c), c, runs) for c in hard], 6)
    far = [store.played(candidate.policy(c), c, runs // 10, LONG) for c in hard]
    plain = [store.played(balanced(cell), cell, runs // 10, LONG) for cell in hard]
    text = (
        f"{price(mine, other, 5)}; {price(mine, other, 6)}, worst {max(tails):.1f} means, above 4 "
        f"in {sum(w > 4 for w in tails)} of {len(hard)} cells; {price(far, plain, 8)}, worst "
        f"{max(worst(far, 8)):.1f} means"
    )
    dearer = max(ratios(mine, other, f"{round(np.log10(at))} mean")[1] for at in ROUNDS)
    named = {BEFORE: " (before)", NOW: " (safe)"}.get(candidate, "")
    asked = "10⁶: worst ≤ 4 means, mean ≤ ×2"
    return Row(f"{candidate}{named}", text, asked, max(tails) <= 4 and dearer <= 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--mean-runs", type=int, default=600)
    parser.add_argument("--store", type=Path, help="file of figures to go on from")
    parser.add_argument("--out", type=Path, help="write the table as markdown, too")
    args = parser.parse_args()
    store = Store(args.store)
    rows = [row(store, candidate, args.runs, args.mean_runs) for candidate in CANDIDATES]
    title = "Preset safe, on tuning instances"
    show(title, rows)
    command = (
        f"python -m benchmarks.rate.safe --runs {args.runs} --mean-runs {args.mean_runs} "
        f"--out {args.out}"
    )
    write(args.out, command, {title: rows}, NOTE)


if __name__ == "__main__":
    main()
