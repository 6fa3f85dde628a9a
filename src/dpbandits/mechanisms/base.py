"""What a mechanism is: a small frozen record that reads a block of rewards and answers with noise.

It says what its answers mean for means, what it promises and what it remembers; and how a saved
memory is read again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Literal, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.inputs import alike
from dpbandits.core.privacy import Grid, Guarantee, as_fraction
from dpbandits.noise.protocol import Noise, Values

# What answers say of means: how much of an answer is rewards, and which noise is in it. All of it
# is public.


NoiseDraws = tuple[tuple[int, int], ...]
"""Noise inside a total, in pairs: the kind of a draw, and how many of it there are."""


class NoisedSum(NamedTuple):
    """A sum of rewards with noise inside (reward units), the rounds it covers, and the draws."""

    total: float
    rounds: int
    draws: NoiseDraws


@dataclass(frozen=True, slots=True)
class AnswerLaw:
    """The noise in the totals of one coordinate, and how its answers follow each other.

    family: what a draw of kind k adds, in reward units. "laplace": Laplace noise of scale k/price;
        "joint": one coordinate of a joint draw for k arms at this price; "gaussian": normal noise
        of variance k/(2 price). Discrete noise has no larger moments.
    forgets: an answer covers its newest block alone, so answers are to be added up.
    redraws: the noise in an answer may take the place of noise in the one before, over the same
        rewards. Which draws the n-th answer of a coordinate has is known beforehand.
    """

    family: Literal["none", "laplace", "joint", "gaussian"]
    price: float = 1.0
    forgets: bool = False
    redraws: bool = False


# What a release mechanism is: the only code that reads exact sums. A closed block goes in, an
# answer with noise comes out.
#
# All numbers inside are whole grid steps, so sums are exact and their order is irrelevant;
# division comes after the noise.


class Block(NamedTuple):
    """Exact and private: for each coordinate, the sum (grid steps) and number of its rewards since
    its last release.

    For whole records (coordinates `EVERY`), `sums` has an entry for each action, and `counts` is
    one number of records.
    """

    coordinates: tuple[int, ...]
    sums: tuple[int, ...] | NDArray[np.int64]
    counts: tuple[int, ...]

    def __repr__(self) -> str:
        return f"Block(coordinates={self.coordinates}, counts={self.counts})"


class Answer(NamedTuple):
    """Public: a noised sum of rewards (reward units), the rounds it covers and the noise draws
    inside it.
    """

    total: float
    rounds: int
    draws: int


class Mechanism(ABC):
    """Reads blocks, each record in one block only, and promises a price for one record over the
    memory's whole life.

    Memory is plain data that is never changed in place.

    width: of how many coordinates one record may be read; each reading costs that share of the
        promise.
    together: whether a release reads the coordinates of one plan's records as one, at the whole
        promise; what it does not read of them is thrown away.
    compares: whether a release reads coordinates side by side, a record being in one of them.
    public_memory: whether the memory holds nothing but what was released.
    numbers: numbers that a record has for its coordinate.
    """

    grid: Grid
    width: int = 1
    numbers: int = 1
    together: bool = False
    compares: bool = False
    public_memory: bool = False

    @abstractmethod
    def promise(self) -> Guarantee | None:
        """What one record pays, over the memory's whole life, for entering one block. None: it is
        read without noise.
        """

    @abstractmethod
    def init(self, coordinates: int) -> Any:
        """Fresh private memory for so many coordinates."""

    @abstractmethod
    def answer(self, memory: Any, block: Block, noise: Noise) -> tuple[Any, tuple[Any, ...]]:
        """Read a block once. Returns the new memory and an answer for each coordinate of the block.

        The old memory stays as it is: should this call be interrupted, the same block is read again
        from there.
        """

    def reads_last(self, memory: Any, coordinate: int) -> bool:
        """Whether a block that a session leaves open when it is closed is read for its mean.

        No reading follows it, and nothing is decided from it. Here: if answers say something of
        means.
        """
        return self.law is not None

    def finish(self, memory: Any, block: Block, noise: Noise) -> tuple[Any, tuple[Any, ...]]:
        """Read the last block, which may be empty, and give the answer that waited for more
        records: no more come.

        Raises:
            TypeError: this mechanism's answers do not wait.
        """
        raise TypeError(
            f"{type(self).__name__} answers every release at once: there is nothing to finish."
        )

    def widened(self, memory: Any, coordinates: int) -> Any:
        """Memory for so many coordinates, the last of which are fresh.

        Raises:
            TypeError: this mechanism's coordinates share their memory.
        """
        raise TypeError(f"{type(self).__name__} takes no coordinates while it is at work.")

    @property
    def law(self) -> AnswerLaw | None:
        """The noise in this mechanism's totals; None if its answers say nothing of means."""
        return None

    def says(self, answer: Any, release: int) -> NoisedSum | None:
        """What an answer says of its coordinate's rewards; None if nothing.

        release: the answer's number among its coordinate's, from 1.
        """
        return None

    def remembers(self, memory: Any, readings: Sequence[Readings]) -> bool:
        """Whether `memory`, as JSON gives it back, may be the memory after these readings, one
        entry for each coordinate.

        Here only its form is compared. If memory said less than was read, a record could be read
        again, or noise drawn afresh.
        """
        return alike(memory, self.init(len(readings)))


