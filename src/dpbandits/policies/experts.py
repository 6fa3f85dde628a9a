"""Full information: every action's reward is seen each round. Hedge and follow-the-leader without
privacy, with trees, and with noisy maxima of epochs.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import field
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple, final

import numpy as np

from dpbandits.core.inputs import MOST_ARMS, Floats
from dpbandits.core.plan import EVERY, Hold, Plan, PublicRng
from dpbandits.core.privacy import Grid, as_fraction
from dpbandits.mechanisms import (
    Answer,
    BinaryTree,
    Choice,
    EachAction,
    Exact,
    LazyForgetful,
    NoisyMax,
    SignedTree,
    SquareRoot,
)
from dpbandits.noise.protocol import Selection
from dpbandits.policies.arm_bounds import SHARES, STEEP, positive_gaps, whole_cells
from dpbandits.policies.base import PrivatePolicy, require_budget
from dpbandits.policies.contract import About, ArmsField, Policy, Release, policy_dataclass
from dpbandits.policies.formulas.indices import ftrl_rate, hedge_rate
from dpbandits.policies.formulas.joint import joint_variance

# Full information: the probability that an action is chosen instead of the best one, and its cost.
#
# After n rounds with gap Δ the sums of an action and the best one differ by D, and E e^{θD} <= r^n,
# r = ((1 + Δ)e^{−θ} + (1 − Δ)e^θ)/2 (convexity; the actions' rewards of one round may be
# dependent). Two Laplace draws of scale b raise that to r^n (1 − θ²b²)^{−2}. The exponential
# mechanism and permute-and-flip choose an action with probability at most min(1, e^{εD/2}) <=
# e^{θD}, θ <= ε/2.


Chance = Callable[[Floats, int], Floats]
"""By gaps and an epoch's rounds: an upper bound of the probability that such an action is
chosen.
"""
KINDS = 400
"""With more different gaps than this, gaps within half a percent are merged into the smaller
one.
"""


def rates(gaps: Floats, theta: Floats) -> Floats:
    """Return ln r for each gap and θ, shape (gaps, thetas); −θ at a gap of 1."""
    worse = np.multiply.outer((1.0 - gaps) / 2.0, np.expm1(2.0 * theta))
    return np.asarray(np.log1p(worse) - theta)


def noisy_chance(gaps: Floats, rounds: int, scale: float) -> Floats:
    """Return the probability bound of two noisy sums in the wrong order; draws of this scale, none
    if 0.
    """
    theta = SHARES * (STEEP if scale == 0.0 else min(STEEP, 1.0 / scale))
    noise = -2.0 * np.log1p(-np.square(theta * scale))
    return np.asarray(np.exp(np.minimum(0.0, (rounds * rates(gaps, theta) + noise).min(axis=1))))


def chosen_chance(gaps: Floats, rounds: int, eps: float) -> Floats:
    """Return the probability bound for the exponential mechanism or permute-and-flip on sums of
    `rounds` rounds.
    """
    theta = np.append(SHARES, 1.0) * min(STEEP, eps / 2.0)
    return np.asarray(np.exp(np.minimum(0.0, (rounds * rates(gaps, theta)).min(axis=1))))


def prefix_chance(gaps: Floats, rounds: int, eps: float) -> Floats:
    """Return the probability bound for a prefix whose length is uniform on (rounds/2, rounds]."""
    theta = np.append(SHARES, 1.0) * min(STEEP, eps / 2.0)
    rate = np.minimum(-1e-15, rates(gaps, theta))
    least, kinds = rounds // 2 + 1, rounds - rounds // 2
    series = np.exp(least * rate) * np.expm1(kinds * rate) / (kinds * np.expm1(rate))
    return np.asarray(np.minimum(1.0, series.min(axis=1)))


def worst_share(gaps: Floats, counts: Floats, chances: Floats) -> float:
    """Return the largest Σ gap·p with p <= chance for each action and Σ p <= 1; gaps are
    decreasing.
    """
    taken = np.minimum(1.0, np.cumsum(counts * chances))
    return float(np.sum(gaps * np.diff(taken, prepend=0.0)))


def kinds_of(means: Sequence[float]) -> tuple[Floats, Floats]:
    """Return the positive gaps, decreasing, and the number of actions with each."""
    gaps = max(means) - np.asarray(means, np.float64)
    values, counts = np.unique(gaps[gaps > 0.0], return_counts=True)
    return values[::-1], counts[::-1].astype(np.float64)


def coarser(gaps: Floats) -> Floats:
    """Return the gaps for which probabilities are computed: all of them or, if there are many,
    smaller ones near them.
    """
    if len(gaps) <= KINDS:
        return gaps
    return np.asarray(np.exp(np.floor(np.log(gaps) * 200.0) / 200.0))


def expert_epochs_bound(means: Sequence[float], rounds: int, chance: Chance) -> float:
    """Return the bound for epochs of 1, 2, 4, … rounds: the first plays action 0, others the chosen
    action.
    """
    gaps, counts = kinds_of(means)
    near, where = np.unique(coarser(gaps), return_inverse=True)
    total, played, length = max(means) - means[0], 1, 1
    while played < rounds:
        following = min(2 * length, rounds - played)
        total += following * worst_share(gaps, counts, chance(near, length)[where])
        played, length = played + following, 2 * length
    return float(total)


def prefix_theorem(means: Sequence[float], rounds: int, eps: float) -> float:
    """Return the bound for choices from random prefixes by the exponential mechanism
    (proofs/prefix_exponential.md).
    """
    gaps, _ = kinds_of(means)
    if not len(gaps):
        return 0.0
    log_k, gap = math.log(len(means)), float(gaps[-1])
    by_gaps = 24.0 * log_k * (1.0 / gap + 1.0 / eps) + 36.0 / gap + 16.0 / eps + 5.0
    return min(by_gaps, prefix_worst(len(means), rounds, eps))


def prefix_worst(actions: int, rounds: int, eps: float) -> float:
    """Return that bound for any gaps: 9√(T ln K) + 24 ln K/ε + 1."""
    log_k = math.log(actions)
    return 9.0 * math.sqrt(rounds * log_k) + 24.0 * log_k / eps + 1.0


def leader_bound(means: Sequence[float], rounds: int) -> float:
    """Return the bound of follow the leader: Σ_t of the probability (1 − Δ²)^{t/2} that an action
    is not behind, action 0 first.
    """
    gaps, counts = kinds_of(means)
    cells, total = whole_cells(1, rounds - 1), max(means) - means[0]
    for size, t in zip(cells.sizes.tolist(), cells.first.tolist(), strict=True):
        chances = np.exp(0.5 * t * np.log1p(-np.minimum(gaps**2, 1.0 - 1e-15)))
        total += size * worst_share(gaps, counts, chances)
    return float(total)


def hedge_bound(means: Sequence[float], rounds: int) -> float:
    """Return min(√(T ln K), (4 ln K + 25)/Δ): Mourtada and Gaïffas 2019, Proposition 1 and Theorem
    2.
    """
    gaps, _ = kinds_of(means)
    if not len(gaps):
        return 0.0
    log_k = math.log(len(means))
    tied = sum(1 for mean in means if mean == max(means)) > 1  # theorem 2: one best action
    bounds = [math.sqrt(rounds * log_k), float(gaps[0]) * rounds]
    return min(bounds if tied else [*bounds, (4.0 * log_k + 25.0) / float(gaps[-1])])


def ftrl_bound(means: Sequence[float], rounds: int, later: float) -> float:
    """Return the bound for round 1 with equal weights, plus `later`, which does not depend on
    gaps.
    """
    gaps, counts = kinds_of(means)
    first = float(np.sum(gaps * counts)) / len(means)
    return min(first + later, (max(means) - min(means)) * rounds)


def ftrl_later(actions: int, rounds: int, horizon: int, levels: int, scale: float) -> float:
    """Return ln K/η + ηT/8 with η = √(8 ln K/H), plus the largest noise, for any gaps.

    E max over K sums of `levels` draws <= (ln K − levels·ln(1 − θ²b²))/θ (proofs/tree_ftrl.md).
    """
    theta = SHARES / scale
    log_k = math.log(actions)
    noise = float(np.min((log_k - levels * np.log1p(-np.square(theta * scale))) / theta))
    return hedge_part(actions, rounds, horizon) + noise


def ftrl_any_noise(actions: int, rounds: int, horizon: int, variance: float) -> float:
    """Return ln K/η + ηT/8 + η²(K − 1)vT/4, for noise of any symmetric laws with uncorrelated
    coordinates of at most this variance v (proofs/tree_ftrl.md).
    """
    rate_squared = 8.0 * math.log(actions) / horizon
    noise = rate_squared * (actions - 1) * variance * rounds / 4.0
    return hedge_part(actions, rounds, horizon) + noise


def hedge_part(actions: int, rounds: int, horizon: int) -> float:
    log_k = math.log(actions)
    rate = math.sqrt(8.0 * log_k / horizon)
    return log_k / rate + rate * rounds / 8.0 if log_k else 0.0


# Full information with a release every round: follow the leader, and Hedge.


class Totals(NamedTuple):
    """Released sums. Public."""

    totals: tuple[float, ...]  # released sum of each action's rewards
    t: int  # rounds recorded


@policy_dataclass
class ExpertPolicy(Policy):
    """Base class of policies that see the reward of every action after each round. Their state is
    the released sums, unless they say otherwise.

    Args:
        actions: number of actions (`arms` outside the constructor).
    """

    actions: int
    arms: ArmsField = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._whole("actions", high=MOST_ARMS)
        object.__setattr__(self, "arms", self.actions)
        super().__post_init__()

    def init(self) -> Any:
        return Totals((0.0,) * self.arms, 0)

    def update(self, state: Any, plan: Plan, release: Release) -> Any:
        totals = tuple(Answer(*answer).total for answer in release.answers)
        return Totals(totals, release.round)


@policy_dataclass
class ExactExperts(ExpertPolicy):
    """Base class of policies that read the exact sums of actions, without privacy."""

    grid: int = 1024

    def mechanism(self) -> EachAction:
        return EachAction(inner=Exact(grid=Grid(steps=self.grid)), actions=self.arms)


def smallest_gap(means: Sequence[float]) -> float:
    """Return the smallest positive gap; infinite if all actions are equally good."""
    return min(positive_gaps(means), default=math.inf)


def hedged(state: Totals, rate: float) -> tuple[float, ...]:
    """Return weights proportional to exp(rate · released sum). They sum to 1."""
    scores = rate * np.array(state.totals)
    unnormalised = np.exp(scores - scores.max())
    return tuple((unnormalised / unnormalised.sum()).tolist())


def stake(weights: tuple[float, ...], play: str, rng: PublicRng) -> Hold:
    """Return the plan of a round with these weights: an action drawn by them, or the weights
    themselves.
    """
    if play == "weights":
        return Hold(weights, 1, (EVERY,))
    drawn = int(np.searchsorted(np.cumsum(weights), rng.generator.random(), side="right"))
    return Hold(min(drawn, len(weights) - 1), 1, (EVERY,))


@policy_dataclass
class HedgePolicy(ExpertPolicy):
    """Base class of policies that play weights ∝ e^(rate · released sum), or an action drawn by
    them.

    Args:
        play: "draw" plays one action, drawn each round by the weights. "weights" plays the weights
            themselves (decision-theoretic online learning): the round's reward is the weighted
            average of all rewards, and `Decision.action` is a weight for every action.
    """

    play: Literal["draw", "weights"] = "draw"

    def validate(self) -> None:
        self._one_of("play", "draw", "weights")

    @property
    def weighted(self) -> bool:
        return self.play == "weights"

    @abstractmethod
    def rate(self, t: int) -> float:
        """Return the rate of round t."""

    @final
    def plan(self, state: Totals, rng: PublicRng) -> Plan:
        return stake(hedged(state, self.rate(state.t + 1)), self.play, rng)


@policy_dataclass
class FollowTheLeader(ExactExperts):
    """Play the action with the largest sum so far (lowest on a tie), without privacy.

    Guarantee: none.

    Regret: O(ln K/Δ) for independent rounds with a unique best action.

    Source: textbook (Hannan 1957, without noise).

    Args:
        actions: number of actions.
        grid: steps per unit of reward.

    >>> FollowTheLeader(actions=3).guarantee is None
    True
    """

    about: ClassVar[About] = About(
        paper="Hannan 1957",
        algorithm="follow the leader",
        bound="O(ln K/Δ)",
        privacy="none",
        feedback="full",
        every_round=True,
    )

    def plan(self, state: Totals, rng: PublicRng) -> Plan:
        return Hold(state.totals.index(max(state.totals)), 1, (EVERY,))

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return leader_bound(means, rounds)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        return math.log(self.arms) / smallest_gap(means)  # 0 where there is no gap


@policy_dataclass
class DecreasingHedge(ExactExperts, HedgePolicy):
    """Hedge with the rate 2√(ln K/t), without privacy. It needs no horizon and adapts to the gap.

    Guarantee: none.

    Regret: at most √(T ln K), and (4 ln K + 25)/Δ for independent rounds with a unique best action.

    Source: Mourtada and Gaïffas 2019 (for independent rounds); Auer, Cesa-Bianchi and Gentile 2002.

    Args:
        actions: number of actions.
        play: "draw" plays one action, drawn each round by the weights. "weights" plays the weights
            themselves (decision-theoretic online learning): the round's reward is the weighted
            average of all rewards, and `Decision.action` is a weight for every action.
        grid: steps per unit of reward.

    >>> hedge = DecreasingHedge(actions=2, play="weights")
    >>> hedge.plan(Totals((0.0, 0.0), 0), PublicRng(0, 0)).action
    (0.5, 0.5)
    """

    about: ClassVar[About] = About(
        paper="Mourtada and Gaïffas 2019",
        algorithm="Decreasing Hedge",
        bound="(4 ln K + 25)/Δ",
        privacy="none",
        feedback="full",
        every_round=True,
        randomised=True,
    )

    def rate(self, t: int) -> float:
        return hedge_rate(t, self.arms)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return hedge_bound(means, rounds)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        log_k = math.log(self.arms)
        return min(math.sqrt(rounds * log_k), log_k / smallest_gap(means))


@policy_dataclass
class TreeFTRL(HedgePolicy, PrivatePolicy):
    """Hedge on running sums that a tree releases every round, for rewards that an adversary may
    choose.

    Guarantee: ε-DP for the whole sequence of decisions.

    Regret, for any rewards that are fixed in advance: O(√(T ln K) + K³ ln K ln³T/epsilon²) with
    "tight", O(√(T ln K) + K ln K ln²T/epsilon) with "published". Measured at epsilon = 1, that of
    "tight" is 6 to 8 times less in three of four settings; the smaller bound is that of
    "published".

    Source: Agarwal and Singh 2017, Algorithm 1 for experts (Laplace noise, entropy). The tree of
    "tight": Andersson, Pagh and Torkamani 2024, with joint draws.

    Args:
        actions: number of actions.
        play: "draw" plays one action, drawn each round by the weights. "weights" plays the weights
            themselves (decision-theoretic online learning): the round's reward is the weighted
            average of all rewards, and `Decision.action` is a weight for every action.
        horizon: T, the most rounds.
        preset: "tight" (default): a signed tree whose nodes have one joint draw for all actions.
            "published": a binary tree for each action, at epsilon/K; every sum carries the same
            number of draws (padded), as the source's analysis requires.

    >>> str(TreeFTRL(actions=3, epsilon=1, horizon=1000).guarantee.epsilon)
    '1'
    """

    about: ClassVar[About] = About(
        paper="Agarwal and Singh 2017",
        algorithm="Algorithm 1 (FTRL with tree aggregation)",
        bound="O(√(T ln K) + K³ ln K ln³T/ε²)",
        proof="tree_ftrl",
        baseline="DecreasingHedge",
        feedback="full",
        every_round=True,
        randomised=True,
        needs_horizon=True,
    )
    horizon: int
    preset: Literal["tight", "published"] = "tight"

    def validate(self) -> None:
        super().validate()
        self._horizon(required=True)
        self._one_of("preset", "tight", "published")
        require_budget(self.budget, self.grid, "epsilon", Fraction(self.actions))
        self.mechanism()  # it refuses what its noise cannot serve

    def mechanism(self) -> SignedTree | EachAction:
        grid, rounds, actions = Grid(steps=self.grid), self.horizon, self.actions
        if self.preset == "tight":
            return SignedTree(epsilon=self.budget, grid=grid, leaves=rounds, actions=actions)
        inner = BinaryTree(epsilon=self.budget / actions, grid=grid, leaves=rounds, padded=True)
        return EachAction(inner=inner, actions=actions)

    def rate(self, t: int) -> float:
        return ftrl_rate(self.horizon, self.arms)

    def later_bound(self, rounds: int) -> float:
        """Return the bound of the regret after round 1, which does not depend on gaps."""
        if self.preset == "tight":
            tree = self.mechanism()
            assert isinstance(tree, SignedTree)
            variance = tree.most_draws * joint_variance(self.arms, float(tree.share))
            return ftrl_any_noise(self.arms, rounds, self.horizon, variance)
        levels = self.horizon.bit_length()
        scale = self.arms * levels / float(self.budget)  # ε/K an action, a round in every level
        return ftrl_later(self.arms, rounds, self.horizon, levels, scale)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return ftrl_bound(means, rounds, self.later_bound(rounds))

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        if math.isinf(smallest_gap(means)):
            return 0.0
        log_k, log_t = math.log(self.arms), math.log(rounds)
        noise = self.arms * log_t / float(self.budget)
        more = self.arms * noise if self.preset == "tight" else 1.0
        return math.sqrt(rounds * log_k) + log_k * noise * log_t * more


@policy_dataclass
class RootFTRL(HedgePolicy):
    """Hedge on running sums by the square-root factorisation, released every round: as `TreeFTRL`,
    with the least noise, under zCDP.

    Guarantee: ρ-zCDP for the whole sequence of decisions (`guarantee.rho`; never reported as an ε).

    Regret, for any rewards that are fixed in advance: O(√(T ln K) + K² ln K ln²T/rho), without
    constants of the noise.

    Source: ours, of Agarwal and Singh 2017 (Algorithm 1 for experts) and Henzinger, Upadhyay and
    Upadhyay 2023 (the factorisation).

    Args:
        actions: number of actions.
        play: "draw" plays one action, drawn each round by the weights. "weights" plays the weights
            themselves, as in `TreeFTRL`.
        rho: ρ for one round's rewards, those of all actions; a number or a fraction such as "1/3".
        horizon: T, the most rounds, up to 2^24.
        grid: public steps per unit of reward; 1 for 0/1 rewards.

    >>> str(RootFTRL(actions=3, rho="1/2", horizon=1000).guarantee.rho)
    '1/2'
    """

    about: ClassVar[About] = About(
        paper="ours",
        algorithm="FTRL with the square-root factorisation",
        bound="O(√(T ln K) + K² ln K ln²T/ρ)",
        proof="root_ftrl",
        baseline="DecreasingHedge",
        privacy="zCDP",
        feedback="full",
        every_round=True,
        randomised=True,
        needs_horizon=True,
    )
    rho: Fraction | float | str
    horizon: int
    grid: int = 1024

    def validate(self) -> None:
        super().validate()
        object.__setattr__(self, "rho", as_fraction(self.rho, "rho"))
        self._horizon(required=True)
        self.mechanism()  # it refuses what its noise cannot serve

    def mechanism(self) -> SquareRoot:
        return SquareRoot(
            rho=as_fraction(self.rho, "rho"),
            grid=Grid(steps=self.grid),
            leaves=self.horizon,
            actions=self.actions,
        )

    def rate(self, t: int) -> float:
        return ftrl_rate(self.horizon, self.arms)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        if math.isinf(smallest_gap(means)):
            return 0.0
        log_k, log_t = math.log(self.arms), math.log(rounds)
        noise = (self.arms * log_t) ** 2 / float(as_fraction(self.rho, "rho"))
        return math.sqrt(rounds * log_k) + log_k * noise


# Full information by epochs: one action is played between two releases, and each epoch's rewards
# are released at most once.


class Leader(NamedTuple):
    """The state of policies by epochs. Public."""

    action: int  # played now
    epoch: int  # number of the epoch, from 0; it has 2**epoch rounds
    t: int  # rounds recorded
    chosen: int  # action of the next epoch, once this epoch's prefix is released; −1: not yet
    rest: int  # rounds of the epoch after that prefix


def bracket_order(means: Sequence[float], eps: float) -> float:
    """Return ln K/Δ + Σ (1 + ln|J|)/eps over the brackets J of gaps in [2^l Δ, 2^{l+1} Δ) above
    eps, Δ the smallest gap (Hu, Huang, Mehta and Hegde 2024, Theorem 9).
    """
    gaps = positive_gaps(means)
    if not gaps:
        return 0.0
    least = min(gaps)
    levels = Counter(math.floor(math.log2(gap / least) + 1e-9) for gap in gaps)
    above = [1 + math.log(n) for level, n in levels.items() if least * 2**level > eps]
    return math.log(len(means)) / least + math.fsum(above) / eps


LAST_EPOCH = 61
"""Longer epochs never end, and the number of rounds must fit into a machine integer."""


def epoch_rounds(epoch: int) -> int:
    """Return 1, 2, 4, …"""
    return int(2 ** min(epoch, LAST_EPOCH))


@policy_dataclass
class EpochPolicy(ExpertPolicy, PrivatePolicy):
    """Base class of policies that play one action in an epoch, whose rewards choose the next one.
    Epochs have 1, 2, 4, … rounds, and all of an epoch is released unless `plan` says otherwise.
    """

    @final
    def init(self) -> Leader:
        return Leader(0, 0, 0, -1, 0)

    def plan(self, state: Leader, rng: PublicRng) -> Plan:
        return Hold(state.action, epoch_rounds(state.epoch), (EVERY,))


@policy_dataclass
class RNMFTNL(EpochPolicy):
    """Follow the noisy leader: after each epoch only the index of the largest noisy sum is released
    (report noisy max).

    Guarantee: ε-DP with "corrected" (default); 2ε-DP with "published".

    Regret: O(ln K/Δ + Σ (1 + ln|J|)/epsilon) over brackets J of gaps above epsilon (Theorem 9 of
    the journal version); ln K/min(Δ, epsilon) is a conjecture. A simulation takes time O(K log T).

    Source: Hu, Huang and Mehta 2021 (FTNL) and its journal version (RNM-FTNL).

    Args:
        actions: number of actions.
        selection: "laplace", "exponential" (the exponential mechanism) or "permute-and-flip" (see
            `NoisyMax`).
        preset: "corrected" (Laplace noise of scale 2/epsilon), or "published" (1/epsilon). The
            published scale is ε-DP only for neighbours whose record is zeroed out; under
            replace-one, the papers' own relation, it is 2ε-DP, as `guarantee` reports.

    >>> RNMFTNL(actions=3, epsilon=1, preset="published").guarantee.epsilon
    Fraction(2, 1)
    """

    about: ClassVar[About] = About(
        paper="Hu, Huang and Mehta 2021",
        algorithm="FTNL (RNM-FTNL)",
        bound="O(ln K/Δ + Σ over brackets above ε of (1 + ln|J|)/ε); conjectured: ln K/min(Δ, ε)",
        proof="rnm_ftnl",
        baseline="FollowTheLeader",
        feedback="full",
    )
    selection: Selection = "laplace"
    preset: Literal["corrected", "published"] = "corrected"

    def validate(self) -> None:
        self._one_of("selection", "laplace", "exponential", "permute-and-flip")
        self._one_of("preset", "corrected", "published")
        if self.preset == "published" and self.selection != "laplace":
            raise ValueError(
                f'Expected selection="laplace" with preset="published", got {self.selection!r}.'
            )

    def mechanism(self) -> NoisyMax:
        published = self.preset == "published"
        epsilon, claimed = (2 * self.budget, self.budget) if published else (self.budget, None)
        return NoisyMax(
            epsilon=epsilon, claimed=claimed, selection=self.selection, grid=Grid(steps=self.grid)
        )

    def update(self, state: Leader, plan: Plan, release: Release) -> Leader:
        leader = Choice(*release.answers[0]).action
        return Leader(leader, state.epoch + 1, release.round, -1, 0)

    def chance(self, gaps: Floats, rounds: int) -> Floats:
        """Return upper bounds of the probabilities that actions with these gaps are chosen after an
        epoch of `rounds` rounds.
        """
        eps = float(self.epsilon)
        if self.selection != "laplace":
            return chosen_chance(gaps, rounds, eps)
        return noisy_chance(gaps, rounds, (1 if self.preset == "published" else 2) / eps)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return expert_epochs_bound(means, rounds, self.chance)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        return bracket_order(means, float(self.epsilon))


@policy_dataclass
class NaiveFTNL(EpochPolicy):
    """Follow the noisy leader with every sum released: each has noise of scale K/epsilon.

    Guarantee: ε-DP for the whole sequence of decisions.

    Regret: O(ln K/Δ + K ln K/epsilon).

    Source: Hu, Huang and Mehta 2021 (the baseline that it improves on).

    Args:
        actions: number of actions.

    >>> str(NaiveFTNL(actions=3, epsilon=1).guarantee.epsilon)
    '1'
    """

    about: ClassVar[About] = About(
        paper="Hu, Huang and Mehta 2021",
        algorithm="FTNL with all sums released",
        bound="O(ln K/Δ + K ln K/ε)",
        proof="naive_ftnl",
        baseline="FollowTheLeader",
        feedback="full",
    )

    def mechanism(self) -> EachAction:
        inner = LazyForgetful(epsilon=self.budget / self.arms, grid=Grid(steps=self.grid))
        return EachAction(inner=inner, actions=self.arms)

    def update(self, state: Leader, plan: Plan, release: Release) -> Leader:
        totals = [Answer(*answer).total for answer in release.answers]
        return Leader(totals.index(max(totals)), state.epoch + 1, release.round, -1, 0)

    def chance(self, gaps: Floats, rounds: int) -> Floats:
        """Return upper bounds of the probabilities that actions with these gaps are chosen after an
        epoch of `rounds` rounds.
        """
        return noisy_chance(gaps, rounds, self.arms / float(self.epsilon))

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return expert_epochs_bound(means, rounds, self.chance)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        log_k, gap = math.log(self.arms), smallest_gap(means)
        return 0.0 if math.isinf(gap) else log_k / gap + self.arms * log_k / float(self.epsilon)


@policy_dataclass
class PrefixExponential(EpochPolicy):
    """Draw the next epoch's action by the exponential mechanism from a random prefix of this epoch.
    The rest of the epoch is never released.

    Epochs have 2**r rounds. The prefix length is uniform on (2**r/2, 2**r] and independent of the
    rewards.

    Guarantee: ε-DP for the whole sequence of decisions.

    Regret: at most 24 ln K (1/Δ + 1/epsilon) + 36/Δ + 16/epsilon + 5, and at most 9 √(T ln K) + 24
    ln K/epsilon + 1, for every T and independent rounds.

    Source: Cesari and Colomboni 2026, reconstructed from its statement.

    Args:
        actions: number of actions.

    >>> str(PrefixExponential(actions=3, epsilon=1).guarantee.epsilon)
    '1'
    """

    about: ClassVar[About] = About(
        paper="Cesari and Colomboni 2026",
        algorithm="exponential mechanism on a random prefix",
        bound="24 ln K (1/Δ + 1/ε) + 36/Δ + 16/ε + 5",
        proof="prefix_exponential",
        baseline="FollowTheLeader",
        feedback="full",
        drops=True,
    )

    def mechanism(self) -> NoisyMax:
        return NoisyMax(epsilon=self.budget, selection="exponential", grid=Grid(steps=self.grid))

    def plan(self, state: Leader, rng: PublicRng) -> Plan:
        if state.rest:
            return Hold(state.action, state.rest, (), drop=(EVERY,))
        rounds = epoch_rounds(state.epoch)
        return Hold(
            state.action, int(rng.generator.integers(rounds // 2 + 1, rounds + 1)), (EVERY,)
        )

    def update(self, state: Leader, plan: Plan, release: Release) -> Leader:
        if release.coordinates:
            assert isinstance(plan, Hold)
            chosen = Choice(*release.answers[0]).action
            rest = epoch_rounds(state.epoch) - plan.rounds
            if rest:
                return Leader(state.action, state.epoch, release.round, chosen, rest)
            return Leader(chosen, state.epoch + 1, release.round, -1, 0)
        return Leader(state.chosen, state.epoch + 1, release.round, -1, 0)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        chance = partial(prefix_chance, eps=float(self.epsilon))
        theorem = prefix_theorem(means, rounds, float(self.epsilon))
        return min(theorem, expert_epochs_bound(means, rounds, chance))

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        gap, log_k = smallest_gap(means), math.log(self.arms)
        return 0.0 if math.isinf(gap) else log_k * (1 / gap + 1 / float(self.epsilon))
