"""Figures of rates: a number of each cell against K, or against another size, in small panels with
one legend.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import matplotlib
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from dpbandits.figures.grids import NAME, cells, legend
from dpbandits.figures.palette import BOUND, DASHES, Look
from dpbandits.figures.plots import FEW, STYLE, error_bars
from dpbandits.sweeps.results import Results

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
    low, high = (
        float(np.min(every["y"].to_numpy())) / 1.5,
        1.5 * float(np.max(every["y"].to_numpy())),
    )
    xs = every["x"].unique().sort().to_list()
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_ylim(low, high)
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high / low < FEW else (1.0,)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    if len(xs) <= 6 and all(math.log(b / a) > 0.15 for a, b in pairwise(xs)):
        ax.xaxis.set_major_locator(FixedLocator(xs))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.minorticks_off()
