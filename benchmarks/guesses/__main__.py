"""What not knowing the horizon costs DP-SE: its guess doubled, as in the source, or squared, over
the same policy that is told the horizon. `python -m benchmarks.guesses [--runs 400] [--out FILE]`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import dpbandits as dpb
from benchmarks.table import Row, show, write
from dpbandits.core.inputs import Floats

INSTANCES = {
    "C2, K = 5": [0.75, 0.625, 0.5, 0.375, 0.25],
    "K = 5, gaps .1": [0.5, 0.4, 0.4, 0.4, 0.4],
    "K = 3, gaps .05 and .1": [0.9, 0.8, 0.85],
}
HORIZONS = {"10⁶": 10**6, "10⁹": 10**9, "10¹²": 10**12}
TITLE = "What not knowing the horizon costs DP-SE"
MOST = 4
"""Squared guesses: so many times the regret that is had with the horizon known."""


def regret(means: list[float], rounds: int, runs: int, **options: Any) -> Floats:
    policy = dpb.DPSE(arms=len(means), epsilon=1, **options)
    return dpb.simulate(policy, dpb.Bernoulli(means), rounds, runs=runs, seed=1, at=[]).regret()


def ratio(ours: Floats, known: Floats) -> str:
    """Of means, with one standard error."""
    found, parts = ours.mean() / known.mean(), [each.std() / each.mean() for each in (ours, known)]
    return f"{found:.2f} ± {found * np.hypot(*parts) / np.sqrt(len(ours)):.2f}"


def rows(runs: int) -> list[Row]:
    made = []
    for name, means in INSTANCES.items():
        for power, rounds in HORIZONS.items():
            known = regret(means, rounds, runs, horizon=rounds)
            doubled, squared = (
                regret(means, rounds, runs, preset=preset) for preset in ("doubled", "squared")
            )
            text = f"{known.mean():,.0f} known; doubled {ratio(doubled, known)} times that, "
            text += f"squared {ratio(squared, known)} times"
            met = bool(squared.mean() <= MOST * known.mean())
            wanted = f"squared at most {MOST} times"
            made.append(Row(f"{name}, ε = 1, T = {power}", text, wanted, met))
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    found = rows(given.runs)
    show(TITLE, found)
    command = f"python -m benchmarks.guesses --runs {given.runs} --out {given.out}"
    write(given.out, command, {TITLE: found})


if __name__ == "__main__":
    main()
