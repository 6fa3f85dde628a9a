"""A sum that is watched until it is far enough from 0, by the sparse vector technique; then its
mean is released once, with noise.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

from dpbandits.core.privacy import Grid, Guarantee, as_fraction
from dpbandits.mechanisms.base import Block, Separable
from dpbandits.mechanisms.meaning import AnswerLaw, NoisedSum
from dpbandits.mechanisms.restored import Readings, noised_fits, whole_numbers
from dpbandits.noise.protocol import Noise

QUERY, THRESHOLD, MEAN = Fraction(1, 6), Fraction(1, 6), Fraction(1, 2)
"""Shares of epsilon that a move of one range costs: a question and its threshold (2/6 and 1/6 in
the worst case), the mean (1/2).
"""


class Halt(NamedTuple):
    """Public: the mean of the first `rounds` values, noised, in their own units; capped: it was not
    far enough from 0 by then.
    """

    value: float
    rounds: int
    capped: bool


class Watched(NamedTuple):
    """Private memory of one coordinate; empty again once it has halted."""

    seen: int
    total: int  # grid steps
    threshold: int | None  # its noise, drawn once, before the first question
    halted: bool


HALTED = Watched(0, 0, 0, True)


@dataclass(frozen=True, kw_only=True)
class AboveThreshold(Separable):
    """Asks after every block whether the sum of values in [low, high] is as far from 0 as the
    public bar; says its mean when it is.

    Source: Sajed and Sheffet 2019, Algorithms 1 and 2. Guarantee: epsilon for all answers together,
    however many questions; a question whose answer is no costs nothing further.

    epsilon: None asks and answers exactly, without privacy.
    bar: after so many values, the distance from 0 that halts, in ranges high − low. A function of
        public numbers.
    cap: values after which the mean is said in any case.
    """

    epsilon: Fraction | None
    grid: Grid = Grid()
    low: Fraction = Fraction(0)
    high: Fraction = Fraction(1)
    cap: int = 2**40
    bar: Callable[[int], float] = math.sqrt
    proof: ClassVar[str] = "above_threshold"

    def __post_init__(self) -> None:
        if self.epsilon is not None:
            object.__setattr__(self, "epsilon", as_fraction(self.epsilon, "epsilon"))

    def promise(self) -> Guarantee | None:
        if self.epsilon is None:
            return None
        return Guarantee(measure="pure", epsilon=self.epsilon, grid=self.grid, proof=self.proof)

    @property
    def law(self) -> AnswerLaw:
        if self.epsilon is None:
            return AnswerLaw("none")
        return AnswerLaw("laplace", float(self.epsilon * MEAN))

    def says(self, answer: Halt | None, release: int) -> NoisedSum | None:
        if answer is None:
            return None
        mean = (answer.value - float(self.low)) / float(self.high - self.low)
        draws = () if self.epsilon is None else ((1, 1),)
        return NoisedSum(mean * answer.rounds, answer.rounds, draws)

    def start(self) -> Watched:
        return Watched(0, 0, None, False)

    def fits(self, memory: Any, read: Readings) -> bool:
        if not isinstance(memory, list) or len(memory) != 4 or type(memory[3]) is not bool:
            return False
        *numbers, halted = memory
        if read.releases == 0:
            return whole_numbers(numbers[:2], 2) and memory == [0, 0, None, False]
        if halted or not whole_numbers(numbers, 3):
            return bool(halted) and whole_numbers(numbers, 3) and not any(numbers)
        seen, total, threshold = numbers
        return (
            seen == read.rewards < self.cap
            and read.sum_fits(total, seen)
            and noised_fits(threshold, self.epsilon is not None)
        )

    def step(
        self, memory: Watched, total: int, count: int, noise: Noise
    ) -> tuple[Watched, Halt | None]:
        count, total, threshold, halted = memory[0] + count, memory[1] + total, *memory[2:]
        if halted:
            return Watched(*memory), None
        if threshold is None:
            threshold = self._threshold(noise)
        above = self._exceeds(count, total, threshold, noise)
        if above or count >= self.cap:
            return HALTED, self._halt(count, total, not above, noise)
        return Watched(count, total, threshold, False), None

    def finish(
        self, memory: list[Watched], block: Block, noise: Noise
    ) -> tuple[list[Watched], tuple[Halt | None, ...]]:
        answers: list[Halt | None] = []
        for c, more, new in zip(*block, strict=True):
            count, total, _, halted = memory[c]
            if count + new == 0 and not halted:
                raise ValueError(
                    "Expected a stream of at least one value: there is no mean of none. Nothing "
                    "was released."
                )
            answers.append(
                None if halted else self._halt(count + new, total + int(more), True, noise)
            )
        return [HALTED for _ in memory], tuple(answers)

    @property
    def offset(self) -> tuple[int, int]:
        """What a reward of 0 stands for, in grid steps, as numerator and denominator: low · g/(high
        − low).
        """
        exact = self.low * self.grid.steps / (self.high - self.low)
        return exact.numerator, exact.denominator

    def distance(self, count: int, total: int) -> int:
        """How far the sum of the values is from 0, in whole grid steps, rounded down: one value
        moves it by one range at most.
        """
        shift, unit = self.offset
        return abs(shift * count + unit * total) // unit

    def bar_at(self, count: int) -> int:
        """The bar in whole grid steps, rounded up."""
        return math.ceil(min(self.grid.steps * self.bar(count), 2.0**1000))

    def mean(self, count: int, total: int) -> float:
        """The mean of `count` values whose rewards sum up to `total` grid steps."""
        return float(self.low + (self.high - self.low) * Fraction(total, count * self.grid.steps))

    def _threshold(self, noise: Noise) -> int:
        if self.epsilon is None:
            return 0
        return noise.threshold(sensitivity=self.grid.steps, epsilon=self.epsilon * THRESHOLD)

    def _exceeds(self, count: int, total: int, threshold: int, noise: Noise) -> bool:
        distance, bar = self.distance(count, total), self.bar_at(count)
        if self.epsilon is None:
            return distance >= bar
        return noise.exceeds(
            distance, bar, threshold, sensitivity=self.grid.steps, epsilon=self.epsilon * QUERY
        )

    def _halt(self, count: int, total: int, capped: bool, noise: Noise) -> Halt:
        if self.epsilon is not None:
            total = noise.laplace(total, sensitivity=self.grid.steps, epsilon=self.epsilon * MEAN)
        return Halt(self.mean(count, total), count, capped)
