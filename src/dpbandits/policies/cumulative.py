"""Index policies whose batches accumulate: DP-KLUCB, DP-IMED and DP-Rate-IMED (ours)."""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, NamedTuple, Self

import numpy as np

from dpbandits.core.inputs import Floats, Integers, floats_of, shown
from dpbandits.policies.arm_bounds import dp_klucb_bound
from dpbandits.policies.base import GrowingSums, IndexPolicy, Statistics, largest_below
from dpbandits.policies.contract import About, policy_dataclass
from dpbandits.policies.formulas.indices import (
    ALL_DRAWS,
    IndexNumbers,
    IndexRule,
    d_eps,
    dp_imed,
    dp_klucb,
    dp_klucb_score,
    growing,
    kl_level,
    rate_imed,
    rate_imed_batch,
)

# DP-KLUCB and DP-IMED (Azize et al. 2025): batches without forgetting, indices in the
# privacy-aware divergence d_eps.


PAPER = "Azize, Wu, Honda, Orabona, Ito and Basu 2025"


def divergence_order(means: Sequence[float], rounds: int, eps: float, alpha: float) -> float:
    """Return α Σ Δ ln T/d_eps(μ, μ*)."""
    best, log_t = max(means), math.log(rounds)
    ratios = [(best - mean) / far for mean in means if (far := d_eps(mean, best, eps)) > 0]
    return alpha * log_t * math.fsum(ratios)


MANY = 50
"""From this number of arms on, bounding all indices is faster than computing them."""


def above_indices(totals: Floats, rounds: Floats, level: float, eps: float) -> Floats:
    """Return upper bounds of DP-KLUCB's indices, shape (arms,). Most are nearly tight.

    −ln(1 − q(1 − e^−eps)) − eps·x is the infimum that defines d_eps(x, q), taken over all z, so it
    is not larger. Its inverse is an index's closed form at and beyond the edge. Before the edge
    d_eps is kl, and kl(x, q) >= 2(q − x)²; one Newton step from there comes closer and stays above,
    because kl is convex in q. The bounds are rounded up in the last digits.
    """
    x, part = np.minimum(np.maximum(totals / rounds, 0.0), 1.0), level / rounds
    closed = np.expm1(-(part + eps * x)) / math.expm1(-eps)
    edge = x / np.maximum(x + (1.0 - x) * math.exp(-eps), 1e-300)
    bound, inner = np.maximum(x, closed), (closed < edge) & (x > 0.0)
    bound[inner] = np.minimum(bound[inner], (x + np.sqrt(0.5 * part))[inner])
    bound[inner] = newton_step(x[inner], part[inner], bound[inner])
    return np.minimum(1.0, bound * (1.0 + 1e-9) + 1e-12)


def newton_step(x: Floats, level: Floats, q: Floats) -> Floats:
    """Improve upper bounds of the largest q with kl(x, q) <= level by one Newton step. All have 0 <
    x < q < 1.
    """
    rest = 1.0 - x
    kl = x * np.log(x / q) + rest * np.log(rest / (1.0 - q))
    return np.maximum(x, np.minimum(q, q - (kl - level) * q * (1.0 - q) / (q - x)))


