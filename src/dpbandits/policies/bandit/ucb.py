"""The non-private index policies: the references every private one is compared with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import Exact
from dpbandits.policies.base import IndexPolicy, Statistics
from dpbandits.policies.contract import About
from dpbandits.policies.formulas import indices

__all__ = ["KLUCB", "UCB1"]


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

    def scores(self, s: Statistics, t: int) -> list[float]:
        log_t = math.log(t)
        return [
            indices.ucb1(total / n, n, log_t) for total, n in zip(s.totals, s.rounds, strict=True)
        ]

    def regret_bound(self, gaps: Sequence[float], rounds: int) -> float:
        return math.fsum(8 * math.log(rounds) / g + (1 + math.pi**2 / 3) * g for g in gaps if g > 0)


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

    def scores(self, s: Statistics, t: int) -> list[float]:
        level = indices.kl_level(math.log(t), self.c)
        return [
            indices.kl_ucb(total / n, n, level) for total, n in zip(s.totals, s.rounds, strict=True)
        ]

    def regret_bound(self, gaps: Sequence[float], rounds: int) -> float:
        # Pinsker: kl >= 2 Δ²
        return math.fsum(math.log(rounds) / (2 * g) for g in gaps if g > 0)
