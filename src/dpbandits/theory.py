"""Regret bounds for a given instance, and the list of policies with their capabilities."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple, final

import numpy as np

from dpbandits.core.inputs import Floats, number_within, positive, refuse_others, whole_number
from dpbandits.core.privacy import Grid
from dpbandits.core.tables import aligned
from dpbandits.environments.base import Environment, require_pair
from dpbandits.environments.laws import Categorical
from dpbandits.oracles.base import DecisionSet
from dpbandits.oracles.matroids import Matroid
from dpbandits.policies import CONTEXTUAL
from dpbandits.policies.arm_bounds import excess, lazy_low
from dpbandits.policies.contextual import ContextualPolicy
from dpbandits.policies.contract import Policy, problem_of
from dpbandits.policies.every_round import UCB1
from dpbandits.policies.experts import (
    RNMFTNL,
    DecreasingHedge,
    NaiveFTNL,
    PrefixExponential,
    TreeFTRL,
    prefix_worst,
)
from dpbandits.policies.forgetful import AnytimeLazyUCB
from dpbandits.policies.formulas.indices import d_eps, kl
from dpbandits.policies.formulas.stopping import GOLD, stopping_time_bound
from dpbandits.policies.identification import DPSE
from dpbandits.policies.joint_contexts import JointDPLinTS
from dpbandits.policies.named import EVERY_POLICY
from dpbandits.policies.super_arm_bounds import lower_constant, super_arm_gaps

__all__ = [
    "full_information_lower_bound",
    "instance_independent_bound",
    "lai_robbins",
    "list_policies",
    "local_lower_bound",
    "lower_bound",
    "matroid_lower_bound",
    "minimax_lower_bound",
    "private_lower_bound",
    "private_paths_lower_bound",
    "private_sample_lower_bound",
    "regret_order",
    "semi_bandit_lower_order",
    "shariff_sheffet",
    "stopping_time_bound",
    "super_arm_lower_bound",
    "upper_bound",
]

# The divergence of an arm's law from the best laws, the divisor of asymptotic lower bounds.


FINE = Grid(steps=1024)  # the law's grid; 0/1 rewards are unchanged
ENOUGH = 300.0  # e^2ε is finite up to here, and a budget above it changes no bound
SEARCH = 120  # golden sections, to the last bit


def k_inf(values: Floats, probabilities: Floats, mean: float) -> float:
    """Return the least relative entropy of this law to a law on [0, 1] with a larger mean.

    It is max over 0 <= λ <= 1/(1 − mean) of E ln(1 − λ(X − mean)) (Honda and Takemura 2010), a
    concave function; kl for a 0/1 law.

    Args:
        values: of the law, shape (levels,).
        probabilities: shape (levels,).
        mean: the mean to exceed.
    """
    if mean >= 1.0:
        return math.inf

    def objective(share: float) -> float:
        inside = 1.0 - share * (values - mean) / (1.0 - mean)
        return float(np.sum(probabilities * np.log(np.maximum(inside, 1e-300))))

    low, high = 0.0, 1.0
    for _ in range(SEARCH):
        a, b = high - GOLD * (high - low), low + GOLD * (high - low)
        low, high = (low, b) if objective(a) > objective(b) else (a, high)
    return max(0.0, objective((low + high) / 2.0))


class Distances:
    """Divergences of the worse arms of an environment from the best arm.

    For 0/1 laws: kl and d_eps, for policies that are consistent on 0/1 laws. For other laws: K_inf,
    and the share p = Δ/(1 − μ) of rewards that must become 1, for policies that are consistent on
    all laws on [0, 1].
    """

    def __init__(self, environment: Environment) -> None:
        refuse_others(environment, Environment, "an environment", "dpbandits.Bernoulli([0.5, 0.4])")
        self.means, self.best = environment.means, float(environment.means.max())
        law = environment.lattice(FINE)
        self.has_law = law is not None
        if isinstance(environment, Categorical):  # as it is, not rounded to a grid
            self.values, self.probabilities = environment.values, environment.probabilities
        elif law is not None:
            used = law.probabilities.max(axis=0) > 0.0
            self.values = law.values[used] / FINE.steps
            self.probabilities = law.probabilities[:, used]
        self.is_binary = self.has_law and bool(np.isin(self.values, (0.0, 1.0)).all())

    def entropy(self, arm: int) -> float:
        """Return kl or K_inf to the best mean."""
        if self.is_binary:
            return kl(float(self.means[arm]), self.best)
        return k_inf(self.values, self.probabilities[arm], self.best)

    def moved(self, arm: int) -> float:
        """Return the least share of rewards in which another law with the best mean differs."""
        gap = self.best - float(self.means[arm])
        return gap if self.is_binary else gap / (1.0 - float(self.means[arm]))

    def private(self, arm: int, epsilon: float) -> float:
        """Return d_eps, or the smaller of K_inf and epsilon·p."""
        if self.is_binary:
            return d_eps(float(self.means[arm]), self.best, epsilon)
        return min(self.entropy(arm), epsilon * self.moved(arm))


# Lower bounds, and the policies' upper bounds, for a given instance.


Divergence = Callable[[Distances, int], float]


def lai_robbins(environment: Environment, rounds: int) -> float:
    """Return Σ Δ ln T/K(ν, μ*): no consistent policy has less regret asymptotically.

    For 0/1 rewards K is kl, for policies consistent on all 0/1 laws. For other rewards K is K_inf,
    for policies consistent on all laws on [0, 1].

    Source: Lai and Robbins 1985; Burnetas and Katehakis 1996.

    Args:
        environment: the instance.
        rounds: T.

    Returns:
        The bound; NaN if the law of a reward is unknown.
    """
    return _sum_over_gaps(environment, rounds, Distances.entropy)


def private_lower_bound(environment: Environment, rounds: int, epsilon: float) -> float:
    """Return Σ Δ ln T/d_eps(μ, μ*), the lower bound for ε-DP policies and 0/1 rewards.

    For other rewards it is Σ Δ ln T/min(K_inf, epsilon·p), where p is the share of rewards that
    must become 1.

    Source: Azize, Wu, Honda, Orabona, Ito and Basu 2025.

    Args:
        environment: the instance.
        rounds: T.
        epsilon: ε of the policy.

    Returns:
        The bound; NaN if the law of a reward is unknown.

    Raises:
        ValueError: `rounds` is no whole number from 1, or `epsilon` none above 0.
    """
    (budget,) = positive(epsilon=epsilon)
    return _sum_over_gaps(environment, rounds, lambda found, arm: found.private(arm, budget))


def shariff_sheffet(environment: Environment, rounds: int, epsilon: float) -> float:
    """Return K' ln T/epsilon with constant 1, where K' arms have a gap: the order of the regret
    that privacy adds.

    Source: Shariff and Sheffet 2018.

    Args:
        environment: the instance.
        rounds: T.
        epsilon: ε of the policy.

    Returns:
        The order, in units of reward.

    Raises:
        ValueError: `rounds` is no whole number from 1, or `epsilon` none above 0.

    Example:
        >>> from dpbandits import Bernoulli
        >>> round(shariff_sheffet(Bernoulli([0.5, 0.4]), 10**6, 1.0), 2)
        13.82
    """
    rounds, (epsilon,) = whole_number(rounds, "rounds", 1), positive(epsilon=epsilon)
    return sum(1 for gap in environment.gaps if gap > 0) * math.log(rounds) / epsilon


def local_lower_bound(environment: Environment, rounds: int, epsilon: float) -> float:
    """Return Σ Δ ln T/D: the Lai–Robbins bound on reports, where D is the largest K after an ε-LDP
    channel.

    D = min(tanh²(ε/2)·K, min(4, e^2ε)(e^ε − 1)² p²), with p = Δ for 0/1 rewards.

    Source: Asoodeh and Zhang 2022 (contraction of kl); Duchi, Jordan and Wainwright 2013.

    Args:
        environment: the instance.
        rounds: T.
        epsilon: ε of one report.

    Raises:
        ValueError: `rounds` is no whole number from 1, or `epsilon` none above 0.
    """
    (epsilon,) = positive(epsilon=epsilon)
    contraction, budget = math.tanh(epsilon / 2) ** 2, min(epsilon, ENOUGH)
    shrink = (min(2.0, math.exp(budget)) * math.expm1(budget)) ** 2

    def reported(distances: Distances, arm: int) -> float:
        return min(contraction * distances.entropy(arm), shrink * distances.moved(arm) ** 2)

    return _sum_over_gaps(environment, rounds, reported)


def matroid_lower_bound(
    matroid: Matroid, environment: Environment, rounds: int, epsilon: float | None = None
) -> float:
    """Return Σ Δ_e ln T/kl(μ_e, μ_σ(e)) over the elements outside the best basis, for 0/1 rewards.
    σ(e) is the least element of the basis that e can replace; d_eps replaces kl for ε-DP policies.

    Source: Talebi and Proutiere 2016, Theorem 1. With privacy, the argument of Azize et al. 2025
    for each element: an alternative that raises e alone above σ(e) changes the best basis.

    Args:
        matroid: the decision set.
        environment: the instance.
        rounds: T.
        epsilon: ε of the policy; None without privacy.

    Returns:
        The bound; NaN if rewards are not 0 and 1 and independent.

    Raises:
        ValueError: `rounds` is no whole number from 1, or `epsilon` none above 0.
    """
    rounds, epsilon = whole_number(rounds, "rounds", 1), budget_or_none(epsilon)
    if not are_single_coins(environment):
        return math.nan
    means = environment.means.tolist()
    best = matroid.best(means)
    total = 0.0
    for e in sorted(set(range(matroid.arms)) - set(best) - set(matroid.loops)):
        least = min(means[f] for f in matroid.fundamental_circuit(best, e) if f != e)
        if means[e] < least:
            far = kl(means[e], least) if epsilon is None else d_eps(means[e], least, epsilon)
            total += (least - means[e]) * fewest_plays(rounds, far)
    return total


def budget_or_none(epsilon: float | None) -> float | None:
    """Return a positive budget; None, without privacy, as it is."""
    return None if epsilon is None else positive(epsilon=epsilon)[0]


def are_single_coins(environment: Environment) -> bool:
    """Return whether the rewards of a round are 0 or 1, and independent of each other."""
    distances = Distances(environment)
    return environment.apart and distances.has_law and distances.is_binary


def super_arm_lower_bound(
    problem: DecisionSet, environment: Environment, rounds: int, epsilon: float | None = None
) -> float:
    """Return c ln T, where no consistent policy's regret/ln T has a smaller limit than c, for sums
    of independent 0/1 rewards over any listed super arms.

    c is the least cost of plays for which every alternative that makes another super arm the best,
    and leaves the arms of the best ones as they are, has Σ n_i d(μ_i, λ_i) >= 1. It is the value of
    a convex program, from below. d is kl, and d_eps for ε-DP policies.

    Source: Combes, Talebi, Proutiere and Lelarge 2015, Theorem 1. With privacy ours
    (proofs/super_arm_lower.md).

    Args:
        problem: the decision set, of at most 20,000 super arms.
        environment: the instance.
        rounds: T.
        epsilon: ε of the policy; None without privacy.

    Returns:
        The bound, at most 0.1 % too low. NaN if the super arms are too many to list, their value is
        no sum, rewards are not 0 and 1 and independent, or the program cannot be solved that well.

    Raises:
        ValueError: `rounds` is no whole number from 1, or `epsilon` none above 0.

    >>> from dpbandits import Bernoulli, ExplicitSet
    >>> paths, coins = ExplicitSet([(0, 1), (2, 3)]), Bernoulli([0.6, 0.5, 0.4, 0.4])
    >>> [round(super_arm_lower_bound(paths, coins, 10**6, eps)) for eps in (None, 0.1)]
    [46, 151]
    """
    rounds, epsilon = whole_number(rounds, "rounds", 1), budget_or_none(epsilon)
    if not are_single_coins(environment):
        return math.nan
    means = tuple(environment.means.tolist())
    return lower_constant(problem, means, epsilon) * math.log(rounds)


def lower_bound(policy: Policy, environment: Environment, rounds: int) -> float:
    """Return the lower bound that applies to a policy of this kind of privacy.

    For one arm a round, or super arms, it bounds lim inf Regret/ln T of consistent policies; at a
    finite T good policies may have less regret. No arm counts more than T plays, and the bound is
    at most the regret of uniform play (on super arms, of the worst one). For full information it
    bounds the regret on the worst instance of K actions with this smallest gap, at this T.

    Args:
        policy: the policy.
        environment: the instance.
        rounds: T.

    Returns:
        The bound; NaN if none is known (super arms that are too many to list, or whose value is no
        sum; rewards of theirs that are dependent, or not 0 and 1; local privacy on super arms;
        unknown laws; decisions by context).

    Raises:
        TypeError, ValueError: not a policy and an environment with the same number of arms.

    Example:
        >>> from dpbandits import DPKLUCB, Bernoulli
        >>> policy, environment = DPKLUCB(arms=2, epsilon=1), Bernoulli([0.5, 0.4])
        >>> round(lower_bound(policy, environment, 10**6))
        69
    """
    require_pair(policy, environment)
    rounds, guarantee = whole_number(rounds, "rounds", 1), policy.guarantee
    if isinstance(policy, (ContextualPolicy, JointDPLinTS)):
        return math.nan
    pure = guarantee is not None and guarantee.measure == "pure"
    epsilon = float(guarantee.cost) if guarantee is not None and pure else None
    local = guarantee is not None and guarantee.trust == "local"
    problem = problem_of(policy)
    if policy.about.feedback == "full":
        gap = min((gap for gap in environment.gaps.tolist() if gap > 0), default=0.0)
        return full_information_lower_bound(policy.arms, gap, rounds, epsilon)
    if problem is not None:
        gaps = None if local else super_arm_gaps(problem, environment.means.tolist())
        if gaps is None:
            return math.nan
        if isinstance(problem, Matroid):
            asymptotic = matroid_lower_bound(problem, environment, rounds, epsilon)
        else:
            asymptotic = super_arm_lower_bound(problem, environment, rounds, epsilon)
        worst = rounds * gaps.largest
    else:
        worst = float(environment.gaps.mean()) * rounds
        if epsilon is None:
            asymptotic = lai_robbins(environment, rounds)
        else:
            bound = local_lower_bound if local else private_lower_bound
            asymptotic = bound(environment, rounds, epsilon)
    return asymptotic if math.isnan(asymptotic) else min(asymptotic, worst)


def upper_bound(policy: Policy, environment: Environment, rounds: int) -> float:
    """Return an upper bound of the policy's expected pseudo-regret on this instance, with all
    constants. See `Policy.regret_bound` for its conditions.

    Args:
        policy: the policy.
        environment: the instance.
        rounds: T.

    Returns:
        The bound; NaN if no proof states the constants, no arm is the best for all visitors, means
        change, or the policy is your own and does not define `regret_bound` itself.

    Raises:
        TypeError, ValueError: not a policy and an environment with the same number of arms.

    Example:
        >>> from dpbandits import DPKLUCB, Bernoulli
        >>> policy, environment = DPKLUCB(arms=2, epsilon=1), Bernoulli([0.5, 0.4])
        >>> round(upper_bound(policy, environment, 10**6))
        239
    """
    return _stated(policy, environment, rounds, "regret_bound")


def regret_order(policy: Policy, environment: Environment, rounds: int) -> float:
    """Return the order of the policy's regret bound on this instance, without constants. It is not
    a bound.

    Args:
        policy: the policy.
        environment: the instance.
        rounds: T.

    Returns:
        The order; NaN if none is proved, no arm is the best for all visitors, means change, or the
        policy is your own and does not define `regret_order` itself.

    Raises:
        TypeError, ValueError: not a policy and an environment with the same number of arms.

    Example:
        >>> from dpbandits import DPKLUCB, Bernoulli
        >>> policy, environment = DPKLUCB(arms=2, epsilon=1), Bernoulli([0.5, 0.4])
        >>> round(regret_order(policy, environment, 10**6))
        103
    """
    return _stated(policy, environment, rounds, "regret_order")


def _stated(
    policy: Policy,
    environment: Environment,
    rounds: int,
    method: Literal["regret_bound", "regret_order"],
) -> float:
    """Return what a policy's method says of its regret; NaN for a user's own policy that has the
    method of one of ours, because the proof is of ours.
    """
    require_pair(policy, environment)
    rounds, ours = whole_number(rounds, "rounds", 1), EVERY_POLICY.values()
    inherits = type(policy) not in ours and getattr(type(policy), method) in {
        getattr(cls, method) for cls in ours
    }
    if inherits or not has_best_arm(environment):
        return math.nan
    return float(getattr(policy, method)(environment.means.tolist(), rounds))


def has_best_arm(environment: Environment) -> bool:
    """Return whether one arm is the best for all visitors, and by as much in all rounds."""
    best = float(environment.best_until(np.array(1)))
    is_alike = math.isclose(best, environment.means.max(), rel_tol=1e-9)
    return is_alike and not environment.changing


def _sum_over_gaps(environment: Environment, rounds: int, divergence: Divergence) -> float:
    distances, rounds = Distances(environment), whole_number(rounds, "rounds", 1)
    if not distances.has_law:
        return math.nan
    return math.fsum(
        (distances.best - mean) * fewest_plays(rounds, divergence(distances, arm))
        for arm, mean in enumerate(distances.means.tolist())
        if mean < distances.best
    )


def fewest_plays(rounds: int, divergence: float) -> float:
    """Return ln T/divergence, at most T."""
    told = math.log(rounds)
    return told / divergence if divergence * rounds > told else float(rounds)


# Bounds for the worst instance: full information, paths, and all instances.


WORST_HALVINGS = 200  # of [0, T]: to the last bit


def full_information_lower_bound(
    actions: int, gap: float, rounds: int, epsilon: float | None = None
) -> float:
    """Return the regret on the worst of the K instances in which one action is better by `gap`.

    Without privacy it is max over n <= T of (nΔ/2)(1 − (2nΔ ln((1 + Δ)/(1 − Δ)) + ln 2)/ln K):
    Fano's inequality for means ½ ± Δ/2, with the most played action as the guess. Under ε-DP it is
    at least 0.2·0.49·Δ·min(T, ln K/(10 epsilon Δ)).

    Source: Hu, Huang, Mehta and Hegde 2024, Theorem 12 (under ε-DP), which corrects an inequality
    in Theorem 2 of Acharya, Sun and Zhang 2021.

    Args:
        actions: K.
        gap: Δ, from 0 to 1.
        rounds: T.
        epsilon: None: without privacy.

    Raises:
        ValueError: an argument out of its range.

    >>> full_information_lower_bound(10, 0.1, 2, epsilon=0.001) <= 2 * 0.1
    True
    """
    actions, rounds = whole_number(actions, "actions", 1), whole_number(rounds, "rounds", 1)
    gap, epsilon = number_within(gap, "gap", 0, 1), budget_or_none(epsilon)
    if actions < 2 or not 0.0 < gap < 1.0:
        return 0.0
    log_k = math.log(actions)
    share, each = 1.0 - math.log(2.0) / log_k, 2.0 * gap * 2.0 * math.atanh(gap) / log_k
    most = share / (2.0 * each)  # of all n, whole or not
    sides = (min(rounds, n) for n in (math.floor(most), math.ceil(most)))
    free = max(0.5 * gap * n * max(0.0, share - n * each) for n in sides)
    if epsilon is None:
        return free
    return max(free, 0.2 * 0.49 * gap * min(float(rounds), log_k / (10.0 * epsilon * gap)))


def private_paths_lower_bound(
    arms: int, size: int, gap: float, rounds: int, epsilon: float
) -> float:
    """Return (m − K)K ln T/(64(e^ε − 1)²Δ), for ε-LDP policies on paths.

    The instance has m/K disjoint paths of K arms; arms of one path have equal rewards; means are ½
    on the best path and ½ − Δ/K elsewhere, Δ/K < 0.35. NaN if m/K is not whole or the gap is too
    large.

    Source: Chen et al. 2020, Theorem 6; with K = 1 Theorem 5 for B∞ = 1, by reduction from Basu,
    Dimitrakakis and Tossou 2019, Theorem 2.

    Args:
        arms: m.
        size: K, the arms of a path.
        gap: Δ, of a path.
        rounds: T.
        epsilon: of each report.

    Raises:
        ValueError: an argument that is not above 0, or no whole number where it is a count.
    """
    arms, size = whole_number(arms, "arms", 1), whole_number(size, "size", 1)
    rounds, (gap, epsilon) = whole_number(rounds, "rounds", 1), positive(gap=gap, epsilon=epsilon)
    if arms % size or gap / size >= 0.35:
        return math.nan
    grown = math.expm1(min(epsilon, ENOUGH))
    return (arms - size) * size * math.log(rounds) / (64.0 * grown**2 * gap)


def semi_bandit_lower_order(arms: int, size: int, gap: float, rounds: int, epsilon: float) -> float:
    """Return mK ln T/Δ + mK ln T/ε, the order of the lower bound for ε-DP policies on the worst
    instance with m >= 2K arms and this gap. It has no constant.

    Source: Chen et al. 2020, Theorem 9.

    Args:
        arms: m.
        size: K, the arms of a super arm.
        gap: Δ, of a super arm.
        rounds: T.
        epsilon: ε.

    Raises:
        ValueError: an argument that is not above 0, or no whole number where it is a count.
    """
    arms, size = whole_number(arms, "arms", 1), whole_number(size, "size", 1)
    rounds, (gap, epsilon) = whole_number(rounds, "rounds", 1), positive(gap=gap, epsilon=epsilon)
    return arms * size * math.log(rounds) * (1.0 / gap + 1.0 / epsilon)


def minimax_lower_bound(arms: int, rounds: int, epsilon: float | None = None) -> float:
    """Return the regret of any policy of one arm a round on its worst instance of 0/1 rewards, at
    this T.

    It is min(√(KT), T)/20 (Auer et al. 2002b, Theorem 5.1). Pure ε-DP policies, central or local,
    also have at least (K − 1)n/2, where n solves (K − 1)n = (T − n)e^{−εn}: order (K/ε) ln(εT/K),
    not below the K/ε of Azize and Basu 2022 (proofs/worst_instances.md). zCDP alone does not imply
    it.

    Args:
        arms: K.
        rounds: T.
        epsilon: None: without privacy.

    >>> [round(minimax_lower_bound(5, 10**5, eps)) for eps in (None, 1.0, 0.1, 0.01)]
    [35, 35, 121, 821]
    """
    arms, rounds = whole_number(arms, "arms", 1), whole_number(rounds, "rounds", 1)
    if arms < 2:
        return 0.0
    free = min(math.sqrt(arms * rounds), float(rounds)) / 20.0
    budget = budget_or_none(epsilon)
    return free if budget is None else max(free, private_floor(arms, rounds, budget))


def private_floor(arms: int, rounds: int, epsilon: float) -> float:
    """Return (K − 1)n/2 for the n of `minimax_lower_bound`, by bisection from below."""
    low, high = 0.0, float(rounds)
    for _ in range(WORST_HALVINGS):
        middle = (low + high) / 2.0
        below = (arms - 1) * middle <= (rounds - middle) * math.exp(-epsilon * middle)
        low, high = (middle, high) if below else (low, middle)
    return (arms - 1) * low / 2.0


# Bounds that hold for all instances: the worst gaps for a number of arms and rounds.
#
# An arm whose gap is below a threshold costs at most that a round; the others at most (K − 1)
# times the largest Δ·E[plays]. Both are bounded with Hoeffding's inequality for any means, so that
# √(KT ln T) + K ln T/ε comes out with constants (Audibert and Bubeck 2009; Sajed and Sheffet 2019,
# Theorem 4.4; Hu, Huang, Mehta and Hegde 2024, Theorem 3, Corollary 11).


def split(rounds: int, arms: int, over_gap: float, each: float) -> float:
    """Return min over a threshold D of D·T + (K − 1)(over_gap/D + each)."""
    others = arms - 1
    return 2.0 * math.sqrt(others * over_gap * rounds) + others * each


def instance_independent_bound(policy: Policy, rounds: int) -> float:
    """Return an upper bound of the expected regret that holds for all means.

    It is known for UCB1, AnytimeLazyUCB, DPSE with a known horizon, DecreasingHedge, RNMFTNL,
    NaiveFTNL, PrefixExponential and TreeFTRL. LazyDPTS has O(√(KT ln T) + K ln T/ε) without
    constants (Hu, Huang, Mehta and Hegde 2024, Theorem 5).

    Args:
        policy: the policy.
        rounds: T.

    Returns:
        The bound; NaN if no proof states the constants, as of a policy of your own.

    >>> round(instance_independent_bound(UCB1(arms=2), 10**6))
    21030
    """
    rounds = whole_number(rounds, "rounds", 1)
    log_t, arms = math.log(max(2, rounds)), policy.arms
    if type(policy) not in EVERY_POLICY.values():
        return math.nan
    if isinstance(policy, UCB1):
        bound = split(rounds, arms, 8.0 * log_t, 1.0 + math.pi**2 / 3.0)
    elif isinstance(policy, AnytimeLazyUCB):
        bound = lazy_worst(policy, rounds, log_t)
    elif isinstance(policy, DPSE) and policy.beta is not None:
        bound = elimination_worst(policy, rounds, policy.beta)
    elif isinstance(policy, DecreasingHedge):
        bound = math.sqrt(rounds * math.log(arms))
    elif isinstance(policy, RNMFTNL | NaiveFTNL):
        bound = leader_worst(policy, rounds)
    elif isinstance(policy, PrefixExponential):
        bound = prefix_worst(arms, rounds, float(policy.epsilon))
    elif isinstance(policy, TreeFTRL):
        # round 1, with equal weights, loses at most 1 − 1/K
        bound = 1.0 - 1.0 / arms + policy.later_bound(rounds)
    else:
        return math.nan
    return min(float(rounds), bound)


def lazy_worst(policy: AnytimeLazyUCB, rounds: int, log_t: float) -> float:
    """Use Δ·E[plays] <= 96 ln T/min(Δ, ε) + 3: batches up to 2^d, d = ⌈lg(24 ln T/(Δ min(Δ, ε)))⌉,
    are played; later ones have probability at most T⁻³ (proofs/anytime_lazy_ucb.md).
    """
    eps = float(policy.epsilon)
    low = lazy_low(policy.arms + 1, rounds, excess(eps, policy.grid))
    return split(rounds, policy.arms, 96.0 * log_t, 96.0 * log_t / eps + 3.0) + low


def elimination_worst(policy: DPSE, rounds: int, beta: float) -> float:
    """Use Δ·pulls <= 171 L/Δ + 32 L/ε + 3, L = ln(8K e²/β), e <= lg T + 1: the epochs of Lemma
    4.2.
    """
    eps = float(policy.epsilon)
    log = math.log(8.0 * policy.arms * (math.log2(rounds) + 1.0) ** 2 / beta)
    fails = beta * (1.0 + 2.0 * excess(eps, policy.grid)) * math.pi**2 / 24.0
    return split(rounds, policy.arms, 171.0 * log, 32.0 * log / eps + 3.0) + rounds * fails


def leader_worst(policy: RNMFTNL | NaiveFTNL, rounds: int) -> float:
    """Bound each epoch by D + K·max over Δ >= D of Δ·p(Δ) at the best D, where p(Δ) is the
    probability of an action with gap Δ (the split of Corollary 11).
    """
    edges = np.concatenate([np.geomspace(1e-9, 1.0, 400), [1.0]])
    total, played, length = 1.0, 1, 1
    while played < rounds:
        following = min(2 * length, rounds - played)
        chances = policy.chance(edges[:-1], length)
        later = np.maximum.accumulate((edges[1:] * chances)[::-1])[::-1]
        total += following * min(1.0, float(np.min(edges[:-1] + policy.arms * later)))
        played, length = played + following, 2 * length
    return total


# Lower bounds of the number of values that a stopping rule takes.


def private_sample_lower_bound(
    mean: float, width: float, *, alpha: float, beta: float, epsilon: float
) -> float:
    """Return R ln(1/β)/(12 ε α |μ|): an ε-DP rule takes more values with probability above ¼.

    It holds for the law of this mean on −R and R, R = `width`, and β below ¼.

    Source: Sajed and Sheffet 2019, Theorem 3.4.

    Args:
        mean: μ. width: R.
        alpha: relative error. beta: probability of a larger one.
        epsilon: ε.

    Raises:
        ValueError: an argument out of its range.
    """
    width, alpha, epsilon = positive(width=width, alpha=alpha, epsilon=epsilon)
    mean, beta = (
        number_within(mean, "mean", -width, width),
        number_within(beta, "beta", 0, 0.25, "()"),
    )
    if not mean:
        return math.inf
    return width * math.log(1.0 / beta) / (12.0 * epsilon * alpha * abs(mean))


# The table of policies.


class PolicyRow(NamedTuple):
    """One policy's declared capabilities."""

    name: str
    privacy: str  # none, pure, zCDP, local
    feedback: str  # bandit: the played arm's reward; full: every action's
    paper: str
    algorithm: str
    bound: str
    horizon: bool  # must be known
    releases: str  # "every round" or "by batches"
    randomised: bool
    baseline: str  # baseline without privacy
    chooses: bool  # among a subset of its arms: eligible=, added and retired arms
    contexts: bool  # whether it decides by what is known of each visitor


