"""Policies that are WRONG, each in one thing, by what reads their rewards. Never for use."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

import dpbandits as dpb
from benchmarks.strangers.specimen import Specimen
from dpbandits.core.inputs import Floats
from dpbandits.core.plan import Cycle, Hold, Plan, PublicRng
from dpbandits.core.privacy import Grid, Guarantee
from dpbandits.mechanisms import LazyForgetful
from dpbandits.mechanisms.base import Answer, Pure
from dpbandits.mechanisms.records import Each
from dpbandits.noise.protocol import Noise, Values
from dpbandits.policies.base import PrivatePolicy, Statistics, StatisticsPolicy, first_unseen
from dpbandits.policies.contract import About
from dpbandits.policies.super_arms import SuperArmPolicy, hold_optimistic

ROOT = Fraction(7, 4)
"""About √3."""

WATCHED = {"mean": 0.0}
"""A dashboard: the exact mean of the newest block."""


def about(feedback: Any = "bandit") -> About:
    return About(
        paper="a stranger", algorithm="wrong on purpose", bound="", theory=False, feedback=feedback
    )


def best(s: Statistics) -> int:
    """The arm with the largest released mean."""
    means = [total / max(1, n) for total, n in zip(s.totals, s.rounds, strict=True)]
    return means.index(max(means))


@dataclass(frozen=True, kw_only=True)
class RootShare(Each):
    """Prices three arms as if noise were Gaussian: their √3 is not what Laplace noise costs."""

    width: int = 3

    def promise(self) -> Guarantee:
        one = self.inner.promise()
        assert one is not None
        return replace(one, epsilon=ROOT * one.cost, proof="each_arm")


@dataclass(frozen=True, kw_only=True)
class RootCUCB(SuperArmPolicy, PrivatePolicy):
    """LazyCUCB with epsilon/√3 for each arm of a super arm of three."""

    about: ClassVar[About] = about("semi")

    def mechanism(self) -> RootShare:
        return RootShare(
            inner=LazyForgetful(epsilon=self.budget / ROOT, grid=Grid(steps=self.grid))
        )

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        return hold_optimistic(self, state, self.bonus)

    def bonus(self, n: Floats, draws: Floats, t: int) -> Floats:
        return np.asarray(np.sqrt(1.5 * math.log(self.arms * t) / n))

    def batch(self, s: Statistics, arm: int) -> int:
        return max(1, 2 * s.rounds[arm])


@dataclass(frozen=True, kw_only=True)
class EightDraws(Pure):
    """Draws noise for eight arms at once; a ninth takes that of the first."""

    proof: ClassVar[str] = "lazy_forgetful"

    def start(self) -> None:
        return None

    def step(self, memory: None, total: int, count: int, noise: Noise) -> tuple[None, Answer]:
        ((_, answer),) = self.steps([memory], [total], [count], noise)
        return None, answer

    def steps(
        self, memories: list[Any], totals: Values, counts: Sequence[int], noise: Noise
    ) -> Iterable[tuple[None, Answer]]:
        steps = self.grid.steps
        draws = [
            noise.laplace(0, sensitivity=steps, epsilon=self.epsilon)
            for _ in range(min(8, len(counts)))
        ]
        return [
            (None, Answer((int(total) + draws[place % 8]) / steps, count, 1))
            for place, (total, count) in enumerate(zip(totals, counts, strict=True))
        ]


@dataclass(frozen=True, kw_only=True)
class Rounds(StatisticsPolicy, PrivatePolicy):
    """Plays every arm in turn, releases all of them, and then holds the best for as long."""

    about: ClassVar[About] = about()

    def mechanism(self) -> Any:
        return EightDraws(epsilon=self.budget, grid=Grid(steps=self.grid))

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        arms = tuple(range(self.arms))
        if any(state.open) or first_unseen(state) is not None:
            return Cycle(arms, 2, arms)
        return Hold(best(state), 2 * self.arms, ())


@dataclass(frozen=True, kw_only=True)
class Dashboard(Pure):
    """Noises as it should, and shows the exact mean on a dashboard, for operators."""

    proof: ClassVar[str] = "lazy_forgetful"

    def start(self) -> None:
        return None

    def step(self, memory: None, total: int, count: int, noise: Noise) -> tuple[None, Answer]:
        WATCHED["mean"] = total / (self.grid.steps * max(1, count))
        noisy = noise.laplace(total, sensitivity=self.grid.steps, epsilon=self.epsilon)
        return None, Answer(noisy / self.grid.steps, count, 1)


@dataclass(frozen=True, kw_only=True)
class LooksAtTheDashboard(StatisticsPolicy, PrivatePolicy):
    """Plays the best released mean; each fifth block by what the dashboard shows."""

    about: ClassVar[About] = about()

    def mechanism(self) -> Dashboard:
        return Dashboard(epsilon=self.budget, grid=Grid(steps=self.grid))

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        arm = first_unseen(state)
        if arm is None:
            arm = best(state)
            if state.t // 4 % 5 == 4:
                arm = 0 if WATCHED["mean"] > 0.5 else 1
        return Hold(arm, 4, (arm,))


WRONG = (
    Specimen(
        "RootCUCB",
        "policy",
        "ε/√3 for each of three arms",
        RootCUCB(problem=dpb.TopK(arms=5, k=3), epsilon=1, grid=1),
        1,
        "12/7: three sums at 4/7 each",
    ),
    Specimen(
        "EightDraws",
        "policy",
        "noise for eight arms, used for ten",
        Rounds(arms=10, epsilon=1, grid=1),
        1,
        "∞: the difference of what is released of arms 1 and 9 is exact",
    ),
    Specimen(
        "LooksAtTheDashboard",
        "policy",
        "each fifth block is planned by an exact mean that a dashboard keeps",
        LooksAtTheDashboard(arms=2, epsilon=1, grid=1),
        1,
        "∞: the fifth block's arm is a function of one exact mean",
    ),
)
