"""Regret theory to hold beside every curve: lower bounds, and the policies' own upper bounds, as
numbers of the instance.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dpbandits.core.inputs import whole_number
from dpbandits.environments.base import Environment, require_pair
from dpbandits.policies.contract import Policy
from dpbandits.policies.formulas.divergences import d_eps, kl


def lai_robbins(environment: Environment, rounds: int) -> float:
    """Σ Δ ln T/kl(μ, μ*): no consistent policy does better in the long run (Lai and Robbins
    1985).
    """
    return _sum_over_gaps(environment, rounds, kl)


def private_lower_bound(environment: Environment, rounds: int, epsilon: float) -> float:
    """Σ Δ ln T/d_eps(μ, μ*): the same for epsilon-DP policies (Azize, Wu, Honda, Orabona, Ito and
    Basu 2025).
    """
    return _sum_over_gaps(environment, rounds, lambda mean, best: d_eps(mean, best, epsilon))


def shariff_sheffet(environment: Environment, rounds: int, epsilon: float) -> float:
    """K' ln T/epsilon with constant 1, K' arms with a gap: the order of the added regret (Shariff
    and Sheffet 2018).
    """
    return sum(1 for gap in environment.gaps if gap > 0) * math.log(rounds) / epsilon


def local_lower_bound(environment: Environment, rounds: int, epsilon: float) -> float:
    """Σ Δ ln T/D, D the most an epsilon-LDP channel lets through of kl: Lai–Robbins on reports.

    D = min(tanh²(ε/2)·kl, min(4, e^2ε)(e^ε − 1)² Δ²): Asoodeh and Zhang 2022 (contraction of kl);
    Duchi, Jordan and Wainwright 2013.
    """
    contraction = math.tanh(epsilon / 2) ** 2
    shrink = min(4.0, math.exp(2 * epsilon)) * math.expm1(epsilon) ** 2
    return _sum_over_gaps(
        environment,
        rounds,
        lambda mean, best: min(contraction * kl(mean, best), shrink * (best - mean) ** 2),
    )


def full_information_lower_bound(environment: Environment, epsilon: float) -> float:
    """0.0098 ln K/epsilon: regret that epsilon-DP costs with full information, from some round on,
    on the worst instance of its kind.

    Hu, Huang, Mehta and Hegde 2024, proof of theorem 12: with probability 0.2, 0.49 of the first ln
    K/(10 epsilon Δ) rounds are lost.
    """
    return 0.2 * 0.49 / 10.0 * math.log(environment.arms) / epsilon


def lower_bound(policy: Policy, environment: Environment, rounds: int) -> float:
    """The asymptotic lower bound that applies to a policy of this kind of privacy, at T = `rounds`.

    It bounds lim inf Regret/ln T for consistent policies; at a finite T good policies may lie below
    it. With full information it is the cost of privacy alone, on the worst instance. NaN where we
    know of none (super arms; full information without privacy).
    """
    require_pair(policy, environment)
    rounds, guarantee = whole_number(rounds, "rounds", 1), policy.guarantee
    if policy.about.feedback != "bandit":
        known = policy.about.feedback == "full" and guarantee is not None
        return (
            full_information_lower_bound(environment, float(guarantee.cost))
            if known and guarantee is not None
            else math.nan
        )
    if guarantee is None or guarantee.measure != "pure":
        return lai_robbins(environment, rounds)
    bound = local_lower_bound if guarantee.trust == "local" else private_lower_bound
    return bound(environment, rounds, float(guarantee.cost))


def upper_bound(policy: Policy, environment: Environment, rounds: int) -> float:
    """Leading terms of the policy's regret bound on this instance; NaN where none is proved."""
    require_pair(policy, environment)
    rounds = whole_number(rounds, "rounds", 1)
    return policy.regret_bound([float(gap) for gap in environment.gaps], rounds)


def _sum_over_gaps(
    environment: Environment, rounds: int, divergence: Callable[[float, float], float]
) -> float:
    best = float(environment.means.max())
    terms = [
        (best - mean) / divergence(float(mean), best) for mean in environment.means if mean < best
    ]
    return math.fsum(terms) * math.log(rounds)
