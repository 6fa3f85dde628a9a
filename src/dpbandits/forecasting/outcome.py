"""What a forecast says: a row for each policy at each ε, beside what it is compared with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, final

from dpbandits.core.inputs import real_number, shown
from dpbandits.core.tables import aligned, frame_of
from dpbandits.forecasting.rows import HEADS, Foreseen, cells_of_row, errors_of_row, notes_of


@final
@dataclass(frozen=True)
class Forecast:
    """What a trial is expected to lose, by policy and ε. Iterate over it for its rows.

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

    def within(
        self, loss: float, policy: str | None = None, of: Literal["loss", "privacy"] = "loss"
    ) -> Foreseen | None:
        """What ε can be afforded: of the rows that are expected to lose no more than `loss`, the
        one with the smallest ε (of several, the one that loses least); None if all lose more.

        policy: look at this one alone. of: "privacy" compares what is lost to privacy.
        """
        most = real_number(loss)
        if most is None or of not in ("loss", "privacy"):
            raise ValueError(
                f"Expected loss={shown(loss)} to be a number of {self.units}, and of={shown(of)} "
                "to be 'loss' or 'privacy'."
            )
        found = []
        for row in self.rows:
            lost = row.loss if of == "loss" else row.privacy
            asked = policy in (None, row.policy) and row.epsilon is not None
            if asked and lost is not None and lost <= most:
                found.append(row)
        return min(found, key=lambda row: (row.epsilon, row.loss)) if found else None

    def to_polars(self) -> Any:
        """As a `polars.DataFrame`, a row each."""
        columns = {name: [getattr(row, name) for row in self.rows] for name in Foreseen._fields}
        return frame_of(columns, "polars")

    def figure(self, stem: Path | str) -> tuple[Path, Path]:
        """Draw loss against ε; returns the files stem.png and stem.svg, beside which there is a
        stem.pdf. Needs the `experiments` extra.
        """
        from dpbandits.figures.plots import save
        from dpbandits.forecasting.pictures import forecast_figure

        return save(forecast_figure(self), Path(stem))[:2]

    def page(self, path: Path | str) -> Path:
        """Write one page of HTML with figure and table. Needs the `experiments` extra."""
        from dpbandits.forecasting.page import write_forecast_page

        return write_forecast_page(self, Path(path))

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
        >>> Forecast((), 1000, 10, 4, 0, "clicks").title
        'Expected loss in clicks, 1,000 visitors, 4 arms, 10 draws'
        """
        size = f"{self.visitors:,} visitors, {self.arms} arms, {self.draws:,} draws"
        k = self.max_contributions
        cap = "" if k is None else f", ε per user of at most {k} learned rounds (ε/{k} each)"
        return f"Expected loss in {self.units}, {size}{cap}"
