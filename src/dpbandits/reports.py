"""What a finished sweep leaves behind: tables as Parquet and CSV, figures as PNG and SVG, and one
HTML page that says everything about it.
"""

import platform
import re
from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields
from itertools import chain, count, groupby
from math import hypot
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from dpbandits.core.privacy import printed_epsilon
from dpbandits.environments import Environment
from dpbandits.pages import write_page
from dpbandits.plots import (
    Panel,
    compared,
    epsilon_figure,
    panels_of,
    regret_figure,
    save,
)
from dpbandits.policies.contract import Policy, problem_of
from dpbandits.policies.recommended import RECOMMENDED, recommend
from dpbandits.sweeps.config import Config
from dpbandits.sweeps.results import Results

TableRow = dict[str, Any]
NOTHING = "–"


class Column(NamedTuple):
    """meaning: a sentence for the reader. text: of a row of the summary, where one is shown."""

    title: str
    meaning: str = ""
    text: Callable[[TableRow], str] = str
    number: bool = True


def rounded(value: float | None) -> str:
    """A number with three digits that matter, all digits from 100 on."""
    if value is None:
        return NOTHING
    size = abs(value)
    return f"{value:,.0f}" if size >= 99.95 else f"{value:.1f}" if size >= 9.995 else f"{value:.2f}"


def mean_regret(row: TableRow) -> str:
    return rounded(row["mean"]) + (
        "" if row["error"] is None else f" ± {rounded(1.96 * row['error'])}"
    )


def budget_cell(row: TableRow) -> str:
    """What the ledger adds up to, and what was promised."""
    return (
        NOTHING if row["budget"] is None else ("" if row["rho"] is None else "ρ ") + row["budget"]
    )


def short_guarantee(row: TableRow) -> str:
    """The guarantee without the part that all share."""
    return str(row["guarantee"] or "none (not private)").replace(" per round (replace-one)", "")


def rounded_cell(name: str) -> Callable[[TableRow], str]:
    return lambda row: rounded(row[name])


LONG_RUN = (
    "What no consistent policy with this kind of privacy beats in the long run (asymptotic: a "
    "good one may lie below it for a while)."
)
PROVED = (
    "What the mean regret is proved not to exceed on this instance, all constants included; empty "
    "where no proof states them."
)
LOST = (
    "Reward lost against always playing the best arm: mean over runs ± its 95 % confidence "
    "interval."
)
PRICE = (
    "Mean regret minus that of the policy without privacy that loses least in the same "
    "environment: one baseline for all."
)
FEW = "; left out where fewer than ten runs would lie beyond it, that is with fewer than "

POLICY = Column(
    "policy",
    "Private policies first, the smallest mean regret first.",
    lambda row: row["label"],
    number=False,
)
COST = (
    Column("mean regret", LOST, mean_regret),
    Column("price of privacy", PRICE, rounded_cell("price")),
    Column("lower bound", LONG_RUN, rounded_cell("lower_bound")),
    Column("upper bound", PROVED, rounded_cell("upper_bound")),
    Column(
        "releases", "How many noisy values a run looked at, on average.", rounded_cell("releases")
    ),
    Column(
        "ε spent",
        (
            "What a run's ledger adds up to for the worst-off person, in exact arithmetic, of "
            "what is promised; ρ under zCDP."
        ),
        budget_cell,
    ),
)
TAILS = (
    Column("median", "Half of the runs lose at most this much.", rounded_cell("median")),
    Column("99 %", f"99 % of the runs lose at most this much{FEW}1,000 runs.", rounded_cell("q99")),
    Column(
        "99.9 %",
        f"99.9 % of the runs lose at most this much{FEW}10,000 runs.",
        rounded_cell("q999"),
    ),
    Column("worst", "The run that loses most.", rounded_cell("worst")),
    Column("runs", "Independent runs.", lambda row: f"{row['runs']:,}"),
)
PROMISE = Column(
    "guarantee",
    (
        "What all decisions together promise about any one round's reward: replaced by any other "
        "value, it changes their law by at most this."
    ),
    short_guarantee,
    number=False,
)
COLUMNS = (POLICY, *COST, *TAILS)


def table_rows(
    results: Results, panel: Panel, columns: tuple[Column, ...] = COLUMNS
) -> list[list[str]]:
    """The panel's table as text, one list a policy."""
    return [
        [column.text(row) for column in columns]
        for row in compared(results, panel).iter_rows(named=True)
    ]


class PriceOfPrivacy(NamedTuple):
    """What privacy cost in a panel. ours: the recommended private policy, if it was played, else
    the least loser; plain: the policy without privacy that lost least; least: the private one.
    """

    panel: Panel
    ours: TableRow
    plain: TableRow
    least: TableRow
    recommended: bool

    @property
    def compared(self) -> tuple[Any, ...]:
        """What was compared with what: budgets with the same share a sentence."""
        return self.panel.environment, self.ours["label"], self.plain["label"], self.ours["rounds"]


def answers(results: Results) -> list[str]:
    """What privacy cost, in sentences: first one that holds the price at every budget, then what
    stands behind it. None where no policies with and without privacy were played equally long.
    """
    prices = [price for panel in panels_of(results) if (price := price_in(results, panel))]
    told: list[str] = []
    for _, group in groupby(prices, lambda price: price.compared):
        same = list(group)
        told += [price_sentence(results.config, same), *(detail(results.config, p) for p in same)]
    return told


