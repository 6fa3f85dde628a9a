"""Local randomizers: the user's side of the local model. They turn one reward into one noisy
report; the server never sees more.

A randomizer is a mechanism that runs before the vault: the vault of a local policy takes `Report`s
and nothing else.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import final

import numpy as np

from dpbandits.core.errors import RewardError
from dpbandits.core.inputs import checked_noise
from dpbandits.core.privacy import Grid, Guarantee, NoiseKind, as_fraction
from dpbandits.mechanisms.base import AnswerLaw
from dpbandits.mechanisms.rewards import (
    checked_reward,
    checked_rewards,
    on_grid,
    tried,
    vector_on_grid,
)
from dpbandits.noise.exact import truth
from dpbandits.noise.protocol import Noise, toss


@dataclass(frozen=True, slots=True)
class Report:
    """Public: one user's randomised report, in whole grid steps, and its randomizer and kind of
    noise.
    """

    steps: int | tuple[int, ...]
    randomizer: str
    noise: NoiseKind


def sound(report: object) -> bool:
    """Whether the report consists of whole grid steps and names, and nothing else. Anything else
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
    """Randomises one reward in [0, 1]. Guarantee: epsilon-LDP for every report."""

    epsilon: Fraction
    grid: Grid = Grid()
    width: int = 1  # how many rewards one report may be about; each is randomised at epsilon/width

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", as_fraction(self.epsilon, "epsilon"))

    @abstractmethod
    def randomise(self, steps: int, noise: Noise) -> int:
        """One reward in grid steps to one report in grid steps."""

    @abstractmethod
    def promise(self) -> Guarantee: ...

    @property
    def law(self) -> AnswerLaw | None:
        """The noise that one report adds, of kind 1; None if reports say nothing of means."""
        return None

    @property
    def ends(self) -> tuple[float, float]:
        """The mean report, before `law` adds its noise, of a reward of 0 and of a reward of 1."""
        return 0.0, 1.0

    @final
    def accepts(self, steps: object) -> bool:
        """Whether a report may say this: a whole number of grid steps, or several."""
        numbers = steps if type(steps) is tuple else (steps,)
        return all(type(step) is int and self.may_say(step) for step in numbers)

    def may_say(self, step: int) -> bool:
        """Whether this may be one of a report's numbers."""
        return abs(step) < 2**60

    @property
    def name(self) -> str:
        width = f", width={self.width}" if self.width > 1 else ""
        return f"{type(self).__name__}(epsilon={self.epsilon}, grid={self.grid.steps}{width})"

    @final
    def report(self, reward: object, noise: Noise) -> Report:
        """The message a user sends instead of `reward` (of a list of rewards, where one report is
        about several).

        Raises:
            ValueError: not a number in [0, 1], or not a list of at most `width` of them.
            TypeError: `noise` is no noise source, or a class of them.
        """
        steps = self.put_on_grid(reward, checked_noise(noise))
        if not isinstance(steps, list):
            return Report(self.randomise(steps, noise), self.name, noise.kind)
        return Report(tuple(self.randomise(step, noise) for step in steps), self.name, noise.kind)

    @final
    def put_on_grid(self, reward: object, noise: Noise) -> int | list[int]:
        """The reward (of a list of rewards, all of them) in whole grid steps, checked. Private: it
        is not randomised yet.

        Raises:
            ValueError: as for `report`.
        """
        number = tried(how_many, reward)
        if number is None:
            return on_grid(checked_reward(reward), self.grid, noise)
        if not 1 <= number <= self.width:
            raise RewardError(
                f"Expected a report to be about 1 to {self.width} rewards, got {number}. Nothing "
                "was sent."
            )
        steps: list[int] = vector_on_grid(
            checked_rewards(reward, number), self.grid, noise
        ).tolist()
        return steps


def how_many(reward: object) -> int | None:
    """The number of rewards in a list of them; None for a single one."""
    if not isinstance(reward, (list, tuple, np.ndarray)) or (
        isinstance(reward, np.ndarray) and reward.ndim == 0
    ):
        return None
    return len(reward)


@final
class LocalLaplace(Randomizer):
    """reward + discrete Laplace of scale width/epsilon. Variance about 2 width²/epsilon² on top of
    the reward's own.

    It is cut off 60 scales beyond [0, 1], a public bound, which an honest report reaches with
    probability below e^-60: so no report, of a broken client either, moves a sum by more, and the
    bias is of no account.
    """

    @cached_property
    def reach(self) -> int:
        """How far beyond [0, 1] a report may be, in grid steps."""
        return math.ceil(60 * self.grid.steps * self.width / self.epsilon)

    @property
    def law(self) -> AnswerLaw:
        return AnswerLaw("laplace", float(self.epsilon / self.width))

    def may_say(self, step: int) -> bool:
        return -self.reach <= step <= self.grid.steps + self.reach

    def randomise(self, steps: int, noise: Noise) -> int:
        noised = noise.laplace(
            steps, sensitivity=self.grid.steps, epsilon=self.epsilon / self.width
        )
        return max(-self.reach, min(noised, self.grid.steps + self.reach))

    def promise(self) -> Guarantee:
        return Guarantee(
            measure="pure",
            epsilon=self.epsilon,
            trust="local",
            grid=self.grid,
            proof="local_laplace",
        )


@final
class RandomizedResponse(Randomizer):
    """One bit with P[1 | r] = (r e^ε + 1 − r)/(1 + e^ε): convert-to-Bernoulli (Ren, Zhou, Liu and
    Shroff 2020).

    The reward is first rounded to a Bernoulli bit (which keeps the formula exact), then the bit is
    kept with probability 1/(1 + e^−ε), rounded towards one half so that the ratio never exceeds
    e^ε. All of it in whole numbers: every device has the same law.
    """

    @cached_property
    def truths(self) -> int:
        """Probability of reporting the true bit, in parts of 2^64; ε is that of one reward."""
        return truth(self.epsilon / self.width)

    @property
    def keep(self) -> float:
        """Probability of reporting the true bit: a multiple of 2^-53, so this float is exact."""
        return self.truths / 2**64

    @property
    def law(self) -> AnswerLaw:
        """A bit is wrong with a known probability, and has no noise beside that."""
        return AnswerLaw("none")

    @property
    def ends(self) -> tuple[float, float]:
        return 1.0 - self.keep, self.keep

    def may_say(self, step: int) -> bool:
        """A bit: 0 or a whole unit."""
        return step in (0, self.grid.steps)

    def randomise(self, steps: int, noise: Noise) -> int:
        bit = toss(noise, steps, self.grid.steps)
        truthful = toss(noise, self.truths, 2**64)
        return self.grid.steps * (bit is truthful)

    def promise(self) -> Guarantee:
        return Guarantee(
            measure="pure",
            epsilon=self.epsilon,
            trust="local",
            grid=self.grid,
            proof="randomized_response",
        )
