"""Batch sums of rewards with a second number beside each, the harm that a guardrail watches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

from dpbandits.mechanisms.base import Answer, Around, Block, Mechanism
from dpbandits.mechanisms.batches import LazyCumulative, LazyForgetful
from dpbandits.mechanisms.joint import fine_enough
from dpbandits.mechanisms.restored import Readings, noised_fits, whole_numbers
from dpbandits.noise.protocol import Noise

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
                f"Expected grid= of at least {BOTH * float(inner.epsilon):g} steps, got "
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
