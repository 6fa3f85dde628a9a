"""Index policies on exact sums: the non-private ones, which every private one is compared with, and
those of the local model, where every user randomises the reward before sending it.

`policy.randomizer()` is the user's side. The server's vault takes `Report`s only.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import Exact, LocalLaplace, RandomizedResponse
from dpbandits.policies.base import IndexPolicy, PrivatePolicy
from dpbandits.policies.bounds import every_round
from dpbandits.policies.bounds.optimism import one_arm, positive_gaps
from dpbandits.policies.contract import About
from dpbandits.policies.formulas import indices, rules
from dpbandits.policies.formulas.divergences import kl
from dpbandits.policies.formulas.rules import IndexNumbers, IndexRule
from dpbandits.policies.statistics import Statistics

__all__ = ["KLUCB", "LDPKLUCB", "LDPUCB", "UCB1"]


@dataclass(frozen=True, kw_only=True)
class UCB1(IndexPolicy):
    """Upper confidence bounds, without privacy.

    Source: Auer, Cesa-Bianchi and Fischer 2002, UCB1. Guarantee: none (`guarantee` is None).
    Regret: at most Σ 8 ln T/Δ + (1 + π²/3) Σ Δ.

    >>> UCB1(arms=3).guarantee is None
    True
    """

    about: ClassVar[About] = About(
        paper="Auer, Cesa-Bianchi and Fischer 2002",
        algorithm="UCB1",
        bound="Σ 8 ln T/Δ + (1 + π²/3) Σ Δ",
        privacy="none",
        every_round=True,
    )
    grid: int = 1024

    def mechanism(self) -> Exact:
        return Exact(grid=Grid(steps=self.grid))

    @cached_property
    def rule(self) -> IndexRule:
        return IndexRule(rules.ucb1_score, IndexNumbers())

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return every_round.ucb1_bound(one_arm(means), rounds)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        return math.fsum(math.log(rounds) / gap for gap in positive_gaps(means))


@dataclass(frozen=True, kw_only=True)
class KLUCB(IndexPolicy):
    """KL-UCB for rewards in [0, 1], without privacy: asymptotically optimal for Bernoulli rewards.

    Source: Garivier and Cappé 2011, Algorithm 1. Guarantee: none. Regret: Σ Δ ln T/kl(μ, μ*) + o(ln
    T) with c = 3.

    Args:
        c: weight of ln ln t in the level (3 in the proof, 0 in practice).
    """

    about: ClassVar[About] = About(
        paper="Garivier and Cappé 2011",
        algorithm="Algorithm 1 (KL-UCB)",
        bound="Σ Δ ln T/kl(μ, μ*) + o(ln T)",
        privacy="none",
        every_round=True,
    )
    c: float = 0.0
    grid: int = 1024

    def validate(self) -> None:
        self._number("c", -1e-300, 100)

    def mechanism(self) -> Exact:
        return Exact(grid=Grid(steps=self.grid))

    @cached_property
    def rule(self) -> IndexRule:
        return IndexRule(rules.kl_ucb_score, IndexNumbers(constant=float(self.c)))

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return every_round.kl_bound(one_arm(means), rounds, self.c)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        best = max(means)
        ratios = [(best - mean) / kl(mean, best) for mean in means if mean < best]
        return math.log(rounds) * math.fsum(ratios)


@dataclass(frozen=True, kw_only=True)
class LDPUCB(IndexPolicy, PrivatePolicy):
    """UCB on Laplace reports.

    Source: Ren, Zhou, Liu and Shroff 2020, LDP-UCB-L; the one-arm case of Chen et al. 2020,
    CUCB-LDP.
    Guarantee: epsilon-LDP for every report. Regret: O((1 + 1/epsilon²) Σ ln T/Δ).
    """

    about: ClassVar[About] = About(
        paper="Ren, Zhou, Liu and Shroff 2020",
        algorithm="LDP-UCB-L",
        bound="O(Σ (1/ε² + 1) ln T/Δ)",
        proof="ldp_ucb",
        twin="UCB1",
        privacy="local",
        every_round=True,
    )

    def mechanism(self) -> Exact:
        return Exact(grid=Grid(steps=self.grid))

    def randomizer(self) -> LocalLaplace:
        return LocalLaplace(epsilon=self.budget, grid=Grid(steps=self.grid))

    @cached_property
    def rule(self) -> IndexRule:
        return IndexRule(rules.ldp_ucb_score, IndexNumbers(eps=float(self.epsilon)))

    def scores(self, s: Statistics, t: int) -> list[float]:
        if min(s.rounds) <= indices.forced_rounds(t):  # forced arms: the least played first
            return [-float(n) for n in s.rounds]
        return super().scores(s, t)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return every_round.reports_bound(one_arm(means), rounds, float(self.epsilon))

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        cost = math.log(rounds) * (1 + 1 / float(self.epsilon) ** 2)
        return math.fsum(cost / gap for gap in positive_gaps(means))


@dataclass(frozen=True, kw_only=True)
class LDPKLUCB(IndexPolicy, PrivatePolicy):
    """KL-UCB on randomised-response bits: the map from a mean to its bits' mean is increasing, so
    the best arm stays the best.

    Source: Ren, Zhou, Liu and Shroff 2020, LDP-UCB-B (convert-to-Bernoulli), with the KL index of
    Garivier and Cappé 2011.
    Guarantee: epsilon-LDP for every report. Regret: Σ Δ ln T/kl(bit(μ), bit(μ*)) + o(ln T) for c =
    3, bit(r) = (r e^ε + 1 − r)/(1 + e^ε).

    Args:
        c: weight of ln ln t in the level (3 in the proof, 0 in practice).
    """

    about: ClassVar[About] = About(
        paper="Ren, Zhou, Liu and Shroff 2020",
        algorithm="LDP-UCB-B with KL-UCB indices",
        bound="Σ Δ ln T/kl(bit(μ), bit(μ*)) + o(ln T), c = 3",
        proof="ldp_klucb",
        twin="KLUCB",
        privacy="local",
        every_round=True,
    )
    c: float = 0.0

    def validate(self) -> None:
        self._number("c", -1e-300, 100)

    def mechanism(self) -> Exact:
        return Exact(grid=Grid(steps=self.grid))

    def randomizer(self) -> RandomizedResponse:
        return RandomizedResponse(epsilon=self.budget, grid=Grid(steps=self.grid))

    @cached_property
    def rule(self) -> IndexRule:
        return IndexRule(rules.kl_ucb_score, IndexNumbers(constant=float(self.c)))

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return every_round.bits_bound(one_arm(means), rounds, float(self.epsilon), self.c)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        shrink = math.tanh(float(self.epsilon) / 2)  # bits' gaps are shrink·Δ; Pinsker
        return math.fsum(math.log(rounds) / (2 * shrink**2 * gap) for gap in positive_gaps(means))
