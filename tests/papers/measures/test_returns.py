"""Measures of returns and of ratios on made-up runs whose truth is known: each claim once true,
once with the mutant that refutes it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

from papers.evidence import Evidence
from tests.papers.measures import word

OPTIMUM, ROUNDS = 2.0, 1000
# regret at the end: of a private policy in proportion to 1/ε, of one that follows no law, of one
# without privacy
ENDS = {
    ("Line", 0.5): 400.0,
    ("Line", 1.0): 200.0,
    ("Line", 2.0): 100.0,
    ("Line", 4.0): 50.0,
    ("Bent", 0.5): 100.0,
    ("Bent", 1.0): 300.0,
    ("Bent", 2.0): 90.0,
    ("Bent", 4.0): 310.0,
    ("Open", None): 100.0,
}
# the same with a twin, by environment: privacy adds 300, 300 and 840
ADDED = {"one": (400.0, 100.0), "two": (460.0, 160.0), "three": (1000.0, 160.0)}


def frame(
    label: str,
    epsilon: float | None,
    ends: np.ndarray[Any, Any],
    early: float,
    environment: str = "one",
) -> pl.DataFrame:
    """Regret of each run after a tenth of the rounds and at the end."""
    runs = len(ends)
    rows = np.outer(ends, [early, 1.0]).ravel()
    data = pl.DataFrame(
        {
            "run": np.repeat(np.arange(runs), 2),
            "round": [ROUNDS // 10, ROUNDS] * runs,
            "regret": rows,
        }
    )
    return data.with_columns(
        label=pl.lit(label),
        environment=pl.lit(environment),
        epsilon=pl.lit(epsilon, dtype=pl.Float64),
    )


def evidence(runs: int = 40) -> Evidence:
    rng = np.random.default_rng(3)
    logs = math.log(ROUNDS / 10) / math.log(ROUNDS)
    frames = [
        frame(
            label,
            epsilon,
            end * (1 + 0.02 * rng.standard_normal(runs)),
            0.1 if label == "Bent" else logs,
        )
        for (label, epsilon), end in ENDS.items()
    ]
    for place, pair in ADDED.items():
        for label, epsilon, end in zip(("Added", "Free"), (0.5, None), pair, strict=True):
            ends = end * (1 + 0.02 * rng.standard_normal(runs))
            frames.append(frame(label, epsilon, ends, logs, place))
    return Evidence(pl.concat(frames))


PRICE = {"labels": ["Added"], "without": "Free", "against": ["one"], "within": 1.2}
RATIO = {"over": "Line", "under": "Open", "optimum": OPTIMUM}
TRUE_AND_MUTANT: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (
        "share_of_optimum",
        # 1 − 400/2000 = 0.8 at the smallest ε
        {"labels": ["Line"], "optimum": OPTIMUM, "at_least": 0.78},
        {"labels": ["Line"], "optimum": OPTIMUM, "at_least": 0.85},
    ),
    ("return_ratio", RATIO | {"at_least": 0.8}, RATIO | {"at_least": 0.9}),  # 1.6 over 1.9
    # 400, 200, 100 and 50 over 100
    (
        "price_ratio",
        {"labels": ["Line"], "under": "Open", "at_most": 4.5},
        {"labels": ["Line"], "under": "Open", "at_most": 3.5},
    ),
    (
        "price_between_environments",
        PRICE | {"environments": ["two"]},
        PRICE | {"environments": ["three"]},
    ),
    (
        "log_rate",
        {"labels": ["Line"], "share": 0.1, "within": 1.1},
        {"labels": ["Bent"], "share": 0.1, "within": 1.1},
    ),
    ("straight_line", {"labels": ["Line"], "at_least": 0.9}, {"labels": ["Bent"], "at_least": 0.9}),
]


def test_a_claim_whose_data_is_missing_is_not_attempted() -> None:
    for arguments in (
        RATIO | {"at_least": 0.8, "environments": ["films"]},
        RATIO | {"at_least": 0.8, "under": "Nobody"},
    ):
        assert word(evidence(), "return_ratio", needs="films", **arguments) == "not attempted"
        with pytest.raises(LookupError):
            word(evidence(), "return_ratio", **arguments)
