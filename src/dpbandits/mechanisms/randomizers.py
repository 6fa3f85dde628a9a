"""Local randomizers: the user's side of the local model. They turn one reward into one noisy
report; the server never sees more.

A randomizer runs before the vault: the vault of a local policy takes `Report`s and nothing else.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import final

import numpy as np

from dpbandits.core.errors import RewardError
from dpbandits.core.inputs import checked_noise, whole_number
from dpbandits.core.privacy import Grid, Guarantee, NoiseKind, as_fraction, require_grid
from dpbandits.mechanisms.base import AnswerLaw
from dpbandits.mechanisms.rewards import (
    checked_reward,
    checked_rewards,
    on_grid,
    read_or_none,
    vector_on_grid,
)
from dpbandits.noise.exact import truth
from dpbandits.noise.protocol import Noise, toss


@dataclass(frozen=True, slots=True)
class Report:
    """One user's randomised report. Public.

    Args:
        steps: the report's content, in whole grid steps; a tuple for several rewards.
        randomizer: name and parameters of its randomizer.
        noise: kind of noise, "secure" or "simulated".
    """

    steps: int | tuple[int, ...]
    randomizer: str
    noise: NoiseKind


def is_well_formed(report: object) -> bool:
    """Return whether the report consists of whole grid steps and plain names only. Other objects
    may hold a reward, or code that reveals it.
    """
    if (
        type(report) is not Report
        or type(report.randomizer) is not str
        or type(report.noise) is not str
    ):
        return False
    steps = report.steps if type(report.steps) is tuple else (report.steps,)
    return (
        report.noise in ("secure", "simulated")
        and len(steps) > 0
        and all(type(step) is int for step in steps)
    )


@dataclass(frozen=True, kw_only=True)
class Randomizer(ABC):
    """Base class of randomizers: randomise one reward in [0, 1].

    Guarantee: ε-LDP for every report.

    Args:
        epsilon: ε of one report.
        grid: the grid that rewards are rounded to.
        width: the most rewards in one report; each is randomised at ε/width.

    Raises:
        ValueError: an epsilon that is not above 0, or a width that is no whole number from 1 on.
    """

    epsilon: Fraction
    grid: Grid = Grid()
    width: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", as_fraction(self.epsilon, "epsilon"))
        object.__setattr__(self, "width", whole_number(self.width, "width", 1, of="rewards"))
        require_grid(self.grid)

    @abstractmethod
    def randomise(self, steps: int, noise: Noise) -> int:
        """Randomise one reward, both in grid steps."""

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """Return the guarantee of every report."""

    @property
    def law(self) -> AnswerLaw | None:
        """The law of the noise that one report adds, of kind 1; None if reports do not estimate
        means.
        """
        return None

    @property
    def ends(self) -> tuple[float, float]:
        """The mean report of a reward of 0 and of a reward of 1, before `law` adds its noise."""
        return 0.0, 1.0

    @final
    def accepts(self, steps: object) -> bool:
        """Return whether a report can have this content: a whole number of grid steps, or a tuple
        of them.
        """
        numbers = steps if type(steps) is tuple else (steps,)
        return all(type(step) is int and self.can_report(step) for step in numbers)

    def can_report(self, step: int) -> bool:
        """Return whether a report can contain this number."""
        return abs(step) < 2**60

    @property
    def name(self) -> str:
        width = f", width={self.width}" if self.width > 1 else ""
        return f"{type(self).__name__}(epsilon={self.epsilon}, grid={self.grid.steps}{width})"

    @final
    def report(self, reward: object, noise: Noise) -> Report:
        """Return the message that a user sends instead of a reward.

        Args:
            reward: a number in [0, 1], or a list of 1 to `width` of them.
            noise: source of noise.

        Raises:
            ValueError: not a number in [0, 1], or not a list of at most `width` of them.
            TypeError: `noise` is not a noise source, or is a class.
        """
        steps = self.put_on_grid(reward, checked_noise(noise))
        if not isinstance(steps, list):
            return Report(self.randomise(steps, noise), self.name, noise.kind)
        return Report(tuple(self.randomise(step, noise) for step in steps), self.name, noise.kind)

    @final
    def put_on_grid(self, reward: object, noise: Noise) -> int | list[int]:
        """Return a reward, or a list of rewards, in whole grid steps. Private: it is not randomised
        yet.

        Raises:
            ValueError: as for `report`.
        """
        number = read_or_none(rewards_in, reward)
        if number is None:
            return on_grid(checked_reward(reward), self.grid, noise)
        if not 1 <= number <= self.width:
            raise RewardError(
                f"Expected a report to be about 1 to {self.width} rewards, got {number}. Nothing "
                "was sent."
            )
        return vector_on_grid(checked_rewards(reward, number), self.grid, noise).tolist()


def rewards_in(reward: object) -> int | None:
    """Return the number of rewards in a list; None for a single reward."""
    if not isinstance(reward, (list, tuple, np.ndarray)) or (
        isinstance(reward, np.ndarray) and reward.ndim == 0
    ):
        return None
    return len(reward)


@final
class LocalLaplace(Randomizer):
    """Report the reward plus discrete Laplace noise of scale width/ε. Its variance is about 2
    width²/ε².

    Reports are cut off 60 scales beyond [0, 1]. The bound is public, and an honest report reaches
    it with probability below e^-60. So no report moves a sum by more, not even from a broken
    client, and the bias is negligible.

    Guarantee: ε-LDP.
    """

    @cached_property
    def reach(self) -> int:
        """The largest distance of a report from [0, 1], in grid steps."""
        return math.ceil(60 * self.grid.steps * self.width / self.epsilon)

    @property
    def law(self) -> AnswerLaw:
        return AnswerLaw("laplace", float(self.epsilon / self.width))

    def can_report(self, step: int) -> bool:
        return -self.reach <= step <= self.grid.steps + self.reach

    def randomise(self, steps: int, noise: Noise) -> int:
        noised = noise.laplace(
            steps, sensitivity=self.grid.steps, epsilon=self.epsilon / self.width
        )
        return max(-self.reach, min(noised, self.grid.steps + self.reach))

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(
            measure="pure",
            epsilon=self.epsilon,
            trust="local",
            grid=self.grid,
            proof="local_laplace",
        )


@final
class RandomizedResponse(Randomizer):
    """Report one bit, with P[1 | r] = (r e^ε + 1 − r)/(1 + e^ε).

    The reward is first rounded to a Bernoulli bit, which keeps the formula exact. The bit is then
    kept with probability 1/(1 + e^−ε), rounded towards one half so that the ratio never exceeds
    e^ε. All numbers are whole, so every device has the same law.

    Guarantee: ε-LDP.

    Source: Ren, Zhou, Liu and Shroff 2020 (convert-to-Bernoulli).
    """

    law = AnswerLaw("none")
    """No noise beside the known probability of a wrong bit."""

    @cached_property
    def truths(self) -> int:
        """Probability of reporting the true bit, in parts of 2^64, at the ε of one reward."""
        return truth(self.epsilon / self.width)

    @property
    def keep(self) -> float:
        """Probability of reporting the true bit: a multiple of 2^-53, so this float is exact."""
        return self.truths / 2**64

    @property
    def ends(self) -> tuple[float, float]:
        return 1.0 - self.keep, self.keep

    def can_report(self, step: int) -> bool:
        """Return whether the number is a bit: 0 or a whole unit."""
        return step in (0, self.grid.steps)

    def randomise(self, steps: int, noise: Noise) -> int:
        bit = toss(noise, steps, self.grid.steps)
        truthful = toss(noise, self.truths, 2**64)
        return self.grid.steps * (bit is truthful)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(
            measure="pure",
            epsilon=self.epsilon,
            trust="local",
            grid=self.grid,
            proof="randomized_response",
        )
