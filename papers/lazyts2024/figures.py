"""Figures 1 and 2 of Hu, Huang, Mehta and Hegde 2024, with DP-KLUCB and the lower bound beside the paper's four."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dpbandits.experiments.grids import Drawing, regret_grid
from dpbandits.experiments.panels import Panel
from dpbandits.experiments.results import Results

FIGURES = {"different gaps": "means .75 .625 .5 .375 .25", "equal gaps": "means .5 and four times .4"}


def drawings(results: Mapping[str, Results]) -> Iterator[Drawing]:
    for number, (name, means) in enumerate(FIGURES.items(), start=1):
        row = [Panel(name, epsilon) for epsilon in (0.25, 0.5, 1.0)]
        yield Drawing(f"figure-{number}", f"Figure {number}: {name}, {means}", regret_grid(results["lazyts2024"], [row], bound=True))
