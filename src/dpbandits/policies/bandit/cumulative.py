"""DP-KLUCB and DP-IMED (Azize et al. 2025): batches without forgetting, indices in the
privacy-aware divergence d_eps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import LazyCumulative
from dpbandits.policies.base import IndexPolicy, Statistics, sum_of
from dpbandits.policies.contract import About, PrivatePolicy
from dpbandits.policies.formulas import indices
from dpbandits.policies.formulas.divergences import clip01

PAPER = "Azize, Wu, Honda, Orabona, Ito and Basu 2025"


def growing_batch(rounds: int, first: int, alpha: float) -> int:
    """Rounds in the batch of an arm with `rounds` released: `first`, then what makes its rounds
    grow by the factor alpha.
    """
    return first if rounds == 0 else max(1, math.ceil(min(2.0**62, (alpha - 1.0) * rounds)))


@dataclass(frozen=True, kw_only=True)
class CumulativeBatches(IndexPolicy, PrivatePolicy):
    """Batches whose noisy sums all stay in the mean; each makes the arm's rounds grow by the factor
    alpha.

    first: rounds in an arm's first batch (n₀); None stands for ⌈32/epsilon⌉. alpha: growth of an
        arm's rounds, above 1.
    """

    first: int | None = None
    alpha: float = 1.5

    def validate(self) -> None:
        self._number("alpha", 1.001, 1000)
        self._first(32 / self.budget)

    def mechanism(self) -> LazyCumulative:
        return LazyCumulative(epsilon=self.budget, grid=Grid(steps=self.grid))

    def batch(self, s: Statistics, arm: int) -> int:
        return growing_batch(s.rounds[arm], self.first or 1, self.alpha)

    def regret_bound(self, gaps: Sequence[float], rounds: int) -> float:
        # Pinsker for d_eps: d_eps(x, x + Δ) >= min(eps·Δ/2, 2Δ²).
        eps = float(self.epsilon)
        return sum_of(
            [
                self.alpha * math.log(rounds) * g / min(eps * g / 2, 2 * g * g) if g else 0.0
                for g in gaps
            ],
            gaps,
        )


@dataclass(frozen=True, kw_only=True)
class DPKLUCB(CumulativeBatches):
    """The recommended default: low regret with a proof, and thin tails unless means are close to
    one (docs/instances.md).

    Source: Azize, Wu, Honda, Orabona, Ito and Basu 2025, DP-KLUCB; default constants chosen by
    tail, see decisions/.
    Guarantee: epsilon-DP for the whole sequence of decisions.
    Regret: about alpha·Σ Δ ln T/d_eps(μ, μ*), within the factor alpha of the lower bound.

    preset: "default" (level ln t) or "robust" (ln t + ln ln t: a little more regret, thinner tail).

    >>> policy = DPKLUCB(arms=5, epsilon=1)
    >>> policy.first, policy.alpha, str(policy.guarantee.epsilon)
    (32, 1.5, '1')
    """

    about: ClassVar[About] = About(
        paper=PAPER,
        algorithm="DP-KLUCB",
        bound="α Σ Δ ln T/d_ε(μ, μ*) + o(ln T)",
        proof="dp_klucb",
        twin="KLUCB",
    )
    preset: str = "default"

    def validate(self) -> None:
        super().validate()
        self._one_of("preset", "default", "robust")

    @property
    def c(self) -> float:
        """Weight of ln ln t in the level."""
        return 1.0 if self.preset == "robust" else 0.0

    def scores(self, s: Statistics, t: int) -> list[float]:
        eps, level = float(self.epsilon), indices.kl_level(math.log(t), self.c)
        return [
            indices.dp_klucb(total / n, n, level, eps)
            for total, n in zip(s.totals, s.rounds, strict=True)
        ]


@dataclass(frozen=True, kw_only=True)
class DPIMED(CumulativeBatches):
    """Indexed minimum empirical divergence under privacy. Heavy-tailed: prefer `DPKLUCB` outside
    comparisons.

    Source: Azize, Wu, Honda, Orabona, Ito and Basu 2025, DP-IMED. Guarantee: epsilon-DP.
    Regret: about alpha·Σ Δ ln T/d_eps(μ, μ*).
    """

    about: ClassVar[About] = About(
        paper=PAPER,
        algorithm="DP-IMED",
        bound="α Σ Δ ln T/d_ε(μ, μ*) + o(ln T)",
        proof="dp_imed",
        twin="KLUCB",
    )

    def scores(self, s: Statistics, t: int) -> list[float]:
        eps = float(self.epsilon)
        means = [total / n for total, n in zip(s.totals, s.rounds, strict=True)]
        best = max(clip01(m) for m in means)
        return [indices.dp_imed(m, n, best, eps) for m, n in zip(means, s.rounds, strict=True)]
