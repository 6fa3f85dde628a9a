"""A paper's figure: small panels in rows and columns, with one legend, of regret curves, or of a
number of each cell against K or another size. Colours and scales are those of `plots`.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import matplotlib
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from dpbandits.figures.panels import BOUND, DASHES, Look, Panel, extremes, in_panel, looks
from dpbandits.figures.plots import FEW, PRIVATE_BOUND, STYLE, draw_curves, error_bars, scale_rounds
from dpbandits.sweeps.results import Results
from dpbandits.theory import private_lower_bound

CELL = (2.7, 2.1)  # inches, width and height of a panel
NARROWEST = 5.4  # inches: below it a legend is larger than its panel, and a label is cut off
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
    first, last = extremes(shown["round"])
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
    log_regret(ax, extremes(final)[0] / 3, 1.3 * extremes(shown["mean"])[1], 100, ",.0f")


def log_regret(ax: Axes, low: float, high: float, few: float, digits: str) -> None:
    """A logarithmic axis. few: up to this ratio of its ends it has numbers at 2 and 5, too."""
    ax.set_yscale("log")
    ax.set_ylim(low, high)
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high / low < few else (1.0,)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:{digits}}"))
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


GUIDES = (Look(BOUND, DASHES[3]), Look("#777777", DASHES[1]))


class Lines(NamedTuple):
    """One panel.

    frame: label, x, y and error; a line for each label.
    guides: name → y at each x of `at`.
    band: the range of y that is shaded.
    """

    title: str
    frame: pl.DataFrame
    guides: Mapping[str, Sequence[float]] = {}
    at: Sequence[float] = ()
    band: tuple[float, float] | None = None


def sized(results: Results) -> pl.DataFrame:
    """The summary with each environment's `arms`, smallest `gap`, and (where there is an ε) `rate`
    = ln K/min(Δ, ε).
    """
    sizes = [
        {"environment": name, "arms": e.arms, "gap": round(float(e.gaps[e.gaps > 0].min()), 12)}
        for name, e in results.config.built.items()
    ]
    joined = results.summary.join(
        pl.DataFrame(sizes), on="environment", how="left", maintain_order="left"
    )
    return joined.with_columns(rate=pl.col("arms").log() / pl.min_horizontal("gap", "epsilon"))


def line_grid(
    rows: Sequence[Sequence[Lines]], styles: Mapping[str, Look], *, x: str, y: str
) -> Figure:
    """Panels in rows, both scales logarithmic, the same in every panel. Bars: 95 % confidence
    intervals.
    """
    guides = list(dict.fromkeys(name for row in rows for panel in row for name in panel.guides))
    every = pl.concat(
        [panel.frame.select("label", "x", "y", "error") for row in rows for panel in row]
    )
    named = [(label, styles[label]) for label in every["label"].unique(maintain_order=True)]
    named += [(name, look_of(i)) for i, name in enumerate(guides)]
    with matplotlib.rc_context(STYLE):
        figure, axes = cells(len(rows), max(len(row) for row in rows), 0.9)
        for line, row in zip(axes, rows, strict=True):
            for ax, panel in zip(line, row, strict=False):
                ax.set_visible(True)
                draw_lines(ax, panel, styles)
                log_axes(ax, every)
            line[0].set_ylabel(y)
        legend(figure, named, NAME + 0.2)
        figure.supxlabel(f"{x}; bars: 95 % confidence interval of the mean", fontsize=9)
    return figure


def draw_lines(ax: Axes, panel: Lines, styles: Mapping[str, Look]) -> None:
    if panel.band is not None:
        ax.axhspan(*panel.band, color="#f0f0f0", zorder=0)
    for i, values in enumerate(panel.guides.values()):
        ax.plot(panel.at, values, color=look_of(i).colour, linestyle=look_of(i).dash, linewidth=1.1)
    for (label,), part in panel.frame.group_by("label", maintain_order=True):
        look, part = styles[str(label)], part.sort("x")
        error_bars(ax, part["x"], part["y"], part["error"], look)
    ax.set_title(panel.title, fontsize=9)


def look_of(guide: int) -> Look:
    return GUIDES[guide % len(GUIDES)]


def log_axes(ax: Axes, every: pl.DataFrame) -> None:
    """Logarithmic, from a little below the least number to a little above the largest."""
    low, high = extremes(every["y"])
    xs = every["x"].unique().sort().to_list()
    ax.set_xscale("log")
    log_regret(ax, low / 1.5, 1.5 * high, FEW, ",.10g")
    if len(xs) <= 6 and all(math.log(b / a) > 0.15 for a, b in pairwise(xs)):
        ax.xaxis.set_major_locator(FixedLocator(xs))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