@final
class PolicyRows(tuple[PolicyRow, ...]):
    """Policies with their capabilities, which print as a table."""

    __slots__ = ()

    def __repr__(self) -> str:
        rows = [(row.name, row.privacy, row.feedback, row.releases, row.paper) for row in self]
        return aligned([("name", "privacy", "feedback", "releases", "paper"), *rows], left=5)

    __str__ = __repr__


def list_policies() -> PolicyRows:
    """Return every policy with its capabilities.

    Returns:
        A tuple of `PolicyRow`, non-private policies first, that prints as a table.

    Example:
        >>> [row.name for row in list_policies() if row.privacy == "zCDP"]
        ['AdaCUCB', 'RootFTRL', 'AdaCOFUL']
    """
    every = sorted(EVERY_POLICY.items(), key=lambda item: item[1].about.privacy != "none")
    return PolicyRows(
        PolicyRow(
            name=name,
            privacy=about.privacy,
            feedback=about.feedback,
            paper=about.paper,
            algorithm=about.algorithm,
            bound=about.bound,
            horizon=about.needs_horizon,
            releases="every round" if about.every_round else "by batches",
            randomised=about.randomised,
            baseline=about.baseline,
            chooses=cls.chooses,
            contexts=name in CONTEXTUAL,
        )
        for name, cls, about in ((name, cls, cls.about) for name, cls in every)
    )
