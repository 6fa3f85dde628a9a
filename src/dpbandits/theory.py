"""Regret bounds as numbers of an instance, and the list of policies with what is known of each."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, final

import numpy as np

from dpbandits.core.inputs import Floats, real_number, shown, whole_number
from dpbandits.core.privacy import Grid
from dpbandits.core.tables import aligned
from dpbandits.environments.base import Environment, require_pair
from dpbandits.oracles.matroids import Matroid
from dpbandits.policies import POLICIES
from dpbandits.policies.bounds.arms import excess, lazy_low
from dpbandits.policies.bounds.experts import ftrl_later, prefix_worst
from dpbandits.policies.bounds.super_arms import exchange_gaps
from dpbandits.policies.contract import Policy, problem_of
from dpbandits.policies.every_round import UCB1
from dpbandits.policies.experts import (
    RNMFTNL,
    DecreasingHedge,
    NaiveFTNL,
    PrefixExponential,
    TreeFTRL,
)
from dpbandits.policies.forgetful import AnytimeLazyUCB
from dpbandits.policies.formulas.indices import d_eps, kl
from dpbandits.policies.formulas.stopping import stopping_time_bound
from dpbandits.policies.identification import DPSE

__all__ = [
    "free_sample_lower_bound",
    "full_information_lower_bound",
    "instance_independent_bound",
    "lai_robbins",
    "list_policies",
    "local_lower_bound",
    "lower_bound",
    "matroid_lower_bound",
    "minimax_lower_bound",
    "private_largest_error_lower_bound",
    "private_lower_bound",
    "private_paths_lower_bound",
    "private_sample_lower_bound",
    "regret_order",
    "semi_bandit_lower_order",
    "shariff_sheffet",
    "stopping_time_bound",
    "upper_bound",
]

# How far an arm's law is from one that would be best: what asymptotic lower bounds divide by.


FINE = Grid(steps=1024)  # the law's grid; 0/1 rewards are unchanged
SEARCH = 120  # golden sections, to the last bit
GOLD = (math.sqrt(5.0) - 1.0) / 2.0


def k_inf(values: Floats, probabilities: Floats, mean: float) -> float:
    """The least relative entropy of this law to a law on [0, 1] with a larger mean.

    max over 0 <= λ <= 1/(1 − mean) of E ln(1 − λ(X − mean)) (Honda and Takemura 2010), a concave
    function; kl for a 0/1 law.
    """
    if mean >= 1.0:
        return math.inf

    def gained(share: float) -> float:
        inside = 1.0 - share * (values - mean) / (1.0 - mean)
        return float(np.sum(probabilities * np.log(np.maximum(inside, 1e-300))))

    low, high = 0.0, 1.0
    for _ in range(SEARCH):
        a, b = high - GOLD * (high - low), low + GOLD * (high - low)
        low, high = (low, b) if gained(a) > gained(b) else (a, high)
    return max(0.0, gained((low + high) / 2.0))


class Distances:
    """Of every worse arm of an environment, how hard it is to rule out that it is the best.

    Of 0/1 laws: kl and d_eps, for policies consistent on 0/1 laws. Of others: K_inf, and the share
    p = Δ/(1 − μ) of rewards that must become 1, for policies consistent on all laws on [0, 1].
    """

    def __init__(self, environment: Environment) -> None:
        self.means, self.best = environment.means, float(environment.means.max())
        law = environment.lattice(FINE)
        self.known = law is not None
        if law is not None:
            used = law.probabilities.max(axis=0) > 0.0
            self.values = law.values[used] / FINE.steps
            self.probabilities = law.probabilities[:, used]
            self.coins = bool(np.all((self.values == 0.0) | (self.values == 1.0)))

    def worse(self) -> list[int]:
        return [arm for arm, mean in enumerate(self.means.tolist()) if mean < self.best]

    def entropy(self, arm: int) -> float:
        """kl or K_inf to the best mean."""
        if self.coins:
            return kl(float(self.means[arm]), self.best)
        return k_inf(self.values, self.probabilities[arm], self.best)

    def moved(self, arm: int) -> float:
        """The share of rewards that another law with the best mean differs in, at least."""
        gap = self.best - float(self.means[arm])
        return gap if self.coins else gap / (1.0 - float(self.means[arm]))

    def private(self, arm: int, epsilon: float) -> float:
        """d_eps, or the smaller of K_inf and epsilon·p."""
        if self.coins:
            return d_eps(float(self.means[arm]), self.best, epsilon)
        return min(self.entropy(arm), epsilon * self.moved(arm))


# Regret theory to hold beside every curve: lower bounds, and the policies' own upper bounds, as
# numbers of the instance.


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


# Bounds for the worst instance of a kind: full information, paths, and all instances at once.


WORST_HALVINGS = 200  # of [0, T]: to the last bit


def full_information_lower_bound(
    actions: int, gap: float, rounds: int, epsilon: float | None = None
) -> float:
    """Regret on the worst of the K instances in which one action is better by `gap`.

    Without privacy max over n <= T of (nΔ/2)(1 − (2nΔ ln((1 + Δ)/(1 − Δ)) + ln 2)/ln K): Fano's
    inequality for means ½ ± Δ/2, the action played most as the guess. With epsilon-DP also
    0.2·0.49·Δ·min(T, ln K/(10 epsilon Δ)): Hu, Huang, Mehta and Hegde 2024, Theorem 12.

    >>> full_information_lower_bound(10, 0.1, 2, epsilon=0.001) <= 2 * 0.1
    True
    """
    actions, rounds = whole_number(actions, "actions", 1), whole_number(rounds, "rounds", 1)
    if actions < 2 or not 0.0 < gap < 1.0:
        return 0.0
    log_k = math.log(actions)
    share, each = 1.0 - math.log(2.0) / log_k, 2.0 * gap * 2.0 * math.atanh(gap) / log_k
    n = min(float(rounds), math.floor(share / (2.0 * each)))
    free = max(0.0, 0.5 * gap * n * (share - n * each))
    if epsilon is None:
        return free
    return max(free, 0.2 * 0.49 * gap * min(float(rounds), log_k / (10.0 * epsilon * gap)))


def private_paths_lower_bound(
    arms: int, size: int, gap: float, rounds: int, epsilon: float
) -> float:
    """(m − K)K ln T/(64(e^ε − 1)²Δ): Chen et al. 2020, Theorem 6, for epsilon-LDP policies.

    On m/K disjoint paths of K arms, those of one path with equal rewards, means ½ on the best and ½
    − Δ/K elsewhere, Δ/K < 0.35. NaN where m/K is not whole or the gap too large.
    """
    if arms % size or not 0.0 < gap / size < 0.35:
        return math.nan
    return (arms - size) * size * math.log(rounds) / (64.0 * math.expm1(epsilon) ** 2 * gap)


def private_largest_error_lower_bound(
    arms: int, smooth: float, gap: float, rounds: int, epsilon: float
) -> float:
    """B∞²(m − 1) ln T/(64(e^ε − 1)²Δ): Chen et al. 2020, Theorem 5, for epsilon-LDP policies.

    On single arms whose rewards count B∞ times, Δ/B∞ < 0.35; NaN elsewhere.
    """
    if not 0.0 < gap / smooth < 0.35:
        return math.nan
    return smooth**2 * (arms - 1) * math.log(rounds) / (64.0 * math.expm1(epsilon) ** 2 * gap)


def semi_bandit_lower_order(arms: int, size: int, gap: float, rounds: int, epsilon: float) -> float:
    """mK ln T/Δ + mK ln T/ε: the order of Chen et al. 2020, Theorem 9, for epsilon-DP policies on
    the worst instance with m >= 2K arms and this gap. It states no constant.
    """
    return arms * size * math.log(rounds) * (1.0 / gap + 1.0 / epsilon)


def minimax_lower_bound(arms: int, rounds: int, epsilon: float | None = None) -> float:
    """What any policy of one arm a round loses on some instance of 0/1 rewards, at this T.

    min(√(KT), T)/20 (Auer et al. 2002b, Theorem 5.1). Of pure epsilon-DP policies, central or
    local, no less than (K − 1)n/2 either, n the root of (K − 1)n = (T − n)e^{−εn}: order
    (K/ε) ln(εT/K), not below the K/ε of Azize and Basu 2022; proved in proofs/worst_instances.md.
    zCDP alone does not imply it.

    >>> [round(minimax_lower_bound(5, 10**5, eps)) for eps in (None, 1.0, 0.1, 0.01)]
    [35, 35, 121, 821]
    """
    arms, rounds = whole_number(arms, "arms", 1), whole_number(rounds, "rounds", 1)
    if arms < 2:
        return 0.0
    free = min(math.sqrt(arms * rounds), float(rounds)) / 20.0
    if epsilon is None:
        return free
    budget = real_number(epsilon)
    if budget is None or not 0 < budget < 1e300:
        raise ValueError(f"Expected epsilon={shown(epsilon)} to be a number above 0, or None.")
    return max(free, private_floor(arms, rounds, float(budget)))


def private_floor(arms: int, rounds: int, epsilon: float) -> float:
    """(K − 1)n/2 at the n of `minimax_lower_bound`, by bisection from below."""
    low, high = 0.0, float(rounds)
    for _ in range(WORST_HALVINGS):
        middle = (low + high) / 2.0
        below = (arms - 1) * middle <= (rounds - middle) * math.exp(-epsilon * middle)
        low, high = (middle, high) if below else (low, middle)
    return (arms - 1) * low / 2.0


# Bounds that hold for all instances at once: the worst gaps for a number of arms and rounds.
#
# An arm whose gap is below a threshold costs at most that a round; the others at most (K − 1)
# times the largest Δ·E[plays]. Both are bounded with Hoeffding's inequality for any means, so that
# √(KT ln T) + K ln T/ε comes out with constants (Audibert and Bubeck 2009; Sajed and Sheffet 2019,
# Theorem 4.4; Hu, Huang, Mehta and Hegde 2024, Theorem 3, Corollary 11).


def split(rounds: int, arms: int, over_gap: float, each: float) -> float:
    """min over a threshold D of D·T + (K − 1)(over_gap/D + each)."""
    others = arms - 1
    return 2.0 * math.sqrt(others * over_gap * rounds) + others * each


def instance_independent_bound(policy: Policy, rounds: int) -> float:
    """No more than this is lost in expectation, whatever the means; NaN where we have no proof of a
    number.

    UCB1; AnytimeLazyUCB; DPSE with a known horizon; DecreasingHedge; RNMFTNL; NaiveFTNL;
    PrefixExponential; TreeFTRL. NaN for LazyDPTS, whose O(√(KT ln T) + K ln T/ε) (Hu, Huang, Mehta
    and Hegde 2024, Theorem 5) has no constants.
    """
    log_t, arms = math.log(max(2, rounds)), policy.arms
    if isinstance(policy, UCB1):
        found = split(rounds, arms, 8.0 * log_t, 1.0 + math.pi**2 / 3.0)
    elif isinstance(policy, AnytimeLazyUCB):
        found = lazy_worst(policy, rounds, log_t)
    elif isinstance(policy, DPSE) and policy.beta is not None:
        found = elimination_worst(policy, rounds, policy.beta)
    elif isinstance(policy, DecreasingHedge):
        found = math.sqrt(rounds * math.log(arms))
    elif isinstance(policy, RNMFTNL | NaiveFTNL):
        found = leader_worst(policy, rounds)
    elif isinstance(policy, PrefixExponential):
        found = prefix_worst(arms, rounds, float(policy.epsilon))
    elif isinstance(policy, TreeFTRL):
        found = tree_worst(policy, rounds)
    else:
        return math.nan
    return min(float(rounds), found)


def lazy_worst(policy: AnytimeLazyUCB, rounds: int, log_t: float) -> float:
    """Δ·E[plays] <= 96 ln T/min(Δ, ε) + 3: batches up to 2^d, d = ⌈lg(24 ln T/(Δ min(Δ, ε)))⌉, are
    played; later ones have chance T⁻³ and less (proofs/anytime_lazy_ucb.md).
    """
    eps = float(policy.epsilon)
    low = lazy_low(policy.arms + 1, rounds, excess(eps, policy.grid))
    return split(rounds, policy.arms, 96.0 * log_t, 96.0 * log_t / eps + 3.0) + low


def elimination_worst(policy: DPSE, rounds: int, beta: float) -> float:
    """Δ·pulls <= 171 L/Δ + 32 L/ε + 3, L = ln(8K e²/β), e <= lg T + 1: the epochs of Lemma 4.2."""
    eps = float(policy.epsilon)
    log = math.log(8.0 * policy.arms * (math.log2(rounds) + 1.0) ** 2 / beta)
    fails = beta * (1.0 + 2.0 * excess(eps, policy.grid)) * math.pi**2 / 24.0
    return split(rounds, policy.arms, 171.0 * log, 32.0 * log / eps + 3.0) + rounds * fails


def tree_worst(policy: TreeFTRL, rounds: int) -> float:
    """Round 1 by equal weights loses at most 1 − 1/K; later ones have no gap in their bound."""
    horizon = policy.horizon
    later = ftrl_later(policy.arms, rounds, horizon, horizon.bit_length(), policy.scale)
    return 1.0 - 1.0 / policy.arms + later


def leader_worst(policy: RNMFTNL | NaiveFTNL, rounds: int) -> float:
    """Epoch by epoch, with p(Δ) the chance of an action of gap Δ: D + K·max over Δ >= D of Δ·p(Δ),
    at the best D (the split of Corollary 11).
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


