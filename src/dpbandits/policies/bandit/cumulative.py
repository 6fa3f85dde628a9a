"""DP-KLUCB and DP-IMED (Azize et al. 2025): batches without forgetting, indices in the
privacy-aware divergence d_eps.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from dpbandits.core.arrays import Floats, floats_of
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import LazyCumulative
from dpbandits.policies.base import IndexPolicy, PrivatePolicy, largest_below
from dpbandits.policies.bounds.cumulative import dp_klucb_bound
from dpbandits.policies.contract import About
from dpbandits.policies.formulas import indices, rules
from dpbandits.policies.formulas.divergences import d_eps
from dpbandits.policies.formulas.rules import IndexNumbers, IndexRule
from dpbandits.policies.statistics import Statistics

__all__ = ["DPIMED", "DPKLUCB"]

PAPER = "Azize, Wu, Honda, Orabona, Ito and Basu 2025"


def divergence_order(means: Sequence[float], rounds: int, eps: float, alpha: float) -> float:
    """α Σ Δ ln T/d_eps(μ, μ*)."""
    best, log_t = max(means), math.log(rounds)
    ratios = [(best - mean) / d_eps(mean, best, eps) for mean in means if mean < best]
    return alpha * log_t * math.fsum(ratios)


MANY = 50
"""Arms from which it takes less time to bound all indices than to compute them."""


def above_indices(totals: Floats, rounds: Floats, level: float, eps: float) -> Floats:
    """Numbers, shape (arms,), that DP-KLUCB's indices do not exceed; most indices are hardly below.

    −ln(1 − q(1 − e^−eps)) − eps·x is the infimum that defines d_eps(x, q), but over all z, so no
    larger. Its inverse is an index's closed form where that is at the edge or beyond; before the
    edge d_eps is kl, and kl(x, q) >= 2(q − x)²; from there one of Newton's steps comes nearer and
    stays above, because kl is convex in q. The last digits are given away.
    """
    x, part = np.minimum(np.maximum(totals / rounds, 0.0), 1.0), level / rounds
    closed = np.expm1(-(part + eps * x)) / math.expm1(-eps)
    edge = x / np.maximum(x + (1.0 - x) * math.exp(-eps), 1e-300)
    bound, inner = np.maximum(x, closed), (closed < edge) & (x > 0.0)
    bound[inner] = np.minimum(bound[inner], (x + np.sqrt(0.5 * part))[inner])
    bound[inner] = nearer(x[inner], part[inner], bound[inner])
    return np.minimum(1.0, bound * (1.0 + 1e-9) + 1e-12)


def nearer(x: Floats, level: Floats, q: Floats) -> Floats:
    """Numbers that are nearer to the largest q with kl(x, q) <= level, and not below it: one of
    Newton's steps from numbers above it. All have 0 < x < q < 1.
    """
    rest = 1.0 - x
    kl = x * np.log(x / q) + rest * np.log(rest / (1.0 - q))
    return np.maximum(x, np.minimum(q, q - (kl - level) * q * (1.0 - q) / (q - x)))


@dataclass(frozen=True, kw_only=True)
class DPKLUCB(IndexPolicy, PrivatePolicy):
    """Low regret with a published proof and a bound with all constants, and thin tails unless means
    are close to one (docs/measured/regret/instances.md). `DPRateIMED` loses less
    (docs/measured/regret/rate.md).

    Source: Azize, Wu, Honda, Orabona, Ito and Basu 2025, DP-KLUCB; default constants chosen by
    tail, see decisions/.
    Guarantee: epsilon-DP for the whole sequence of decisions.
    Regret: about alpha·Σ Δ ln T/d_eps(μ, μ*), within the factor alpha of the lower bound.

    Args:
        first: rounds in an arm's first batch (n₀); None stands for ⌈32/epsilon⌉.
        alpha: growth of an arm's rounds, above 1.
        preset: "default" (level ln t) or "robust" (ln t + ln ln t: a little more regret, thinner
            tail).

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
    first: int | None = None
    alpha: float = 1.5
    preset: str = "default"

    def validate(self) -> None:
        self._growing(32 / self.budget)
        self._one_of("preset", "default", "robust")

    @property
    def c(self) -> float:
        """Weight of ln ln t in the level."""
        return 1.0 if self.preset == "robust" else 0.0

    def mechanism(self) -> LazyCumulative:
        return LazyCumulative(epsilon=self.budget, grid=Grid(steps=self.grid))

    @cached_property
    def rule(self) -> IndexRule:
        eps, first = float(self.epsilon), self.first or 1
        numbers = IndexNumbers(eps, constant=self.c, first=first, alpha=float(self.alpha))
        return IndexRule(rules.dp_klucb_score, numbers, rules.growing, capped=True)

    def leader(self, s: Statistics, t: int) -> int:
        arms = len(s.rounds)  # perhaps not all of them
        if arms < MANY:
            return super().leader(s, t)
        eps, level = float(self.epsilon), indices.kl_level(math.log(t), self.c)
        totals, rounds = s.totals, s.rounds

        def index(arm: int) -> float:
            return indices.dp_klucb(totals[arm] / rounds[arm], rounds[arm], level, eps)

        ceilings = above_indices(floats_of(totals), floats_of(rounds), level, eps)
        return largest_below(ceilings, index)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        eps, first = float(self.epsilon), self.first or 1
        return dp_klucb_bound(means, rounds, eps, first, self.alpha, self.c)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        return divergence_order(means, rounds, float(self.epsilon), self.alpha)


@dataclass(frozen=True, kw_only=True)
class DPIMED(IndexPolicy, PrivatePolicy):
    """Indexed minimum empirical divergence under privacy. Heavy-tailed: prefer `DPRateIMED`, which
    counts its noise, outside comparisons.

    Source: Azize, Wu, Honda, Orabona, Ito and Basu 2025, DP-IMED. Guarantee: epsilon-DP.
    Regret: about alpha·Σ Δ ln T/d_eps(μ, μ*).

    Args:
        first: rounds in an arm's first batch (n₀); None stands for ⌈32/epsilon⌉.
        alpha: growth of an arm's rounds, above 1.
    """

    about: ClassVar[About] = About(
        paper=PAPER,
        algorithm="DP-IMED",
        bound="α Σ Δ ln T/d_ε(μ, μ*) + o(ln T)",
        proof="dp_imed",
        twin="KLUCB",
    )

    first: int | None = None
    alpha: float = 1.5

    def validate(self) -> None:
        self._growing(32 / self.budget)

    def mechanism(self) -> LazyCumulative:
        return LazyCumulative(epsilon=self.budget, grid=Grid(steps=self.grid))

    @cached_property
    def rule(self) -> IndexRule:
        eps, first = float(self.epsilon), self.first or 1
        numbers = IndexNumbers(eps, first=first, alpha=float(self.alpha))
        return IndexRule(rules.dp_imed_score, numbers, rules.growing, timeless=True)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        return divergence_order(means, rounds, float(self.epsilon), self.alpha)
