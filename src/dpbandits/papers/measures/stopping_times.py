"""Measures of claims on stopping rules. They play the rules themselves, on values −1 and 1 (R = 1):
a sweep says nothing of them.
"""

import itertools
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from dpbandits.core.inputs import Booleans
from dpbandits.core.privacy import printed_epsilon
from dpbandits.environments import Bernoulli
from dpbandits.papers.evidence import Evidence, Measurement
from dpbandits.papers.measures.verdicts import Check
from dpbandits.policies import POLICIES
from dpbandits.policies.formulas.stopping import stopping_time_bound
from dpbandits.simulation.stopping import Estimates, estimates

SEED = 2019


def halts_right(
    evidence: Evidence,
    *,
    rules: Sequence[str],
    means: Sequence[float],
    alphas: Sequence[float],
    budgets: Sequence[float],
    beta: float,
    runs: int,
) -> list[Check]:
    """Share of the runs that halt at an estimate within alpha·|mean| of the mean: at least 1 −
    beta.
    """
    checks = []
    for rule, mean, alpha, budget in itertools.product(rules, means, alphas, budgets):
        found = stopped_runs(rule, runs, mean=mean, alpha=alpha, beta=beta, budget=budget)
        what = f"{rule}, μ = {mean:g}, α = {alpha:g}, ε = {printed_epsilon(budget)}"
        checks.append(Check(what, share_of(found.right & ~found.capped), at_least=1.0 - beta))
    return checks


def stops_in_time(
    evidence: Evidence,
    *,
    rule: str,
    means: Sequence[float],
    alphas: Sequence[float],
    budgets: Sequence[float],
    beta: float,
    runs: int,
) -> list[Check]:
    """Share of the runs that halt within 2000(t₀ + t₁ + t₂) values: at least 1 − beta."""
    checks = []
    for mean, alpha, budget in itertools.product(means, alphas, budgets):
        found = stopped_runs(rule, runs, mean=mean, alpha=alpha, beta=beta, budget=budget)
        bound = stopping_time_bound(mean, 1.0, alpha=alpha, beta=beta, epsilon=budget)
        what = (
            f"{rule}, μ = {mean:g}, α = {alpha:g}, ε = {printed_epsilon(budget)}, latest "
            f"{found.rounds.max() / bound:.1g} of the bound"
        )
        checks.append(
            Check(what, share_of(~found.capped & (found.rounds <= bound)), at_least=1.0 - beta)
        )
    return checks


def extra_values_slope(
    evidence: Evidence,
    *,
    along: str,
    values: Sequence[float],
    at_least: float,
    at_most: float,
    runs: int,
    mean: float = 0.5,
    alpha: float = 0.2,
    beta: float = 0.05,
    budget: float = 0.3,
) -> list[Check]:
    """How the values DP-NAS takes beyond NAS grow with 1/x, x the parameter `along`, between
    neighbouring `values`: d ln extra/d ln(1/x).

    Of beta it is the growth with ln(1/beta). NAS is played with beta/4, which gives it the
    confidence radius of DP-NAS.
    """
    fixed = {"mean": mean, "alpha": alpha, "beta": beta, "budget": budget}
    points = [(x, *extra_values(runs, **fixed | {along: x})) for x in values]
    checks = []
    for (x, a, error_a), (y, b, error_b) in pairwise(points):
        step = math.log(math.log(y) / math.log(x)) if along == "beta" else math.log(x / y)
        slope = Measurement(
            math.log(b / a) / step,
            math.hypot(error_a / a, error_b / b) / abs(step),
            runs - 1,
            log=False,
        )
        checks.append(Check(f"{along} from {x:g} to {y:g}", slope, at_least, at_most))
    return checks


def extra_values(runs: int, *, beta: float, **fixed: float) -> tuple[float, float]:
    """Mean number of values DP-NAS takes beyond NAS, and its standard error."""
    private, plain = (
        stopped_runs("DPNAS", runs, beta=beta, **fixed),
        stopped_runs("NAS", runs, beta=beta / 4, **fixed),
    )
    error = math.sqrt(sum(float(found.rounds.var(ddof=1)) for found in (private, plain)) / runs)
    return float(private.rounds.mean() - plain.rounds.mean()), error


def stopped_runs(
    rule: str, runs: int, *, mean: float, alpha: float, beta: float, budget: float
) -> Estimates:
    """The rule on independent values −1 and 1 of this mean, with a cap it does not need."""
    arguments: dict[str, Any] = {
        "alpha": alpha,
        "beta": beta,
        "cap": 2**50,
        "low": -1,
        "high": 1,
        "grid": 1,
    }
    cls = POLICIES[rule]
    if cls.about.privacy != "none":
        arguments["epsilon"] = budget
    # only stopping rules are named here
    made: Any = cls(**arguments)
    return estimates(made, Bernoulli([(1.0 + mean) / 2.0]), runs=runs, seed=SEED)


def share_of(hits: Booleans) -> Measurement:
    """A share, with two made-up hits and two misses (Agresti and Coull), so that a share of 1 has
    an error, too.
    """
    n = len(hits) + 4
    share = (int(hits.sum()) + 2) / n
    return Measurement(share, math.sqrt(share * (1.0 - share) / n), n, log=False)
