"""The local model on super arms. `python -m benchmarks.local [--runs 40] [--out FILE]`.

1. How regret grows with the size of super arms, by sums of radii and by a radius for the sum.
2. Whom to ask: the least-reported arm of a super arm, or that of its undecided ones.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dpbandits as dpb
from benchmarks.table import Row, markdown, show
from dpbandits.core.arrays import Floats

SIZES, GAP, EPSILON, ROUNDS = (2, 4, 8), 0.6, 4, 150_000
"""Of the instance with three disjoint super arms: arms of each, and the gap of the two bad ones."""


class World(NamedTuple):
    problem: Any
    means: Floats
    value: str


def disjoint(size: int) -> World:
    problem = dpb.ExplicitSet([tuple(range(i * size, (i + 1) * size)) for i in range(3)])
    half = GAP / (2 * size)
    means = np.concatenate([np.full(size, 0.5 + half), np.full(2 * size, 0.5 - half)])
    return World(problem, means, "sum")


def lost(policy: dpb.Policy, world: World, rounds: int, runs: int) -> Floats:
    environment = dpb.Bernoulli(world.means)
    return dpb.simulate(policy, environment, rounds, runs=runs, seed=7, at=[]).regret()


WAYS: dict[str, tuple[dict[str, str], float | None]] = {
    "sum of radii": ({}, None),
    "sum of radii, at ln t": ({"preset": "sharp"}, None),
    "joint radius, proved level": ({"radius": "joint"}, None),
    "joint radius, at ln t": ({"radius": "joint", "preset": "sharp"}, 2.0),
}
"""And the exponent of K that is wanted: that of m·K = 3K²."""


def growth_rows(runs: int) -> list[Row]:
    rows, every = [], ROUNDS * GAP
    for name, (given, wanted) in WAYS.items():
        means, cells = [], []
        for size in SIZES:
            world = disjoint(size)
            policy = dpb.CUCBLDP2(problem=world.problem, epsilon=EPSILON, **given)  # type: ignore[arg-type]  # options by name
            found = lost(policy, world, ROUNDS, runs)
            means.append(float(found.mean()))
            cells.append(f"K = {size}: {described(found)}")
        power = float(np.polyfit(np.log(SIZES), np.log(means), 1)[0])
        text = f"K^{power:.2f}; " + "; ".join(cells)
        if max(means) > 0.3 * every:
            text += f"; bent by the horizon, at which no more than {2 * every / 3:,.0f} is lost"
        limit = "" if wanted is None else f"at most K^{wanted:g}"
        rows.append(Row(name, text, limit, None if wanted is None else power <= wanted))
    return rows


def described(values: Floats) -> str:
    error = values.std() / math.sqrt(len(values))
    return f"{values.mean():,.0f} ± {error:,.0f}"


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
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--out", type=Path, help="write the tables as markdown, too")
    args = parser.parse_args()
    asked = max(4, args.runs // 4)
    parts = {
        "One radius for a super arm: growth of regret with K (three disjoint super arms of K arms, "
        f"gap {GAP}, ε = {EPSILON}, T = {ROUNDS:,}; mean ± standard error of {args.runs} runs; "
        "what a super arm of reports is proved to cost: proofs/cucb_ldp2_joint.md)": growth_rows(
            args.runs
        ),
        "Whom to ask: the least-reported arm, or the least-reported undecided one (T = 50,000; "
        f"mean ± standard error of {asked} runs; what is asked: proofs/cucb_ldp2.md)": asked_rows(
            asked
        ),
    }
    for title, rows in parts.items():
        show(title, rows)
    if args.out:
        command = f"python -m benchmarks.local --runs {args.runs} --out {args.out}"
        text = (markdown(title, command, rows) for title, rows in parts.items())
        args.out.write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main()
