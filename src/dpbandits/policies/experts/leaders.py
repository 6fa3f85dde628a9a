"""Full information with a release every round: follow the leader, and hedging between all
actions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from dpbandits.core.inputs import MOST_ARMS
from dpbandits.core.plan import EVERY, Hold, Plan, PublicRng
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import Answer, BinaryTree, EachAction, Exact
from dpbandits.policies.base import PrivatePolicy
from dpbandits.policies.bounds import experts
from dpbandits.policies.bounds.optimism import positive_gaps
from dpbandits.policies.contract import About, Policy, Release
from dpbandits.policies.formulas.schedules import ftrl_rate, hedge_rate

__all__ = ["DecreasingHedge", "FollowTheLeader", "TreeFTRL"]


class Totals(NamedTuple):
    """Public state."""

    totals: tuple[float, ...]  # released sum of each action's rewards
    t: int  # rounds told


@dataclass(frozen=True, kw_only=True)
class ExpertPolicy(Policy):
    """A policy that sees the reward of every action after each round.

    Args:
        actions: how many there are; `arms` everywhere but in the constructor.
    """

    actions: int
    arms: int = field(init=False, repr=False, compare=False)

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


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
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
