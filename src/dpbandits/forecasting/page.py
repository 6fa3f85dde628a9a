"""A forecast as a figure, loss against ε, and as one page of HTML with its table."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from dpbandits.core.privacy import printed_epsilon
from dpbandits.figures.layout import (
    NARROW,
    WIDE,
    End,
    Layout,
    below,
    canvas,
    mark_only,
    write_names,
    write_title,
)
from dpbandits.figures.panels import DASHES, GREY, LOOKS, OTHERS, SOLID, Look
from dpbandits.figures.plots import STYLE, error_bars, save
from dpbandits.forecasting.outcome import (
    EQUAL,
    HEADS,
    MEANINGS,
    Forecast,
    Foreseen,
    notes_of,
    with_errors,
)
from dpbandits.pages import write_page

SHARES = Look(GREY, DASHES[3])


def forecast_figure(found: Forecast, layout: Layout = WIDE) -> Figure:
    """Every policy's curve with its name; what has no ε is a level line."""
    groups: dict[str, list[Foreseen]] = {}
    for row in found:
        groups.setdefault(row.policy, []).append(row)
    epsilons = sorted({row.epsilon for row in found if row.epsilon is not None})
    with matplotlib.rc_context(STYLE):
        figure, (ax,) = canvas(1, layout, len(groups))
        ends = [
            draw_rows(ax, rows, epsilons, curve_look(name, at))
            for at, (name, rows) in enumerate(groups.items())
        ]
        ax.set_xscale("log")
        ax.set_xlim(epsilons[0] / 1.15, epsilons[-1] * 1.15)
        mark_only(ax, epsilons, printed_epsilon)
        ax.set_ylim(0, 1.12 * max(row.loss + 2 * row.error for row in found) or 1.0)
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        write_title(ax, f"What {found.visitors:,} visitors are expected to lose")
        ax.set_ylabel(found.units)
        axis = "privacy budget ε (log scale); bars: 95 % confidence interval of the expectation"
        below(ax, axis, layout)
        write_names(ax, ends, layout)
    return figure


def draw_rows(ax: Axes, rows: list[Foreseen], epsilons: list[float], look: Look) -> End:
    level = rows[0].epsilon is None
    x = [epsilons[0] / 1.15, epsilons[-1] * 1.15] if level else [row.epsilon or 0.0 for row in rows]
    loss = np.array([row.loss for row in rows] * (2 if level else 1))
    error = np.array([row.error for row in rows] * (2 if level else 1))
    if level:
        ax.plot(x, loss, color=look.colour, linestyle=look.dash, linewidth=1.4)
    else:
        error_bars(ax, x, loss, error, look, "o", size=4, width=1.6)
    return End(rows[0].policy, float(x[-1]), float(loss[-1]), look)


def curve_look(name: str, at: int) -> Look:
    if name == EQUAL:
        return SHARES
    return LOOKS.get(name) or Look(OTHERS[at % len(OTHERS)], SOLID)


def write_forecast_page(found: Forecast, path: Path) -> Path:
    """Write a page that needs no other file."""
    with TemporaryDirectory() as folder:
        wide, narrow = (
            save(forecast_figure(found, layout), Path(folder) / name)[1].read_bytes()
            for name, layout in (("wide", WIDE), ("narrow", NARROW))
        )
    return write_page(
        path,
        "forecast.html",
        title="What will privacy cost?",
        lead=found.title,
        wide=wide,
        narrow=narrow,
        heads=HEADS,
        meanings=MEANINGS | notes_of(found.draws),
        rows=[(row.epsilon is None, with_errors(row, found.draws)) for row in found],
        about=found.about,
        seed=found.seed,
    )
