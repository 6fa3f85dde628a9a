"""Local randomizers: the user's side of the local model. One reward in, one noisy report out; the server never sees more.

A randomizer is a mechanism that runs before the vault: the vault of a local policy takes `Report`s and nothing else.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from dpbandits.mechanisms.rewards import checked_reward, on_grid
from dpbandits.noise import Noise
from dpbandits.privacy import Grid, Guarantee, NoiseKind, as_fraction


@dataclass(frozen=True, slots=True)
class Report:
    """Public: one user's randomised report, in whole grid steps, and what it was made by."""

    steps: int
    randomizer: str
    noise: NoiseKind


@dataclass(frozen=True, kw_only=True)
class Randomizer(ABC):
    """Randomises one reward in [0, 1]. Guarantee: epsilon-LDP for every report."""

    epsilon: Fraction
    grid: Grid = Grid()

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", as_fraction(self.epsilon, "epsilon"))

    @abstractmethod
    def randomise(self, steps: int, noise: Noise) -> int:
        """One reward in grid steps to one report in grid steps."""

    @abstractmethod
    def promise(self) -> Guarantee: ...

    def accepts(self, steps: object) -> bool:
        """Whether a report may say this: any whole number of grid steps."""
        return type(steps) is int and abs(steps) < 2**60

    @property
    def name(self) -> str:
        return f"{type(self).__name__}(epsilon={self.epsilon}, grid={self.grid.steps})"

    @final
    def report(self, reward: float, noise: Noise) -> Report:
        """The message a user sends instead of `reward`.

        Raises:
            ValueError: the reward is not a number in [0, 1].
        """
        steps = on_grid(checked_reward(reward), self.grid, noise)
        return Report(self.randomise(steps, noise), self.name, noise.kind)


@final
class LocalLaplace(Randomizer):
    """reward + discrete Laplace of scale 1/epsilon. Unbiased, variance about 2/epsilon² on top of the reward's own."""

    def randomise(self, steps: int, noise: Noise) -> int:
        return noise.laplace(steps, sensitivity=self.grid.steps, epsilon=self.epsilon)

    def promise(self) -> Guarantee:
        return Guarantee(measure="pure", epsilon=self.epsilon, trust="local", grid=self.grid, proof="local_laplace")


@final
class RandomizedResponse(Randomizer):
    """One bit with P[1 | r] = (r e^ε + 1 − r)/(1 + e^ε): convert-to-Bernoulli (Ren, Zhou, Liu and Shroff 2020).

    The reward is first rounded to a Bernoulli bit (which keeps the formula exact), then the bit is kept with
    probability 1/(1 + e^−ε), rounded towards one half so that the ratio never exceeds e^ε.
    """

    @property
    def keep(self) -> float:
        """Probability of reporting the true bit: the largest multiple of 2^-53 not above e^ε/(1 + e^ε) − 2^-50."""
        exact = 1 / (1 + math.exp(-float(self.epsilon)))
        return max(0.5, math.floor((exact - 2.0**-50) * 2**53) / 2**53)

    def accepts(self, steps: object) -> bool:
        """A bit: 0 or a whole unit."""
        return type(steps) is int and steps in (0, self.grid.steps)

    def randomise(self, steps: int, noise: Noise) -> int:
        bit = noise.uniform() * self.grid.steps < steps
        truthful = noise.uniform() < self.keep
        return self.grid.steps * (bit is truthful)

    def promise(self) -> Guarantee:
        return Guarantee(measure="pure", epsilon=self.epsilon, trust="local", grid=self.grid, proof="randomized_response")
