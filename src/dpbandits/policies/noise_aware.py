"""Thompson sampling whose posterior knows the privacy noise (ours)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from dpbandits.mechanisms import LazyCumulative
from dpbandits.plan import Draw, Hold, Plan, PublicRng
from dpbandits.policies.base import Statistics, empty, first_unseen, fold
from dpbandits.policies.cumulative import growing_batch
from dpbandits.policy import About, PrivatePolicy, Release
from dpbandits.privacy import Grid


class Gaussians(NamedTuple):
    """The arm with the largest sample: mean + sd·Z, or mean + sd·|Z| if optimistic. The same law every round."""

    means: tuple[float, ...]
    sds: tuple[float, ...]
    optimistic: bool

    def sample(self, round: int, rng: PublicRng) -> int:
        z = rng.generator.standard_normal(len(self.means)).tolist()
        draws = [m + sd * (abs(x) if self.optimistic else x) for m, sd, x in zip(self.means, self.sds, z, strict=True)]
        return draws.index(max(draws))


def posterior_sd(mean: float, n: int, draws: int, eps: float, c: float) -> float:
    """√(c·(p(1 − p)/n + 2m/(eps² n²))), p = mean held in [.5/n, 1 − .5/n]: sampling and privacy variance of a noisy mean."""
    p = min(1.0 - 0.5 / n, max(0.5 / n, mean))
    return math.sqrt(c * (p * (1.0 - p) / n + 2.0 * draws / (eps * eps * n * n)))


@dataclass(frozen=True, kw_only=True)
class NoiseAwareTS(PrivatePolicy):
    """Gaussian posterior with both variances: that of the rewards and that of the privacy noise. Lowest mean regret we know.

    Source: ours; study of its tail in decisions/. Guarantee: epsilon-DP (post-processing of lazy-cumulative releases).
    Regret: no proof yet. Measured figures are in docs/.

    first, alpha: first batch (None: ⌈32/epsilon⌉), and growth of an arm's rounds by each later one. c: factor on the variance.
    preset: "optimistic" (sample above the mean only; thinner tail) or "gaussian".
    """

    about: ClassVar[About] = About(
        paper="dpbandits",
        algorithm="NoiseAwareTS (ours)",
        bound="none proved",
        proof="noise_aware_ts",
        twin="ThompsonBeta",
        randomised=True,
        theory=False,
    )
    first: int | None = None
    alpha: float = 1.5
    c: float = 1.0
    preset: str = "optimistic"

    def validate(self) -> None:
        self._number("alpha", 1.001, 1000)
        self._number("c", 0, 1000)
        self._one_of("preset", "optimistic", "gaussian")
        if self.first is None:
            object.__setattr__(self, "first", math.ceil(32 / self.budget))
        if not isinstance(self.first, int) or self.first < 1:
            raise ValueError(f"Expected first={self.first!r} to be a whole number of rounds, at least 1.")

    def mechanism(self) -> LazyCumulative:
        return LazyCumulative(epsilon=self.budget, grid=Grid(steps=self.grid))

    def init(self) -> Statistics:
        return empty(self.arms)

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        arm = first_unseen(state)
        if arm is not None:
            return Hold(arm, max(1, (self.first or 1) - state.open[arm]), (arm,))
        eps = float(self.epsilon)
        means = tuple(total / n for total, n in zip(state.totals, state.rounds, strict=True))
        sds = tuple(posterior_sd(m, n, d, eps, self.c) for m, n, d in zip(means, state.rounds, state.draws, strict=True))
        sizes = (growing_batch(n, self.first or 1, self.alpha) for n in state.rounds)
        limits = tuple(max(1, size - open_) for size, open_ in zip(sizes, state.open, strict=True))
        return Draw(Gaussians(means, sds, self.preset == "optimistic"), limits)

    def update(self, state: Statistics, plan: Plan, release: Release) -> Statistics:
        return fold(state, release)

    def regret_bound(self, gaps: Sequence[float], rounds: int) -> float:
        return math.nan
