"""Regret theory to hold beside every curve: lower bounds, and the policies' own upper bounds, as
numbers of the instance.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dpbandits.core.inputs import whole_number
from dpbandits.environments.base import Environment, require_pair
from dpbandits.oracles.matroids.matroid import Matroid
from dpbandits.policies.bounds.super_arm_gaps import exchange_gaps
from dpbandits.policies.contract import Policy
from dpbandits.policies.formulas.divergences import d_eps, kl
from dpbandits.policies.sizes import problem_of
from dpbandits.theory.laws import Distances
from dpbandits.theory.worst import full_information_lower_bound

Divergence = Callable[[Distances, int], float]


def lai_robbins(environment: Environment, rounds: int) -> float:
    """Σ Δ ln T/K(ν, μ*): no consistent policy does better in the long run (Lai and Robbins 1985;
    Burnetas and Katehakis 1996). NaN where the law of a reward is not known.

    Of 0/1 rewards K is kl, and consistent means on all 0/1 laws; of other rewards K is K_inf, and
    consistent means on all laws on [0, 1].
    """
    return _sum_over_gaps(environment, rounds, Distances.entropy)


def private_lower_bound(environment: Environment, rounds: int, epsilon: float) -> float:
    """Σ Δ ln T/d_eps(μ, μ*): the same for epsilon-DP policies and 0/1 rewards (Azize, Wu, Honda,
    Orabona, Ito and Basu 2025).

    Of other rewards Σ Δ ln T/min(K_inf, epsilon·p), p the share of rewards that must become 1.
    """
    return _sum_over_gaps(environment, rounds, lambda found, arm: found.private(arm, epsilon))


def shariff_sheffet(environment: Environment, rounds: int, epsilon: float) -> float:
    """K' ln T/epsilon with constant 1, K' arms with a gap: the order of the added regret (Shariff
    and Sheffet 2018).
    """
    return sum(1 for gap in environment.gaps if gap > 0) * math.log(rounds) / epsilon


def local_lower_bound(environment: Environment, rounds: int, epsilon: float) -> float:
    """Σ Δ ln T/D, D the most an epsilon-LDP channel lets through of K: Lai–Robbins on reports.

    D = min(tanh²(ε/2)·K, min(4, e^2ε)(e^ε − 1)² p²), p = Δ for 0/1 rewards: Asoodeh and Zhang 2022
    (contraction of kl); Duchi, Jordan and Wainwright 2013.
    """
    contraction = math.tanh(epsilon / 2) ** 2
    shrink = min(4.0, math.exp(2 * epsilon)) * math.expm1(epsilon) ** 2

    def reported(found: Distances, arm: int) -> float:
        return min(contraction * found.entropy(arm), shrink * found.moved(arm) ** 2)

    return _sum_over_gaps(environment, rounds, reported)


def matroid_lower_bound(
    matroid: Matroid, environment: Environment, rounds: int, epsilon: float | None = None
) -> float:
    """Σ Δ_e ln T/kl(μ_e, μ_σ(e)) over the elements outside the best basis, σ(e) the least element
    of it that e can replace; d_eps in place of kl for epsilon-DP policies. 0/1 rewards.

    Talebi and Proutiere 2016, Theorem 1; with privacy by the argument of Azize et al. 2025 for each
    element: an alternative that raises e alone above σ(e) changes the best basis.
    """
    means = environment.means.tolist()
    best = matroid.best(means)
    total = 0.0
    for e in sorted(set(range(matroid.arms)) - set(best) - set(matroid.loops)):
        least = min(means[f] for f in matroid.fundamental_circuit(best, e) if f != e)
        if means[e] < least:
            far = kl(means[e], least) if epsilon is None else d_eps(means[e], least, epsilon)
            total += (least - means[e]) * fewest_plays(rounds, far)
    return total


def lower_bound(policy: Policy, environment: Environment, rounds: int) -> float:
    """The lower bound that applies to a policy of this kind of privacy, at T = `rounds`.

    One arm a round, or a matroid: it bounds lim inf Regret/ln T for consistent policies; at a
    finite T good policies may lie below it. No arm counts more than T plays, and it is no more than
    uniform play loses (on a matroid, the worst basis). Full information: for the worst instance of
    K actions and this smallest gap, at this T. NaN where we know of none (other super arms; local
    privacy and zCDP on super arms; laws that are not known).
    """
    require_pair(policy, environment)
    rounds, guarantee = whole_number(rounds, "rounds", 1), policy.guarantee
    pure = guarantee is not None and guarantee.measure == "pure"
    epsilon = float(guarantee.cost) if guarantee is not None and pure else None
    local = guarantee is not None and guarantee.trust == "local"
    problem = problem_of(policy)
    if policy.about.feedback == "full":
        gap = min((gap for gap in environment.gaps.tolist() if gap > 0), default=0.0)
        return full_information_lower_bound(policy.arms, gap, rounds, epsilon)
    if problem is not None:
        if local or not isinstance(problem, Matroid):
            return math.nan
        found = matroid_lower_bound(problem, environment, rounds, epsilon)
        worst = rounds * exchange_gaps(problem, environment.means.tolist()).largest
    else:
        worst = float(environment.gaps.mean()) * rounds
        if epsilon is None:
            found = lai_robbins(environment, rounds)
        else:
            bound = local_lower_bound if local else private_lower_bound
            found = bound(environment, rounds, epsilon)
    return found if math.isnan(found) else min(found, worst)


def upper_bound(policy: Policy, environment: Environment, rounds: int) -> float:
    """No less than the policy's expected pseudo-regret on this instance, all constants included;
    NaN where no proof states them. See `Policy.regret_bound` for the conditions.
    """
    require_pair(policy, environment)
    rounds = whole_number(rounds, "rounds", 1)
    return policy.regret_bound(environment.means.tolist(), rounds)


def regret_order(policy: Policy, environment: Environment, rounds: int) -> float:
    """The order of the policy's regret bound on this instance, without constants: no bound; NaN
    where none is proved.
    """
    require_pair(policy, environment)
    rounds = whole_number(rounds, "rounds", 1)
    return policy.regret_order(environment.means.tolist(), rounds)


def _sum_over_gaps(environment: Environment, rounds: int, divergence: Divergence) -> float:
    found = Distances(environment)
    if not found.known:
        return math.nan
    gaps = {arm: found.best - float(found.means[arm]) for arm in found.worse()}
    return math.fsum(
        gap * fewest_plays(rounds, divergence(found, arm)) for arm, gap in gaps.items()
    )


def fewest_plays(rounds: int, divergence: float) -> float:
    """ln T/divergence, and never more than T."""
    return min(float(rounds), math.log(rounds) / divergence)
