"""A paper's figure: small panels in rows and columns, with one legend, of regret curves beside the
lower bound. Colours and scales are those of `plots`; `scaling` has panels of other numbers.
"""

from typing import Any, NamedTuple

import matplotlib
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator

from dpbandits.core.inputs import Floats
from dpbandits.core.privacy import printed_epsilon
from dpbandits.figures.floors import final_floor, floor_at
from dpbandits.figures.layout import mark_only
from dpbandits.figures.panels import Look, Panel, extremes, in_panel, looks
from dpbandits.figures.plots import PRIVATE_BOUND, STYLE, draw_curves, error_bars, scale_rounds
from dpbandits.sweeps.results import Results

CELL = (2.7, 2.1)  # inches, width and height of a panel
NARROWEST = 5.4  # inches: below it a legend is larger than its panel, and a label is cut off
NAME_WIDTH = 1.9  # inches, a name in the legend
DECADES = 1000  # the axis of rounds starts at this part of the last round
FLOOR = "lower bound Σ Δ ln T/d_ε"  # in the legend
STEP = 1.15  # least ratio of neighbouring rounds: closer ones cannot be told apart


class Drawing(NamedTuple):
    """name: file name without ending. caption: what the figure shows, for the page."""

    name: str
    caption: str
    figure: Figure


def regret_grid(results: Results, rows: list[list[Panel]], *, ends: str | None = None) -> Figure:
    """Mean regret with its 95 % band against rounds, both scales logarithmic, the same in every
    panel; beside it the lower bound, where one is known.

    ends: an environment whose final regret against ε takes one more panel in the last row.
    """
    panels = [panel for row in rows for panel in row]
    with matplotlib.rc_context(STYLE):
        columns = max(len(rows[0]), len(rows[-1]) + (ends is not None))
        figure, axes = cells(len(rows), columns, 0.75)
        # A policy without privacy is in several panels of one environment: its rows come once.
        shown = thinned(
            pl.concat([in_panel(results.bands, panel) for panel in panels]).unique(
                maintain_order=True
            )
        )
        first, last = extremes(shown["round"])
        at = np.unique(np.geomspace(max(2, first), last, 60).astype(np.int64))
        floors = {panel: floor_at(results, panel, at) for panel in panels}
        last_floors = known_floors(np.array([floor[-1] for floor in floors.values()]))
        for line, row in zip(axes, rows, strict=True):
            for ax, panel in zip(line, row, strict=False):
                ax.set_visible(True)
                draw_panel(ax, results, in_panel(shown, panel), panel.title)
                draw_floor(ax, at, floors[panel])
                scale_grid(ax, shown, last_floors)
            line[0].set_ylabel("regret")
        if ends is not None:
            draw_ends(axes[-1][len(rows[-1])], results, ends)
            scale_grid(axes[-1][len(rows[-1])], shown, last_floors)
        styles = looks(list(results.cells))
        named = [(label, styles[label]) for label in shown["label"].unique(maintain_order=True)]
        legend(figure, named + [(FLOOR, PRIVATE_BOUND)] * bool(len(last_floors)))
        figure.supxlabel("round (log scale); shaded: 95 % confidence band of the mean", fontsize=9)
    return figure


def known_floors(floors: Floats) -> Floats:
    """Those that are numbers."""
    return floors[np.isfinite(floors)]


def thinned(bands: pl.DataFrame) -> pl.DataFrame:
    """The rounds on the axis, without those too close to the next one."""
    last, *rounds = bands["round"].unique().sort(descending=True).to_list()
    kept = [last]
    for t in rounds:
        if last / DECADES <= t <= kept[-1] / STEP:
            kept.append(t)
    return bands.filter(pl.col("round").is_in(kept))


def draw_panel(ax: Axes, results: Results, shown: pl.DataFrame, title: str) -> None:
    draw_curves(ax, results, shown, "mean")
    scale_rounds(ax, *extremes(shown["round"]), True)
    ax.set_title(title, fontsize=9)


def draw_floor(ax: Axes, x: Any, floor: Floats) -> None:
    """The lower bound; nothing where none is known."""
    if len(known_floors(floor)):
        look = PRIVATE_BOUND
        ax.plot(x, floor, color=look.colour, linestyle=look.dash, linewidth=1.1)


def scale_grid(ax: Axes, shown: pl.DataFrame, floors: Floats) -> None:
    """The same logarithmic scale for every panel: from a third of the least final regret, or from
    where the least lower bound at the end can be seen. Regrets of 0 have no place on it.
    """
    last = (pl.col("round") == pl.col("round").max()) & (pl.col("mean") > 0)
    final = shown.filter(last)["mean"].to_numpy()
    low = np.concatenate([final / 3, floors / 1.5]).min(initial=np.inf)
    high = np.append(floors, extremes(shown["mean"])[1]).max()
    if low < high:  # else every regret is 0
        log_regret(ax, float(low), float(1.3 * high), 100, ",.0f")


def log_regret(ax: Axes, low: float, high: float, few: float, digits: str) -> None:
    """A logarithmic axis. few: up to this ratio of its ends it has numbers at 2 and 5, too."""
    ax.set_yscale("log")
    ax.set_ylim(low, high)
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high / low < few else (1.0,)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:{digits}}"))
    ax.minorticks_off()  # they are most of a small panel's file


def draw_ends(ax: Axes, results: Results, environment: str) -> None:
    """Mean regret at the end against ε, and the lower bound there."""
    ax.set_visible(True)
    styles = looks(list(results.cells))
    rows = results.summary.filter(
        (pl.col("environment") == environment) & pl.col("epsilon").is_not_null()
    )
    for (label,), part in rows.sort("epsilon").group_by("label", maintain_order=True):
        error_bars(ax, part["epsilon"], part["mean"], part["error"], styles[str(label)])
    at = rows["epsilon"].unique().sort().to_list()
    draw_floor(ax, at, np.array([final_floor(results, Panel(environment, e)) for e in at]))
    ax.set_xscale("log")
    if at[-1] < 50 * at[0]:  # few powers of ten lie between them, or none
        mark_only(ax, at, printed_epsilon)
    ax.set_title("final regret against ε", fontsize=9)


def legend(figure: Figure, named: list[tuple[str, Look]], width: float = NAME_WIDTH) -> None:
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
    width = max(columns * CELL[0] + 0.4, NARROWEST)
    figure = Figure(
        figsize=(width, rows * CELL[1] * (1.25 if columns == 1 else 1.0) + above),
        facecolor="white",
        layout="constrained",
    )
    axes = figure.subplots(rows, columns, squeeze=False)
    for ax in axes.flat:
        ax.set_visible(False)
    return figure, axes
