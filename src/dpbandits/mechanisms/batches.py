"""Batch sums: each reward enters one batch, each batch is noised once, or not at all.

`LazyForgetful` answers with the newest batch alone, `LazyCumulative` with the running sum of all
noisy batches, `Exact` with the sum itself: for non-private policies, and for reports that were
randomised before they arrived. When a batch ends is the policy's business, decided on public
counts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from dpbandits.core.privacy import Grid, Guarantee, as_fraction
from dpbandits.mechanisms.base import (
    Answer,
    AnswerLaw,
    NoisedSum,
    Pure,
    Readings,
    Separable,
    noised_fits,
    whole_numbers,
)
from dpbandits.noise.protocol import Noise, Values

NEW = tuple.__new__
"""Makes a named tuple in half the time of its own constructor."""


def of_one_kind(answer: Answer) -> NoisedSum:
    """Of an answer whose draws are all of one kind."""
    return NoisedSum(answer.total, answer.rounds, ((1, answer.draws),))


@dataclass(frozen=True, kw_only=True)
class LazyForgetful(Pure):
    """The newest batch's sum with one discrete Laplace draw of scale 1/epsilon. Guarantee: epsilon.

    Source: Hu, Huang and Mehta 2021, Algorithm 1 (the array side).
    """

    public_memory = True
    proof: ClassVar[str] = "lazy_forgetful"

    @property
    def law(self) -> AnswerLaw:
        return AnswerLaw("laplace", float(self.epsilon), forgets=True)

    def says(self, answer: Answer, release: int) -> NoisedSum:
        return of_one_kind(answer)

    def start(self) -> None:
        return None

    def fits(self, memory: Any, read: Readings) -> bool:
        return memory is None

    def step(self, memory: None, total: int, count: int, noise: Noise) -> tuple[None, Answer]:
        noisy = noise.laplace(total, sensitivity=self.grid.steps, epsilon=self.epsilon)
        return None, Answer(noisy / self.grid.steps, count, 1)


@dataclass(frozen=True, kw_only=True)
class LazyCumulative(Pure):
    """The running sum of all noisy batch sums: m batches carry m draws of scale 1/epsilon.
    Guarantee: epsilon.

    Source: Azize, Wu, Honda, Orabona, Ito and Basu 2025 (batches without forgetting).
    The memory holds noised values only.
    """

    public_memory = True
    proof: ClassVar[str] = "lazy_cumulative"

    @property
    def law(self) -> AnswerLaw:
        return AnswerLaw("laplace", float(self.epsilon))

    def says(self, answer: Answer, release: int) -> NoisedSum:
        return of_one_kind(answer)

    def start(self) -> list[int]:
        return [0, 0, 0]

    def fits(self, memory: Any, read: Readings) -> bool:
        return (
            whole_numbers(memory, 3)
            and memory[1:] == [read.rewards, read.releases]
            and noised_fits(memory[0], read.releases)
        )

    def step(
        self, memory: list[int], total: int, count: int, noise: Noise
    ) -> tuple[list[int], Answer]:
        noisy, rounds, draws = memory
        noisy += noise.laplace(total, sensitivity=self.grid.steps, epsilon=self.epsilon)
        memory = [noisy, rounds + count, draws + 1]
        return memory, Answer(noisy / self.grid.steps, rounds + count, draws + 1)


@dataclass(frozen=True, kw_only=True)
class GaussianBatches(Separable):
    """The newest batch's sum with one discrete Gaussian draw of variance 1/(2 rho). Guarantee:
    rho-zCDP.

    Source: Azize and Basu 2024 (AdaC episodes); Bun and Steinke 2016 for the Gaussian's price.
    """

    rho: Fraction
    grid: Grid = Grid()
    public_memory = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", as_fraction(self.rho, "rho"))

    def promise(self) -> Guarantee:
        return Guarantee(measure="zCDP", rho=self.rho, grid=self.grid, proof="gaussian_batches")

    @property
    def law(self) -> AnswerLaw:
        return AnswerLaw("gaussian", float(self.rho), forgets=True)

    def says(self, answer: Answer, release: int) -> NoisedSum:
        return of_one_kind(answer)

    def start(self) -> None:
        return None

    def fits(self, memory: Any, read: Readings) -> bool:
        return memory is None

    def step(self, memory: None, total: int, count: int, noise: Noise) -> tuple[None, Answer]:
        noisy = noise.gaussian(total, sensitivity=self.grid.steps, rho=self.rho)
        return None, Answer(noisy / self.grid.steps, count, 1)


@dataclass(frozen=True, kw_only=True)
class Exact(Separable):
    """Releases the exact running sum. Not private; its entries in the ledger cost None."""

    grid: Grid = Grid()
    public_memory = True

    def promise(self) -> None:
        return None

    @property
    def law(self) -> AnswerLaw:
        return AnswerLaw("none")

    def says(self, answer: Answer, release: int) -> NoisedSum:
        return NoisedSum(answer.total, answer.rounds, ())

    def start(self) -> tuple[int, int]:
        return 0, 0

    def fits(self, memory: Any, read: Readings) -> bool:
        return (
            whole_numbers(memory, 2)
            and memory[1] == read.rewards
            and read.sum_fits(memory[0], read.rewards)
        )

    def step(
        self, memory: tuple[int, int], total: int, count: int, noise: Noise
    ) -> tuple[tuple[int, int], Answer]:
        return next(self.steps([memory], (total,), (count,), noise))

    def steps(
        self, memories: list[Any], totals: Values, counts: Sequence[int], noise: Noise
    ) -> Iterator[tuple[tuple[int, int], Answer]]:
        """One by one: thousands of them at a time would keep the garbage collector busy."""
        grid = self.grid.steps
        for (before, rounds), total, count in zip(memories, totals, counts, strict=True):
            now, n = before + total, rounds + count
            yield (now, n), NEW(Answer, (now / grid, n, 0))
