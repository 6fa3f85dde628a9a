"""A forecast's rows, and the trial that they are of: what its picture and page are made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from dpbandits.core.inputs import shown
from dpbandits.core.tables import Tabular, aligned, in_columns
from dpbandits.forecasting.rows import HEADS, Foreseen, cells_of_row, errors_of_row, notes_of


@dataclass(frozen=True, repr=False)
class ForecastRows(Tabular):
    """A row for each policy at each ε. Iterate over it for its rows.

    rows: policies, small ε first, then what they are compared with: the same without privacy, and
    equal shares. units: what losses are counted in. max_contributions: the most rounds in which one
    user is learned from, whom each ε is promised to; None: everybody comes once.
    """

    rows: tuple[Foreseen, ...]
    visitors: int
    draws: int
    arms: int
    seed: int
    units: str
    about: str = field(default="", repr=False)
    max_contributions: int | None = None

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
        cells: list[tuple[str, ...]] = [HEADS]
        for row in self.rows:
            cells += [cells_of_row(row, self.draws), errors_of_row(row, self.draws)]
        notes = [f"{sign} {words}" for sign, words in notes_of(self.draws).items()]
        return "\n".join((self.title, aligned(cells), *notes))

    __repr__ = __str__

    @property
    def title(self) -> str:
        """
        >>> ForecastRows((), 1000, 10, 4, 0, "clicks").title
        'Expected loss in clicks, 1,000 visitors, 4 arms, 10 draws'
        """
        size = f"{self.visitors:,} visitors, {self.arms} arms, {self.draws:,} draws"
        k = self.max_contributions
        cap = "" if k is None else f", ε per user of at most {k} learned rounds (ε/{k} each)"
        return f"Expected loss in {self.units}, {size}{cap}"