class Separable(Mechanism):
    """A mechanism that treats every coordinate alone: it says only how one coordinate's memory
    takes one block.
    """

    @abstractmethod
    def start(self) -> Any:
        """Fresh memory of one coordinate, as plain numbers and lists."""

    @abstractmethod
    def step(self, memory: Any, total: int, count: int, noise: Noise) -> tuple[Any, Any]:
        """One coordinate's block (sum in grid steps, number of rewards) in; its new memory and
        answer (an `Answer`, as a rule) out.
        """

    def steps(
        self, memories: list[Any], totals: Values, counts: Sequence[int], noise: Noise
    ) -> Iterable[tuple[Any, Any]]:
        """`step` for several coordinates in turn, in their order; the same draws."""
        return [self.step(*each, noise) for each in zip(memories, totals, counts, strict=True)]

    @final
    def init(self, coordinates: int) -> list[Any]:
        return [self.start() for _ in range(coordinates)]

    @final
    def widened(self, memory: list[Any], coordinates: int) -> list[Any]:
        return memory + self.init(coordinates - len(memory))

    def fits(self, memory: Any, read: Readings) -> bool:
        """The same as `remembers`, for the memory of one coordinate."""
        return alike(memory, self.start())

    @final
    def remembers(self, memory: Any, readings: Sequence[Readings]) -> bool:
        return (
            isinstance(memory, list)
            and len(memory) == len(readings)
            and all(map(self.fits, memory, readings))
        )

    @final
    def answer(
        self, memory: list[Any], block: Block, noise: Noise
    ) -> tuple[list[Any], tuple[Any, ...]]:
        stepped = self.steps([memory[c] for c in block.coordinates], *block[1:], noise)
        memory, answers = list(memory), list[Any]()
        for c, (new, answer) in zip(block.coordinates, stepped, strict=True):
            memory[c] = new
            answers.append(answer)
        return memory, tuple(answers)


@dataclass(frozen=True, kw_only=True)
class Around(Mechanism):
    """A mechanism around another one: it reads the other's grid, and keeps the other's memory."""

    inner: Mechanism
    grid: Grid = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "grid", self.inner.grid)
        object.__setattr__(self, "together", self.inner.together)
        object.__setattr__(self, "compares", self.inner.compares)
        object.__setattr__(self, "public_memory", self.inner.public_memory)

    def promise(self) -> Guarantee | None:
        return self.inner.promise()

    @property
    def law(self) -> AnswerLaw | None:
        return self.inner.law

    def says(self, answer: Any, release: int) -> NoisedSum | None:
        return self.inner.says(answer, release)

    def init(self, coordinates: int) -> Any:
        return self.inner.init(coordinates)

    def reads_last(self, memory: Any, coordinate: int) -> bool:
        return self.inner.reads_last(memory, coordinate)

    def remembers(self, memory: Any, readings: Sequence[Readings]) -> bool:
        return self.inner.remembers(memory, readings)

    def answer(self, memory: Any, block: Block, noise: Noise) -> tuple[Any, tuple[Any, ...]]:
        return self.inner.answer(memory, block, noise)


@dataclass(frozen=True, kw_only=True)
class PurePrice(Mechanism):
    """A mechanism with a pure-DP price `epsilon` for replacing one record."""

    epsilon: Fraction
    grid: Grid = Grid()
    # what a publication says of these constants, where that is something else
    claimed: Fraction | None = None
    proof: ClassVar[str] = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", as_fraction(self.epsilon, "epsilon"))
        if not isinstance(self.grid, Grid):
            raise TypeError(
                f"Expected grid= to be a dpbandits.Grid, such as Grid(steps=1), got an object "
                f"of type {type(self.grid).__name__}."
            )

    def promise(self) -> Guarantee:
        return Guarantee(
            measure="pure",
            epsilon=self.epsilon,
            claimed=self.claimed,
            grid=self.grid,
            proof=self.proof,
        )


@dataclass(frozen=True, kw_only=True)
class Pure(PurePrice, Separable):
    """The same, of a mechanism that treats every coordinate alone."""


# The checks that open sums, counts and mechanism memory must pass when a saved session is
# continued. Messages never show a private number.


DRAW = 2**63
"""More than any noised sum of rewards can be, in grid steps: noise fits into 64 bits."""


class Readings(NamedTuple):
    """Public: how often one coordinate was read, and how many rewards these readings covered. A
    mechanism's memory has to fit these numbers.

    low, high: the least and the largest sum of one reward, in grid steps. Reports carry noise, so
        for them it may be any number.
    """

    releases: int
    rewards: int
    low: int
    high: int

    def sum_fits(self, total: object, rewards: int) -> bool:
        """Whether so many rewards may have this sum."""
        return (
            0 <= rewards <= self.rewards
            and type(total) is int
            and self.low * rewards <= total <= self.high * rewards
        )

    def nodes_fit(self, exact: Any, noised: Any, levels: int, leaves: int) -> bool:
        """Whether these are the partial sums of a tree with so many leaves: one for each level, 0
        if the number of leaves does not contain the level.
        """
        if not whole_numbers(exact, levels) or not whole_numbers(noised, levels):
            return False
        unused = [at for at in range(levels) if not leaves >> at & 1]
        sums = not any(exact[at] or noised[at] for at in unused) and all(
            self.sum_fits(node, self.rewards) for node in exact
        )
        return sums and all(noised_fits(node, 1) for node in noised)


def whole_numbers(values: Any, length: int) -> bool:
    """Whether this is a list of so many plain whole numbers."""
    return (
        isinstance(values, list)
        and len(values) == length
        and all(type(value) is int for value in values)
    )


def noised_fits(value: int, draws: int) -> bool:
    """Whether a sum with so many draws of noise may have this value."""
    return abs(value) <= DRAW * draws
