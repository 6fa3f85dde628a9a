"""One HTML page that says everything about a sweep: what was run, the figures, the tables, how to
repeat it.
"""

from __future__ import annotations

import platform
from dataclasses import fields
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from dpbandits.figures.compared_policies import compared, panels_of
from dpbandits.policies.contract import Policy
from dpbandits.reports import page
from dpbandits.reports.answers import answers
from dpbandits.reports.comparison import COLUMNS, PROMISE, Column, TableRow, rounded, table_rows
from dpbandits.sweeps.results import Results
from dpbandits.version import __version__

Figures = dict[str, list[page.Picture]]
"""For each environment."""


def write_report(results: Results, path: Path, *, figures: Figures, command: str) -> Path:
    """Write the page; it needs no other file and no network."""
    config = results.config
    template = Template((files(__package__) / "report.html").read_text(encoding="utf-8"))
    text = template.substitute(
        title=escape(config.title),
        about=page.paragraph(" ".join(config.about.split()), "lead"),
        answers="\n".join(page.paragraph(text, "answer") for text in answers(results)),
        environments="\n".join(
            environment_part(results, name, figures.get(name, [])) for name in config.loaded
        ),
        columns=page.definitions([*COLUMNS[1:], PROMISE]),
        policies=policy_table(results),
        facts=page.paragraph(what_was_run(results)),
        command=escape(command),
        sweep=page.details("The sweep file", f"<pre>{escape(config.text)}</pre>")
        if config.text
        else "",
        sources=page.items(sources(results)),
        version=escape(__version__),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def environment_part(results: Results, name: str, figures: list[page.Picture]) -> str:
    """One environment: its arms, its figures, and a table for each ε."""
    loaded = results.config.loaded[name]
    means, gaps = loaded.environment.means.tolist(), loaded.environment.gaps.tolist()
    names = loaded.arms or tuple(f"arm {i}" for i in range(len(means)))
    arms = page.html_table(
        ARMS, [[n, f"{m:.4g}", f"{g:.4g}"] for n, m, g in zip(names, means, gaps, strict=True)]
    )
    summary = f"{len(means)} arms, mean rewards from {min(means):.3g} to {max(means):.3g}"
    parts = [
        f"<h2>{escape(name)}</h2>",
        page.paragraph(loaded.source, "small"),
        page.details(summary, arms),
    ]
    parts += [page.figure(picture, f"{picture.caption} ({name})") for picture in figures]
    for panel in panels_of(results):
        if panel.environment == name:
            columns = (*COLUMNS, PROMISE)
            plain = [
                row["guarantee"] is None for row in compared(results, panel).iter_rows(named=True)
            ]
            table = page.html_table(columns, table_rows(results, panel, columns), plain)
            parts += [f"<h3>{escape(panel.title)}</h3>", f'<div class="wide">{table}</div>']
    return "\n".join(parts)


def policy_table(results: Results) -> str:
    """Every label: class and hyper-parameters, algorithm, paper, regret bound."""
    seen = {cell.label: cell.policy for cell in results.cells}
    rows = [
        [
            label,
            call(policy),
            f"{policy.about.algorithm}: {policy.about.paper}",
            policy.about.bound,
            policy.about.twin or "–",
        ]
        for label, policy in seen.items()
    ]
    return page.html_table(POLICY_COLUMNS, rows)


def call(policy: Policy) -> str:
    """The class and the hyper-parameters that differ from their defaults; budget, arms and horizon
    are the sweep's.
    """
    own = [
        f
        for f in fields(policy)
        if f.name not in ("arms", "epsilon", "rho", "horizon", "beta", "first")
    ]
    changed = [
        f"{f.name}={getattr(policy, f.name)!r}" for f in own if getattr(policy, f.name) != f.default
    ]
    return f"{type(policy).__name__}({', '.join(changed)})"


def what_was_run(results: Results) -> str:
    config, summary = results.config, results.summary
    rounds = sorted({f"{n:,}" for n in summary["rounds"]})
    seconds = float(summary["seconds"].sum())
    return (
        f"{len(results.cells)} cells (policy × environment × budget) of {' or '.join(rounds)} "
        f"rounds each, seed {config.seed}; "
        f"{rounded(seconds)} seconds of computing in all, on Python {platform.python_version()} "
        f"({platform.system()}). "
        f"{order_of_arms(results)} {kinds(results)}"
    )


PSEUDO = (
    "Regret is pseudo-regret: the sum over rounds of the best arm's mean minus the mean of the "
    "arm that was played."
)
HINDSIGHT = (
    "the realised reward of the best fixed arm in hindsight minus that of the arms that were "
    "played; it is below 0 where a policy beat "
    "every fixed arm. There is no lower bound for rounds that are not independent."
)


def order_of_arms(results: Results) -> str:
    if not any(cell.shuffled for cell in results.cells):
        return "Arms have the numbers by which their problem names them, in every run."
    but = (
        ""
        if all(cell.shuffled for cell in results.cells)
        else " Arms of super arms keep the numbers by which their problem names them."
    )
    return (
        "Every run numbers the arms anew, so the order in which they are listed favours none." + but
    )


def kinds(results: Results) -> str:
    """What regret means, in the environments of this sweep."""
    fixed = list(dict.fromkeys(cell.setting for cell in results.cells if cell.hindsight))
    if not fixed:
        return PSEUDO
    where = f"In {', '.join(fixed)}, whose rows are played in their order, regret is {HINDSIGHT}"
    return where if all(cell.hindsight for cell in results.cells) else f"{PSEUDO} {where}"


def sources(results: Results) -> list[str]:
    """Papers of the policies, then origins of the data; each once."""
    papers = sorted({cell.policy.about.paper for cell in results.cells})
    return papers + list(
        dict.fromkeys(loaded.source for loaded in results.config.loaded.values() if loaded.source)
    )


def nothing(row: TableRow) -> str:
    return ""


ARMS = (
    Column("arm", "", nothing, number=False),
    Column("mean reward", "", nothing),
    Column("gap to the best", "", nothing),
)
POLICY_COLUMNS = tuple(
    Column(t, "", nothing, number=False)
    for t in ("policy", "class", "source", "regret bound", "non-private twin")
)
