"""What a sweep says of the price of privacy, in a sentence for each environment and budget, written
from the numbers.
"""

from __future__ import annotations

from math import hypot
from typing import Any

import numpy as np

from dpbandits.environments import Environment
from dpbandits.figures.compared_policies import Panel, compared, panels_of
from dpbandits.reports.comparison import TableRow, mean_regret, rounded
from dpbandits.sweeps.config import Config
from dpbandits.sweeps.results import Results


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
