"""Mechanisms that are WRONG, each in one thing. Never for use."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from benchmarks.strangers.specimen import Specimen
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms.base import Answer, Block, Pure, PurePrice
from dpbandits.mechanisms.counters import add_leaf, empty_nodes
from dpbandits.noise.protocol import Noise

ONE = Fraction(1)
TENTHS = Grid(steps=10)


@dataclass(frozen=True, kw_only=True)
class FlooredMean(Pure):
    """Noises a block's mean in whole steps. The mean moves by steps/count, rounded up for some
    sums; the sensitivity is rounded down.
    """

    proof: ClassVar[str] = "lazy_forgetful"

    def start(self) -> None:
        return None

    def step(self, memory: None, total: int, count: int, noise: Noise) -> tuple[None, Answer]:
        steps, n = self.grid.steps, max(1, count)
        mean = noise.laplace(total // n, sensitivity=max(1, steps // n), epsilon=self.epsilon)
        return None, Answer(mean * n / steps, count, 1)


@dataclass(frozen=True, kw_only=True)
class OutlivedTree(Pure):
    """A tree for sixteen blocks, in five levels, that simply goes on and takes further levels."""

    proof: ClassVar[str] = "binary_tree"
    planned: ClassVar[int] = 16

    def start(self) -> list[Any]:
        return [0, 0, *empty_nodes(40)]

    def step(
        self, memory: list[Any], total: int, count: int, noise: Noise
    ) -> tuple[list[Any], Answer]:
        leaf, rounds = memory[0] + 1, memory[1] + count
        share = self.epsilon / self.planned.bit_length()
        nodes = add_leaf((memory[2], memory[3]), leaf, total, share, self.grid.steps, noise)
        answer = Answer(sum(nodes[1]) / self.grid.steps, rounds, leaf.bit_count())
        return [leaf, rounds, *nodes], answer


@dataclass(frozen=True, kw_only=True)
class RingOfDraws(Pure):
    """Keeps its first twelve draws and goes round: the thirteenth block has the noise of the
    first.
    """

    proof: ClassVar[str] = "lazy_forgetful"
    size: ClassVar[int] = 12

    def start(self) -> list[Any]:
        return [0, []]

    def step(
        self, memory: list[Any], total: int, count: int, noise: Noise
    ) -> tuple[list[Any], Answer]:
        place, ring = memory
        if len(ring) < self.size:
            drawn = noise.laplace(0, sensitivity=self.grid.steps, epsilon=self.epsilon)
            ring = [*ring, drawn]
        noisy = total + ring[place % self.size]
        return [place + 1, ring], Answer(noisy / self.grid.steps, count, 1)


@dataclass(frozen=True, kw_only=True)
class WinnerAndValue(PurePrice):
    """Chooses the best arm at epsilon, then tells its noised sum, at epsilon once more."""

    compares = True
    public_memory = True
    proof: ClassVar[str] = "noisy_max"

    def init(self, coordinates: int) -> None:
        return None

    def answer(self, memory: None, block: Block, noise: Noise) -> tuple[None, tuple[Answer, ...]]:
        price: dict[str, Any] = {"sensitivity": self.grid.steps, "epsilon": self.epsilon}
        sums = [int(total) for total in block.sums]
        winner = noise.select(sums, law="exponential", **price)
        value = noise.laplace(sums[winner], **price) / self.grid.steps
        return None, tuple(
            Answer(value, count, 1) if place == winner else Answer(0.0, count, 0)
            for place, count in enumerate(block.counts)
        )


@dataclass(frozen=True, kw_only=True)
class FloatSum(Pure):
    """Divides sum and noise by the steps, and adds them as floats: 1/10 + 2/10 is not 3/10."""

    proof: ClassVar[str] = "lazy_forgetful"

    def start(self) -> None:
        return None

    def step(self, memory: None, total: int, count: int, noise: Noise) -> tuple[None, Answer]:
        drawn = noise.laplace(0, sensitivity=self.grid.steps, epsilon=self.epsilon)
        return None, Answer(total / self.grid.steps + drawn / self.grid.steps, count, 1)


@dataclass(frozen=True, kw_only=True)
class Calibrated(Pure):
    """One answer in a thousand goes out without noise, to calibrate, and says so in `draws`."""

    proof: ClassVar[str] = "lazy_forgetful"

    def start(self) -> None:
        return None

    def step(self, memory: None, total: int, count: int, noise: Noise) -> tuple[None, Answer]:
        if noise.uniform() < 0.001:
            return None, Answer(total / self.grid.steps, count, 0)
        noisy = noise.laplace(total, sensitivity=self.grid.steps, epsilon=self.epsilon)
        return None, Answer(noisy / self.grid.steps, count, 1)


WRONG = (
    Specimen(
        "FlooredMean",
        "mechanism",
        "a mean in whole steps, its sensitivity rounded down",
        FlooredMean(epsilon=ONE, grid=TENTHS),
        1,
        "2: ten steps in a block of six to nine move the mean by two, noise is for one",
    ),
    Specimen(
        "OutlivedTree",
        "mechanism",
        "a tree for 16 blocks takes more",
        OutlivedTree(epsilon=ONE, grid=Grid(steps=1)),
        1,
        "6/5 from block 32 on, 11/5 from block 1,024: the first record is in so many nodes at 1/5",
    ),
    Specimen(
        "RingOfDraws",
        "mechanism",
        "twelve draws of noise, used in a ring",
        RingOfDraws(epsilon=ONE, grid=Grid(steps=1)),
        1,
        "∞: answer 13 minus answer 1 is exact",
    ),
    Specimen(
        "WinnerAndValue",
        "mechanism",
        "the winner at ε, and its noised sum at ε",
        WinnerAndValue(epsilon=ONE, grid=Grid(steps=1)),
        1,
        "3/2 as its supremum: ½ by the choice of an arm far behind, 1 by its sum",
    ),
    Specimen(
        "FloatSum",
        "mechanism",
        "noise added in floats, after division",
        FloatSum(epsilon=ONE, grid=TENTHS),
        1,
        "∞: 0.30000000000000004 is 1/10 + 2/10, and never 0/10 + 3/10",
    ),
    Specimen(
        "Calibrated",
        "mechanism",
        "one answer in a thousand without noise, which says so",
        Calibrated(epsilon=ONE, grid=Grid(steps=1)),
        1,
        "∞, with chance 1/1,000 in each answer",
    ),
)
