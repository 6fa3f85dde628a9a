"""Everything a finished sweep leaves behind: tables as Parquet and CSV, figures as PNG and SVG, the HTML page."""

from __future__ import annotations

import re
from pathlib import Path

from dpbandits.experiments.panels import panels_of
from dpbandits.experiments.plots import epsilon_figure, regret_figure, save
from dpbandits.experiments.report import Figures, write_report
from dpbandits.experiments.results import Results

PANELS = 2
"""At most so many panels a figure: each stays readable on one screen, and its SVG small."""


def publish(results: Results, *, command: str) -> Path:
    """Write all of it into the sweep's folder; returns the page."""
    out = results.out
    results.curves.write_parquet(out / "curves.parquet", compression="zstd")
    results.summary.write_parquet(out / "summary.parquet")
    results.summary.write_csv(out / "summary.csv")
    return write_report(results, out / "report.html", figures=draw(results), command=command)


def draw(results: Results) -> Figures:
    """For each environment: regret against rounds, and where there are two budgets or more, final regret against ε."""
    figures: Figures = {}
    for name in results.config.loaded:
        panels = [panel for panel in panels_of(results) if panel.environment == name]
        folder, stem = results.out / "figures", slug(name)
        figures[name] = []
        for start in range(0, len(panels), PANELS):
            number = f"-{start // PANELS + 1}" if len(panels) > PANELS else ""
            figure = regret_figure(results, panels[start : start + PANELS], scaled_with=panels)
            _, svg = save(figure, folder / f"regret-{stem}{number}")
            figures[name].append((svg, "Mean regret against rounds; the names stand at the curves' ends"))
        if sum(panel.epsilon is not None for panel in panels) > 1:
            _, svg = save(epsilon_figure(results, name), folder / f"epsilon-{stem}")
            figures[name].append((svg, "Mean regret at the end against the privacy budget"))
    return figures


def slug(name: str) -> str:
    """A file name of letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "environment"
