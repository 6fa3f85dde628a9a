"""The local model on super arms: whom to ask, the least-reported arm of a super arm or that of its
undecided ones. `python -m benchmarks.local [--runs 10] [--out FILE]`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import dpbandits as dpb
from benchmarks.local.growth import World, lost
from benchmarks.table import Row, described, show, write


def worlds() -> dict[str, World]:
    """Best arms are not in front, where ties would find them."""
    rng = np.random.default_rng(8)
    star = dpb.ExplicitSet([(*range(7), last) for last in range(7, 13)])
    spread = rng.permutation(np.linspace(0.9, 0.1, 16))
    clicks = rng.permutation(np.concatenate([[0.5, 0.4, 0.3, 0.3], np.full(8, 0.1)]))
    gaps = rng.permutation(np.repeat([0.6, 0.4], [5, 15]))
    return {
        "7 arms shared, 1 of 6": World(star, np.array([0.5] * 9 + [0.8] + [0.5] * 3), "sum"),
        "top 5 of 20": World(dpb.TopK(arms=20, k=5), gaps, "sum"),
        "top 8 of 16": World(dpb.TopK(arms=16, k=8), spread, "sum"),
        "best of 4 of 12": World(dpb.TopKMax(arms=12, k=4), clicks, "largest"),
    }


ASKED: dict[str, Callable[[Any, int], dpb.Policy]] = {
    "LDP1, all asked": lambda p, e: dpb.CUCBLDP1(problem=p, epsilon=e),
    "LDP2, least": lambda p, e: dpb.CUCBLDP2(problem=p, epsilon=e),
    "LDP2, undecided": lambda p, e: dpb.CUCBLDP2(problem=p, epsilon=e, ask="undecided"),
    "sharp, least": lambda p, e: dpb.CUCBLDP2(problem=p, epsilon=e, preset="sharp"),
    "sharp, undecided": lambda p, e: dpb.CUCBLDP2(
        problem=p, epsilon=e, preset="sharp", ask="undecided"
    ),
}


def asked_rows(runs: int, rounds: int = 50_000) -> list[Row]:
    rows = []
    for name, world in worlds().items():
        for epsilon in (1, 4):
            cells = [
                f"{way}: {described(lost(make(world.problem, epsilon), world, rounds, runs))}"
                for way, make in ASKED.items()
            ]
            what = f"{name} ({world.value} of rewards), ε = {epsilon}"
            rows.append(Row(what, "; ".join(cells), "", None))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--out", type=Path, help="write the table as markdown, too")
    args = parser.parse_args()
    title = "Local model: whom to ask"
    note = (
        "The least-reported arm, or the least-reported undecided one: T = 50,000; mean ± standard "
        f"error of {args.runs} runs. What is asked: proofs/cucb_ldp2.md."
    )
    rows = asked_rows(args.runs)
    show(title, rows)
    command = f"python -m benchmarks.local --runs {args.runs} --out {args.out}"
    write(args.out, command, {title: rows}, note)


if __name__ == "__main__":
    main()
