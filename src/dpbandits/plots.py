"""Figures of results: regret against rounds, and final regret against ε.

One style for all figures. The policy that `dpbandits.recommend` returns by default stands out:
it has a colour of its own and a thicker line. Other private policies take colours in their order,
and policies without privacy are grey and dashed.
"""

from collections.abc import Callable, Iterable, Mapping
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, LogLocator, NullLocator

from dpbandits.core.inputs import require_one_of
from dpbandits.core.privacy import printed_epsilon
from dpbandits.policies.recommended import RECOMMENDED
from dpbandits.sweeps.cells import Cell
from dpbandits.sweeps.results import Results

STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.titlesize": 10,
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
    "figure.facecolor": "white",
    "legend.frameon": False,
    "legend.fontsize": 9,
    "legend.handlelength": 2.5,
    "svg.fonttype": "none",  # text stays text: small, and it can be searched
    "svg.hashsalt": "dpbandits",  # the same figure is the same file
}

Dash = tuple[int, tuple[float, ...]]
SOLID: Dash = (0, ())
DASHES: tuple[Dash, ...] = (SOLID, (0, (5, 2)), (0, (5, 1.5, 1, 1.5)), (0, (1.5, 1.5)))
DEFAULT = "#D55E00"
COLOURS = ("#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#999933")
"""Okabe and Ito's palette, then Tol's: told apart under the common colour-vision deficiencies."""
GREYS = ("#4d4d4d", "#808080", "#a6a6a6")

SPREAD = 6.0
"""From this ratio between the largest and the least final regret on, the axis is logarithmic."""

DECADES = 1000
"""A logarithmic axis of rounds starts at this part of the last round."""


class Panel(NamedTuple):
    """The policies at one ε in one environment, together with those without an ε.

    epsilon: None if nothing in the sweep has an ε.
    """

    environment: str
    epsilon: float | None

    @property
    def title(self) -> str:
        return self.environment + (
            "" if self.epsilon is None else f", ε = {printed_epsilon(self.epsilon)}"
        )


def panels_of(results: Results) -> list[Panel]:
    """Every environment with each of its budgets, in the sweep's order, small ε first."""
    panels = []
    for (name,), part in results.summary.group_by("environment", maintain_order=True):
        epsilons = part["epsilon"].drop_nulls().unique().sort().to_list()
        panels += [Panel(str(name), epsilon) for epsilon in epsilons or [None]]
    return panels


def in_panel(frame: pl.DataFrame, panel: Panel) -> pl.DataFrame:
    """The panel's rows of a results table."""
    return frame.filter(
        (pl.col("environment") == panel.environment)
        & (pl.col("epsilon").is_null() | pl.col("epsilon").eq(pl.lit(panel.epsilon, pl.Float64)))
    )


def compared(results: Results, panel: Panel) -> pl.DataFrame:
    """The panel's rows of the summary, private policies first, least mean regret first."""
    return in_panel(results.summary, panel).sort(pl.col("guarantee").is_null(), "mean")


class Look(NamedTuple):
    """colour: hexadecimal. dash: matplotlib's (offset, pattern). width: of the line, in points."""

    colour: str
    dash: Dash = SOLID
    width: float = 1.4


BOUND = Look("#000000", DASHES[3], 1.1)
"""Of every lower bound."""


def looks(cells: Iterable[Cell]) -> dict[str, Look]:
    """The look of every label."""
    policies = {cell.label: cell.policy for cell in cells}
    kinds = {
        label: None if policy.guarantee is None else type(policy).__name__
        for label, policy in policies.items()
    }
    return looks_of(kinds)


