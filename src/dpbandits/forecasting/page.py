"""A forecast as a figure, loss against ε, and as one page of HTML with its table."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from dpbandits.core.privacy import printed_epsilon
from dpbandits.forecasting.outcome import HEADS, MEANINGS, Forecast, Foreseen, notes_of, with_errors
from dpbandits.pages import write_page
from dpbandits.plots import STYLE, blank, error_bars, legend, looks_of, mark_only, save


def forecast_figure(found: Forecast) -> Figure:
    """Draw expected loss against ε, a curve for each policy; what has no ε is a level line."""
    groups: dict[str, list[Foreseen]] = {}
    for row in found:
        groups.setdefault(row.policy, []).append(row)
    styles = looks_of(
        {name: None if rows[0].epsilon is None else name for name, rows in groups.items()}
    )
    epsilons = sorted({row.epsilon for row in found if row.epsilon is not None})
    ends = [epsilons[0] / 1.15, epsilons[-1] * 1.15]
    with matplotlib.rc_context(STYLE):
        figure = blank(1, 1)
        ax = figure.subplots()
        for name, rows in groups.items():
            loss, look = [row.loss for row in rows], styles[name]
            if rows[0].epsilon is None:
                ax.plot(ends, loss * 2, color=look.colour, linestyle=look.dash)
            else:
                x = [row.epsilon for row in rows]
                error_bars(ax, x, loss, [row.error for row in rows], look)
        ax.set_xscale("log")
        ax.set_xlim(*ends)
        mark_only(ax, epsilons, printed_epsilon)
        ax.set_ylim(0, 1.12 * max(row.loss + 2 * row.error for row in found) or 1.0)
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        ax.set_title(f"What {found.visitors:,} visitors are expected to lose")
        ax.set_ylabel(found.units)
        ax.set_xlabel("privacy budget ε (log scale); bars: 95 % intervals")
        legend(figure, styles, {name: rows[-1].loss for name, rows in groups.items()})
    return figure


def write_forecast_page(found: Forecast, path: Path) -> Path:
    """Write a page that needs no other file."""
    with TemporaryDirectory() as folder:
        figure = save(forecast_figure(found), Path(folder) / "figure").svg.read_bytes()
    return write_page(
        path,
        "forecast.html",
        title="What will privacy cost?",
        lead=found.title,
        figure=figure,
        heads=HEADS,
        meanings=MEANINGS | notes_of(found.draws, found.played_as),
        rows=[(row.epsilon is None, with_errors(row, found.draws)) for row in found],
        about=found.about,
        seed=found.seed,
    )
