"""What a sweep says, as text, in the terminal and on the page alike: what every column of the
comparison table says, and the price of privacy in a sentence for each environment and budget.
"""

from collections.abc import Callable
from math import hypot
from typing import Any, NamedTuple

import numpy as np

from dpbandits.environments import Environment
from dpbandits.figures.panels import Panel, compared, panels_of
from dpbandits.sweeps.config import Config
from dpbandits.sweeps.results import Results

TableRow = dict[str, Any]
NOTHING = "–"


class Column(NamedTuple):
    """meaning: a sentence for the reader."""

    title: str
    meaning: str
    text: Callable[[TableRow], str]
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


def answers(results: Results) -> list[str]:
    """One sentence or two for each panel in which policies with and without privacy were played
    equally long.
    """
    found = [(panel, best_of(results, panel)) for panel in panels_of(results)]
    return [sentence(results.config, panel, *pair) for panel, pair in found if pair is not None]


def best_of(results: Results, panel: Panel) -> tuple[TableRow, TableRow] | None:
    """Of the private policies and of the others, played equally long, the one that loses least;
    None where one kind is missing.
    """
    rows = [row for row in compared(results, panel).iter_rows(named=True) if row["rho"] is None]
    private = next((row for row in rows if row["baseline"] is not None), None)
    if private is None:
        return None
    plain = next(
        row
        for row in rows
        if row["label"] == private["baseline"] and row["rounds"] == private["rounds"]
    )
    return private, plain


def sentence(config: Config, panel: Panel, private: TableRow, plain: TableRow) -> str:
    loaded, each = config.loaded[panel.environment], config.each
    answer = (
        f"{panel.title}: privacy cost {price_text(private, plain)} {config.unit} over "
        f"{private['rounds']:,} {each}, "
        f"{rounded(100 * private['price'] / private['rounds'])} in 100 {each}. "
        f"{private['label']}, which lost least of the private policies, lost "
        f"{mean_regret(private)} {config.unit}; "
        f"{plain['label']}, which lost least of those without privacy, lost {mean_regret(plain)}"
    )
    if loaded.problem is not None:  # there is no one uniform play of super arms
        return answer + "."
    return (
        f"{answer}; an arm at random each time would lose "
        f"{rounded(uniform_regret(loaded.environment, private['rounds']))}."
    )


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
