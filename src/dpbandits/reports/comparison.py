"""What every column of the comparison table says, as text, on the terminal and on the page."""

from collections.abc import Callable
from typing import Any, NamedTuple

from dpbandits.figures.panels import Panel, compared
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