@policy_dataclass
class DPKLUCB(IndexPolicy, GrowingSums):
    """Index policy in the privacy-aware divergence d_eps, on batches that accumulate.

    Its regret is low, with a published proof and a bound with all constants. Its tails are thin
    unless means are close to one (docs/measured/regret.md). `DPRateIMED` has less regret
    (docs/measured/regret.md).

    Guarantee: ε-DP for the whole sequence of decisions.

    Regret: about alpha·Σ Δ ln T/d_eps(μ, μ*), within the factor alpha of the lower bound.

    Source: Azize, Wu, Honda, Orabona, Ito and Basu 2025, DP-KLUCB. The default constants were
    chosen by the tail (decisions/).

    Args:
        first: rounds in an arm's first batch (n₀); None means ⌈32/epsilon⌉.
        alpha: growth factor of an arm's rounds, above 1.
        preset: "default" (level ln t) or "robust" (ln t + ln ln t: slightly more regret, a thinner
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
        baseline="KLUCB",
    )
    alpha: float = 1.5
    preset: str = "default"

    def validate(self) -> None:
        self._growing(32 / self.budget)
        self._one_of("preset", "default", "robust")

    @property
    def c(self) -> float:
        """Weight of ln ln t in the level."""
        return 1.0 if self.preset == "robust" else 0.0

    @cached_property
    def rule(self) -> IndexRule:
        eps, first = float(self.epsilon), self.first or 1
        numbers = IndexNumbers(eps, constant=self.c, first=first, alpha=float(self.alpha))
        return IndexRule(dp_klucb_score, numbers, growing, capped=True)

    def leader(self, s: Statistics, t: int) -> int:
        arms = len(s.rounds)  # perhaps not all of them
        if arms < MANY:
            return super().leader(s, t)
        eps, level = float(self.epsilon), kl_level(math.log(t), self.c)
        totals, rounds = s.totals, s.rounds

        def index(arm: int) -> float:
            return dp_klucb(totals[arm] / rounds[arm], rounds[arm], level, eps)

        ceilings = above_indices(floats_of(totals), floats_of(rounds), level, eps)
        return largest_below(ceilings, index)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        eps, first = float(self.epsilon), self.first or 1
        return dp_klucb_bound(means, rounds, eps, first, self.alpha, self.c)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        return divergence_order(means, rounds, float(self.epsilon), self.alpha)


@policy_dataclass
class DPIMED(IndexPolicy, GrowingSums):
    """Indexed minimum empirical divergence under privacy. Its regret is heavy-tailed: prefer
    `DPRateIMED`, which accounts for its noise, except in comparisons.

    Guarantee: ε-DP for the whole sequence of decisions.

    Regret: about alpha·Σ Δ ln T/d_eps(μ, μ*).

    Source: Azize, Wu, Honda, Orabona, Ito and Basu 2025, DP-IMED.

    Args:
        first: rounds in an arm's first batch (n₀); None means ⌈32/epsilon⌉.
        alpha: growth factor of an arm's rounds, above 1.

    >>> policy = DPIMED(arms=5, epsilon=1)
    >>> policy.first, str(policy.guarantee.epsilon)
    (32, '1')
    """

    about: ClassVar[About] = About(
        paper=PAPER,
        algorithm="DP-IMED",
        bound="α Σ Δ ln T/d_ε(μ, μ*) + o(ln T)",
        proof="dp_klucb",
        baseline="KLUCB",
    )

    alpha: float = 1.5

    def validate(self) -> None:
        self._growing(32 / self.budget)

    @cached_property
    def rule(self) -> IndexRule:
        eps, first = float(self.epsilon), self.first or 1
        numbers = IndexNumbers(eps, first=first, alpha=float(self.alpha))
        return IndexRule(dp_imed, numbers, growing, timeless=True)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        return divergence_order(means, rounds, float(self.epsilon), self.alpha)


# DP-Rate-IMED (ours): batches that accumulate, and an index that counts every draw of their noise.


class RateConstants(NamedTuple):
    """The constants of a preset."""

    level: float  # weight of ln n
    first: int  # divided by epsilon: rounds in a first batch
    alpha: float  # growth of an arm's rounds at which a batch ends
    counted: int | None  # the most draws that are counted; None: all
    doubt: float = 0.0  # subtracted from a rate, at ε ≥ 1
    trust: float = 1.0  # the share of it that counts at least
    blurred: float = 0.0  # what the doubt increases by as ε → 0

    def at(self, epsilon: float) -> Self:
        """Return these constants at this ε: the doubt is linear in ε up to ε = 1."""
        return self._replace(doubt=self.doubt + self.blurred * (1.0 - min(1.0, epsilon)))


def above_scores(
    means: Floats,
    rounds: Sequence[int],
    draws: Integers,
    level: float,
    eps: float,
    doubt: float = 0.0,
    trust: float = 1.0,
) -> Floats:
    """Return upper bounds of the arms' scores, shape (arms,); `means` are clipped.

    The rate at one θ is at most the largest rate. The smaller of two θ near the optimum is used:
    the optimum without noise, and the one with the slope's largest value everywhere. The bounds are
    rounded up in the last digits.
    """
    n, best = np.array(rounds, np.float64), means.max()
    slope = eps * n * (best - means)
    with np.errstate(divide="ignore", invalid="ignore"):
        silent = (np.log(best * (1.0 - means)) - np.log(means * (1.0 - best))) / eps
        share = np.minimum(slope / (draws + np.hypot(draws, slope)), silent)
        share = np.where(means < best, np.minimum(share, 1.0 - 2.0**-40), 0.0)
        theta = share * eps
        rewards = theta * means + np.logaddexp(np.log(1.0 - best), np.log(best) - theta)
    rate = draws * (np.log1p(-share) + np.log1p(share)) - n * rewards
    rate = np.where(means < best, np.maximum(rate, 0.0), 0.0)
    scores = -(np.maximum(rate - doubt, trust * rate) + level * np.log(n))
    return np.asarray(scores + 1e-9 * (1.0 - scores) + 1e-14 * n * (1.0 + theta))


@policy_dataclass
class DPRateIMED(IndexPolicy, GrowingSums):
    """Indexed minimum empirical divergence with the exact rate of the released means: the evidence
    against an arm, with every draw of noise counted.

    DPIMED's divergence ignores the number of draws, so it trusts an unlucky first batch; this
    policy does not. It plays the arm with the least rate(mean, best mean) + level·ln n; the presets
    "balanced" and "safe" discount the rate. A later batch ends on a rung of a fixed ladder of
    totals: an arm that is behind is played until the arm with the largest mean would be played
    next. The steps between rungs become smaller, so the constant of ln T is the lower
    bound's (level 1).

    Guarantee: ε-DP for the whole sequence of decisions.

    Regret: about level·Σ Δ ln T/d_eps(μ, μ*), for every preset (proofs/dp_rate_imed.md). The
    probability of losing more than x falls about as x^(−level/trust), from some x on as e^−doubt
    x^−level; if not all draws are counted, with a larger constant.

    Source: ours; frontier and constants are in docs/measured/regret.md and decisions/.

    Args:
        preset: "balanced" (default); "mean" (counts one draw only: the lowest mean, a thicker
            tail); or "safe" (a higher level and more doubt: the thinnest tail, for at most twice
            the mean). See docs/measured/regret.md.
        first: rounds in an arm's first batch; None means the preset's constant divided by epsilon,
            rounded up.
        alpha: growth factor of an arm's rounds, above 1, at which a batch ends on the next rung of
            the ladder. The leader's rounds grow by this factor at first, later by 1 + (alpha −
            1)/√(1 + ln(rounds/first)). None means the preset's.
        level: weight of ln n, at least 1 (below 1 regret would not be logarithmic); None means the
            preset's.
        counted: the most draws of noise that are counted; fewer make a smaller index and a thicker
            tail. None means the preset's: all, except for "mean".
        doubt: discount of the evidence against an arm, at least 0, because its releases may have
            been unlucky. None means the preset's ("balanced": more where epsilon is below 1), or 0
            if a level is given.
        trust: the share of the evidence that always counts, above 0 and at most 1. None means the
            preset's, or 1 if a level is given.

    >>> policy = DPRateIMED(arms=5, epsilon=1)
    >>> policy.first, policy.alpha, policy.level
    (27, 2.0, 1.0)
    """

    about: ClassVar[About] = About(
        paper="dpbandits",
        algorithm="DPRateIMED (ours)",
        bound="level Σ Δ ln T/d_ε(μ, μ*) + o(ln T)",
        proof="dp_rate_imed",
        baseline="KLUCB",
    )
    presets: ClassVar[dict[str, RateConstants]] = {
        "mean": RateConstants(1.0, 32, 3.0, 1),
        "balanced": RateConstants(1.0, 27, 2.0, None, 0.28, 0.75, 1.0),
        "safe": RateConstants(1.5, 48, 3.0, None, 4.0, 0.6),
    }
    preset: str = "balanced"
    alpha: float | None = None
    level: float | None = None
    counted: int | None = None
    doubt: float | None = None
    trust: float | None = None

    def validate(self) -> None:
        self._one_of("preset", *self.presets)
        preset = self.presets[self.preset].at(float(self.epsilon))
        if self.level is not None:  # as in sessions that were saved before `doubt` existed
            preset = preset._replace(doubt=0.0, trust=1.0)
        for name in ("level", "alpha", "counted", "doubt", "trust"):
            if getattr(self, name) is None:
                object.__setattr__(self, name, getattr(preset, name))
        self._growing(Fraction(preset.first) / self.budget)
        self._number("level", 0, 100)
        if self.counted is not None:
            self._whole("counted", of="draws")
        self._number("doubt", -math.inf, 100)
        self._number("trust", 0)
        # beyond these regret would not be logarithmic, or nothing is proved
        if (self.level or 1.0) < 1.0:
            raise ValueError(
                f"Expected level={self.level:g} to be at least 1: below it an unlucky arm may not "
                "be played for too long, and regret is not logarithmic."
            )
        doubt, trust = self.discount
        if doubt < 0.0 or trust > 1.0:
            raise ValueError(
                f"Expected doubt={shown(doubt)} to be at least 0 and trust={shown(trust)} at "
                "most 1: evidence cannot count for more than it is."
            )

    @cached_property
    def rule(self) -> IndexRule:
        doubt, trust = self.discount
        numbers = IndexNumbers(
            eps=float(self.epsilon),
            constant=float(self.level or 0.0),
            first=self.first or 0,
            alpha=float(self.alpha or 0.0),
            counted=self.counted or ALL_DRAWS,
            doubt=float(doubt),
            trust=float(trust),
        )
        return IndexRule(rate_imed, numbers, rate_imed_batch, timeless=True, by_best=True)

    @property
    def discount(self) -> tuple[float, float]:
        """doubt and trust."""
        return self.doubt or 0.0, 1.0 if self.trust is None else self.trust

    def leader(self, s: Statistics, t: int) -> int:
        if len(s.rounds) < MANY:  # perhaps not all arms
            return super().leader(s, t)
        means = np.clip(np.array(s.totals) / np.array(s.rounds), 0.0, 1.0)
        best = float(means.max())
        ceilings = self.ceilings(s, means)
        score, p = self.rule.score, self.rule.numbers

        def index(arm: int) -> float:
            n = s.rounds[arm]
            return score(p, s.totals[arm] / n, n, s.draws[arm], 0.0, best)

        return largest_below(ceilings, index)

    def ceilings(self, s: Statistics, means: Floats) -> Floats:
        """Return upper bounds of the arms' scores, shape (arms,); `means` are clipped."""
        draws = np.minimum(s.draws, self.counted or max(s.draws))
        level, eps = self.level or 1.0, float(self.epsilon)
        return above_scores(means, s.rounds, draws, level, eps, *self.discount)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        return divergence_order(means, rounds, float(self.epsilon), self.level or 1.0)
