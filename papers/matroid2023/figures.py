"""Figures 1 to 5 of the matroid paper: regret on the seven vectors at each ε and up to 10⁶ rounds,
regret against 1/ε, and films.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl
from matplotlib.figure import Figure

from dpbandits.figures.grids import Drawing, Lines, line_grid, regret_grid
from dpbandits.figures.panels import Panel, looks
from dpbandits.sweeps.results import Results


def drawings(results: Mapping[str, Results]) -> Iterator[Drawing]:
    row = [Panel("seven vectors", epsilon) for epsilon in (1e-4, 2.0, 1e5)]
    yield Drawing(
        "seven-vectors",
        "Figures 1, 2 and 4a: seven vectors, regret by ε",
        regret_grid(results["matroid2023"], [row], ends="seven vectors"),
    )
    long = [[Panel("seven vectors, long", 2.0)]]
    yield Drawing(
        "growth",
        "Figure 5a: seven vectors, ε = 2, up to 10⁶ rounds",
        regret_grid(results["matroid2023-growth"], long),
    )
    yield Drawing(
        "budgets",
        "Figure 5b: regret after 10⁴ rounds against 1/ε. Dotted: a straight line",
        against_budget(results["matroid2023-budgets"]),
    )
    films = results.get("matroid2023-films")
    if films is not None:
        yield Drawing(
            "films",
            "Figures 3 and 4b: a hundred films, ε = 2",
            regret_grid(films, [[Panel("films", 2.0)]]),
        )


def against_budget(results: Results) -> Figure:
    """Final regret against 1/ε, both scales logarithmic."""
    frame = results.summary.filter(pl.col("epsilon").is_not_null())
    frame = frame.with_columns(x=1.0 / pl.col("epsilon"), y=pl.col("mean")).sort("x")
    at = sorted(set(frame["x"].to_list()))
    steepest = frame.filter((pl.col("label") == "DPTS-MAT") & (pl.col("x") == at[-1]))["y"][0]
    guides = {"in proportion to 1/ε": [steepest * x / at[-1] for x in at]}
    return line_grid(
        [[Lines("seven vectors", frame, guides, at)]],
        looks(list(results.cells)),
        x="1/ε (log scale)",
        y="final regret",
    )
