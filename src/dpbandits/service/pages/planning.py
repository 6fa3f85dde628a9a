"""The form that plans a campaign: its fields, and the forecast for what they say."""

import json
from dataclasses import dataclass, fields
from fractions import Fraction
from threading import Lock
from typing import Any, NamedTuple, final

from dpbandits.core.privacy import as_fraction, printed_epsilon
from dpbandits.forecasting.forecast import forecast
from dpbandits.forecasting.outcome import (
    EQUAL,
    HEADS,
    MEANINGS,
    Forecast,
    Foreseen,
    Prior,
    notes_of,
    with_errors,
)
from dpbandits.policies import POLICIES
from dpbandits.policies.contract import Policy
from dpbandits.policies.recommended import RECOMMENDED

MOST_VISITORS, MOST_ARMS = 1_000_000, 20
"""That a form forecasts."""

DRAWS = 40
"""Trials that a forecast on the page plays."""


@final
@dataclass(frozen=True)
class TrialPlan:
    """What the form says, as text: arms a line each; rates in percent."""

    name: str = ""
    policy: str = RECOMMENDED[0]
    arms: str = "A\nB"
    epsilon: str = "1"
    visitors: str = "20000"
    base: str = "5"
    best: str = "20"

    @classmethod
    def of(cls, said: dict[str, str]) -> "TrialPlan":
        """What was sent; what was not is as at first."""
        sent = {each.name: said[each.name].strip() for each in fields(cls) if each.name in said}
        return cls(**sent)

    @property
    def mark(self) -> str:
        """What a forecast was made for: equal plans have equal ones."""
        return json.dumps([getattr(self, each.name) for each in fields(self)][1:])


class CheckedPlan(NamedTuple):
    """A plan in numbers."""

    policy: Policy
    epsilon: Fraction
    visitors: int
    prior: Prior


def choices() -> list[str]:
    """Policies that the form offers: private ones that play single arms and know no horizon."""
    return [
        name
        for name, cls in sorted(POLICIES.items())
        if cls.about.privacy == "pure"
        and cls.about.feedback == "bandit"
        and cls.about.goal == "regret"
        and not cls.about.needs_horizon
        and {"arms", "epsilon"} <= {each.name for each in fields(cls)}
    ]


def checked_plan(plan: TrialPlan) -> CheckedPlan:
    """
    Raises:
        ValueError: a field does not say what it should. It says which.
    """
    if plan.policy not in choices():
        raise ValueError("Policy: choose one of the list.")
    labels = [line.strip() for line in plan.arms.splitlines() if line.strip()]
    if not 2 <= len(labels) <= MOST_ARMS:
        raise ValueError(f"Arms: write 2 to {MOST_ARMS} names, a line each.")
    visitors = whole_in(plan.visitors, "Visitors", len(labels), MOST_VISITORS)
    base, best = share_in(plan.base, "Rate today"), share_in(plan.best, "Best arm", 1000.0)
    if base * (1 + best) > 1:
        raise ValueError("Best arm: its rate would be more than 100 %.")
    epsilon = as_fraction(plan.epsilon, "epsilon")
    made: Any = POLICIES[plan.policy]
    policy: Policy = made(arms=labels, epsilon=epsilon)
    return CheckedPlan(policy, epsilon, visitors, Prior(base, best, len(labels)))


def whole_in(text: str, what: str, least: int, most: int) -> int:
    said = text.replace(",", "").replace(" ", "")
    if not (said.isascii() and said.isdigit() and len(said) < 12 and least <= int(said) <= most):
        raise ValueError(f"{what}: write a whole number from {least:,} to {most:,}.")
    return int(said)


def share_in(text: str, what: str, most: float = 100.0) -> float:
    """A share that is written in percent."""
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = -1.0
    if not 0 <= value <= most:
        raise ValueError(f"{what}: write a number of percent from 0 to {most:g}.")
    return value / 100


_ONE = Lock()
"""One forecast at a time: they keep a processor busy."""


def forecast_of(found: CheckedPlan) -> Forecast:
    """What the planned trial is expected to lose, at this ε, at half of it and at twice as much."""
    half, twice = found.epsilon / 2, found.epsilon * 2
    with _ONE:
        return forecast(
            found.prior,
            found.visitors,
            [half, found.epsilon, twice],
            policies=[type(found.policy)],
            draws=DRAWS,
        )


class ForecastTable(NamedTuple):
    """A forecast for a page, a column for each budget and for what it is compared with.

    columns: titles, and whether it is the planned ε. lines: of each figure, its name, what it
        means, and its cells. notes: what signs in them say.
    """

    title: str
    columns: list[tuple[str, bool]]
    lines: list[tuple[str, str, tuple[str, ...]]]
    notes: dict[str, str]


def table_of(found: Forecast, epsilon: Fraction) -> ForecastTable:
    columns = [(column_title(row), row.epsilon == float(epsilon)) for row in found]
    rows = [with_errors(row, found.draws) for row in found]
    cells = dict(zip(HEADS, zip(*rows, strict=True), strict=True))
    lines = [(head, meaning, cells[head]) for head, meaning in MEANINGS.items()]
    return ForecastTable(found.title, columns, lines, notes_of(found.draws))


def column_title(row: Foreseen) -> str:
    if row.epsilon is not None:
        return f"ε\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{printed_epsilon(row.epsilon)}"
    return row.policy if row.policy == EQUAL else f"no privacy ({row.policy})"
