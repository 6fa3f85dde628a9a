"""Figures 1 to 12 of Hu, Huang and Mehta 2021, one a setting: regret at every ε, and final regret against ε."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dpbandits.experiments.grids import Drawing, regret_grid
from dpbandits.experiments.panels import Panel
from dpbandits.experiments.results import Results

ROWS = ((0.1, 0.25, 0.5, 1.0), (8.0, 64.0, 128.0))
FIGURES = {"setting 1": "1 to 5 and 9", "setting 2": "6 to 8, 10 and 11", "setting 3": "12"}


def drawings(results: Mapping[str, Results]) -> Iterator[Drawing]:
    for name, numbers in FIGURES.items():
        rows = [[Panel(name, epsilon) for epsilon in row] for row in ROWS]
        figure = regret_grid(results["lazy2021"], rows, ends=name)
        yield Drawing(
            name.replace(" ", "-"), f"Figures {numbers}: mean reward {name}. The two Hybrid-UCB lie on each other almost everywhere", figure
        )
