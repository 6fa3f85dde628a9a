"""Joint releases: one noise draw for the sums of several arms, at a cost that does not depend on
the number of arms.

Replacing a record moves every sum by at most one unit, so the vector of sums moves within a cube.
Noise of density proportional to e^(−ε·max|z_i|) costs ε for any number of arms. One coordinate has
variance (k + 1)(k + 2)/(3ε²), where k separate Laplace draws at ε/k have 2k²/ε².
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, final

from dpbandits.core.privacy import Grid, Guarantee, printed
from dpbandits.mechanisms.base import (
    Answer,
    AnswerLaw,
    Around,
    Block,
    LazyCumulative,
    LazyForgetful,
    NoisedSum,
    PureDP,
    keep_whole,
)
from dpbandits.noise.protocol import Noise

FINEST = 2**20
"""The most steps of a grid."""


class JointAnswer(NamedTuple):
    """A block's released noisy sum for one arm. Public.

    Args:
        total: the noisy sum, in reward units.
        rounds: number of rounds it covers.
        dimension: number of arms that share the noise draw.
    """

    total: float
    rounds: int
    dimension: int


@final
@dataclass(frozen=True, kw_only=True)
class JointBatch(PureDP):
    """Release the sums of a block's arms with one joint draw, P[z] proportional to e^(−ε·max|z_i|).

    Each block is released alone, and the mechanism keeps no memory. The grid is refined to a whole
    multiple of the given one until it has at least size·ε steps. The sampler then accepts more than
    half of its proposals, and the draw's moments are at most those of the continuous law (checked
    up to 50 arms). The printed guarantee shows a refined grid.

    Guarantee: ε-DP.

    Source: Hardt and Talwar 2010 (K-norm mechanism, for the cube); Awan and Slavković 2021.

    Args:
        size: the largest number of arms that are released together.
    """

    size: int = 1
    refined_from: int | None = field(default=None, init=False, repr=False, compare=False)
    together = True
    public_memory = True
    proof: ClassVar[str] = "joint_batch"

    def __post_init__(self) -> None:
        super().__post_init__()
        keep_whole(self, "size", "arms")
        requested, used = self.grid, fine_enough(self.grid, self.size, self.epsilon)
        object.__setattr__(self, "grid", used)
        object.__setattr__(self, "refined_from", None if used == requested else requested.steps)

    @property
    def guarantee(self) -> Guarantee:
        return replace(super().guarantee, refined_from=self.refined_from)

    @property
    def law(self) -> AnswerLaw:
        return AnswerLaw("joint", float(self.epsilon), forgets=True)

    def noised_sum(self, answer: JointAnswer, release: int) -> NoisedSum:
        return NoisedSum(answer.total, answer.rounds, ((answer.dimension, 1),))

    def restored(self, answer: Any) -> JointAnswer:
        return JointAnswer(*answer)

    def init(self, coordinates: int) -> None:
        return None

    def answer(
        self, memory: None, block: Block, noise: Noise
    ) -> tuple[None, tuple[JointAnswer, ...]]:
        """Release all arms of the block together.

        Raises:
            RuntimeError: no arm, more arms than `size`, or arms whose numbers of rounds differ.
                Nothing was released.
        """
        dimension, steps = len(block.sums), self.grid.steps
        if not 1 <= dimension <= self.size:
            raise RuntimeError(
                f"Expected a release of 1 to {self.size} arms (size={self.size}), got {dimension}. "
                "Nothing was released."
            )
        rounds, *others = set(block.counts)
        if others:
            raise RuntimeError(
                "Expected arms that were played in the same rounds, because they are released "
                "together; their numbers of rounds differ. Nothing was released."
            )
        noised = noise.joint(block.sums, sensitivity=steps, epsilon=self.epsilon)
        return None, tuple(JointAnswer(total / steps, rounds, dimension) for total in noised)


def fine_enough(grid: Grid, size: int, epsilon: Fraction) -> Grid:
    """Return the grid, or its coarsest refinement with at least size·ε steps.

    Raises:
        ValueError: the refinement would have more than 2^20 steps.
    """
    times = math.ceil(size * epsilon / grid.steps)
    if times * grid.steps > FINEST:
        raise ValueError(
            f"Expected epsilon of at most {FINEST // size:,} for super arms of up to {size}, got "
            f"{printed(epsilon)}: such noise would need a finer grid than 1/{FINEST:,}."
        )
    return replace(grid, steps=grid.steps * times) if times > 1 else grid


BOTH = 2
"""Numbers in a record: the reward and the harm. One coordinate of the joint noise has the moments
of two Laplace draws with the same ε: 1/(1 − θ²/ε²)².
"""


class Guarded(NamedTuple):
    """The released answers about the rewards, and about the harm of the newest block. Public."""

    reward: Answer
    harm: Answer


@final
@dataclass(frozen=True, kw_only=True)
class GuardedBatches(Around):
    """Release a block's two sums, reward and harm, with one joint draw.

    The rewards are answered as the inner mechanism does, but each block's noise counts as two
    draws. So policies and intervals that use the number of draws use the right law. A grid that is
    too coarse for two numbers is refined, as that of `JointBatch`.

    Guarantee: the inner mechanism's, which is charged once.

    Args:
        inner: `LazyForgetful` or `LazyCumulative`.

    Raises:
        ValueError: another mechanism, or rewards that are rounded by coins.
    """

    numbers = BOTH
    refined_from: int | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        inner = self.inner
        if (
            not isinstance(inner, (LazyForgetful, LazyCumulative))
            or inner.grid.rounding != "nearest"
        ):
            raise ValueError(
                "Expected a policy that releases an arm's rewards in blocks with Laplace noise, "
                f"rounded to the nearest step of its grid; got one with {inner}: it cannot release "
                "the harm in the same draw."
            )
        used = fine_enough(inner.grid, BOTH, inner.epsilon)
        if used != inner.grid:
            object.__setattr__(self, "refined_from", inner.grid.steps)
            object.__setattr__(self, "inner", replace(inner, grid=used))
        super().__post_init__()

    @property
    def guarantee(self) -> Guarantee | None:
        found = self.inner.guarantee
        return None if found is None else replace(found, refined_from=self.refined_from)

    def widened(self, memory: Any, coordinates: int) -> Any:
        return self.inner.widened(memory, coordinates)

    def answer(
        self, memory: list[Any], block: Block, noise: Noise
    ) -> tuple[list[Any], tuple[Guarded, ...]]:
        memory, answers, inner, steps = list(memory), list[Guarded](), self.inner, self.grid.steps
        assert isinstance(inner, (LazyForgetful, LazyCumulative))
        for arm, sums, count in zip(block.coordinates, block.sums, block.counts, strict=True):
            both: Any = tuple(map(int, sums))
            reward, harm = noise.joint(both, sensitivity=steps, epsilon=inner.epsilon)
            memory[arm], answer = inner.answered(memory[arm], reward, count, BOTH)
            answers.append(Guarded(answer, Answer(harm / steps, count, BOTH)))
        return memory, tuple(answers)