# How many values a stopping rule takes: at most, and at least.


def private_sample_lower_bound(
    mean: float, width: float, *, alpha: float, beta: float, epsilon: float
) -> float:
    """R ln(1/β)/(12 ε α |μ|): an epsilon-DP rule takes more values with probability above ¼ (Sajed
    and Sheffet 2019, Theorem 3.4).

    On the law of this mean on −R and R, R = `width`; β below ¼.
    """
    if not mean:
        return math.inf
    return width * math.log(1.0 / beta) / (12.0 * epsilon * alpha * abs(mean))


def free_sample_lower_bound(mean: float, width: float, *, alpha: float, beta: float) -> float:
    """(1 − 2β) ln((1 − β)/β)/kl: the values any rule is expected to take, privacy or not.

    On the law of this mean on −R and R: the rule tells it from the one with mean μ(1 − α)/(1 + α)
    with error β on either side, and Wald's identity turns that into values (the argument of Dagum,
    Karp, Luby and Ross 2000; Ω(R² ln(1/β)/(α²μ²)). Corollary 3.6 of Sajed and Sheffet 2019 adds
    it to Theorem 3.4).
    """
    if not mean:
        return math.inf
    other = mean * (1.0 - alpha) / (1.0 + alpha)
    far = kl(0.5 + mean / (2.0 * width), 0.5 + other / (2.0 * width))
    return (1.0 - 2.0 * beta) * math.log((1.0 - beta) / beta) / far


