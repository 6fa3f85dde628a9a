"""Thompson sampling on a matroid without privacy: CTS with Beta and Gaussian posteriors."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from dpbandits.core.plan import Draw, Plan, PublicRng
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import EachArm, Exact
from dpbandits.oracles.matroids import Matroid
from dpbandits.policies.bounds.optimism import least_gaps
from dpbandits.policies.contract import About
from dpbandits.policies.matroid.optimistic import FIRST, matroid_of
from dpbandits.policies.statistics import Statistics
from dpbandits.policies.super_arms.base import SuperArmPolicy

__all__ = ["CTSBeta", "CTSGaussian"]


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
