"""The policies that are compared in one panel of a figure: those at one ε in one environment,
together with those without an ε.
"""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from dpbandits.core.privacy import as_fraction, printed
from dpbandits.sweeps.results import Results


class Panel(NamedTuple):
    """One panel. epsilon: None if nothing in the sweep has an ε."""

    environment: str
    epsilon: float | None

    @property
    def title(self) -> str:
        return self.environment + (
            "" if self.epsilon is None else f", ε = {printed(as_fraction(self.epsilon, 'epsilon'))}"
        )


def panels_of(results: Results) -> list[Panel]:
    """Every environment with each of its budgets, in the sweep's order, small ε first."""
    panels = []
    for name in results.summary["environment"].unique(maintain_order=True):
        epsilons = (
            results.summary.filter(pl.col("environment") == name)["epsilon"]
            .drop_nulls()
            .unique()
            .sort()
        )
        panels += [Panel(name, epsilon) for epsilon in epsilons] or [Panel(name, None)]
    return panels


def in_panel(frame: pl.DataFrame, panel: Panel) -> pl.DataFrame:
    """The panel's rows of a results table."""
    return frame.filter(
        (pl.col("environment") == panel.environment)
        & (pl.col("epsilon").is_null() | pl.col("epsilon").eq(panel.epsilon))
    )


def compared(results: Results, panel: Panel) -> pl.DataFrame:
    """The panel's rows of the summary, private policies first, least mean regret first."""
    return in_panel(results.summary, panel).sort(pl.col("guarantee").is_null(), "mean")
