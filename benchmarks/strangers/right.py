"""Specimens that are odd and RIGHT: whatever is found of them, more than they claim it is not."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from benchmarks.strangers.boxes import Leader
from benchmarks.strangers.policies import Rounds
from benchmarks.strangers.randomizers import Plain
from benchmarks.strangers.specimen import Specimen, tenths
from dpbandits.core.inputs import Floats
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms.base import Answer, Pure
from dpbandits.noise.protocol import Noise


class WithinRange(Plain):
    """Draws again until the report is between 0 and 1.

    Right: with a = e^(−ε/n), a report y of reward r has probability a^|y−r|/Z(r) where Z(r) is in
    proportion to 1 + a − a^(r+1) − a^(n−r+1). At y = 0, which is the worst, a^(−r) Z(r)/Z(0) grows
    with r, and is e^ε at r = n.
    """

    def randomise(self, steps: int, noise: Noise) -> int:
        while True:
            report = super().randomise(steps, noise)
            if 0 <= report <= self.grid.steps:
                return report


@dataclass(frozen=True, kw_only=True)
class TwoLooks(Pure):
    """Noises a sum at a third of epsilon and at two thirds, and tells a weighted mean of both."""

    proof: ClassVar[str] = "lazy_forgetful"

    def start(self) -> None:
        return None

    def step(self, memory: None, total: int, count: int, noise: Noise) -> tuple[None, Answer]:
        rough, fine = (
            noise.laplace(total, sensitivity=self.grid.steps, epsilon=self.epsilon * part)
            for part in (Fraction(1, 3), Fraction(2, 3))
        )
        return None, Answer((rough + 4 * fine) / (5 * self.grid.steps), count, 2)


@dataclass(frozen=True, kw_only=True)
class Coarse(Pure):
    """Rounds a noised sum to whole fours and clamps it to 0 … count: public bounds."""

    proof: ClassVar[str] = "lazy_forgetful"

    def start(self) -> None:
        return None

    def step(self, memory: None, total: int, count: int, noise: Noise) -> tuple[None, Answer]:
        steps = self.grid.steps
        noisy = noise.laplace(total, sensitivity=steps, epsilon=self.epsilon)
        fours = max(0, min(4 * round(noisy / (4 * steps)), count))
        return None, Answer(float(fours), count, 1)


class CoarseRounds(Rounds):
    """Ten arms, each with noise of its own."""

    def mechanism(self) -> Any:
        return Coarse(epsilon=self.budget, grid=Grid(steps=self.grid))


def middle(rewards: Floats, seed: int) -> int:
    """A median of tenths by the exponential mechanism. A replaced record moves the number below a
    candidate less the number above it by two at most, which the four pays for.
    """
    values = np.array([tenths(reward) for reward in rewards])
    lead = [abs(int((values < c).sum()) - int((values > c).sum())) for c in range(11)]
    weights = np.exp(-np.array(lead) / 4)
    return int(np.random.default_rng(seed).choice(11, p=weights / weights.sum()))


class Lagging(Leader):
    """The leader by what was known two rounds ago, with a switch every third round, seed or no."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.known = [0, 0, 0]

    def select(self) -> int:
        leads = self.known[-3] > 0
        return int(leads) if len(self.known) % 3 else 1 - int(leads)

    def update(self, arm: int, reward: float) -> None:
        super().update(arm, reward)
        self.known.append(self.sums[1] - self.sums[0])


RIGHT = (
    Specimen(
        "WithinRange",
        "randomizer",
        "noise drawn again until the report is in range",
        WithinRange(epsilon=Fraction(1), grid=Grid(steps=10)),
        1,
        "1: the normaliser never adds to the worst ratio, at an end",
        right=True,
    ),
    Specimen(
        "TwoLooks",
        "mechanism",
        "one sum is noised twice, at ε/3 and at 2ε/3",
        TwoLooks(epsilon=Fraction(1), grid=Grid(steps=1)),
        1,
        "1 at most: the prices add up",
        right=True,
    ),
    Specimen(
        "CoarseRounds",
        "policy",
        "ten arms; noised sums rounded to fours and clamped to public bounds",
        CoarseRounds(arms=10, epsilon=1, grid=1),
        1,
        "1 at most: what is done after the noise costs nothing",
        right=True,
    ),
    Specimen(
        "middle",
        "function",
        "a median by the exponential mechanism",
        middle,
        1,
        "1 at most",
        right=True,
    ),
    Specimen(
        "Lagging",
        "black box",
        "decides by what was known two rounds ago, and against it every third round",
        Lagging,
        1,
        "1 at most: every reward is noised once, before anything looks at it",
        right=True,
    ),
)