# The table of every policy and what it can do.


class PolicyRow(NamedTuple):
    """One policy's capabilities, as declared by the policy."""

    name: str
    privacy: str  # none, pure, zCDP, local
    feedback: str  # bandit: the played arm's reward; full: every action's
    paper: str
    algorithm: str
    bound: str
    horizon: bool  # must be known
    releases: str  # "every round" or "by batches"
    randomised: bool
    twin: str  # non-private counterpart
    chooses: bool  # among some of its arms: eligible=, arms that come and go


@final
class PolicyRows(tuple[PolicyRow, ...]):
    """Policies with their capabilities, which print as a table."""

    __slots__ = ()

    def __repr__(self) -> str:
        rows = [(row.name, row.privacy, row.feedback, row.releases, row.paper) for row in self]
        return aligned([("name", "privacy", "feedback", "releases", "paper"), *rows], left=5)

    __str__ = __repr__


def list_policies() -> PolicyRows:
    """Every policy with its capabilities, non-private ones first. A tuple of `PolicyRow`, which
    prints as a table.

    >>> [row.name for row in list_policies() if row.privacy == "zCDP"]
    ['AdaCUCB']
    """
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
            twin=about.twin,
            chooses=cls.chooses,
        )
        for name, cls, about in ((name, cls, cls.about) for name, cls in POLICIES.items())
    )
