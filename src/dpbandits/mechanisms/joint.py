"""One draw for a whole record: the sums of several arms are released together, with noise whose
largest coordinate is what costs.

Replacing a record moves every sum by up to one unit, so the vector of sums moves within a cube.
Noise of density proportional to e^(−epsilon·max|z_i|) pays for that at epsilon, however many arms
there are. One coordinate has variance (k + 1)(k + 2)/(3 epsilon²) where k separate Laplace draws
at epsilon/k have 2 k²/epsilon².
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, final

from dpbandits.core.inputs import whole_number
from dpbandits.core.privacy import Grid, Guarantee, printed
from dpbandits.mechanisms.base import (
    Answer,
    AnswerLaw,
    Around,
    Block,
    Mechanism,
    NoisedSum,
    PurePrice,
    Readings,
    noised_fits,
    whole_numbers,
)
from dpbandits.mechanisms.batches import LazyCumulative, LazyForgetful
from dpbandits.noise.protocol import Noise

FINEST = 2**20
"""The most steps a grid may have."""


class JointAnswer(NamedTuple):
    """Public: a block's noised sum for one arm (reward units), the rounds it covers, and for how
    many arms the noise was drawn together.
    """

    total: float
    rounds: int
    dimension: int


@final
@dataclass(frozen=True, kw_only=True)
class JointBatch(PurePrice):
    """The sums of a block's arms with one joint draw, P[z] proportional to e^(−epsilon·max|z_i|).
    Guarantee: epsilon.

    Source: Hardt and Talwar 2010 (K-norm mechanism), of the cube; Awan and Slavković 2021. Each
    block is answered alone, and nothing of it is kept.

    size: the largest number of arms that are released together. The grid is refined to whole
        multiples of what was given until it has at least size·epsilon steps; the sampler then
        keeps more than half of its tries, and the draw's moments are those of the continuous law or
        less (checked up to 50 arms). The guarantee says so where it is printed.
    """

    size: int = 1
    refined_from: int | None = field(default=None, init=False, repr=False, compare=False)
    together = True
    public_memory = True
    proof: ClassVar[str] = "joint_batch"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "size", whole_number(self.size, "size", 1, of="arms"))
        asked, used = self.grid, fine_enough(self.grid, self.size, self.epsilon)
        object.__setattr__(self, "grid", used)
        object.__setattr__(self, "refined_from", None if used == asked else asked.steps)

    def promise(self) -> Guarantee:
        return replace(super().promise(), refined_from=self.refined_from)

    @property
    def law(self) -> AnswerLaw:
        return AnswerLaw("joint", float(self.epsilon), forgets=True)

    def says(self, answer: JointAnswer, release: int) -> NoisedSum:
        return NoisedSum(answer.total, answer.rounds, ((answer.dimension, 1),))

    def init(self, coordinates: int) -> None:
        return None

    def remembers(self, memory: Any, readings: Sequence[Readings]) -> bool:
        return memory is None

    def answer(
        self, memory: None, block: Block, noise: Noise
    ) -> tuple[None, tuple[JointAnswer, ...]]:
        """Every arm of the block together.

        Raises:
            RuntimeError: no arm, more arms than `size`, or arms whose rounds differ. Nothing was
            released.
        """
        dimension, steps = len(block.sums), self.grid.steps
        if not 1 <= dimension <= self.size:
            raise RuntimeError(
                f"Refused to release {dimension} arms together: this mechanism was made for at "
                f"least 1 and at most size={self.size}. Nothing was released."
            )
        rounds, *others = set(block.counts)
        if others:
            raise RuntimeError(
                "Refused to release arms together that were played in different numbers of rounds: "
                "they are no parts of the same records. Nothing was released."
            )
        noised = noise.joint(block.sums, sensitivity=steps, epsilon=self.epsilon)
        return None, tuple(JointAnswer(total / steps, rounds, dimension) for total in noised)


def fine_enough(grid: Grid, size: int, epsilon: Fraction) -> Grid:
    """The grid, or the coarsest refinement of it with at least size·epsilon steps.

    Raises:
        ValueError: such a grid would be finer than any.
    """
    times = math.ceil(size * epsilon / grid.steps)
    if times * grid.steps > FINEST:
        raise ValueError(
            f"Expected epsilon of at most {FINEST // size:,} for super arms of up to {size}, got "
            f"{printed(epsilon)}: such noise would need a finer grid than 1/{FINEST:,}."
        )
    return replace(grid, steps=grid.steps * times) if times > 1 else grid


BOTH = 2
"""Numbers in a record: the reward, and the harm. As many Laplace draws at the same price have the
moments of one coordinate of their joint draw: 1/(1 − θ²/epsilon²)².
"""


class Guarded(NamedTuple):
    """Public: what was answered about the rewards, and about the harm of the newest block."""

    reward: Answer
    harm: Answer


@final
@dataclass(frozen=True, kw_only=True)
class GuardedBatches(Around):
    """A block's two sums with one joint draw at the inner mechanism's price, which is paid once.
    Guarantee: the inner mechanism's.

    The rewards are answered as the inner mechanism does, but that each block's noise counts as two
    draws: policies and intervals that know the number of draws know the law of this noise.

    inner: `LazyForgetful` or `LazyCumulative`.

    Raises:
        ValueError: another mechanism, or a grid too coarse for two numbers.
    """

    numbers = BOTH

    def __post_init__(self) -> None:
        super().__post_init__()
        inner = self.inner
        if not isinstance(inner, (LazyForgetful, LazyCumulative)):
            raise ValueError(
                f"{type(inner).__name__} does not read an arm's rewards in blocks with Laplace "
                "noise, so there is no second number that it could read in the same draw."
            )
        if fine_enough(inner.grid, BOTH, inner.epsilon) != inner.grid:
            raise ValueError(
                f"Expected grid= of at least {printed(BOTH * inner.epsilon)} steps, got "
                f"{inner.grid.steps}: two numbers are read together."
            )

    def widened(self, memory: Any, coordinates: int) -> Any:
        return self.inner.widened(memory, coordinates)

    def remembers(self, memory: Any, readings: Sequence[Readings]) -> bool:
        if isinstance(self.inner, LazyForgetful):
            return self.inner.remembers(memory, readings)
        return (
            isinstance(memory, list)
            and len(memory) == len(readings)
            and all(map(self._fits, memory, readings))
        )

    def answer(
        self, memory: list[Any], block: Block, noise: Noise
    ) -> tuple[list[Any], tuple[Guarded, ...]]:
        memory, answers = list(memory), list[Guarded]()
        for arm, sums, count in zip(block.coordinates, block.sums, block.counts, strict=True):
            memory[arm], answered = self._step(memory[arm], sums, count, noise)
            answers.append(answered)
        return memory, tuple(answers)

    def _step(self, memory: Any, sums: Any, count: int, noise: Noise) -> tuple[Any, Guarded]:
        inner, steps = self.inner, self.grid.steps
        assert isinstance(inner, (LazyForgetful, LazyCumulative))
        both = tuple(map(int, sums))
        reward, harm = noise.joint(both, sensitivity=steps, epsilon=inner.epsilon)
        of_harm = Answer(harm / steps, count, BOTH)
        if isinstance(inner, LazyForgetful):
            return None, Guarded(Answer(reward / steps, count, BOTH), of_harm)
        noisy, rounds, draws = memory
        memory = [noisy + reward, rounds + count, draws + BOTH]
        return memory, Guarded(Answer(memory[0] / steps, *memory[1:]), of_harm)

    @staticmethod
    def _fits(memory: Any, read: Readings) -> bool:
        return (
            whole_numbers(memory, 3)
            and memory[1:] == [read.rewards, BOTH * read.releases]
            and noised_fits(memory[0], BOTH * read.releases)
        )


def of_harm(mechanism: Mechanism) -> LazyForgetful:
    """How answers about harm are read: each is of its block alone."""
    assert isinstance(mechanism, GuardedBatches)
    inner = mechanism.inner
    assert isinstance(inner, (LazyForgetful, LazyCumulative))
    return LazyForgetful(epsilon=inner.epsilon, grid=inner.grid)
