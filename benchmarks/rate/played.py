"""What the pages on DPRateIMED play, kept in a file so that a run that was stopped goes on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import dpbandits as dpb
from benchmarks.rate.instances import Cell

ROUNDS = (10**5, 10**6)
Figures = dict[str, float]
"""mean, q999, worst, each with the rounds before it: "5 mean" for 10⁵."""


class Store:
    """Figures of what was played, a line of JSON each."""

    def __init__(self, file: Path | None) -> None:
        self.file, self.kept = file, dict[str, Figures]()
        if file is not None and file.exists():
            lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
            self.kept = {line["key"]: line["figures"] for line in lines}

    def played(
        self, policy: dpb.Policy, cell: Cell, runs: int, horizons: Sequence[int] = ROUNDS
    ) -> Figures:
        told = "" if horizons == ROUNDS else f", {horizons}"
        key = f"{policy!r}, {cell.name}, {runs}{told}"
        if key not in self.kept:
            self.kept[key] = play(policy, cell.means, runs, horizons)
            if self.file is not None:
                with self.file.open("a", encoding="utf-8") as out:
                    out.write(json.dumps({"key": key, "figures": self.kept[key]}) + "\n")
            print(key, flush=True)
        return self.kept[key]


def play(policy: dpb.Policy, means: Sequence[float], runs: int, horizons: Sequence[int]) -> Figures:
    found = dpb.simulate(
        policy,
        dpb.Bernoulli(list(means)),
        horizons[-1],
        runs=runs,
        seed=2027,
        at=horizons,
        shuffle=True,
        workers=1,
    ).regret(at=horizons)
    figures = {}
    for at, rounds in enumerate(horizons):
        lost, power = found[:, at], round(np.log10(rounds))
        figures[f"{power} mean"] = float(lost.mean())
        figures[f"{power} q999"] = float(np.quantile(lost, 0.999))
        figures[f"{power} worst"] = float(lost.max())
    return figures


def ratios(mine: Sequence[Figures], other: Sequence[Figures], name: str) -> tuple[float, float]:
    """Mean and largest ratio over cells."""
    found = [a[name] / b[name] for a, b in zip(mine, other, strict=True)]
    return float(np.mean(found)), max(found)
