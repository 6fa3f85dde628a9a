"""Figures of papers: small panels in rows and columns with one legend above them.

`regret_grid` has regret curves beside the lower bound, `line_grid` a number of each cell against
K, ε or another size, or a number against rounds, with guides to compare with.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import matplotlib
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpbandits.core.inputs import Floats
from dpbandits.core.privacy import as_fraction, printed_epsilon
from dpbandits.plots import (
    BOUND,
    DASHES,
    STYLE,
    Look,
    Panel,
    draw_curves,
    error_bars,
    extremes,
    in_panel,
    line_of,
    log_regret,
    looks,
    mark_only,
    scale_rounds,
)
from dpbandits.sweeps.cells import Cell
from dpbandits.sweeps.results import Results
from dpbandits.theory import lower_bound

DOTTED = "Dotted: the lower bound, a limit of regret/ln T"
"""What a caption says of the bound for consistent policies."""


def floor_at(results: Results, panel: Panel, rounds: Iterable[int]) -> Floats:
    """The lower bound for ε-DP policies at each of `rounds`; NaN where none is known: without an ε,
    on super arms that are too many to list, and on those whose rewards depend on each other.
    """
    rounds = list(rounds)
    cell = cell_that_promises(results, panel)
    if cell is None or cell.environment.fixed:
        return np.full(len(rounds), math.nan)
    return np.array([lower_bound(cell.policy, cell.environment, int(t)) for t in rounds])


def final_floor(results: Results, panel: Panel) -> float:
    """The same at the last round that was played in the panel; NaN where none is known."""
    cell = cell_that_promises(results, panel)
    return math.nan if cell is None else float(floor_at(results, panel, [cell.rounds])[0])


def cell_that_promises(results: Results, panel: Panel) -> Cell | None:
    """The first cell in the panel whose policy promises exactly the panel's ε: some presets, as
    printed in a paper, promise more than they are given. One with a trusted curator, if there is
    one: its bound holds for locally private policies, too.
    """
    found = [
        (guarantee.trust == "local", cell)
        for cell in results.cells
        if (cell.setting, cell.epsilon) == (panel.environment, panel.epsilon)
        and panel.epsilon is not None
        and (guarantee := cell.policy.guarantee) is not None
        and guarantee.cost == as_fraction(panel.epsilon, "epsilon")
    ]
    return min(found, key=lambda pair: pair[0])[1] if found else None


CELL = (2.7, 2.1)  # inches, width and height of a panel
NARROWEST = 5.4  # inches: below it a legend is larger than its panel, and a label is cut off
NAME_WIDTH = 1.9  # inches, a name in the legend
DECADES = 1000  # the axis of rounds starts at this part of the last round
BELOW = "lower bound"  # in the name of a guide that is one
FLOOR = "lower bound (limit, d_ε)"  # in the legend
STEP = 1.15  # least ratio of neighbouring rounds: closer ones cannot be told apart


class Drawing(NamedTuple):
    """name: file name without ending. caption: what the figure shows. shown: whether the page has
    it; the others are drawn beside the results only.
    """

    name: str
    caption: str
    figure: Figure
    shown: bool = True

    @property
    def lines(self) -> list[str]:
        """What the legend names beside lower bounds, sorted."""
        texts = [text.get_text() for legend in self.figure.legends for text in legend.get_texts()]
        return sorted(text for text in texts if BELOW not in text)


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
        styles = looks(results.cells)
        named = [(label, styles[label]) for label in shown["label"].unique(maintain_order=True)]
        legend_above(figure, named + [(FLOOR, BOUND)] * bool(len(last_floors)))
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
    draw_curves(ax, looks(results.cells), shown)
    scale_rounds(ax, *extremes(shown["round"]))
    ax.set_title(title, fontsize=9)


def draw_floor(ax: Axes, x: Any, floor: Floats) -> None:
    """The lower bound; nothing where none is known."""
    if len(known_floors(floor)):
        look = BOUND
        ax.plot(x, floor, color=look.colour, linestyle=look.dash, linewidth=look.width)


def scale_grid(ax: Axes, shown: pl.DataFrame, floors: Floats) -> None:
    """The same logarithmic scale for every panel: from a third of the least final regret, or from
    where the least lower bound at the end can be seen. Regrets of 0 have no place on it.
    """
    last = (pl.col("round") == pl.col("round").max()) & (pl.col("mean") > 0)
    final = shown.filter(last)["mean"].to_numpy()
    low = np.concatenate([final / 3, floors / 1.5]).min(initial=np.inf)
    high = np.append(floors, extremes(shown["mean"])[1]).max()
    if low < high:  # else every regret is 0
        log_regret(ax, float(low), float(1.3 * high))


def draw_ends(ax: Axes, results: Results, environment: str) -> None:
    """Mean regret at the end against ε, and the lower bound there."""
    ax.set_visible(True)
    styles = looks(results.cells)
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


def legend_above(figure: Figure, named: list[tuple[str, Look]], width: float = NAME_WIDTH) -> None:
    """One for all panels, above them. width: of a name, in inches."""
    lines = [line_of(label, look) for label, look in named]
    figure.legend(
        handles=lines,
        loc="outside upper center",
        ncols=min(len(lines), int(figure.get_figwidth() / width)),
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


GUIDES = (Look("#999933", DASHES[1]), Look("#999933", DASHES[2]))


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
        legend_above(figure, [*named, *guides.items()], NAME_WIDTH + 0.2)
        figure.supxlabel(f"{x}; bars: 95 % confidence interval of the mean", fontsize=9)
    return figure


def draw_lines(
    ax: Axes, panel: Lines, styles: Mapping[str, Look], guides: Mapping[str, Look]
) -> None:
    if panel.band is not None:
        ax.axhspan(*panel.band, color="#f0f0f0", zorder=0)
    for name, values in panel.guides.items():
        look = guides[name]
        ax.plot(panel.at, values, color=look.colour, linestyle=look.dash, linewidth=look.width)
    for (label,), part in panel.frame.group_by("label", maintain_order=True):
        look, part = styles[str(label)], part.sort("x")
        error_bars(ax, part["x"], part["y"], part["error"], look)
    ax.set_title(panel.title, fontsize=9)


def guide_looks(panels: Sequence[Lines]) -> dict[str, Look]:
    """The look of every guide, the lower bounds last."""
    names = dict.fromkeys(name for panel in panels for name in panel.guides)
    others, floors = ([n for n in names if (BELOW in n) is below] for below in (False, True))
    found = {name: GUIDES[i % len(GUIDES)] for i, name in enumerate(others)}
    return found | dict.fromkeys(floors, BOUND)


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
    log_regret(ax, low / 1.5, 1.5 * high)
    if len(xs) <= 6 and all(math.log(b / a) > 0.15 for a, b in pairwise(xs)):
        mark_only(ax, xs)
