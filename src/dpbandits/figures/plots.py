"""Figures: regret against rounds, and final regret against ε. PNG, small SVG, and PDF."""

import re
from pathlib import Path
from typing import Any, Literal, NamedTuple

import matplotlib
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from PIL import Image

from dpbandits.core.privacy import Grid, printed_epsilon
from dpbandits.environments import Environment
from dpbandits.figures.layout import (
    WIDE,
    End,
    Layout,
    below,
    canvas,
    mark_only,
    write_names,
    write_title,
)
from dpbandits.figures.panels import BOUND, DASHES, Look, Panel, extremes, in_panel, looks
from dpbandits.sweeps.results import Results
from dpbandits.theory import lai_robbins, private_lower_bound

Band = Literal["mean", "runs", "both"]
"""What is shaded: the 95 % confidence band of the mean, the range of 90 % of the runs (lighter), or
both.
"""

SHADING = {
    "mean": "shaded: 95 % confidence band of the mean",
    "runs": "shaded: the middle 90 % of runs",
    "both": "dark: 95 % confidence band of the mean, light: 90 % of runs",
}

STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#888888",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "xtick.color": "#444444",
    "ytick.color": "#444444",
    "svg.fonttype": "none",  # text stays text: small, and it can be searched
    "pdf.fonttype": 42,  # letters, not drawings of them: journals ask for it
    "svg.hashsalt": "dpbandits",  # the same figure is the same file
}
# from this ratio between the largest and the smallest final regret on, the axis is logarithmic
SPREAD = 6.0
# up to this ratio of its ends, a logarithmic axis of regret has numbers at 2 and 5, too
FEW = 300.0
DECADES = 1000  # a logarithmic axis of rounds starts at this part of the last round
PRIVATE_BOUND, PLAIN_BOUND = Look(BOUND, DASHES[3]), Look("#777777", DASHES[3])


