"""The layout of a figure: where its axes stand, and where the names of its curves are written, on a
desk and on a phone. Names at the ends of curves are moved apart where curves end close together.
"""

from collections.abc import Callable
from math import ceil
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator
from scipy.optimize import isotonic_regression

from dpbandits.figures.panels import Look

POINT = 1 / 72  # of an inch


class End(NamedTuple):
    """The last point of a curve, in data coordinates."""

    text: str
    x: float
    y: float
    look: Look


def spread(wanted: list[float], gap: float, low: float, high: float) -> list[float]:
    """Positions in the order of `wanted`, at least `gap` apart, within [low, high], as near to the
    wanted ones as that allows.

    Neighbours that are too close join a group, which is centred on its members' mean (least
    squares).
    """
    if not wanted:
        return []
    steps = min(gap, (high - low) / max(1, len(wanted) - 1)) * np.arange(len(wanted))
    order = np.argsort(wanted, kind="stable")
    level = isotonic_regression(np.asarray(wanted)[order] - steps).x
    placed = np.empty(len(wanted))
    placed[order] = np.minimum(np.maximum(level, low), high - steps[-1]) + steps
    return [float(place) for place in placed]


def label_ends(axes: Axes, ends: list[End], size: float = 9) -> None:
    """Write each name to the right of the axes with a line from the curve's end. Limits and scales
    must be final.
    """
    to_axes = axes.transData + axes.transAxes.inverted()
    points = [to_axes.transform((end.x, end.y)) for end in ends]
    figure: Any = axes.figure  # never a part of another: only whole ones have a size in inches
    height = axes.get_position().height * figure.get_size_inches()[1]
    places = spread([float(p[1]) for p in points], 1.25 * size * POINT / height, 0.02, 0.98)
    for end, point, place in zip(ends, points, places, strict=True):
        line = ([point[0], 1.025, 1.055], [point[1], place, place])
        axes.plot(
            *line,
            transform=axes.transAxes,
            clip_on=False,
            color=end.look.colour,
            linestyle=end.look.dash,
            linewidth=1.4,
        )
        axes.text(
            1.065,
            place,
            end.text,
            transform=axes.transAxes,
            va="center",
            fontsize=size,
            color="#222222",
        )


class Layout(NamedTuple):
    """Lengths in inches.

    names: room on the right for the names of the curves at their ends; 0: the names stand below the
        axes instead.
    letters, size: how long a line below the axes may be, and how large its letters are (points).
    """

    width: float
    left: float
    names: float
    row: float
    top: float = 0.4
    bottom: float = 0.6
    letters: int = 200
    size: float = 10


WIDE = Layout(width=8.0, left=0.85, names=1.95, row=3.3)
NARROW = Layout(width=4.0, left=0.72, names=0.0, row=2.9, bottom=0.75, letters=54, size=8)
"""The width of a phone's screen, on which letters keep their size."""

ONE_COLUMN = Layout(width=3.4, left=0.68, names=0.0, row=2.6, bottom=0.75, letters=46, size=8)
TWO_COLUMNS = Layout(width=7.0, left=0.8, names=1.95, row=2.9, letters=90)
"""The widths of a column, and of both, on a page of most journals."""

RIGHT, LINE = 0.15, 0.165  # inches: a margin where no names stand, and a line of names


def canvas(rows: int, layout: Layout = WIDE, names: int = 0) -> tuple[Figure, list[Axes]]:
    """A figure of `rows` axes, with room for so many names below each where the layout writes them
    there.
    """
    below = 0.0 if layout.names else ceil(names / 2) * LINE + layout.bottom
    row = layout.row + below
    height = rows * row + (layout.bottom - 0.2 if layout.names else 0.0)
    figure = Figure(figsize=(layout.width, height), facecolor="white")
    axes, inner = [], layout.row - layout.top
    for number in range(rows):
        bottom = height - (number + 1) * row + below + inner * 0.12
        wide = layout.width - layout.left - (layout.names or RIGHT)
        axes.append(
            figure.add_axes(
                (
                    layout.left / layout.width,
                    bottom / height,
                    wide / layout.width,
                    inner * 0.88 / height,
                )
            )
        )
    return figure, axes


def write_names(axes: Axes, ends: list[End], layout: Layout) -> None:
    """Every curve's name: at its end, or in two columns below. Limits and scales must be final."""
    if layout.names:
        label_ends(axes, ends)
        return
    ends = sorted(ends, key=lambda end: -end.y)  # as the curves end, from the top
    lines = [
        Line2D(
            [], [], color=end.look.colour, linestyle=end.look.dash, linewidth=1.7, label=end.text
        )
        for end in ends
    ]
    figure = axes.figure
    place = axes.get_position()
    inches: Any = figure  # a figure of its own: only those have a size in inches
    corner = (0.01, place.y0 - (layout.bottom - 0.05) / inches.get_size_inches()[1])
    axes.legend(
        handles=lines,
        loc="upper left",
        bbox_to_anchor=corner,
        bbox_transform=figure.transFigure,
        ncols=2,
        fontsize=8,
        frameon=False,
        handlelength=1.6,
        columnspacing=0.8,
        borderaxespad=0.0,
        borderpad=0.0,
        labelspacing=0.4,
    )


def mark_only(
    axes: Axes, places: list[float], text: Callable[[float], str] = "{:g}".format
) -> None:
    """Marks on the x axis at these places, in full, and nowhere else. text: of a place."""
    axes.xaxis.set_major_locator(FixedLocator(places))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FixedFormatter(list(map(text, places))))


def write_title(axes: Axes, text: str) -> None:
    """The axes' title, in smaller letters where it would go on beyond the figure."""
    title = axes.set_title(text)
    size = title.get_fontproperties().get_size_in_points()
    while title.get_window_extent().x1 > axes.figure.bbox.width - 2 and size > 5:
        size -= 0.25  # not in proportion: letters are hinted
        title.set_fontsize(size)


def below(axes: Axes, text: str, layout: Layout) -> None:
    """The x axis' label, in as many lines as it takes."""
    axes.set_xlabel(fill(text, layout.letters), fontsize=layout.size)