def price_in(results: Results, panel: Panel) -> PriceOfPrivacy | None:
    """Of policies that were played equally long; None where one kind is missing."""
    rows = [row for row in compared(results, panel).iter_rows(named=True) if row["rho"] is None]
    private = [row for row in rows if row["baseline"] is not None]
    if not private:
        return None
    policies = {cell.label: cell.policy for cell in results.cells}
    known = [row for row in private if is_recommended(policies[row["label"]])]
    ours = min(known or private[:1], key=lambda row: own_settings(policies[row["label"]]))
    plain = next(
        row for row in rows if row["label"] == ours["baseline"] and row["rounds"] == ours["rounds"]
    )
    least = next(row for row in private if row["rounds"] == ours["rounds"])
    return PriceOfPrivacy(panel, ours, plain, least, bool(known))


def is_recommended(policy: Policy) -> bool:
    """Whether it is what `recommend` takes to earn rewards where the server is trusted."""
    guarantee, problem = policy.guarantee, problem_of(policy)
    if guarantee is None or type(policy).__name__ not in RECOMMENDED:
        return False
    if problem is not None:
        return type(policy) is type(recommend(problem=problem, epsilon=guarantee.cost))
    arms, feedback = policy.arms, policy.about.feedback
    best = recommend(arms=arms, epsilon=guarantee.cost, feedback=feedback)
    return type(policy) is type(best)


def own_settings(policy: Policy) -> int:
    """How many of its settings with a default are others: as it comes, a policy is recommended."""
    given = [field for field in fields(policy) if field.default is not MISSING]
    return sum(getattr(policy, field.name) != field.default for field in given)


def price_sentence(config: Config, prices: list[PriceOfPrivacy]) -> str:
    """One sentence: what privacy cost in an environment, by budget."""
    ours, plain, rounds = prices[0].ours, prices[0].plain, prices[0].ours["rounds"]
    where = f"{prices[0].panel.environment}: p" if len(config.loaded) > 1 else "P"
    costs = [
        f"{price_text(price.ours, price.plain)} {f'{config.unit} ' if price is prices[0] else ''}"
        f"{budget_words(price.panel)}({rounded(100 * price.ours['price'] / rounds)} in 100)"
        for price in prices
    ]
    listed = ", ".join(costs[:-1]) + (" and " if costs[1:] else "") + costs[-1]
    kind = (
        "the recommended policy"
        if prices[0].recommended
        else "which lost least of the private ones"
    )
    return (
        f"{where}rivacy cost {listed}, over {rounds:,} {config.each}: so much more did "
        f"{ours['label']}, {kind}, lose than {plain['label']}, which lost least of those without "
        "privacy."
    )


def budget_words(panel: Panel) -> str:
    return "" if panel.epsilon is None else f"at ε = {printed_epsilon(panel.epsilon)} "


def detail(config: Config, price: PriceOfPrivacy) -> str:
    """What was lost with privacy, without, by chance, and by the private policy that lost least."""
    panel, ours, plain, least, _ = price
    loaded = config.loaded[panel.environment]
    answer = (
        f"{panel.title}: {ours['label']} lost {mean_regret(ours)} {config.unit}, {plain['label']} "
        f"{mean_regret(plain)}"
    )
    if least is not ours:
        answer += f"; of the private policies {least['label']} lost least, {mean_regret(least)}"
    if loaded.problem is not None:  # there is no one uniform play of super arms
        return answer + "."
    chance = rounded(uniform_regret(loaded.environment, ours["rounds"]))
    return f"{answer}; an arm at random each time would lose {chance}."


def price_text(private: TableRow, plain: TableRow) -> str:
    """The price with its 95 % confidence interval."""
    errors: list[Any] = [private["error"], plain["error"]]
    return rounded(private["price"]) + (
        "" if None in errors else f" ± {rounded(1.96 * hypot(*errors))}"
    )


def uniform_regret(environment: Environment, rounds: int) -> float:
    """What uniform play loses on average, by the kind of regret that the environment has."""
    if environment.fixed:
        totals = environment.between(0, rounds, np.arange(environment.arms))
        return float(totals.max() - totals.mean())
    return float(environment.gaps.mean()) * rounds


class Picture(NamedTuple):
    """One figure as an SVG file."""

    svg: Path
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
            (panel.title, panel_rows(results, panel, (*COLUMNS, PROMISE)))
            for panel in panels_of(results)
            if panel.environment == name
        ],
    }


def panel_rows(results: Results, panel: Panel, columns: tuple[Column, ...]) -> Rows:
    """The panel's table; policies without privacy are set back."""
    plain = compared(results, panel)["guarantee"].is_null()
    return list(zip(plain, table_rows(results, panel, columns), strict=True))


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
                policy.about.baseline or "–",
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


ARM_COLUMNS = Column("arm", number=False), Column("mean reward"), Column("gap to the best")
POLICY_COLUMNS = [
    Column(title, number=False)
    for title in ("policy", "class", "source", "regret bound", "non-private baseline")
]


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
    folder = results.out / "figures"
    for name, stem in file_names(results.config.loaded).items():
        panels = [panel for panel in panels_of(results) if panel.environment == name]
        regret = save(regret_figure(results, panels), folder / f"regret-{stem}")
        figures[name] = [Picture(regret.svg, "Mean regret against rounds")]
        if sum(panel.epsilon is not None for panel in panels) > 1:
            final = save(epsilon_figure(results, name), folder / f"epsilon-{stem}")
            figures[name].append(
                Picture(final.svg, "Mean regret at the end against the privacy budget")
            )
    return figures


def file_names(names: Iterable[str]) -> dict[str, str]:
    """A file name of letters, digits and hyphens for each; where two would be alike, a number
    tells them apart.
    """
    found: dict[str, str] = {}
    for name in names:
        plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "environment"
        numbered = (f"{plain}-{number}" for number in count(2))
        found[name] = next(each for each in chain([plain], numbered) if each not in found.values())
    return found
