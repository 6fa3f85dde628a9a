"""A forecast as one page of HTML, with its figure and its table."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from dpbandits.figures.layout import NARROW, WIDE
from dpbandits.figures.plots import save
from dpbandits.forecasting.foreseen import ForecastRows
from dpbandits.forecasting.pictures import forecast_figure
from dpbandits.forecasting.rows import HEADS, MEANINGS, notes_of, with_errors
from dpbandits.pages import write_page


def write_forecast_page(found: ForecastRows, path: Path) -> Path:
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