def regret_figure(
    results: Results,
    panels: list[Panel],
    *,
    log_x: bool = True,
    band: Band = "both",
    scaled_with: list[Panel] | None = None,
    layout: Layout = WIDE,
) -> Figure:
    """Mean regret against rounds, one panel below the other on the same scales, every curve with
    its name.

    scaled_with: panels whose curves the scales are to hold, where several figures belong together;
        by default `panels`.
    """
    with matplotlib.rc_context(STYLE):
        named = [in_panel(results.summary, panel)["label"].n_unique() for panel in panels]
        figure, axes = canvas(len(panels), layout, 2 + max(named))
        shown = pl.concat(
            [in_panel(results.bands, panel) for panel in scaled_with or panels]
        ).unique(maintain_order=True)
        _, last = extremes(shown["round"])
        shown = shown.filter(pl.col("round") >= (last // DECADES if log_x else 1))
        first, _ = extremes(shown["round"])
        rounds = np.geomspace(max(2, first), last, 60)
        for ax, panel in zip(axes, panels, strict=True):
            ends = draw_curves(ax, results, in_panel(shown, panel), band)
            ends += draw_bounds(ax, results.config.built[panel.environment], panel, rounds)
            scale_rounds(ax, first, last, log_x)
            scale_regret(ax, shown, below=6)
            write_title(ax, panel.title)
            ax.set_ylabel("regret")
            write_names(ax, ends, layout)
        below(axes[-1], f"round{' (log scale)' if log_x else ''}; {SHADING[band]}", layout)
    return figure


def epsilon_figure(
    results: Results, environment: str, *, log_x: bool = True, layout: Layout = WIDE
) -> Figure:
    """Mean regret at the end against ε, with its 95 % confidence interval; policies without ε are
    level lines.
    """
    rows = results.summary.filter(pl.col("environment") == environment)
    epsilons = rows["epsilon"].drop_nulls().unique().sort().to_list()
    with matplotlib.rc_context(STYLE):
        figure, (ax,) = canvas(1, layout, rows["label"].n_unique())
        ends, styles = [], looks(list(results.cells))
        for (label,), part in rows.group_by("label", maintain_order=True):
            look, part = styles[str(label)], part.sort("epsilon")
            level = bool(part["epsilon"].null_count())
            x = epsilons if level else part["epsilon"].to_list()
            mean, error = (
                np.broadcast_to(part[name].fill_null(0).to_numpy(), (len(x),))
                for name in ("mean", "error")
            )
            error_bars(ax, x, mean, error, look, "" if level else "o", size=4, width=1.6)
            ends.append(End(str(label), x[-1], float(mean[-1]), look))
        ax.set_xscale("log" if log_x else "linear")
        mark_only(ax, epsilons, printed_epsilon)
        scale_regret(ax, rows.with_columns(round=pl.col("rounds")), below=1.5)
        write_title(ax, environment)
        ax.set_ylabel("regret at the end")
        axis = f"privacy budget ε{' (log scale)' if log_x else ''}"
        below(ax, f"{axis}; bars: 95 % confidence interval of the mean", layout)
        write_names(ax, ends, layout)
    return figure


def error_bars(
    ax: Axes,
    x: Any,
    y: Any,
    error: Any,
    look: Look,
    marker: str = "o",
    size: float = 3,
    width: float = 1.4,
) -> None:
    """A line through the numbers, each with its 95 % confidence interval; one without an error has
    none.
    """
    ax.errorbar(
        x,
        y,
        1.96 * np.nan_to_num(np.asarray(error, np.float64)),
        color=look.colour,
        linestyle=look.dash,
        marker=marker,
        markersize=size,
        linewidth=width,
    )


class SavedFigure(NamedTuple):
    """The files of one figure."""

    png: Path
    svg: Path
    pdf: Path


def save(figure: Figure, stem: Path) -> SavedFigure:
    """Write stem.png, stem.svg and stem.pdf; the same figure always gives the same files."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    png, svg, pdf = (stem.with_name(stem.name + end) for end in (".png", ".svg", ".pdf"))
    with matplotlib.rc_context(STYLE):
        figure.savefig(pdf, metadata={"CreationDate": None, "Creator": None, "Producer": None})
        figure.savefig(png, dpi=130, metadata={"Software": None})
        figure.savefig(svg, metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    with Image.open(png) as image:
        few = image.convert("RGB").quantize(256)  # colours enough, and a third of the file
    few.save(png, optimize=True)
    # Units are 1/72 inch: one decimal is enough. With that and without indentation the file is a
    # third of the size.
    text = re.sub(r"(\d\.\d)\d+", r"\1", svg.read_text(encoding="utf-8"))
    svg.write_text(re.sub(r"\n +", "\n", text), encoding="utf-8")
    return SavedFigure(png, svg, pdf)


def draw_curves(ax: Axes, results: Results, shown: pl.DataFrame, band: Band) -> list[End]:
    styles, ends = looks(list(results.cells)), []
    for (label,), curve in shown.group_by("label", maintain_order=True):
        look, x, mean = styles[str(label)], curve["round"].to_numpy(), curve["mean"].to_numpy()
        shade: dict[str, Any] = {"color": look.colour, "linewidth": 0}
        if band != "mean":
            low, high = curve["q05"].to_numpy(), curve["q95"].to_numpy()
            ax.fill_between(x, low, high, alpha=0.13, **shade)
        if band != "runs":
            error = 1.96 * curve["error"].fill_null(0).to_numpy()
            ax.fill_between(x, mean - error, mean + error, alpha=0.35, **shade)
        ax.plot(x, mean, color=look.colour, linestyle=look.dash, linewidth=1.7)
        ends.append(End(str(label), float(x[-1]), float(mean[-1]), look))
    return ends


def draw_bounds(ax: Axes, environment: Environment, panel: Panel, rounds: np.ndarray) -> list[End]:
    """The bounds that no consistent policy beats in the long run: without privacy, and with ε-DP.
    Nothing is drawn where the law of independent rounds is not known.
    """
    if environment.fixed or environment.lattice(Grid()) is None:
        return []
    bounds = [
        ("lower bound, no privacy", PLAIN_BOUND, [lai_robbins(environment, t) for t in rounds])
    ]
    if (epsilon := panel.epsilon) is not None:
        name = f"lower bound, ε = {printed_epsilon(epsilon)}"
        bounds.append(
            (name, PRIVATE_BOUND, [private_lower_bound(environment, t, epsilon) for t in rounds])
        )
    for _, look, values in bounds:
        ax.plot(rounds, values, color=look.colour, linestyle=look.dash, linewidth=1.1)
    return [End(name, float(rounds[-1]), values[-1], look) for name, look, values in bounds]


def scale_rounds(ax: Axes, first: float, last: float, log_x: bool) -> None:
    ax.set_xscale("log" if log_x else "linear")
    ax.set_xlim(first if log_x else 0, last)
    if not log_x:
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def scale_regret(ax: Axes, shown: pl.DataFrame, below: float) -> None:
    """The same scale for every panel of a figure. If policies differ much it is logarithmic, from
    (least regret at the end)/below.
    """
    final = shown.filter(pl.col("round") == pl.col("round").max().over("label"))["mean"]
    low, high = extremes(final)
    top = 1.12 * max(high, *extremes(shown["mean"])) or 1.0
    if low > 0 and high / low > SPREAD:
        ax.set_yscale("log")
        ax.set_ylim(low / below, 1.3 * top)
        ax.yaxis.set_major_locator(
            LogLocator(subs=(1, 2, 5) if 1.3 * top / low * below < FEW else (1,))
        )
        ax.yaxis.set_minor_formatter(NullFormatter())
    else:
        ax.set_ylim(0, top)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
