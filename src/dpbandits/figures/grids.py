"""A paper's figure: small panels in rows and columns, with one legend. Curves, colours and scales
are those of `plots`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import matplotlib
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator

from dpbandits.figures.compared_policies import Panel, in_panel
from dpbandits.figures.palette import Look, looks
from dpbandits.figures.plots import PRIVATE_BOUND, STYLE, draw_curves, error_bars, scale_rounds
from dpbandits.sweeps.results import Results
from dpbandits.theory import private_lower_bound

CELL = (2.7, 2.1)  # inches, width and height of a panel
NAME = 1.9  # inches, a name in the legend
DECADES = 1000  # the axis of rounds starts at this part of the last round
STEP = 1.15  # least ratio of neighbouring rounds: closer ones cannot be told apart


class Drawing(NamedTuple):
    """name: file name without ending. caption: what the figure shows, for the page."""

    name: str
    caption: str
    figure: Figure


def regret_grid(
    results: Results, rows: list[list[Panel]], *, bound: bool = False, ends: str | None = None
) -> Figure:
    """Mean regret with its 95 % band against rounds, both scales logarithmic, the same in every
    panel.

    bound: add Σ Δ ln T/d_ε. ends: an environment whose final regret against ε takes one more panel
        in the last row.
    """
    with matplotlib.rc_context(STYLE):
        columns = max(len(rows[0]), len(rows[-1]) + (ends is not None))
        figure, axes = cells(len(rows), columns, 0.75)
        # A policy without privacy is in several panels of one environment: its rows come once.
        shown = thinned(
            pl.concat([in_panel(results.bands, panel) for row in rows for panel in row]).unique(
                maintain_order=True
            )
        )
        for line, row in zip(axes, rows, strict=True):
            for ax, panel in zip(line, row, strict=False):
                ax.set_visible(True)
                draw_panel(ax, results, in_panel(shown, panel), panel, bound)
                scale_grid(ax, shown)
            line[0].set_ylabel("regret")
        if ends is not None:
            draw_ends(axes[-1][len(rows[-1])], results, ends)
            scale_grid(axes[-1][len(rows[-1])], shown)
        styles = looks(list(results.cells))
        named = [(label, styles[label]) for label in shown["label"].unique(maintain_order=True)]
        legend(figure, named + [("lower bound Σ Δ ln T/d_ε", PRIVATE_BOUND)] * bound)
        figure.supxlabel("round (log scale); shaded: 95 % confidence band of the mean", fontsize=9)
    return figure


def thinned(bands: pl.DataFrame) -> pl.DataFrame:
    """The rounds on the axis, without those too close to the next one."""
    last, *rounds = bands["round"].unique().sort(descending=True).to_list()
    kept = [last]
    for t in rounds:
        if last / DECADES <= t <= kept[-1] / STEP:
            kept.append(t)
    return bands.filter(pl.col("round").is_in(kept))


def draw_panel(ax: Axes, results: Results, shown: pl.DataFrame, panel: Panel, bound: bool) -> None:
    draw_curves(ax, results, shown, "mean")
    first, last = int(shown["round"].min()), int(shown["round"].max())  # type: ignore[arg-type]
    scale_rounds(ax, first, last, True)
    ax.set_title(panel.title, fontsize=9)
    if bound and panel.epsilon is not None:
        environment = next(
            cell.environment for cell in results.cells if cell.setting == panel.environment
        )
        x = np.geomspace(max(2, first), last, 60)
        y = [private_lower_bound(environment, t, panel.epsilon) for t in x]
        ax.plot(x, y, color=PRIVATE_BOUND.colour, linestyle=PRIVATE_BOUND.dash, linewidth=1.1)


def scale_grid(ax: Axes, shown: pl.DataFrame) -> None:
    """The same logarithmic scale for every panel, from a third of the least final regret."""
    final = shown.filter(pl.col("round") == pl.col("round").max())["mean"]
    low, high = float(final.min()) / 3, 1.3 * float(shown["mean"].max())  # type: ignore[arg-type]
    ax.set_yscale("log")
    ax.set_ylim(low, high)
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high / low < 100 else (1.0,)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.minorticks_off()  # they are most of a small panel's file


def draw_ends(ax: Axes, results: Results, environment: str) -> None:
    """Mean regret at the end against ε."""
    ax.set_visible(True)
    styles = looks(list(results.cells))
    rows = results.summary.filter(
        (pl.col("environment") == environment) & pl.col("epsilon").is_not_null()
    )
    for (label,), part in rows.sort("epsilon").group_by("label", maintain_order=True):
        error_bars(ax, part["epsilon"], part["mean"], part["error"], styles[str(label)])
    ax.set_xscale("log")
    ax.set_title("final regret against ε", fontsize=9)


def legend(figure: Figure, named: list[tuple[str, Look]], width: float = NAME) -> None:
    """One for all panels, above them. width: of a name, in inches."""
    lines = [
        Line2D([], [], color=look.colour, linestyle=look.dash, label=label) for label, look in named
    ]
    figure.legend(
        handles=lines,
        loc="outside upper center",
        ncols=min(len(lines), int(figure.get_figwidth() / width)),
        frameon=False,
        fontsize=9,
        handlelength=3,
    )


def cells(rows: int, columns: int, above: float) -> tuple[Figure, Any]:
    """A figure and its axes, shape (rows, columns), none of which is seen yet. above: inches for
    the legend.
    """
    figure = Figure(
        figsize=(columns * CELL[0] + 0.4, rows * CELL[1] + above),
        facecolor="white",
        layout="constrained",
    )
    axes = figure.subplots(rows, columns, squeeze=False)
    for ax in axes.flat:
        ax.set_visible(False)
    return figure, axes
