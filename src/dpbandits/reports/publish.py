"""Everything a finished sweep leaves behind: tables as Parquet and CSV, figures as PNG, SVG
and PDF, the HTML page.
"""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

from dpbandits.figures.layout import NARROW, WIDE
from dpbandits.figures.panels import panels_of
from dpbandits.figures.plots import epsilon_figure, regret_figure, save
from dpbandits.reports.report import Figures, Picture, write_report
from dpbandits.sweeps.results import Results

PANELS = 2
"""At most so many panels a figure: each stays readable on one screen, and its SVG small."""


def publish(results: Results, *, command: str) -> Path:
    """Write all of it into the sweep's folder; returns the page."""
    out = results.out
    results.curves.write_parquet(out / "curves.parquet", compression="zstd")
    results.summary.write_parquet(out / "summary.parquet")
    for_spreadsheets(results.summary).write_csv(out / "summary.csv")
    return write_report(results, out / "report.html", figures=draw(results), command=command)


def for_spreadsheets(table: pl.DataFrame) -> pl.DataFrame:
    """The table with an apostrophe before text that a spreadsheet would take for a formula. Numbers
    stay as they are.
    """
    text = pl.col(pl.String)
    return table.with_columns(
        pl.when(text.str.contains(r"^[=+\-@\t\r]"))
        .then(pl.lit("'") + text)
        .otherwise(text)
        .name.keep()
    )


def draw(results: Results) -> Figures:
    """For each environment: regret against rounds, and where there are two budgets or more, final
    regret against ε.
    """
    figures: Figures = {}
    for name in results.config.loaded:
        panels = [panel for panel in panels_of(results) if panel.environment == name]
        folder, stem = results.out / "figures", slug(name)
        figures[name] = []
        for start in range(0, len(panels), PANELS):
            number = f"-{start // PANELS + 1}" if len(panels) > PANELS else ""
            make = partial(
                regret_figure, results, panels[start : start + PANELS], scaled_with=panels
            )
            figures[name].append(
                both(make, folder / f"regret-{stem}{number}", "Mean regret against rounds")
            )
        if sum(panel.epsilon is not None for panel in panels) > 1:
            make = partial(epsilon_figure, results, name)
            figures[name].append(
                both(
                    make,
                    folder / f"epsilon-{stem}",
                    "Mean regret at the end against the privacy budget",
                )
            )
    return figures


def both(make: Callable[..., Figure], stem: Path, caption: str) -> Picture:
    """One figure twice: as wide as a desk's screen allows, and as narrow as a phone's."""
    wide = save(make(layout=WIDE), stem)
    narrow = save(make(layout=NARROW), stem.with_name(stem.name + "-narrow"))
    return Picture(wide.svg, narrow.svg, caption)


def slug(name: str) -> str:
    """A file name of letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "environment"
