"""Measures of returns: what a policy earns a round beside the optimum and beside a policy without
privacy, what privacy costs in regret, and how regret grows.
"""

import math
from collections.abc import Sequence

import numpy as np
import polars as pl

from dpbandits.core.inputs import Floats
from dpbandits.papers.evidence import CellSetting, Evidence, mean_of, ratio_of
from dpbandits.papers.measures.verdicts import Check, Names, NumberList

GROUPS = 10
"""Parts that the runs are split into, so that a number made of many means has an error."""


def share_of_optimum(
    evidence: Evidence,
    *,
    labels: Sequence[str],
    optimum: float,
    at_least: float,
    environments: Names = None,
    epsilons: NumberList = None,
) -> list[Check]:
    """Mean return a round over all rounds, as a share of the optimum."""
    checks = []
    for label in labels:
        for s in evidence.settings([label], environments, epsilons):
            share = 1.0 - evidence.at(label, s) / (evidence.rounds(label, s) * optimum)
            checks.append(Check(f"{label}, {s}", mean_of(share), at_least=at_least))
    return checks


def return_ratio(
    evidence: Evidence,
    *,
    over: str,
    under: str,
    optimum: float,
    at_least: float,
    environments: Names = None,
    epsilons: NumberList = None,
) -> list[Check]:
    """Mean return a round of a private policy, divided by that of one without privacy."""
    checks = []
    for s in evidence.settings([over], environments, epsilons):
        rounds = evidence.rounds(over, s)
        returns = [
            optimum - regret / rounds
            for regret in (evidence.at(over, s), without_privacy(evidence, under, s.environment))
        ]
        checks.append(Check(f"{over} / {under}, {s}", ratio_of(*returns), at_least=at_least))
    return checks


def price_ratio(
    evidence: Evidence,
    *,
    labels: Sequence[str],
    under: str,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    environments: Names = None,
    epsilons: NumberList = None,
) -> list[Check]:
    """Final regret of each private policy, divided by that of one without privacy."""
    return [
        Check(
            f"{label} / {under}, {s}",
            ratio_of(evidence.at(label, s), without_privacy(evidence, under, s.environment)),
            at_least,
            at_most,
        )
        for label in labels
        for s in evidence.settings([label], environments, epsilons)
    ]


def price_between_environments(
    evidence: Evidence,
    *,
    labels: Sequence[str],
    without: str,
    environments: Sequence[str],
    against: Sequence[str],
    within: float,
    epsilons: NumberList = None,
) -> list[Check]:
    """What privacy adds, final regret less that of a policy without privacy, in each environment
    over that in the one at the same place of `against`, at the same ε.
    """

    def price(label: str, setting: CellSetting) -> Floats:
        """Of each run; runs are independent, so any run of the other will do."""
        private = evidence.at(label, setting)
        free = without_privacy(evidence, without, setting.environment)
        runs = min(len(private), len(free))
        return private[:runs] - free[:runs]

    return [
        Check(
            f"price of {label}, {s} over {other}",
            ratio_of(price(label, s), price(label, twin)),
            1.0 / within,
            within,
        )
        for label in labels
        for name, other in zip(environments, against, strict=True)
        for s in evidence.settings([label], [name], epsilons)
        for twin in evidence.settings([label], [other], [s.epsilon])
    ]


def without_privacy(evidence: Evidence, label: str, environment: str) -> Floats:
    """Final regret of every run of a policy without privacy, shape (runs,).

    Raises:
        LookupError: there are no results of it.
    """
    frame = evidence.curves.filter(
        pl.col("epsilon").is_null()
        & (pl.col("label") == label)
        & (pl.col("environment") == environment)
    )
    if frame.is_empty():
        raise LookupError(f"No setting has results of {label} in {environment}.")
    return (
        frame.filter(pl.col("round") == frame["round"].max())
        .sort("run")["regret"]
        .to_numpy()
        .astype(np.float64)
    )


def log_rate(
    evidence: Evidence,
    *,
    labels: Sequence[str],
    share: float,
    within: float,
    environments: Names = None,
    epsilons: NumberList = None,
) -> list[Check]:
    """Regret/ln n at the end over regret/ln n after `share` of the rounds: near 1 once it has
    converged.
    """
    checks = []
    for label in labels:
        for s in evidence.settings([label], environments, epsilons):
            rounds = evidence.rounds(label, s)
            early = share * rounds
            ratio = ratio_of(
                evidence.at(label, s) / math.log(rounds),
                evidence.at(label, s, share) / math.log(early),
            )
            checks.append(Check(f"{label}, {s}", ratio, 1.0 / within, within))
    return checks


def straight_line(
    evidence: Evidence, *, labels: Sequence[str], at_least: float, environments: Names = None
) -> list[Check]:
    """R² of the least-squares line of mean regret against 1/ε, over all budgets; its error from ten
    groups of runs.
    """
    checks = []
    for label in labels:
        settings = evidence.settings([label], environments)
        x = np.array([1.0 / s.epsilon for s in settings])
        groups = np.stack(
            [
                [part.mean() for part in np.array_split(evidence.at(label, s), GROUPS)]
                for s in settings
            ],
            axis=1,
        )
        squares = np.array([np.corrcoef(x, y)[0, 1] ** 2 for y in groups])
        checks.append(
            Check(f"{label}, R² over {len(x)} budgets", mean_of(squares), at_least=at_least)
        )
    return checks
