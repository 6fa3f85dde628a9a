"""Measures of returns and of ratios on made-up runs whose truth is known: each claim once true,
once with the mutant that refutes it.
"""

import math

import numpy as np
import polars as pl
import pytest

from papers.evidence import Evidence
from tests.papers.measures import TrueAndMutant, runs_of, word

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


def evidence(runs: int = 40) -> Evidence:
    """Regret after a tenth of the rounds and at the end."""
    rng, logs = np.random.default_rng(3), math.log(ROUNDS / 10) / math.log(ROUNDS)
    given = [(label, "one", epsilon, end) for (label, epsilon), end in ENDS.items()]
    for place, (private, free) in ADDED.items():
        given += [("Added", place, 0.5, private), ("Free", place, None, free)]
    frames = []
    for label, place, epsilon, end in given:
        ends = end * (1 + 0.02 * rng.standard_normal(runs))
        shares = {ROUNDS // 10: 0.1 if label == "Bent" else logs, ROUNDS: 1.0}
        frames.append(runs_of(label, ends, shares, place, epsilon))
    return Evidence(pl.concat(frames))


LINE, BENT = {"labels": ["Line"]}, {"labels": ["Bent"]}
PRICE = {"labels": ["Added"], "without": "Free", "against": ["one"], "within": 1.2}
OVER, TWO = LINE | {"under": "Open"}, {"environments": ["two"]}
RATIO = {"over": "Line", "under": "Open", "optimum": OPTIMUM}
SHARE = LINE | {"optimum": OPTIMUM}
TRUE_AND_MUTANT: TrueAndMutant = [
    # 1 − 400/2000 = 0.8 at the smallest ε
    ("share_of_optimum", SHARE | {"at_least": 0.78}, SHARE | {"at_least": 0.85}),
    ("return_ratio", RATIO | {"at_least": 0.8}, RATIO | {"at_least": 0.9}),  # 1.6 over 1.9
    ("price_ratio", OVER | {"at_most": 4.5}, OVER | {"at_most": 3.5}),  # 400 to 50 over 100
    ("price_between_environments", PRICE | TWO, PRICE | {"environments": ["three"]}),
    ("log_rate", LINE | {"share": 0.1, "within": 1.1}, BENT | {"share": 0.1, "within": 1.1}),
    ("straight_line", LINE | {"at_least": 0.9}, BENT | {"at_least": 0.9}),
]


def test_a_claim_whose_data_is_missing_is_not_attempted() -> None:
    for what in ({"environments": ["films"]}, {"under": "Nobody"}):
        arguments = RATIO | {"at_least": 0.8} | what
        assert word(evidence(), "return_ratio", needs="films", **arguments) == "not attempted"
        with pytest.raises(LookupError):
            word(evidence(), "return_ratio", **arguments)
