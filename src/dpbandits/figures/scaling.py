"""Panels of a number of each cell against K, ε or another size, or of a number against rounds, with
guides: lines to compare with, of which lower bounds are black and dotted in every figure.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import matplotlib
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpbandits.figures.grids import NAME_WIDTH, cells, legend, log_regret
from dpbandits.figures.layout import mark_only
from dpbandits.figures.panels import DASHES, OLIVE, Look, extremes
from dpbandits.figures.plots import FEW, PRIVATE_BOUND, STYLE, error_bars
from dpbandits.sweeps.results import Results

GUIDES = (Look(OLIVE, DASHES[1]), Look(OLIVE, DASHES[2]))


BELOW = "lower bound"  # in the name of a guide that is one


class Lines(NamedTuple):
    """One panel.

    frame: label, x, y and error; a line for each label.
    guides: name → y at each x of `at`; those named "… lower bound …" look like one.
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
    panels = [panel for row in rows for panel in row]
    guides = guide_looks(panels)
    every = pl.concat([panel.frame.select("label", "x", "y", "error") for panel in panels])
    named = [(label, styles[label]) for label in every["label"].unique(maintain_order=True)]
    floors = [
        y for panel in panels for name in panel.guides if BELOW in name for y in panel.guides[name]
    ]
    with matplotlib.rc_context(STYLE):
        figure, axes = cells(len(rows), max(len(row) for row in rows), 0.9)
        for line, row in zip(axes, rows, strict=True):
            for ax, panel in zip(line, row, strict=False):
                ax.set_visible(True)
                draw_lines(ax, panel, styles, guides)
                log_axes(ax, every, floors)
            line[0].set_ylabel(y)
        legend(figure, [*named, *guides.items()], NAME_WIDTH + 0.2)
        figure.supxlabel(f"{x}; bars: 95 % confidence interval of the mean", fontsize=9)
    return figure


def draw_lines(
    ax: Axes, panel: Lines, styles: Mapping[str, Look], guides: Mapping[str, Look]
) -> None:
    if panel.band is not None:
        ax.axhspan(*panel.band, color="#f0f0f0", zorder=0)
    for name, values in panel.guides.items():
        look = guides[name]
        ax.plot(panel.at, values, color=look.colour, linestyle=look.dash, linewidth=1.1)
    for (label,), part in panel.frame.group_by("label", maintain_order=True):
        look, part = styles[str(label)], part.sort("x")
        error_bars(ax, part["x"], part["y"], part["error"], look)
    ax.set_title(panel.title, fontsize=9)


def guide_looks(panels: Sequence[Lines]) -> dict[str, Look]:
    """The look of every guide, the lower bounds last."""
    names = dict.fromkeys(name for panel in panels for name in panel.guides)
    others, floors = ([n for n in names if (BELOW in n) is below] for below in (False, True))
    found = {name: GUIDES[i % len(GUIDES)] for i, name in enumerate(others)}
    return found | dict.fromkeys(floors, PRIVATE_BOUND)


def log_axes(ax: Axes, every: pl.DataFrame, floors: Sequence[float]) -> None:
    """Logarithmic, from a little below the least number to a little above the largest, lower bounds
    among them.
    """
    low, high = extremes(
        pl.concat(
            [every["y"], pl.Series([y for y in floors if math.isfinite(y)], dtype=pl.Float64)]
        )
    )
    xs = every["x"].unique().sort().to_list()
    ax.set_xscale("log")
    log_regret(ax, low / 1.5, 1.5 * high, FEW, ",.10g")
    if len(xs) <= 6 and all(math.log(b / a) > 0.15 for a, b in pairwise(xs)):
        mark_only(ax, xs)
