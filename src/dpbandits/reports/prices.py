"""What privacy cost, in sentences for each environment, on the terminal and on the page."""

from dataclasses import MISSING, fields
from itertools import groupby
from math import hypot
from typing import Any, NamedTuple

import numpy as np

from dpbandits.core.privacy import printed_epsilon
from dpbandits.environments import Environment
from dpbandits.figures.panels import Panel, compared, panels_of
from dpbandits.policies.contract import Policy
from dpbandits.policies.recommended import RECOMMENDED
from dpbandits.reports.comparison import TableRow, mean_regret, rounded
from dpbandits.sweeps.config import Config
from dpbandits.sweeps.results import Results


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
    return PriceOfPrivacy(panel, ours, plain, private[0], bool(known))


def is_recommended(policy: Policy) -> bool:
    """Whether it is what `recommend` takes where the server is trusted."""
    return type(policy).__name__ in RECOMMENDED and policy.about.privacy == "pure"


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
