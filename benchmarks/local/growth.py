"""Local model: how regret grows with the size of super arms, by sums of radii, by a radius for the
sum, and by whom is asked. `python -m benchmarks.local.growth [--runs 60] [--out FILE]`.

Two kinds of instances, three super arms each, gap `GAP` between the best one and the others:
"disjoint", K arms each (m = 3K), and "shared", K − 1 arms in common and one of each's own (m = K +
2). Undecided arms are asked for on "shared" only: where no arm is shared all are undecided.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dpbandits as dpb
from benchmarks.table import Row, described, show, write
from dpbandits.core.inputs import Floats
from papers.evidence import contrast
from papers.measures import slope_weights

SIZES, GAP, EPSILON, ROUNDS = (2, 4, 8), 0.6, 4, 150_000
MISS = 0.05
"""Of the intervals for exponents."""


class World(NamedTuple):
    problem: Any
    means: Floats
    value: str


def disjoint(size: int) -> World:
    problem = dpb.ExplicitSet([tuple(range(i * size, (i + 1) * size)) for i in range(3)])
    half = GAP / (2 * size)
    means = np.concatenate([np.full(size, 0.5 + half), np.full(2 * size, 0.5 - half)])
    return World(problem, means, "sum")


def shared(size: int) -> World:
    """The best super arm is in the middle, where no tie finds it."""
    common = tuple(range(size - 1))
    problem = dpb.ExplicitSet([(*common, size - 1 + i) for i in range(3)])
    half = GAP / 2
    own = [0.5 - half, 0.5 + half, 0.5 - half]
    return World(problem, np.array([0.5] * (size - 1) + own), "sum")


def lost(policy: dpb.Policy, world: World, rounds: int, runs: int) -> Floats:
    environment = dpb.Bernoulli(world.means)
    return dpb.simulate(policy, environment, rounds, runs=runs, seed=7, at=[]).regret()


DISJOINT: dict[str, tuple[dict[str, str], float | None]] = {
    "sum of radii": ({}, None),
    "sum of radii, at ln t": ({"preset": "sharp"}, None),
    "joint radius, proved level": ({"radius": "joint"}, None),
    "joint radius, at ln t": ({"radius": "joint", "preset": "sharp"}, 2.0),
}
"""And the exponent of K that is wanted: that of m·K = 3K²."""

SHARED: dict[str, tuple[dict[str, str], float | None]] = {
    "least asked": ({}, None),
    "undecided asked": ({"ask": "undecided"}, None),
    "least asked, at ln t": ({"preset": "sharp"}, None),
    "undecided asked, at ln t": ({"preset": "sharp", "ask": "undecided"}, 1.0),
    "joint radius, at ln t": ({"radius": "joint", "preset": "sharp"}, None),
}
"""Undecided arms are the three own ones; each has one radius, whatever K is."""


def growth_rows(runs: int) -> list[Row]:
    rows = [row(f"disjoint: {name}", disjoint, *way, runs) for name, way in DISJOINT.items()]
    return rows + [row(f"shared: {name}", shared, *way, runs) for name, way in SHARED.items()]


def row(name: str, make: Any, given: dict[str, str], wanted: float | None, runs: int) -> Row:
    samples = []
    for size in SIZES:
        world = make(size)
        policy = dpb.CUCBLDP2(problem=world.problem, epsilon=EPSILON, **given)  # type: ignore[arg-type]  # options by name
        samples.append(lost(policy, world, ROUNDS, runs))
    slope = contrast(samples, slope_weights(SIZES), log=False)
    low, high = slope.interval(MISS)
    cells = (f"K = {size}: {described(x)}" for size, x in zip(SIZES, samples, strict=True))
    text = f"K^{slope.value:.2f} [{low:.2f}, {high:.2f}]; " + "; ".join(cells)
    every = ROUNDS * GAP
    if max(x.mean() for x in samples) > 0.3 * every:
        text += f"; bent by the horizon, at which no more than {2 * every / 3:,.0f} is lost"
    limit = "" if wanted is None else f"interval at most K^{wanted:g}"
    return Row(name, text, limit, None if wanted is None else high <= wanted)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--out", type=Path, help="write the table as markdown, too")
    args = parser.parse_args()
    title = "Local model: growth with K"
    note = (
        f"Gap {GAP}, ε = {EPSILON}, T = {ROUNDS:,}; exponents with 95 % intervals, means ± "
        f"standard errors, {args.runs} runs. Disjoint: three super arms of K arms; shared: K − 1 "
        "arms in common and one of each's own. What is proved: proofs/cucb_ldp2_joint.md."
    )
    rows = growth_rows(args.runs)
    show(title, rows)
    command = f"python -m benchmarks.local.growth --runs {args.runs} --out {args.out}"
    write(args.out, command, {title: rows}, note)


if __name__ == "__main__":
    main()