def looks_of(kinds: Mapping[str, str | None]) -> dict[str, Look]:
    """The look of every label, by the class of its policy; None: it has no privacy."""
    found: dict[str, Look] = {}
    private = grey = 0
    for label, kind in kinds.items():
        if kind is None:
            found[label] = Look(GREYS[grey % 3], DASHES[1 + grey // 3 % 3])
            grey += 1
        elif kind == RECOMMENDED[0] and not any(look.colour == DEFAULT for look in found.values()):
            found[label] = Look(DEFAULT, SOLID, 2.4)
        else:
            found[label] = Look(COLOURS[private % 7], DASHES[private // 7 % 4])
            private += 1
    return found


def regret_figure(results: Results, panels: list[Panel]) -> Figure:
    """Draw mean regret against rounds with its 95 % confidence band, a panel for each ε on the same
    scales. A title names the private policy that loses least.
    """
    both = [in_panel(results.bands, panel) for panel in panels]  # without ε: in each of them
    shown = pl.concat(both).unique(maintain_order=True)
    last = int(extremes(shown["round"])[1])
    shown = shown.filter(pl.col("round") >= last // DECADES)
    config, styles = results.config, looks(results.cells)
    columns = min(2, len(panels))
    with matplotlib.rc_context(STYLE):
        figure = blank(columns, ceil(len(panels) / columns))
        axes = figure.subplots(
            ceil(len(panels) / columns), columns, sharex=True, sharey=True, squeeze=False
        )
        ends: dict[str, float] = {}
        for ax, panel in zip(axes.flat, panels, strict=False):
            ends |= draw_curves(ax, styles, in_panel(shown, panel))
            scale_rounds(ax, *extremes(shown["round"]))
            scale_regret(ax, shown, below=6)
            ax.set_title(f"{panel.title}\n{finding(results, panel)}")
        for ax in axes.flat[len(panels) :]:
            ax.set_visible(False)
        for ax in axes.flat[len(panels) - columns : len(panels)]:  # none is seen below
            ax.tick_params(labelbottom=True)
        figure.supylabel(f"mean regret, {config.unit}", fontsize=10)
        figure.supxlabel(f"{config.each} (log scale); shaded: 95 % confidence band", fontsize=10)
        legend(figure, styles, ends)
    return figure


def finding(results: Results, panel: Panel) -> str:
    """Which policy loses least of those played longest, of the private ones if there are any."""
    rows = compared(results, panel)
    row = rows.filter(pl.col("rounds") == rows["rounds"].max()).row(0, named=True)
    kind = "least with privacy" if row["guarantee"] is not None else "least"
    return f"{kind}: {row['label']}, {row['mean']:,.0f}"


def epsilon_figure(results: Results, environment: str) -> Figure:
    """Draw mean regret at the end against ε, with its 95 % confidence interval; policies without ε
    are level lines.

    Raises:
        ValueError: the sweep has no such environment.
    """
    names = results.summary["environment"].unique(maintain_order=True)
    require_one_of(environment, "environment", *names)
    rows = results.summary.filter(pl.col("environment") == environment)
    epsilons = rows["epsilon"].drop_nulls().unique().sort().to_list()
    config, styles, ends = results.config, looks(results.cells), dict[str, float]()
    with matplotlib.rc_context(STYLE):
        figure = blank(1, 1)
        ax = figure.subplots()
        for (label,), part in rows.group_by("label", maintain_order=True):
            part = part.sort("epsilon")
            level = bool(part["epsilon"].null_count())
            x = epsilons if level else part["epsilon"].to_list()
            mean, error = (
                np.broadcast_to(part[name].fill_null(0).to_numpy(), (len(x),))
                for name in ("mean", "error")
            )
            error_bars(ax, x, mean, error, styles[str(label)], "" if level else "o")
            ends[str(label)] = float(mean[-1])
        ax.set_xscale("log")
        mark_only(ax, epsilons, printed_epsilon)
        scale_regret(ax, rows.with_columns(round=pl.col("rounds")), below=1.5)
        ax.set_title(f"{environment}: regret by budget")
        ax.set_ylabel(f"mean regret at the end, {config.unit}")
        ax.set_xlabel("privacy budget ε (log scale); bars: 95 % intervals")
        legend(figure, styles, ends)
    return figure


def blank(columns: int, rows: int) -> Figure:
    """An empty figure, with room for so many panels and a legend at their right."""
    return Figure(figsize=(3.6 * columns + 2.6, 3.2 * rows + 0.3), layout="constrained")


def legend(figure: Figure, styles: Mapping[str, Look], ends: Mapping[str, float]) -> None:
    """At the right, in the order in which the curves end, from the top."""
    lines = [line_of(name, styles[name]) for name in sorted(ends, key=lambda name: -ends[name])]
    figure.legend(handles=lines, loc="outside right upper")


def line_of(name: str, look: Look) -> Line2D:
    """An entry of a legend."""
    return Line2D([], [], color=look.colour, linestyle=look.dash, linewidth=look.width, label=name)


def draw_curves(ax: Axes, styles: Mapping[str, Look], shown: pl.DataFrame) -> dict[str, float]:
    """Mean regret of each label with its 95 % confidence band; returns where the curves end."""
    ends = {}
    for (label,), curve in shown.group_by("label", maintain_order=True):
        look, x, mean = styles[str(label)], curve["round"].to_numpy(), curve["mean"].to_numpy()
        error = 1.96 * curve["error"].fill_null(0).to_numpy()
        ax.fill_between(x, mean - error, mean + error, color=look.colour, alpha=0.3, linewidth=0)
        point = "o" if len(x) == 1 else ""
        ax.plot(x, mean, marker=point, color=look.colour, linestyle=look.dash, linewidth=look.width)
        ends[str(label)] = float(mean[-1])
    return ends


def error_bars(ax: Axes, x: Any, y: Any, error: Any, look: Look, marker: str = "o") -> None:
    """A line through the numbers, each with its 95 % confidence interval, if it has an error."""
    ax.errorbar(
        x,
        y,
        1.96 * np.nan_to_num(np.asarray(error, np.float64)),
        color=look.colour,
        linestyle=look.dash,
        marker=marker,
        markersize=3,
        linewidth=look.width,
    )


def scale_rounds(ax: Axes, first: float, last: float) -> None:
    """The axis of rounds."""
    ax.set_xscale("log")
    ax.set_xlim(first if first < last else last / 2, last)


def scale_regret(ax: Axes, shown: pl.DataFrame, below: float) -> None:
    """The axis of regret, from 0, or below it where a mean is, up to the ends of intervals. If
    policies differ much it is logarithmic, from (least regret at the end)/below.
    """
    final = shown.filter(pl.col("round") == pl.col("round").max().over("label"))["mean"]
    low, high = extremes(final)
    half = 1.96 * shown["error"].fill_null(0)
    top = 1.12 * max(0.0, extremes(shown["mean"] + half)[1])
    negative = extremes(shown["mean"])[0] < 0
    if low > 0 and high / low > SPREAD and not negative:
        log_regret(ax, low / below, 1.3 * top)
    else:
        bottom = 1.12 * extremes(shown["mean"] - half)[0] if negative else 0.0
        ax.set_ylim(bottom, top if top > bottom else 1.0)
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def log_regret(ax: Axes, low: float, high: float) -> None:
    """A logarithmic axis. Where it is short it has numbers at 2 and 5, too."""
    ax.set_yscale("log")
    ax.set_ylim(low, high)
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high / low < 1000 else (1.0,)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    ax.yaxis.set_minor_locator(NullLocator())


def mark_only(ax: Axes, places: list[float], text: Callable[[float], str] = "{:g}".format) -> None:
    """Marks on the x axis at these places, in full, and nowhere else."""
    ax.xaxis.set_major_locator(FixedLocator(places))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FixedFormatter(list(map(text, places))))


def extremes(column: pl.Series) -> tuple[float, float]:
    """The least and the largest number of a column."""
    numbers = column.to_numpy()
    return float(numbers.min()), float(numbers.max())


class SavedFigure(NamedTuple):
    """The files of one figure."""

    png: Path
    svg: Path


def save(figure: Figure, stem: str | Path) -> SavedFigure:
    """Write stem.png and stem.svg; the same figure always gives the same files."""
    stem = Path(stem)
    stem.parent.mkdir(parents=True, exist_ok=True)
    png, svg = (stem.with_name(stem.name + end) for end in (".png", ".svg"))
    with matplotlib.rc_context(STYLE):
        figure.savefig(png, dpi=130, metadata={"Software": None})
        figure.savefig(svg, metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return SavedFigure(png, svg)
