"""What a forecast says: a row for each policy at each ε, beside what it is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, final

from dpbandits.core.inputs import real_number, shown
from dpbandits.forecasting.foreseen import ForecastRows
from dpbandits.forecasting.rows import Foreseen


@final
@dataclass(frozen=True, repr=False)
class Forecast(ForecastRows):
    """What a trial is expected to lose, by policy and ε. Iterate over it for its rows."""

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
