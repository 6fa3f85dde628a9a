"""Names written at the ends of curves instead of a legend, moved apart where curves end close
together.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from scipy.optimize import isotonic_regression

from dpbandits.figures.palette import Look

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
