"""Full information: every action's reward is seen each round. Hedge and follow-the-leader without
privacy, with trees, and with noisy maxima of epochs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import field
from functools import partial
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from dpbandits.core.inputs import MOST_ARMS, Floats
from dpbandits.core.plan import EVERY, Hold, Plan, PublicRng
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import (
    Answer,
    BinaryTree,
    Choice,
    EachAction,
    Exact,
    LazyForgetful,
    NoisyMax,
)
from dpbandits.noise.protocol import Selection
from dpbandits.policies.base import PrivatePolicy
from dpbandits.policies.bounds import experts
from dpbandits.policies.bounds.arms import positive_gaps
from dpbandits.policies.contract import About, ArmsField, Policy, Release, policy_dataclass
from dpbandits.policies.formulas.indices import ftrl_rate, hedge_rate

__all__ = [
    "RNMFTNL",
    "DecreasingHedge",
    "FollowTheLeader",
    "NaiveFTNL",
    "PrefixExponential",
    "TreeFTRL",
]

# Full information with a release every round: follow the leader, and hedging between all
# actions.


class Totals(NamedTuple):
    """Public state."""

    totals: tuple[float, ...]  # released sum of each action's rewards
    t: int  # rounds told


@policy_dataclass
class ExpertPolicy(Policy):
    """A policy that sees the reward of every action after each round.

    Args:
        actions: how many there are; `arms` everywhere but in the constructor.
    """

    actions: int
    arms: ArmsField = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._whole("actions", high=MOST_ARMS)
        object.__setattr__(self, "arms", self.actions)
        super().__post_init__()


def smallest_gap(means: Sequence[float]) -> float:
    """The smallest gap above 0; infinite where all actions are equally good."""
    return min(positive_gaps(means), default=math.inf)


def new_totals(release: Release) -> Totals:
    return Totals(tuple(Answer(*answer).total for answer in release.answers), release.round)


def hedged(state: Totals, rate: float) -> tuple[float, ...]:
    """Weights proportional to exp(rate · released sum), summing to 1."""
    scores = rate * np.array(state.totals)
    unnormalised = np.exp(scores - scores.max())
    return tuple((unnormalised / unnormalised.sum()).tolist())


def stake(weights: tuple[float, ...], play: str, rng: PublicRng) -> Hold:
    """A round by these weights: of an action drawn by them, or of the weights themselves."""
    if play == "weights":
        return Hold(weights, 1, (EVERY,))
    drawn = int(np.searchsorted(np.cumsum(weights), rng.generator.random(), side="right"))
    return Hold(min(drawn, len(weights) - 1), 1, (EVERY,))


@policy_dataclass
class FollowTheLeader(ExpertPolicy):
    """Plays the action with the largest sum so far (lowest number on a tie), without privacy.

    Source: textbook (Hannan 1957 without noise). Guarantee: none. Regret: O(ln K/Δ) for independent
    rounds with a unique best action.

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
    grid: int = 1024

    def mechanism(self) -> EachAction:
        return EachAction(inner=Exact(grid=Grid(steps=self.grid)), actions=self.arms)

    def init(self) -> Totals:
        return Totals((0.0,) * self.arms, 0)

    def plan(self, state: Totals, rng: PublicRng) -> Plan:
        return Hold(state.totals.index(max(state.totals)), 1, (EVERY,))

    def update(self, state: Totals, plan: Plan, release: Release) -> Totals:
        return new_totals(release)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return experts.leader_bound(means, rounds)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        return math.log(self.arms) / smallest_gap(means)  # 0 where there is no gap


