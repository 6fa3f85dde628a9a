"""An audit on the terminal and as one HTML page with its picture. Needs the `experiments` extra; the audit itself does not."""

from __future__ import annotations

import io
import math
from base64 import b64encode
from html import escape
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from dpbandits.audit.report import AuditReport, LevelResult
from dpbandits.version import __version__

COLOURS = {"passed": "#2e7d32", "failed": "#c62828", "not applicable": "#757575"}
STYLES = {"passed": "green", "failed": "bold red", "not applicable": "dim"}


def figure_of(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "∞ (no ε holds)"


def surely(confidence: float) -> str:
    """1, or one minus a power of ten."""
    return "exact" if confidence == 1.0 else f"1 − {1 - confidence:.0e}"


def heading(report: AuditReport) -> str:
    claim = "no claim of an ε" if report.claim is None else f"claims ε = {figure_of(float(report.claim))}"
    return f"{report.subject}: {claim}"


def conclusion(report: AuditReport) -> str:
    """What a reader may quote: the verdict, what is certain, and how much was looked at."""
    failed = [level.level for level in report.levels if level.outcome == "failed"]
    leak = f"at least ε = {figure_of(report.lower_bound)} is certified to leak (confidence {surely(report.confidence)})"
    if not report.lower_bound:
        leak = "no leak is certified"
    if failed:
        verdict = f"FAILED at {' and '.join(failed)}: {leak}."
    elif report.passed:
        verdict = f"Passed: no level found more than the claim; {leak}."
    elif report.claim is None:
        verdict = f"Nothing to hold it to; {leak}."
    else:
        verdict = f"No verdict: no level could look; {leak}."
    return " ".join([verdict, *coverage(report)])


def coverage(report: AuditReport) -> list[str]:
    """Sentences on what was not looked at."""
    said = []
    for level in report.levels:
        done, of = level.details.get("pairs"), level.details.get("of")
        if done is not None and of is not None and done < of:
            said.append(f"The {level.level} level replayed {done:,} of {of:,} neighbours.")
    looked = [level.level for level in report.levels if level.outcome != "not applicable"]
    if looked == ["statistical"] and not report.lower_bound:
        said.append("Runs were all there was to look at, and nothing was seen in them: that is no evidence of privacy beyond these tapes.")
    return said


def table(report: AuditReport) -> Table:
    shown = Table(title=Text(heading(report)), title_justify="left", title_style="bold")
    for column in ("level", "verdict"):
        shown.add_column(column)
    for column in ("ε at least", "confidence", "seconds"):
        shown.add_column(column, justify="right")
    shown.add_column("evidence", overflow="fold")
    for level in report.levels:
        shown.add_row(*(Text(text, style=STYLES[level.outcome] if at == 1 else "") for at, text in enumerate(cells(level))))
    return shown


def cells(level: LevelResult) -> list[str]:
    seen = level.outcome != "not applicable" or level.lower_bound > 0
    bound = figure_of(level.lower_bound) if seen else "–"
    return [level.level, level.outcome, bound, surely(level.confidence) if seen else "–", f"{level.seconds:.1f}", level.evidence]


def write_page(report: AuditReport, path: Path) -> Path:
    """One file that needs no other."""
    rows = "\n".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells(level)) + "</tr>" for level in report.levels)
    names = "".join(f"<th>{name}</th>" for name in ("level", "verdict", "ε at least", "confidence", "seconds", "evidence"))
    image = b64encode(picture(report).encode()).decode()
    text = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Audit: {escape(report.subject)}</title>
<style>body{{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}}td,th{{padding:.3rem .8rem;
text-align:left;vertical-align:top;border-bottom:1px solid #ddd}}
table{{border-collapse:collapse}}img{{max-width:100%}}footer{{color:#666}}</style></head><body>
<h1>{escape(heading(report))}</h1>
<p><strong>{escape(conclusion(report))}</strong></p>
<figure><img alt="Certified epsilon of each level against the claim" src="data:image/svg+xml;base64,{image}"></figure>
<table><thead><tr>{names}</tr></thead><tbody>
{rows}
</tbody></table>
<p>{escape(MEANING)}</p>
<details><summary>As JSON</summary><pre>{escape(report.to_json())}</pre></details>
<footer>dpbandits {escape(__version__)}</footer></body></html>
"""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


MEANING = (
    "The transcript level replays runs with one record changed and the same noised values, and adds up the exact loss of the releases. "
    "The exact law is the probability of every decision sequence of a short run. The statistical level counts a learnt event in runs that "
    "took no part in the learning; its bound is wrong with the probability shown, at most. A bound below the claim refutes nothing: "
    "it is what could be certified."
)


def picture(report: AuditReport) -> str:
    """A bar a level: what it certified, and the claim as a line. SVG."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    levels = [level for level in report.levels if level.outcome != "not applicable" or level.lower_bound > 0]
    claim = None if report.claim is None else float(report.claim)
    top = max([level.lower_bound for level in levels if math.isfinite(level.lower_bound)] + [claim or 1.0])
    plot, axes = plt.subplots(figsize=(7, 0.9 + 0.55 * max(1, len(levels))), layout="constrained")
    for at, level in enumerate(levels):
        width = min(level.lower_bound, 1.25 * top)
        axes.barh(at, width, color=COLOURS[level.outcome], height=0.6)
        axes.text(width, at, " " + figure_of(level.lower_bound), va="center")
    if claim is not None:
        axes.axvline(claim, color="black", linestyle="--")
        axes.text(claim, -0.65, " claim", va="bottom")
    axes.set(yticks=range(len(levels)), yticklabels=[level.level for level in levels], xlabel="certified ε, at least", xlim=(0, 1.4 * top))
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)
    text = io.StringIO()
    save: Any = plot.savefig
    save(text, format="svg")
    plt.close(plot)
    return text.getvalue()
