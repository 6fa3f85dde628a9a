"""Instances the constants of DPRateIMED were chosen on, and others they are reported on. No
instance is in both lists.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.tails import settings

TUNING: dict[str, list[float]] = {
    ".6 .55 .5 .45 .4": [0.6, 0.55, 0.5, 0.45, 0.4],
    ".3 .2×4": [0.3] + [0.2] * 4,
    ".8 .7 .65": [0.8, 0.7, 0.65],
    ".045 .036": [0.045, 0.036],
    ".08 .07×2": [0.08, 0.07, 0.07],
    ".997 .995 .99": [0.997, 0.995, 0.99],
    ".85 .8×9": [0.85] + [0.8] * 9,
    ".7 .5×19": [0.7] + [0.5] * 19,
    ".2 .1 .05": [0.2, 0.1, 0.05],
    ".98 .95×3": [0.98] + [0.95] * 3,
    ".8 .2×3": [0.8] + [0.2] * 3,
    ".65 .05": [0.65, 0.05],
    ".8 … .2, K = 10": np.linspace(0.8, 0.2, 10).tolist(),
    ".8 .3×14": [0.8] + [0.3] * 14,
}

HARD = (
    ".3 .2×4",
    ".045 .036",
    ".08 .07×2",
    ".85 .8×9",
    ".7 .64×2",
    ".7 .64×6",
    ".033 .026",
    ".998 .9965 .995",
)
"""Tuning instances on which worst runs were worst: small gaps, and those are a matter of luck."""


REPORTED: dict[str, list[float]] = {
    ".75 .625 .5 .375 .25": [0.75, 0.625, 0.5, 0.375, 0.25],
    ".5 .4×4": [0.5] + [0.4] * 4,
    ".9 .8 .85": [0.9, 0.8, 0.85],
    "clicks: .036 .03": [0.036, 0.03],
    "clicks: .06 .05×3": [0.06] + [0.05] * 3,
    "near one: .999 .998 .997": [0.999, 0.998, 0.997],
}
"""Beside the settings of the papers (`benchmarks.tails`)."""


class Cell(NamedTuple):
    name: str
    means: tuple[float, ...]
    epsilon: float


def cousins() -> dict[str, list[float]]:
    """Of the papers' settings and of the others that are reported, with other means and numbers of
    arms: preset "safe" was tuned on these, too.
    """
    found = {
        ".47 .36×3": [0.47] + [0.36] * 3,
        ".033 .026": [0.033, 0.026],
        ".998 .9965 .995": [0.998, 0.9965, 0.995],
        ".7 .1×5": [0.7] + [0.1] * 5,
        ".9 .78 .6": [0.9, 0.78, 0.6],
        ".6 .56×19": [0.6] + [0.56] * 19,
    }
    for arms in (3, 4, 7, 12):
        i, a = np.arange(1, arms + 1), 0.56 / (arms - 1) ** 2
        found[f".7 .64×{arms - 1}"] = [0.7] + [0.64] * (arms - 1)
        found[f".82 … .26, K = {arms}"] = np.linspace(0.82, 0.26, arms).tolist()
        found[f"like C3, K = {arms}"] = (a * (i - arms) ** 2 + 0.2).tolist()
        found[f"like C4, K = {arms}"] = (0.8 - a * (i - 1) ** 2).tolist()
    return found


def tuning_cells() -> list[Cell]:
    return [Cell(name, tuple(means), e) for e in (1, 0.1) for name, means in TUNING.items()]


def safe_cells() -> list[Cell]:
    """What preset "safe" was tuned on."""
    return tuning_cells() + [
        Cell(name, tuple(means), e) for e in (1, 0.4, 0.1) for name, means in cousins().items()
    ]


def reported_cells() -> list[Cell]:
    """The papers' 18 settings at three budgets, and the six others at two."""
    papers = [
        Cell(name, tuple(means), e) for name, means in settings().items() for e in (1, 0.5, 0.1)
    ]
    return [
        Cell(name, tuple(means), e) for e in (1, 0.1) for name, means in REPORTED.items()
    ] + papers
