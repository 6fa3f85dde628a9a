"""Measures on made-up runs whose truth is known."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from papers.evidence import Evidence
from papers.paper import Claim, judge

TrueAndMutant = list[tuple[str, dict[str, Any], dict[str, Any]]]
"""Measures, each with arguments of a claim that is true and of one that is not."""


def runs_of(
    label: str,
    ends: Any,
    shares: Mapping[int, float],
    environment: str = "one",
    epsilon: float | None = None,
) -> pl.DataFrame:
    """A run for each end: its regret at each round is a share of it."""
    frame = pl.DataFrame(
        {
            "run": np.repeat(np.arange(len(ends)), len(shares)),
            "round": list(shares) * len(ends),
            "regret": np.outer(ends, list(shares.values())).ravel(),
        }
    )
    return frame.with_columns(
        label=pl.lit(label),
        environment=pl.lit(environment),
        epsilon=pl.lit(epsilon, dtype=pl.Float64),
    )


def word(given: Evidence, measure: str, needs: str = "", **arguments: Any) -> str:
    names = {"id": "c", "statement": "s", "where": "w", "differs": "because", "needs": needs}
    return judge(Claim(**names, measure=measure, arguments=arguments), given).word
