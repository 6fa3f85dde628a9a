"""One HTML page that says everything about a sweep: what was run, the figures, the tables, how to
repeat it.
"""

import platform
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

from dpbandits.figures.panels import Panel, compared, panels_of
from dpbandits.pages import write_page
from dpbandits.policies.contract import Policy
from dpbandits.reports.comparison import COLUMNS, PROMISE, rounded, table_rows
from dpbandits.reports.prices import answers
from dpbandits.sweeps.results import Results


class Picture(NamedTuple):
    """One figure as SVG files: wide for a desk, narrow for a phone."""

    wide: Path
    narrow: Path
    caption: str


Figures = dict[str, list[Picture]]
"""For each environment."""

Rows = list[tuple[bool, list[str]]]
"""Of a table on the page: whether a row is set back, and its texts."""


def write_report(results: Results, path: Path, *, figures: Figures, command: str) -> Path:
    """Write the page; it needs no other file and no network."""
    config = results.config
    return write_page(
        path,
        "report.html",
        title=config.title,
        about=" ".join(config.about.split()),
        answers=answers(results),
        environments=[
            environment_part(results, name, figures.get(name, [])) for name in config.loaded
        ],
        columns=(*COLUMNS, PROMISE),
        arm_columns=ARM_COLUMNS,
        policy_columns=POLICY_COLUMNS,
        policies=policy_rows(results),
        facts=what_was_run(results),
        command=command,
        sweep=config.text,
        sources=sources(results),
    )


def environment_part(results: Results, name: str, figures: list[Picture]) -> dict[str, Any]:
    """One environment: its arms, its figures, and a table for each ε."""
    loaded = results.config.loaded[name]
    means, gaps = loaded.environment.means.tolist(), loaded.environment.gaps.tolist()
    names = loaded.arms or tuple(f"arm {i}" for i in range(len(means)))
    return {
        "name": name,
        "source": loaded.source,
        "summary": f"{len(means)} arms, mean rewards from {min(means):.3g} to {max(means):.3g}",
        "arms": [
            (False, [arm, f"{mean:.4g}", f"{gap:.4g}"])
            for arm, mean, gap in zip(names, means, gaps, strict=True)
        ],
        "figures": figures,
        "panels": [
            (panel.title, panel_rows(results, panel))
            for panel in panels_of(results)
            if panel.environment == name
        ],
    }


def panel_rows(results: Results, panel: Panel) -> Rows:
    """The panel's table; policies without privacy are set back."""
    plain = compared(results, panel)["guarantee"].is_null()
    return list(zip(plain, table_rows(results, panel, (*COLUMNS, PROMISE)), strict=True))


def policy_rows(results: Results) -> Rows:
    """Every label: class and hyper-parameters, algorithm, paper, regret bound."""
    seen = {cell.label: cell.policy for cell in results.cells}
    return [
        (
            False,
            [
                label,
                call(policy),
                f"{policy.about.algorithm}: {policy.about.paper}",
                policy.about.bound,
                policy.about.twin or "–",
            ],
        )
        for label, policy in seen.items()
    ]


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


class Head(NamedTuple):
    """A column's head where no row of the summary is shown."""

    title: str
    number: bool = False
    meaning: str = ""


ARM_COLUMNS = (Head("arm"), Head("mean reward", number=True), Head("gap to the best", number=True))
POLICY_COLUMNS = tuple(map(Head, ("policy", "class", "source", "regret bound", "non-private twin")))
