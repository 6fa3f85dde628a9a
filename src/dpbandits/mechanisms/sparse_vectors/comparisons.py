"""Sums of arms that are compared again and again by sparse vectors: who is surely behind is said,
nothing else.

A record counts in every comparison of its arm, so the budget is shared out over all of them: as
Sajed and Sheffet 2019 say, this is why such rules fail.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, NamedTuple, final

from dpbandits.core.inputs import shown, whole_number
from dpbandits.mechanisms.base import Block, PurePrice
from dpbandits.mechanisms.restored import Readings, noised_fits, whole_numbers
from dpbandits.noise.protocol import Noise

Rivals = Literal["pairs", "arms", "one"]

MOST_COMPARED = 100
"""The most arms: with a sparse vector for every two of them, a release asks some ten thousand
questions, which takes a second.
"""

SHARE = Fraction(1, 3)
"""Share of a sparse vector's budget for its threshold, and for its questions' noise, of which the
last costs twice as much.
"""


class Question(NamedTuple):
    """Whether `arm` is far behind the best of its rivals, put to the sparse vector `vector`."""

    vector: int
    arm: int
    rivals: tuple[int, ...]


class Compared(NamedTuple):
    """Private memory: of each arm rewards, their sum (grid steps) and whether it is still compared;
    of each sparse vector the noise of its threshold (None: not drawn).
    """

    counts: list[int]
    sums: list[int]
    alive: list[bool]
    thresholds: list[int | None]


@final
@dataclass(frozen=True, kw_only=True)
class Comparisons(PurePrice):
    """Asks after every block whether an arm's sum is behind another's by the public bar. An answer
    is whether the coordinate's arm is, and is then out; the last arm stays.

    Source: Sajed and Sheffet 2019, section 4, first attempts. Guarantee: epsilon for all answers
    together, however many questions.

    watch: a sparse vector for every pair of arms, at epsilon/(K − 1) each; for every arm against
        the best of the others, at epsilon/K; or one that is begun anew after each of K − 1 answers,
        at epsilon/(K − 1). K is the number of coordinates.
    bar: after so many rewards of each arm, the lead that counts, in rewards. A function of public
        numbers.
    """

    watch: Rivals = "pairs"
    bar: Callable[[int], float] = math.sqrt
    compares = True
    proof: ClassVar[str] = "comparisons"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.watch not in ("pairs", "arms", "one"):
            raise ValueError(
                f"Expected watch={shown(self.watch)} to be one of 'pairs', 'arms', 'one'."
            )
        if not callable(self.bar):
            raise TypeError(
                "Expected bar= to be a function of a number of rewards, such as math.sqrt."
            )

    def share(self, arms: int) -> Fraction:
        """The budget of one sparse vector."""
        return self.epsilon / max(1, arms if self.watch == "arms" else arms - 1)

    def init(self, coordinates: int) -> Compared:
        whole_number(coordinates, "arms", 1, MOST_COMPARED, of="arms")
        vectors = {"pairs": coordinates**2, "arms": coordinates, "one": 1}[self.watch]
        return Compared(
            [0] * coordinates, [0] * coordinates, [True] * coordinates, [None] * vectors
        )

    def answer(self, memory: Any, block: Block, noise: Noise) -> tuple[Compared, tuple[bool, ...]]:
        """Compare all arms that are still in.

        Raises:
            RuntimeError: one of them is not in the block. Nothing was released.
        """
        now = Compared(*map(list, memory))
        if not set(alive_arms(now)) <= set(block.coordinates):
            raise RuntimeError(
                "Refused to compare some of the arms that are still in: all of them are released "
                "together, or none. Nothing was released."
            )
        for arm, total, count in zip(*block, strict=True):
            if now.alive[arm]:
                now.sums[arm] += int(total)
                now.counts[arm] += count
        if all(now.counts[arm] for arm in alive_arms(now)):
            for question in self._questions(now):
                self._ask(now, question, noise)
        return now, tuple(not now.alive[arm] for arm in block.coordinates)

    def remembers(self, memory: Any, readings: Sequence[Readings]) -> bool:
        """A threshold that was drawn is there: drawn again, it would cost its price again."""
        fresh = self.init(len(readings))
        if not isinstance(memory, list) or len(memory) != len(fresh):
            return False
        if not all(map(as_long, memory, fresh)) or {type(each) for each in memory[2]} != {bool}:
            return False
        now = Compared(*memory)
        drawn = [each for each in now.thresholds if each is not None]
        return (
            any(now.alive)
            and whole_numbers(now.counts, len(readings))
            and whole_numbers(now.sums, len(readings))
            and all(map(arm_fits, now.counts, now.sums, now.alive, readings))
            and whole_numbers(drawn, len(drawn))
            and all(noised_fits(each, 1) for each in drawn)
            and [each is not None for each in now.thresholds] == self._watching(now)
        )

    def _watching(self, now: Compared) -> list[bool]:
        """Whether each sparse vector's threshold is drawn, between two releases."""
        alive = alive_arms(now)
        if len(alive) < 2 or not all(now.counts[arm] for arm in alive):
            return [False] * len(now.thresholds)
        if self.watch == "pairs":
            arms = range(len(now.alive))
            return [i < j and i in alive and j in alive for i in arms for j in arms]
        return now.alive if self.watch == "arms" else [True]

    def _questions(self, now: Compared) -> Iterator[Question]:
        """What is asked after a block. A question is made as its turn comes: who is out by then is
        no rival.
        """
        for arm in alive_arms(now):
            if self.watch == "pairs":
                for rival in alive_arms(now):
                    pair = min(arm, rival) * len(now.alive) + max(arm, rival)
                    if rival != arm and now.alive[arm] and now.alive[rival]:
                        yield Question(pair, arm, (rival,))
            elif others := tuple(each for each in alive_arms(now) if each != arm):
                yield Question(arm if self.watch == "arms" else 0, arm, others)

    def _ask(self, now: Compared, question: Question, noise: Noise) -> None:
        """Whether an arm is as far behind as the bar says, by its sparse vector; then it is out."""
        steps, price = self.grid.steps, self.share(len(now.alive)) * SHARE
        compared = (question.arm, *question.rivals)
        count = min(now.counts[arm] for arm in compared)
        sums = [now.sums[arm] * count // now.counts[arm] for arm in compared]
        threshold = now.thresholds[question.vector]
        if threshold is None:
            threshold = noise.threshold(sensitivity=steps, epsilon=price)
            now.thresholds[question.vector] = threshold
        bar = math.ceil(min(steps * self.bar(count), 2.0**1000))
        lead = max(sums[1:]) - sums[0]
        if noise.exceeds(lead, bar, threshold, sensitivity=steps, epsilon=price):
            self._out(now, question.arm)
            if self.watch == "one" and len(question.rivals) > 1:  # begun anew
                now.thresholds[0] = noise.threshold(sensitivity=steps, epsilon=price)

    def _out(self, now: Compared, arm: int) -> None:
        """An arm is compared no more; its rewards are forgotten, and thresholds that are done."""
        now.alive[arm], now.counts[arm], now.sums[arm] = False, 0, 0
        for vector, needed in enumerate(self._watching(now)):
            if not needed:
                now.thresholds[vector] = None


def alive_arms(now: Compared) -> list[int]:
    """Arms that are still compared."""
    return [arm for arm, alive in enumerate(now.alive) if alive]


def arm_fits(count: int, total: int, alive: bool, read: Readings) -> bool:
    """Whether an arm's memory may be what is left after these readings."""
    return read.sum_fits(total, count) and count == (read.rewards if alive else 0)


def as_long(part: Any, fresh: Any) -> bool:
    """Whether a part of a memory is a list with as many entries as a fresh one."""
    return isinstance(part, list) and len(part) == len(fresh)
