"""The rows of a forecast, and the trial that they are of: what its picture and page are made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dpbandits.core.inputs import shown
from dpbandits.core.tables import Tabular, in_columns

EQUAL = "equal shares"
"""The label of an A/B test that gives every arm the same share of all visitors."""


class Foreseen(NamedTuple):
    """One policy at one ε. Losses are in the user's units, against the best arm for everybody.

    epsilon: None for what has no privacy. loss: its expectation over draws. error: its standard
    error. privacy: loss less that of the same policy without privacy, draw by draw; None for what
    has no privacy. saved: how much less is lost than by equal shares. q95, q99, worst: quantiles
    of the loss. leads: chance that the best arm is the one most shown by the end; by equal
    shares, that it has the highest mean then. named: visitors after which the best arm is
    named at 95 %, the median over draws, computed from expected totals; None where most draws never
    come to that.
    """

    policy: str
    epsilon: float | None
    loss: float
    error: float
    privacy: float | None
    saved: float
    q95: float
    q99: float
    worst: float
    leads: float
    named: int | None


@dataclass(frozen=True)
class ForecastRows(Tabular):
    """A row for each policy at each ε. Iterate over it for its rows.

    rows: policies, small ε first, then what they are compared with: the same without privacy, and
    equal shares. units: what losses are counted in.
    """

    rows: tuple[Foreseen, ...]
    visitors: int
    draws: int
    arms: int
    seed: int
    units: str
    about: str = field(default="", repr=False)

    def __iter__(self) -> Iterator[Foreseen]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def row(self, policy: str, epsilon: float | None = None) -> Foreseen:
        """The row of a policy at an ε.

        Raises:
            KeyError: there is none.
        """
        for row in self.rows:
            if row.policy == policy and row.epsilon == epsilon:
                return row
        raise KeyError(f"Nothing was forecast of {shown(policy)} at epsilon={shown(epsilon)}.")

    def _columns(self) -> dict[str, list[Any]]:
        return in_columns(self.rows, Foreseen)

    def __str__(self) -> str:
        cells = [HEADS, *map(cells_of_row, self.rows)]
        widths = [max(len(line[at]) for line in cells) for at in range(len(HEADS))]
        lines = [
            "  ".join(
                cell.rjust(width) if at else cell.ljust(width)
                for at, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
            for line in cells
        ]
        return "\n".join((self.title, *lines))

    @property
    def title(self) -> str:
        """
        >>> ForecastRows((), 1000, 10, 4, 0, "clicks").title
        'Expected loss in clicks, 1,000 visitors, 4 arms, 10 draws'
        """
        size = f"{self.visitors:,} visitors, {self.arms} arms, {self.draws:,} draws"
        return f"Expected loss in {self.units}, {size}"


HEADS = ("policy", "ε", "loss", "to privacy", "saved", "95 %", "99 %", "worst", "leads", "named")
"""Titles of the columns of `cells_of_row`."""

MEANINGS = {
    "loss": "expected loss against the best arm for everybody",
    "to privacy": "of that, what privacy costs: less the loss of the same policy without privacy",
    "saved": "how much less is lost than by an A/B test that gives all visitors equal shares",
    "95 %": "one trial in twenty loses more",
    "99 %": "one trial in a hundred loses more",
    "worst": "the worst of the draws",
    "leads": "chance that the best arm is shown most by the end (equal shares: has the best mean)",
    "named": "visitors until the best arm is named at 95 % (median; –: more than there are)",
}


def cells_of_row(row: Foreseen) -> tuple[str, ...]:
    """A row as text, a cell for each of `HEADS`."""
    return (
        row.policy,
        "–" if row.epsilon is None else f"{row.epsilon:g}",
        amount(row.loss),
        "–" if row.privacy is None else amount(row.privacy),
        amount(row.saved),
        *map(amount, (row.q95, row.q99, row.worst)),
        f"{row.leads:.0%}".replace("%", " %"),
        "–" if row.named is None else f"{row.named:,}",
    )


def amount(value: float) -> str:
    """A loss with three digits that say something.

    >>> amount(12345.6), amount(3.14159), amount(-0.01)
    ('12,346', '3.14', '-0.01')
    """
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
