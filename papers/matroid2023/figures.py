"""Figures 1 to 5 of the matroid paper: return per round and regret on the seven vectors at each ε,
regret over ln n up to 10⁶ rounds, regret against 1/ε, and films.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl
from matplotlib.figure import Figure

from dpbandits.figures.grids import Drawing, Lines, line_grid, regret_grid
from dpbandits.figures.panels import Panel, in_panel, looks
from dpbandits.sweeps.results import Results

SEVEN, FILMS = 2.15, 6.901325  # what the best basis returns
FIRST = 100  # the first round that is drawn


def drawings(results: Mapping[str, Results]) -> Iterator[Drawing]:
    row = [Panel("seven vectors", epsilon) for epsilon in (1e-4, 2.0, 1e5)]
    yield Drawing(
        "returns",
        "Figures 1, 2 and 4a: seven vectors, mean return per round so far, by ε. Dotted: the best "
        "basis",
        returns(results["matroid2023"], row, SEVEN),
    )
    yield Drawing(
        "seven-vectors",
        "The same runs: regret, and final regret by ε",
        regret_grid(results["matroid2023"], [row], ends="seven vectors"),
    )
    yield Drawing(
        "growth",
        "Figure 5a: seven vectors, ε = 2, regret over ln n up to 10⁶ rounds",
        over_log(results["matroid2023-growth"], Panel("seven vectors, long", 2.0)),
    )
    yield Drawing(
        "budgets",
        "Figure 5b: regret after 10⁴ rounds against 1/ε. Dotted: a straight line",
        against_budget(results["matroid2023-budgets"]),
    )
    films = results.get("matroid2023-films")
    if films is not None:
        yield Drawing(
            "films-returns",
            "Figures 3 and 4b: a hundred films, ε = 2, mean return per round so far. Dotted: the "
            "best basis",
            returns(films, [Panel("films", 2.0)], FILMS),
        )
        yield Drawing(
            "films",
            "The same runs: regret",
            regret_grid(films, [[Panel("films", 2.0)]]),
        )


def returns(results: Results, row: list[Panel], optimum: float) -> Figure:
    """Mean return per round up to each round, beside that of the best basis."""
    panels = []
    for panel in row:
        frame = in_panel(results.bands, panel).filter(pl.col("round") >= FIRST)
        x = pl.col("round")
        frame = frame.with_columns(x=x, y=optimum - pl.col("mean") / x, error=pl.col("error") / x)
        at = frame["x"].unique().sort().to_list()
        panels.append(Lines(panel.title, frame, {"best basis": [optimum] * len(at)}, at))
    figure = by_round(results, panels, "return per round")
    lowest = min(panel.frame["y"].to_numpy().min() for panel in panels)
    return level_axes(figure, optimum - 1.05 * (optimum - lowest), optimum + 0.02)


def over_log(results: Results, panel: Panel) -> Figure:
    """Regret over ln n at each round n."""
    frame = in_panel(results.bands, panel).filter(pl.col("round") >= FIRST)
    log = pl.col("round").log()
    frame = frame.with_columns(
        x=pl.col("round"), y=pl.col("mean") / log, error=pl.col("error") / log
    )
    figure = by_round(results, [Lines(panel.title, frame)], "regret over ln n")
    return level_axes(figure, 0.0, 1.1 * frame["y"].to_numpy().max())


def by_round(results: Results, panels: list[Lines], y: str) -> Figure:
    return line_grid([panels], looks(list(results.cells)), x="round n (log scale)", y=y)


def level_axes(figure: Figure, low: float, high: float) -> Figure:
    """The figure with even scales from `low` to `high`."""
    for ax in figure.axes:
        ax.set_yscale("linear")
        ax.set_ylim(low, high)
    return figure


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
