"""Thompson sampling on a matroid: CTS with Beta and Gaussian posteriors, and NoiseAware-MAT
(ours).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from dpbandits.core.plan import Draw, Plan, PublicRng
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import EachArm, Exact, LazyCumulative
from dpbandits.oracles.matroids.matroid import Matroid
from dpbandits.policies.base import PrivatePolicy
from dpbandits.policies.bounds.optimism import least_gaps
from dpbandits.policies.contract import About
from dpbandits.policies.formulas.pooling import pooled, posterior_sd, shrunk
from dpbandits.policies.formulas.schedules import growing_batch
from dpbandits.policies.matroid.optimistic import FIRST, matroid_of
from dpbandits.policies.statistics import Statistics
from dpbandits.policies.super_arms.base import SuperArmPolicy

__all__ = ["CTSBeta", "CTSGaussian", "NoiseAwareMAT"]


class Betas(NamedTuple):
    """The greedy basis for samples of Beta(successes + 1, failures + 1), one an element."""

    matroid: Matroid
    successes: tuple[float, ...]
    failures: tuple[float, ...]

    def sample(self, round: int, rng: PublicRng) -> tuple[int, ...]:
        return self.matroid.best(
            rng.generator.beta(np.array(self.successes) + 1.0, np.array(self.failures) + 1.0)
        )


class Normals(NamedTuple):
    """The greedy basis for samples of N(mean, sd²), one an element."""

    matroid: Matroid
    means: tuple[float, ...]
    sds: tuple[float, ...]

    def sample(self, round: int, rng: PublicRng) -> tuple[int, ...]:
        z = rng.generator.standard_normal(len(self.means))
        return self.matroid.best(np.array(self.means) + np.array(self.sds) * z)


@dataclass(frozen=True, kw_only=True)
class CTSBeta(SuperArmPolicy):
    """Combinatorial Thompson sampling with Beta(1, 1) priors, without privacy; rewards are rounded
    to Bernoulli first.

    Source: Wang and Chen 2018, CTS. Guarantee: none. Regret: O(Σ ln T/Δ) + Õ(L/Δ⁴) on a matroid.
    `regret_order` is the first term alone: the second does not grow with T, and states neither its
    constant nor its logarithms.
    """

    not_taken: ClassVar[Mapping[str, str]] = {
        "grid": "a coin rounds its rewards to 0 or 1, so there is no grid to choose"
    }
    about: ClassVar[About] = About(
        paper="Wang and Chen 2018",
        algorithm="CTS",
        bound="O(Σ ln T/Δ) + Õ(L/Δ⁴)",
        privacy="none",
        feedback="semi",
        matroid=True,
        every_round=True,
        randomised=True,
    )

    def mechanism(self) -> EachArm:
        return EachArm(inner=Exact(grid=Grid(steps=1, rounding="bernoulli")), width=self.width)

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        failures = tuple(n - s for s, n in zip(state.totals, state.rounds, strict=True))
        return Draw(Betas(matroid_of(self.problem), state.totals, failures), (1,) * self.arms)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        return math.fsum(math.log(rounds) / gap for gap in least_gaps(self.problem, means))


@dataclass(frozen=True, kw_only=True)
class CTSGaussian(SuperArmPolicy):
    """Combinatorial Thompson sampling with samples of N(mean, 1/n), without privacy; the first
    bases cover the elements.

    Source: Chandak, Hu and Hegde 2023, the reference of its figures (CTS with Gaussian priors).
    Guarantee: none.
    Regret: O(Σ ln T/Δ) as for DPTS-MAT without noise.
    """

    about: ClassVar[About] = About(
        paper="Chandak, Hu and Hegde 2023",
        algorithm="CTS with Gaussian priors",
        bound="O(Σ ln T/Δ)",
        privacy="none",
        feedback="semi",
        matroid=True,
        every_round=True,
        randomised=True,
    )
    grid: int = 1024

    def mechanism(self) -> EachArm:
        return EachArm(inner=Exact(grid=Grid(steps=self.grid)), width=self.width)

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        action = self.best([0.0 if n else FIRST for n in state.rounds])
        if 0 in (state.rounds[arm] for arm in action):
            return self.hold(state, action)
        n = [max(1, rounds) for rounds in state.rounds]
        means = tuple(total / m for total, m in zip(state.totals, n, strict=True))
        sds = tuple(1.0 / math.sqrt(m) for m in n)
        return Draw(Normals(matroid_of(self.problem), means, sds), (1,) * self.arms)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        return math.fsum(math.log(rounds) / gap for gap in least_gaps(self.problem, means))


@dataclass(frozen=True, kw_only=True)
class NoiseAwareMAT(SuperArmPolicy, PrivatePolicy):
    """Thompson sampling whose posteriors know the privacy noise and each other, in the greedy
    algorithm (ours).

    An element's released mean has variance v = p(1 − p)/n + 2m/(eps₀² n²): of its rewards and of
    the m noise draws in it, at eps₀ = epsilon/K. Its sample, fresh every round, is of N(mean',
    c·sd'²): the posterior under a normal prior fitted to the released means of all elements.

    Source: ours; how the constants were found: decisions/. Guarantee: epsilon-DP (post-processing
    of lazy-cumulative releases).
    Regret: none proved.

    Args:
        first: rounds in an element's first batch; None stands for ⌈24 K/epsilon⌉.
        alpha: growth of an element's rounds.
        c: factor on the posterior variance.
        pool: False for no prior, as in NoiseAwareTS.

    >>> from dpbandits import UniformMatroid
    >>> NoiseAwareMAT(problem=UniformMatroid(arms=4, rank=2), epsilon=1).first
    48
    """

    about: ClassVar[About] = About(
        paper="dpbandits",
        algorithm="NoiseAwareTS in the greedy, pooled (ours)",
        bound="none proved",
        proof="noise_aware_mat",
        twin="CTSGaussian",
        feedback="semi",
        matroid=True,
        randomised=True,
        theory=False,
    )
    first: int | None = None
    alpha: float = 1.5
    c: float = 0.4
    pool: bool = True

    def validate(self) -> None:
        self._growing(24 * self.problem.size / self.budget)
        self._number("c", 0, 1000)
        if not isinstance(self.pool, bool):
            raise ValueError(f"Expected pool={self.pool!r} to be True or False.")

    def mechanism(self) -> EachArm:
        return EachArm(
            inner=LazyCumulative(epsilon=self.budget / self.width, grid=Grid(steps=self.grid)),
            width=self.width,
        )

    def batch(self, s: Statistics, arm: int) -> int:
        return growing_batch(s.rounds[arm], self.first or 1, self.alpha)

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        means, sds = self.posterior(state)
        action = self.best(
            [mean if n else FIRST for mean, n in zip(means, state.rounds, strict=True)]
        )
        if 0 in (state.rounds[arm] for arm in action):
            return self.hold(state, action)
        limits = tuple(self.batch_left(state, arm) for arm in range(self.arms))
        return Draw(Normals(matroid_of(self.problem), means, sds), limits)

    def posterior(self, s: Statistics) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Means and standard deviations of the samples; 0 where nothing was released."""
        means = [total / n if n else 0.0 for total, n in zip(s.totals, s.rounds, strict=True)]
        known = list(zip(means, s.rounds, s.draws, strict=True))
        if not self.pool:
            return tuple(means), tuple(
                posterior_sd(m, n, d, self.share, self.c) if n else 0.0 for m, n, d in known
            )
        prior = pooled(means, s.rounds, s.draws, self.share)
        laws = [shrunk(m, n, d, self.share, *prior) if n else (0.0, 0.0) for m, n, d in known]
        return tuple(mean for mean, _ in laws), tuple(math.sqrt(self.c) * sd for _, sd in laws)
