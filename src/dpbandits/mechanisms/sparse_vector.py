"""The sparse vector technique: test a condition after every round, at the cost of one "yes"."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, NamedTuple, final, get_args

from dpbandits.core.inputs import opaque, require_one_of, whole_number
from dpbandits.core.privacy import Grid, Guarantee, as_fraction, require_grid
from dpbandits.mechanisms.base import (
    AnswerLaw,
    Block,
    NoisedSum,
    PureDP,
    Separable,
)
from dpbandits.noise.protocol import Noise

# One sum is tested until it is far enough from 0. Then its mean is released once, with noise.


QUERY, THRESHOLD, MEAN = Fraction(1, 6), Fraction(1, 6), Fraction(1, 2)
"""Shares of ε that a change of one range costs: a test and its threshold (2/6 and 1/6 in the worst
case), the mean (1/2).
"""


class Halt(NamedTuple):
    """The released mean of the first `rounds` values. Public.

    Args:
        value: the noisy mean, in the values' units.
        rounds: number of values.
        capped: True if the sum was not far enough from 0 by the cap.
    """

    value: float
    rounds: int
    capped: bool


@opaque
class Watched(NamedTuple):
    """Private memory of one coordinate; empty again once it has halted."""

    seen: int
    total: int  # grid steps
    threshold: int | None  # its noise, drawn once, before the first test
    halted: bool


HALTED = Watched(0, 0, 0, True)


@dataclass(frozen=True, kw_only=True)
class AboveThreshold(Separable):
    """Test after every block whether the sum of values in [low, high] is as far from 0 as the
    public bar. Release its mean when it is.

    Guarantee: ε-DP for all answers together, for any number of tests: a negative test costs nothing
    further.

    Source: Sajed and Sheffet 2019, Algorithms 1 and 2.

    Args:
        epsilon: ε; None tests and answers exactly, without privacy.
        low: smallest value.
        high: largest value.
        cap: number of values after which the mean is released in any case.
        bar: by number of values, the distance from 0 that halts, in ranges high − low. A function
            of public numbers.
    """

    epsilon: Fraction | None
    grid: Grid = Grid()
    low: Fraction = Fraction(0)
    high: Fraction = Fraction(1)
    cap: int = 2**40
    bar: Callable[[int], float] = math.sqrt
    proof: ClassVar[str] = "above_threshold"

    def __post_init__(self) -> None:
        require_grid(self.grid)
        if self.epsilon is not None:
            object.__setattr__(self, "epsilon", as_fraction(self.epsilon, "epsilon"))

    @property
    def guarantee(self) -> Guarantee | None:
        if self.epsilon is None:
            return None
        return Guarantee(measure="pure", epsilon=self.epsilon, grid=self.grid, proof=self.proof)

    @property
    def law(self) -> AnswerLaw:
        if self.epsilon is None:
            return AnswerLaw("none")
        return AnswerLaw("laplace", float(self.epsilon * MEAN))

    def noised_sum(self, answer: Halt | None, release: int) -> NoisedSum | None:
        if answer is None:
            return None
        mean = (answer.value - float(self.low)) / float(self.high - self.low)
        draws = () if self.epsilon is None else ((1, 1),)
        return NoisedSum(mean * answer.rounds, answer.rounds, draws)

    def reads_last(self, memory: Any, coordinate: int) -> bool:
        """Never: its mean is released when it halts, or by `finish`."""
        return False

    def restored(self, answer: Any) -> Halt | None:
        return None if answer is None else Halt(*answer)

    def start(self) -> Watched:
        return Watched(0, 0, None, False)

    def step(
        self, memory: Watched, total: int, count: int, noise: Noise
    ) -> tuple[Watched, Halt | None]:
        count, total, threshold, halted = memory[0] + count, memory[1] + total, *memory[2:]
        if halted:
            return Watched(*memory), None
        steps, distance, bar = self.grid.steps, self.distance(count, total), self.bar_at(count)
        if self.epsilon is None:
            threshold, above = 0, distance >= bar
        else:
            if threshold is None:
                epsilon = self.epsilon * THRESHOLD
                threshold = noise.threshold(sensitivity=steps, epsilon=epsilon)
            epsilon = self.epsilon * QUERY
            above = noise.exceeds(distance, bar, threshold, sensitivity=steps, epsilon=epsilon)
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
                    "Expected a stream of at least one value, got none. Nothing was released."
                )
            answers.append(
                None if halted else self._halt(count + new, total + int(more), True, noise)
            )
        return [HALTED for _ in memory], tuple(answers)

    @property
    def offset(self) -> tuple[int, int]:
        """The value of a reward of 0 in grid steps, low·g/(high − low), as numerator and
        denominator.
        """
        exact = self.low * self.grid.steps / (self.high - self.low)
        return exact.numerator, exact.denominator

    def distance(self, count: int, total: int) -> int:
        """Return the distance of the sum of the values from 0, in whole grid steps, rounded down.
        One value moves it by at most one range.
        """
        shift, unit = self.offset
        return abs(shift * count + unit * total) // unit

    def bar_at(self, count: int) -> int:
        """Return the bar in whole grid steps, rounded up."""
        return math.ceil(min(self.grid.steps * self.bar(count), 2.0**1000))

    def mean(self, count: int, total: int) -> float:
        """Return the mean of `count` values whose rewards add up to `total` grid steps."""
        return float(self.low + (self.high - self.low) * Fraction(total, count * self.grid.steps))

    def _halt(self, count: int, total: int, capped: bool, noise: Noise) -> Halt:
        if self.epsilon is not None:
            total = noise.laplace(total, sensitivity=self.grid.steps, epsilon=self.epsilon * MEAN)
        return Halt(self.mean(count, total), count, capped)


# Sums of arms are compared repeatedly by sparse vectors, which release only that an arm is behind.
#
# A record enters every comparison of its arm, so the budget is split over all of them. Sajed and
# Sheffet 2019 name this as the reason why such rules fail.


Rivals = Literal["pairs", "arms", "one"]

MOST_COMPARED = 100
"""The most arms. With a sparse vector for every pair, a release makes about ten thousand tests,
which takes a second.
"""

SHARE = Fraction(1, 3)
"""Share of a sparse vector's budget for its threshold, and for the noise of its tests, the last of
which costs twice as much.
"""


class LagTest(NamedTuple):
    """A test whether `arm` is far behind the best of its rivals, by the sparse vector `vector`."""

    vector: int
    arm: int
    rivals: tuple[int, ...]


@opaque
class Compared(NamedTuple):
    """Private memory: for each arm its number of rewards, their sum (grid steps) and whether it is
    still compared; for each sparse vector the noise of its threshold (None: not drawn).
    """

    counts: list[int]
    sums: list[int]
    alive: list[bool]
    thresholds: list[int | None]


@final
@dataclass(frozen=True, kw_only=True)
class Comparisons(PureDP):
    """Test after every block whether an arm's sum is behind another's by the public bar.

    The answer says whether the coordinate's arm is eliminated; the last arm never is.

    Guarantee: ε-DP for all answers together, for any number of tests.

    Source: Sajed and Sheffet 2019, section 4, first attempts.

    Args:
        watch: "pairs": a sparse vector for every pair of arms, at ε/(K − 1) each. "arms": one for
            every arm against the best of the others, at ε/K. "one": one that restarts after each of
            K − 1 eliminations, at ε/(K − 1). K is the number of coordinates.
        bar: by number of rewards of each arm, the lead that eliminates, in rewards. A function of
            public numbers.
    """

    watch: Rivals = "pairs"
    bar: Callable[[int], float] = math.sqrt
    compares = True
    proof: ClassVar[str] = "comparisons"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_one_of(self.watch, "watch", *get_args(Rivals))
        if not callable(self.bar):
            raise TypeError(
                "Expected bar= to be a function of a number of rewards, such as math.sqrt."
            )

    def share(self, arms: int) -> Fraction:
        """Return ε of one sparse vector."""
        return self.epsilon / max(1, arms if self.watch == "arms" else arms - 1)

    def init(self, coordinates: int) -> Compared:
        whole_number(coordinates, "arms", 1, MOST_COMPARED, of="arms")
        vectors = {"pairs": coordinates**2, "arms": coordinates, "one": 1}[self.watch]
        return Compared(
            [0] * coordinates, [0] * coordinates, [True] * coordinates, [None] * vectors
        )

    def answer(self, memory: Any, block: Block, noise: Noise) -> tuple[Compared, tuple[bool, ...]]:
        """Compare all arms that are not eliminated.

        Raises:
            RuntimeError: one of them is not in the block. Nothing was released.
        """
        now = Compared(*map(list, memory))
        if not set(alive_arms(now)) <= set(block.coordinates):
            raise RuntimeError(
                "Expected a release of all arms that are not eliminated, because they are compared "
                "with each other; some are missing. Nothing was released."
            )
        for arm, total, count in zip(*block, strict=True):
            if now.alive[arm]:
                now.sums[arm] += int(total)
                now.counts[arm] += count
        if all(now.counts[arm] for arm in alive_arms(now)):
            for test in self._tests(now):
                self._run_test(now, test, noise)
        return now, tuple(not now.alive[arm] for arm in block.coordinates)

    def _watching(self, now: Compared) -> list[bool]:
        """Return for each sparse vector whether its threshold is drawn, between two releases."""
        alive = alive_arms(now)
        if len(alive) < 2 or not all(now.counts[arm] for arm in alive):
            return [False] * len(now.thresholds)
        if self.watch == "pairs":
            arms = range(len(now.alive))
            return [i < j and i in alive and j in alive for i in arms for j in arms]
        return now.alive if self.watch == "arms" else [True]

    def _tests(self, now: Compared) -> Iterator[LagTest]:
        """Yield the tests after a block. Eliminations are taken into account at once: a test is
        made when its turn comes.
        """
        for arm in alive_arms(now):
            if self.watch == "pairs":
                for rival in alive_arms(now):
                    pair = min(arm, rival) * len(now.alive) + max(arm, rival)
                    if rival != arm and now.alive[arm] and now.alive[rival]:
                        yield LagTest(pair, arm, (rival,))
            elif others := tuple(each for each in alive_arms(now) if each != arm):
                yield LagTest(arm if self.watch == "arms" else 0, arm, others)

    def _run_test(self, now: Compared, test: LagTest, noise: Noise) -> None:
        """Run one test; if the arm is as far behind as the bar, eliminate it."""
        steps, epsilon = self.grid.steps, self.share(len(now.alive)) * SHARE
        vector, arm, rivals = test
        compared = (arm, *rivals)
        count = min(now.counts[arm] for arm in compared)
        sums = [now.sums[arm] * count // now.counts[arm] for arm in compared]
        threshold = now.thresholds[vector]
        if threshold is None:
            threshold = noise.threshold(sensitivity=steps, epsilon=epsilon)
            now.thresholds[vector] = threshold
        bar = math.ceil(min(steps * self.bar(count), 2.0**1000))
        lead = max(sums[1:]) - sums[0]
        if noise.exceeds(lead, bar, threshold, sensitivity=steps, epsilon=epsilon):
            self._eliminate(now, arm)
            if self.watch == "one" and len(rivals) > 1:  # restart
                now.thresholds[0] = noise.threshold(sensitivity=steps, epsilon=epsilon)

    def _eliminate(self, now: Compared, arm: int) -> None:
        """Eliminate an arm, and delete its rewards and unneeded thresholds."""
        now.alive[arm], now.counts[arm], now.sums[arm] = False, 0, 0
        for vector, needed in enumerate(self._watching(now)):
            if not needed:
                now.thresholds[vector] = None


def alive_arms(now: Compared) -> list[int]:
    """Return the arms that are still compared."""
    return [arm for arm, alive in enumerate(now.alive) if alive]
