"""How a claim is measured: small functions of the evidence, each of which compares numbers with the
claim's threshold.

A measure returns one `Check` a comparison; `papers.paper.judge` makes a verdict of them.
"""

import math
from collections.abc import Sequence
from itertools import pairwise, permutations
from typing import NamedTuple

import numpy as np

from dpbandits.core.privacy import printed_epsilon
from dpbandits.papers.evidence import Evidence, Measurement, mean_of, ratio_of

MISS = 0.05
"""Error rate of a verdict: see `Check.holds` and `Check.fails`."""

Names = Sequence[str] | None
NumberList = Sequence[float] | None


class Check(NamedTuple):
    """One number, and the range the claim says it is in."""

    what: str
    estimate: Measurement
    at_least: float = -math.inf
    at_most: float = math.inf

    @property
    def holds(self) -> bool:
        """The whole 95 % interval is in the range. Asked of every comparison at once, so no
        correction is needed.
        """
        low, high = self.estimate.interval(MISS)
        return self.at_least <= low and high <= self.at_most

    def fails(self, looks: int) -> bool:
        """The whole interval is outside; it is wider, because one failure in any of `looks`
        comparisons refutes the claim.
        """
        low, high = self.estimate.interval(MISS / looks)
        return high < self.at_least or low > self.at_most

    @property
    def margin(self) -> float:
        """How far the number is inside the range, as a share of the nearest threshold; negative
        outside.
        """
        value = self.estimate.value
        above = (
            (value - self.at_least) / self.at_least if math.isfinite(self.at_least) else math.inf
        )
        below = (self.at_most - value) / self.at_most if math.isfinite(self.at_most) else math.inf
        return min(above, below)

    @property
    def asked(self) -> str:
        low, high = f"at least {self.at_least:.3g}", f"at most {self.at_most:.3g}"
        return " and ".join(
            text for text, end in ((low, self.at_least), (high, self.at_most)) if math.isfinite(end)
        )


def regret_ratio(
    evidence: Evidence,
    *,
    over: Sequence[str],
    under: str,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    environments: Names = None,
    epsilons: NumberList = None,
) -> list[Check]:
    """Final regret of each policy in `over`, divided by that of `under`."""
    return [
        Check(f"{label} / {under}, {s}", evidence.ratio(label, under, s), at_least, at_most)
        for label in over
        for s in evidence.settings([label, under], environments, epsilons)
    ]


def lowest(
    evidence: Evidence,
    *,
    label: str,
    others: Sequence[str],
    environments: Names = None,
    epsilons: NumberList = None,
) -> list[Check]:
    """The policy has the lowest final regret: every other one's is at least as large."""
    return regret_ratio(
        evidence,
        over=others,
        under=label,
        at_least=1.0,
        environments=environments,
        epsilons=epsilons,
    )


def similar(
    evidence: Evidence,
    *,
    one: str,
    other: str,
    within: float,
    environments: Names = None,
    epsilons: NumberList = None,
) -> list[Check]:
    """The two final regrets differ by at most the factor `within`, either way."""
    return regret_ratio(
        evidence,
        over=[one],
        under=other,
        at_least=1.0 / within,
        at_most=within,
        environments=environments,
        epsilons=epsilons,
    )


def late_share(
    evidence: Evidence,
    *,
    label: str,
    last: float,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    environments: Names = None,
    epsilons: NumberList = None,
) -> list[Check]:
    """The share of the final regret that came in the last part (`last`) of the rounds: 0 for a
    curve that is flat by then, and for a run without any regret.
    """
    checks = []
    for s in evidence.settings([label], environments, epsilons):
        final = evidence.at(label, s)
        late = final - evidence.at(label, s, 1.0 - last)
        shares = np.divide(late, final, out=np.zeros_like(late), where=final != 0.0)
        checks.append(Check(f"{label}, {s}", mean_of(shares), at_least, at_most))
    return checks


def spread_over_epsilon(
    evidence: Evidence,
    *,
    labels: Sequence[str],
    at_most: float,
    environments: Names = None,
    epsilons: NumberList = None,
) -> list[Check]:
    """Between any two budgets final regret differs by at most this factor, in each environment."""
    return [
        Check(
            f"{label}, {a} over ε = {printed_epsilon(b.epsilon)}",
            ratio_of(evidence.at(label, a), evidence.at(label, b)),
            at_most=at_most,
        )
        for label in labels
        for a, b in permutations(evidence.settings([label], environments, epsilons), 2)
        if a.environment == b.environment
    ]


def falls_with_epsilon(
    evidence: Evidence,
    *,
    labels: Sequence[str],
    rise: float,
    environments: Names = None,
    epsilons: NumberList = None,
) -> list[Check]:
    """From each budget to the next larger one final regret rises by no more than the share `rise`,
    and it falls from first to last.
    """
    checks = []
    for label in labels:
        settings = evidence.settings([label], environments, epsilons)
        for name in dict.fromkeys(s.environment for s in settings):
            by_budget = sorted(s for s in settings if s.environment == name)
            steps = [(a, b, 1.0 + rise) for a, b in pairwise(by_budget)] + [
                (by_budget[0], by_budget[-1], 1.0)
            ]
            for small, large, most in steps:
                ratio = ratio_of(evidence.at(label, large), evidence.at(label, small))
                checks.append(
                    Check(
                        f"{label}, {large} over ε = {printed_epsilon(small.epsilon)}",
                        ratio,
                        at_most=most,
                    )
                )
    return checks
