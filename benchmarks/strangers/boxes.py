"""Black boxes that are WRONG, each in one thing. Never for use."""

from __future__ import annotations

import random
from typing import ClassVar

import numpy as np

from benchmarks.strangers.specimen import Specimen, tenths, two_sided


class Leader:
    """Plays the arm with the larger sum of rewards, each noised once at epsilon = 1: right."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.sums = [0, 0]

    def draw(self) -> int:
        return two_sided(self.rng, 10.0)

    def select(self) -> int:
        return int(self.sums[1] > self.sums[0])

    def update(self, arm: int, reward: float) -> None:
        self.sums[arm] += tenths(reward) + self.draw()


class EightBits(Leader):
    """Its generator knows 256 beginnings."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.weak = random.Random(seed % 256)

    def draw(self) -> int:
        return int(self.weak.expovariate(0.1)) - int(self.weak.expovariate(0.1))


class Impatient:
    """Blocks of five, noised when they end; three failures in a row end a block at once."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.means = [float("inf"), float("inf")]
        self.arm, self.block = 0, [0.0][:0]

    def select(self) -> int:
        return self.arm

    def update(self, arm: int, reward: float) -> None:
        self.block.append(float(reward))
        failed = len(self.block) >= 3 and max(self.block[-3:]) < 0.5
        if failed or len(self.block) == 5:
            noisy = sum(map(tenths, self.block)) + two_sided(self.rng, 10.0)
            self.means[arm] = noisy / len(self.block)
            self.arm, self.block = int(self.means[1] > self.means[0]), []


class TiesByLastReward:
    """Three rounds of each arm, then the arm that leads by the noised gap, for ever. A tie goes to
    the arm whose last reward was larger.
    """

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.told: list[tuple[int, int]] = []
        self.chosen = 0

    def select(self) -> int:
        return len(self.told) % 2 if len(self.told) < 6 else self.chosen

    def update(self, arm: int, reward: float) -> None:
        self.told.append((arm, int(float(reward) >= 0.5)))
        if len(self.told) == 6:
            gap = sum(bit if arm == 0 else -bit for arm, bit in self.told)
            noisy = gap + two_sided(self.rng, 1.0)
            last = [bit for _, bit in self.told[-2:]]
            self.chosen = int(noisy < 0 or (noisy == 0 and last[1] > last[0]))


class WarmStart(Leader):
    """Begins with the arm that did better in the session before, by exact sums that the class
    keeps.
    """

    before: ClassVar[list[int]] = [0, 0]

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.first = int(self.before[1] > self.before[0])
        self.exact, self.begun = [0, 0], False

    def select(self) -> int:
        return super().select() if self.begun else self.first

    def update(self, arm: int, reward: float) -> None:
        super().update(arm, reward)
        self.begun = True
        self.exact[arm] += tenths(reward)
        type(self).before = self.exact


WRONG = (
    Specimen(
        "EightBits",
        "black box",
        "noise from a generator with 256 seeds",
        EightBits,
        1,
        "∞: of 256 tapes of noise, none makes some decisions of one table from its neighbour",
    ),
    Specimen(
        "Impatient",
        "black box",
        "three failures in a row end a block",
        Impatient,
        1,
        "∞: round 4 is played with the second arm for three failures, never for two and a success",
    ),
    Specimen(
        "TiesByLastReward",
        "black box",
        "a tie of noised sums goes to the larger exact reward",
        TiesByLastReward,
        1,
        "2: where it decides a tie, a reward moves the gap by two",
    ),
    Specimen(
        "WarmStart",
        "black box",
        "a session begins with what was best, exactly, in the session before",
        WarmStart,
        1,
        "∞ for who sees two sessions: the second one's first decision",
    ),
)