@policy_dataclass
class DecreasingHedge(ExpertPolicy):
    """Hedge with the rate 2√(ln K/t), which needs no horizon and adapts to the gap, without
    privacy.

    Source: Mourtada and Gaïffas 2019 (on independent rounds); Auer, Cesa-Bianchi and Gentile 2002.
    Guarantee: none.
    Regret: at most √(T ln K), and (4 ln K + 25)/Δ for independent rounds with a unique best action.

    Args:
        play: "draw" plays one action, drawn afresh each round by the weights; "weights" plays the
            weights themselves (decision-theoretic online learning: the round's reward is their
            average of all rewards), and `Decision.action` is a weight for every action.

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
    play: Literal["draw", "weights"] = "draw"
    grid: int = 1024

    def validate(self) -> None:
        self._one_of("play", "draw", "weights")

    @property
    def weighted(self) -> bool:
        return self.play == "weights"

    def mechanism(self) -> EachAction:
        return EachAction(inner=Exact(grid=Grid(steps=self.grid)), actions=self.arms)

    def init(self) -> Totals:
        return Totals((0.0,) * self.arms, 0)

    def plan(self, state: Totals, rng: PublicRng) -> Plan:
        return stake(hedged(state, hedge_rate(state.t + 1, self.arms)), self.play, rng)

    def update(self, state: Totals, plan: Plan, release: Release) -> Totals:
        return new_totals(release)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return experts.hedge_bound(means, rounds)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        log_k = math.log(self.arms)
        return min(math.sqrt(rounds * log_k), log_k / smallest_gap(means))


@policy_dataclass
class TreeFTRL(ExpertPolicy, PrivatePolicy):
    """Hedge on sums that a binary tree releases every round; a comparison, made for adversarial
    rewards.

    Source: Agarwal and Singh 2017, Algorithm 1 for experts (Laplace noise, entropy). Guarantee:
    epsilon-DP.
    Regret: O(√(T ln K) + K ln K ln²T/epsilon), for any rewards fixed in advance.

    Every sum carries the same number of draws (padded), as its analysis asks for. The rate is √(8
    ln K/T).

    Args:
        play: "draw" plays one action, drawn afresh each round by the weights; "weights" plays the
            weights themselves (decision-theoretic online learning: the round's reward is their
            average of all rewards), and `Decision.action` is a weight for every action.
        horizon: T, at most so many rounds.
    """

    about: ClassVar[About] = About(
        paper="Agarwal and Singh 2017",
        algorithm="Algorithm 1 (FTRL with tree aggregation)",
        bound="O(√(T ln K) + K ln K ln²T/ε)",
        proof="tree_ftrl",
        twin="DecreasingHedge",
        feedback="full",
        every_round=True,
        randomised=True,
        needs_horizon=True,
    )
    play: Literal["draw", "weights"] = "draw"
    horizon: int

    def validate(self) -> None:
        self._one_of("play", "draw", "weights")
        self._horizon(required=True)

    @property
    def weighted(self) -> bool:
        return self.play == "weights"

    def mechanism(self) -> EachAction:
        inner = BinaryTree(
            epsilon=self.budget / self.arms,
            grid=Grid(steps=self.grid),
            leaves=self.horizon,
            padded=True,
        )
        return EachAction(inner=inner, actions=self.arms)

    def init(self) -> Totals:
        return Totals((0.0,) * self.arms, 0)

    def plan(self, state: Totals, rng: PublicRng) -> Plan:
        return stake(hedged(state, ftrl_rate(self.horizon, self.arms)), self.play, rng)

    def update(self, state: Totals, plan: Plan, release: Release) -> Totals:
        return new_totals(release)

    @property
    def scale(self) -> float:
        """Of a draw in a released sum: an action has ε/K, a round is in every level."""
        return self.arms * self.horizon.bit_length() / float(self.epsilon)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        levels = self.horizon.bit_length()
        return experts.ftrl_bound(means, rounds, self.horizon, levels, self.scale)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        log_k = math.log(self.arms)
        if math.isinf(smallest_gap(means)):
            return 0.0
        return math.sqrt(rounds * log_k) + self.arms * log_k * math.log(rounds) ** 2 / float(
            self.epsilon
        )


# Full information by epochs: between two releases one action is played, and each epoch's rewards
# are read once or not at all.


class Leader(NamedTuple):
    """Public state."""

    action: int  # played now
    epoch: int  # number of the epoch, from 0; it has 2**epoch rounds
    t: int  # rounds told
    chosen: int  # what the next epoch plays, once this one's part that counts is read; −1: not yet
    rest: int  # rounds left of the epoch after that part


def bracket_order(means: Sequence[float], eps: float) -> float:
    """ln K/Δ + Σ (1 + ln|J|)/eps over the brackets J of gaps in [2^l Δ, 2^{l+1} Δ) above eps, Δ the
    smallest (Hu, Huang, Mehta and Hegde 2024, Theorem 9).
    """
    gaps = positive_gaps(means)
    if not gaps:
        return 0.0
    least = min(gaps)
    levels = Counter(math.floor(math.log2(gap / least) + 1e-9) for gap in gaps)
    above = [1 + math.log(n) for level, n in levels.items() if least * 2**level > eps]
    return math.log(len(means)) / least + math.fsum(above) / eps


LAST_EPOCH = 61
"""Longer ones are never played to their end, and a number of rounds stays a machine's whole
number.
"""


def epoch_rounds(epoch: int) -> int:
    """1, 2, 4, …"""
    return int(2 ** min(epoch, LAST_EPOCH))


@policy_dataclass
class RNMFTNL(ExpertPolicy, PrivatePolicy):
    """Follow the noisy leader: after each epoch only the index of the largest noisy sum is released
    (report noisy max).

    Source: Hu, Huang and Mehta 2021 (FTNL) and its journal version (RNM-FTNL). Guarantee:
    epsilon-DP; preset "published": 2 epsilon.
    Regret: O(ln K/Δ + Σ (1 + ln|J|)/epsilon) over brackets J of gaps above epsilon (Theorem 9 of
    the journal version); ln K/min(Δ, epsilon) is a conjecture. Cost O(K log T) when simulated.

    Args:
        selection: "laplace", "exponential" (the exponential mechanism) or "permute-and-flip"; see
            `NoisyMax`.
        preset: "corrected" (Laplace noise of scale 2/epsilon), or "published" (1/epsilon, which is
            epsilon-DP only where records are zeroed out; under replace-one, the papers' own
            relation, it is 2 epsilon and says so).

    >>> RNMFTNL(actions=3, epsilon=1, preset="published").guarantee.epsilon
    Fraction(2, 1)
    """

    about: ClassVar[About] = About(
        paper="Hu, Huang and Mehta 2021",
        algorithm="FTNL (RNM-FTNL)",
        bound="O(ln K/Δ + Σ over brackets above ε of (1 + ln|J|)/ε); conjectured: ln K/min(Δ, ε)",
        proof="rnm_ftnl",
        twin="FollowTheLeader",
        feedback="full",
    )
    selection: Selection = "laplace"
    preset: Literal["corrected", "published"] = "corrected"

    def validate(self) -> None:
        self._one_of("selection", "laplace", "exponential", "permute-and-flip")
        self._one_of("preset", "corrected", "published")
        if self.preset == "published" and self.selection != "laplace":
            raise ValueError(
                'Expected selection="laplace" with preset="published" (what was published), got '
                f"{self.selection!r}."
            )

    def mechanism(self) -> NoisyMax:
        published = self.preset == "published"
        price, claimed = (2 * self.budget, self.budget) if published else (self.budget, None)
        return NoisyMax(
            epsilon=price, claimed=claimed, selection=self.selection, grid=Grid(steps=self.grid)
        )

    def init(self) -> Leader:
        return Leader(0, 0, 0, -1, 0)

    def plan(self, state: Leader, rng: PublicRng) -> Plan:
        return Hold(state.action, epoch_rounds(state.epoch), (EVERY,))

    def update(self, state: Leader, plan: Plan, release: Release) -> Leader:
        leader = Choice(*release.answers[0]).action
        return Leader(leader, state.epoch + 1, release.round, -1, 0)

    def chance(self, gaps: Floats, rounds: int) -> Floats:
        """How likely an action of each gap is taken after an epoch of so many rounds, at most."""
        eps = float(self.epsilon)
        if self.selection != "laplace":
            return experts.chosen_chance(gaps, rounds, eps)
        return experts.noisy_chance(gaps, rounds, (1 if self.preset == "published" else 2) / eps)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return experts.expert_epochs_bound(means, rounds, self.chance)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        return bracket_order(means, float(self.epsilon))


@policy_dataclass
class NaiveFTNL(ExpertPolicy, PrivatePolicy):
    """Follow the noisy leader with every sum released: noise of scale K/epsilon on each.

    Source: Hu, Huang and Mehta 2021 (the comparison it improves on). Guarantee: epsilon-DP. Regret:
    O(ln K/Δ + K ln K/epsilon).
    """

    about: ClassVar[About] = About(
        paper="Hu, Huang and Mehta 2021",
        algorithm="FTNL with all sums released",
        bound="O(ln K/Δ + K ln K/ε)",
        proof="naive_ftnl",
        twin="FollowTheLeader",
        feedback="full",
    )

    def mechanism(self) -> EachAction:
        inner = LazyForgetful(epsilon=self.budget / self.arms, grid=Grid(steps=self.grid))
        return EachAction(inner=inner, actions=self.arms)

    def init(self) -> Leader:
        return Leader(0, 0, 0, -1, 0)

    def plan(self, state: Leader, rng: PublicRng) -> Plan:
        return Hold(state.action, epoch_rounds(state.epoch), (EVERY,))

    def update(self, state: Leader, plan: Plan, release: Release) -> Leader:
        totals = [Answer(*answer).total for answer in release.answers]
        return Leader(totals.index(max(totals)), state.epoch + 1, release.round, -1, 0)

    def chance(self, gaps: Floats, rounds: int) -> Floats:
        """How likely an action of each gap is taken after an epoch of so many rounds, at most."""
        return experts.noisy_chance(gaps, rounds, self.arms / float(self.epsilon))

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return experts.expert_epochs_bound(means, rounds, self.chance)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        log_k, gap = math.log(self.arms), smallest_gap(means)
        return 0.0 if math.isinf(gap) else log_k / gap + self.arms * log_k / float(self.epsilon)


@policy_dataclass
class PrefixExponential(ExpertPolicy, PrivatePolicy):
    """The next epoch's action is drawn by the exponential mechanism from a random prefix of this
    epoch; the rest is never read.

    Source: Cesari and Colomboni 2026, as reconstructed from its statement: epochs of 2**r rounds,
    prefix length uniform on (2**r/2, 2**r] and drawn without looking at rewards. Guarantee:
    epsilon-DP.
    Regret: at most 24 ln K (1/Δ + 1/epsilon) + 36/Δ + 16/epsilon + 5 and 9 √(T ln K) + 24 ln
    K/epsilon + 1, for every T and independent rounds.
    """

    about: ClassVar[About] = About(
        paper="Cesari and Colomboni 2026",
        algorithm="exponential mechanism on a random prefix",
        bound="24 ln K (1/Δ + 1/ε) + 36/Δ + 16/ε + 5",
        proof="prefix_exponential",
        twin="FollowTheLeader",
        feedback="full",
        drops=True,
    )

    def mechanism(self) -> NoisyMax:
        return NoisyMax(epsilon=self.budget, selection="exponential", grid=Grid(steps=self.grid))

    def init(self) -> Leader:
        return Leader(0, 0, 0, -1, 0)

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
        chance = partial(experts.prefix_chance, eps=float(self.epsilon))
        theorem = experts.prefix_theorem(means, rounds, float(self.epsilon))
        return min(theorem, experts.expert_epochs_bound(means, rounds, chance))

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        gap, log_k = smallest_gap(means), math.log(self.arms)
        return 0.0 if math.isinf(gap) else log_k * (1 / gap + 1 / float(self.epsilon))
