"""An audit on the terminal and as one HTML page with its picture. Needs the `experiments` extra;
the audit itself does not.
"""

import io
import math
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from dpbandits.auditing.report import (
    COLUMNS,
    AuditReport,
    conclusion,
    figure_of,
    heading,
    level_cells,
)
from dpbandits.pages import write_page

COLOURS = {
    "passed": "#2e7d32",
    "not refuted": "#1565c0",
    "failed": "#c62828",
    "no verdict": "#757575",
    "not applicable": "#757575",
}
STYLES = {
    "passed": "green",
    "not refuted": "",
    "failed": "bold red",
    "no verdict": "yellow",
    "not applicable": "dim",
}


def report_table(report: AuditReport) -> Table:
    """The figures, a row for each level. Evidence takes sentences, so it stands below."""
    shown = Table(title=Text(heading(report)), title_justify="left", title_style="bold")
    for at, column in enumerate(COLUMNS[:-1]):
        shown.add_column(
            column,
            justify="right" if at >= 2 else "left",
            overflow="fold",
            no_wrap=at < 2,
        )
    for level in report.levels:
        shown.add_row(
            *(
                Text(text, style=STYLES[level.outcome] if at == 1 else "")
                for at, text in enumerate(level_cells(level)[:-1])
            )
        )
    return shown


def show(report: AuditReport, console: Console) -> None:
    """The table, the evidence of each level and the conclusion, on a terminal."""
    console.print(report_table(report))
    for level in report.levels:
        if level.evidence:
            said = f"{level.level}: {level.evidence}"
            console.print(said, markup=False, highlight=False)
    console.print()
    console.print(conclusion(report), markup=False, highlight=False)


def write_audit_page(report: AuditReport, path: Path) -> Path:
    """Write a page that needs no other file."""
    return write_page(
        path,
        "audit.html",
        title=f"Audit: {heading(report)}",
        conclusion=conclusion(report),
        picture=picture(report).encode(),
        columns=COLUMNS,
        rows=[level_cells(level) for level in report.levels],
        json=report.to_json(),
    )


def picture(report: AuditReport) -> str:
    """An SVG with a bar for each level: the epsilon it certified, on a pale bar that ends at the
    largest epsilon it could have certified. A line shows the claim.
    """
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    levels = [
        level
        for level in report.levels
        if level.outcome != "not applicable" or level.lower_bound > 0
    ]
    claim = None if report.claim is None else float(report.claim)
    top = max(
        [level.lower_bound for level in levels if math.isfinite(level.lower_bound)] + [claim or 1.0]
    )
    plot, axes = plt.subplots(figsize=(7, 0.9 + 0.55 * max(1, len(levels))), layout="constrained")
    for at, level in enumerate(levels):
        axes.barh(at, min(level.reach, 1.4 * top), color="#e0e0e0", height=0.6)
        width = min(level.lower_bound, 1.25 * top)
        axes.barh(at, width, color=COLOURS[level.outcome], height=0.6)
        axes.text(width, at, " " + figure_of(level.lower_bound), va="center")
    if claim is not None:
        axes.axvline(claim, color="black", linestyle="--")
        axes.text(claim, -0.65, " claim", va="bottom")
    axes.set(
        yticks=range(len(levels)),
        yticklabels=[level.level for level in levels],
        xlabel="certified ε, at least",
        xlim=(0, 1.4 * top),
    )
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)
    text = io.StringIO()
    save: Any = plot.savefig
    save(text, format="svg")
    plt.close(plot)
    return text.getvalue()
