"""CUCB's way of playing, shared by its private forms: means plus radii, clipped at 1, handed to the
oracle.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from dpbandits.core.arrays import Floats
from dpbandits.core.plan import Hold, Plan, PublicRng
from dpbandits.policies.base import Statistics, StatisticsPolicy
from dpbandits.policies.super_arms.base import SuperArmPolicy


@dataclass(frozen=True, kw_only=True)
class Optimistic(SuperArmPolicy, StatisticsPolicy):
    """Plays the oracle's answer to min(1, mean + radius), 1 for an arm without a release, until one
    of its batches is full.

    Where an index is not above 0 any super arm will do (Chen et al. 2020); here one with such arms,
    so that they are seen again.
    """

    @abstractmethod
    def radius(self, n: Floats, draws: Floats, t: int) -> Floats:
        """What is added to the means at round t. n, draws: rewards and noise draws behind each
        arm's mean, shape (arms,), n >= 1.
        """

    def observed(self, s: Statistics, action: tuple[int, ...]) -> tuple[int, ...] | None:
        """The arms of a super arm whose rewards are told; None: all."""
        return None

    def batch(self, s: Statistics, arm: int) -> int:
        """Rounds in the arm's next batch."""
        return 1

    @final
    def scores(self, s: Statistics, t: int) -> Floats:
        """Every arm's index at round t, shape (arms,)."""
        n = np.array(s.rounds, np.float64)
        seen = n > 0
        n[~seen] = 1.0
        index = np.array(s.totals) / n + self.radius(n, np.array(s.draws, np.float64), t)
        return np.where(seen, np.minimum(1.0, index), 1.0)

    @final
    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        index = self.scores(state, state.t + 1)
        lost = index <= 0.0
        weights: Any = np.where(lost, 1.0, 0.0) if lost.any() else index
        action = self.best(weights)
        observe = self.observed(state, action)
        told = observe or action
        left = [max(1, self.batch(state, arm) - state.open[arm]) for arm in told]
        rounds = min(left)
        return Hold(
            action,
            rounds,
            tuple(arm for arm, n in zip(told, left, strict=True) if n == rounds),
            observe=observe,
        )


def least_seen(s: Statistics, action: tuple[int, ...]) -> tuple[int]:
    """Of a super arm the arm with the fewest released rewards, the lowest on a tie: public, as the
    counts are.
    """
    return (min(action, key=lambda arm: (s.rounds[arm], arm)),)


def statistical(n: Floats, log_t: float) -> Floats:
    """√(3 ln t / (2n)), CUCB's radius: exceeded with probability at most t⁻³ on a side. Chen, Wang,
    Yuan and Wang 2016.
    """
    return np.asarray(np.sqrt(1.5 * log_t / n))


def noise_radius(n: Floats, draws: Floats, scale: float, log_t: float) -> Floats:
    """What `draws` Laplace draws of this scale add to a mean of n, at δ = t⁻³. Chan, Shi and Song
    2011, Corollary 2.9.
    """
    log_term = math.log(2.0) + 3.0 * log_t
    return np.asarray(
        scale * np.maximum(np.sqrt(draws), math.sqrt(log_term)) * math.sqrt(8.0 * log_term) / n
    )


def per_gap(gaps: Sequence[float], cost: float, each: float = 0.0) -> float:
    """Σ over gaps of cost/Δ + each."""
    return math.fsum(cost / gap + each for gap in gaps if gap > 0)
