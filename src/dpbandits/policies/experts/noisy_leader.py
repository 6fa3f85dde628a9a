"""Full information by epochs: between two releases one action is played, and each epoch's rewards
are read once or not at all.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal, NamedTuple

from dpbandits.core.arrays import Floats
from dpbandits.core.plan import EVERY, Hold, Plan, PublicRng
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import Answer, Choice, EachAction, LazyForgetful, NoisyMax
from dpbandits.noise.protocol import Selection
from dpbandits.policies.base import PrivatePolicy
from dpbandits.policies.bounds import experts
from dpbandits.policies.bounds.optimism import positive_gaps
from dpbandits.policies.contract import About, Release
from dpbandits.policies.experts.leaders import ExpertPolicy, smallest_gap

__all__ = ["RNMFTNL", "NaiveFTNL", "PrefixExponential"]


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


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
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
