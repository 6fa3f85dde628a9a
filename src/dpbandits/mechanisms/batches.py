"""Batch sums: each reward enters one batch, and each batch gets one noise draw, or none.

`LazyForgetful` releases the newest batch alone, `LazyCumulative` the running sum of all noisy
batches. `Exact` releases the sum itself, for policies without privacy and for reports that were
randomised by their users. The policy decides when a batch ends, from public counts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, final

from dpbandits.core.privacy import Grid, Guarantee, as_fraction
from dpbandits.mechanisms.base import (
    Answer,
    AnswerLaw,
    Around,
    Block,
    NoisedSum,
    Pure,
    Readings,
    Separable,
    noised_fits,
    whole_numbers,
)
from dpbandits.noise.protocol import Noise, Values

NEW = tuple.__new__
"""Creates a named tuple twice as fast as its constructor."""


def sum_with_draws_of_one_kind(answer: Answer) -> NoisedSum:
    """Return the noisy sum of an answer whose draws are all of one kind."""
    return NoisedSum(answer.total, answer.rounds, ((1, answer.draws),))


@dataclass(frozen=True, kw_only=True)
class LazyForgetful(Pure):
    """Release the newest batch's sum with one discrete Laplace draw of scale 1/ε.

    Guarantee: ε-DP.

    Source: Hu, Huang and Mehta 2021, Algorithm 1 (the array side).
    """

    public_memory = True
    proof: ClassVar[str] = "lazy_forgetful"

    @property
    def law(self) -> AnswerLaw:
        return AnswerLaw("laplace", float(self.epsilon), forgets=True)

    def noised_sum(self, answer: Answer, release: int) -> NoisedSum:
        return sum_with_draws_of_one_kind(answer)

    def start(self) -> None:
        return None

    def fits(self, memory: Any, read: Readings) -> bool:
        return memory is None

    def step(self, memory: None, total: int, count: int, noise: Noise) -> tuple[None, Answer]:
        noisy = noise.laplace(total, sensitivity=self.grid.steps, epsilon=self.epsilon)
        return None, Answer(noisy / self.grid.steps, count, 1)


@dataclass(frozen=True, kw_only=True)
class LazyCumulative(Pure):
    """Release the running sum of all noisy batch sums. After m batches it carries m draws of scale
    1/ε.

    The memory holds noisy values only.

    Guarantee: ε-DP.

    Source: Azize, Wu, Honda, Orabona, Ito and Basu 2025 (batches without forgetting).
    """

    public_memory = True
    proof: ClassVar[str] = "lazy_cumulative"

    @property
    def law(self) -> AnswerLaw:
        return AnswerLaw("laplace", float(self.epsilon))

    def noised_sum(self, answer: Answer, release: int) -> NoisedSum:
        return sum_with_draws_of_one_kind(answer)

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
    """Release the newest batch's sum with one discrete Gaussian draw of variance 1/(2ρ).

    Guarantee: ρ-zCDP.

    Source: Azize and Basu 2024 (AdaC episodes); Bun and Steinke 2016 for the Gaussian's privacy
    cost.
    """

    rho: Fraction
    grid: Grid = Grid()
    public_memory = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", as_fraction(self.rho, "rho"))

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(measure="zCDP", rho=self.rho, grid=self.grid, proof="gaussian_batches")

    @property
    def law(self) -> AnswerLaw:
        return AnswerLaw("gaussian", float(self.rho), forgets=True)

    def noised_sum(self, answer: Answer, release: int) -> NoisedSum:
        return sum_with_draws_of_one_kind(answer)

    def start(self) -> None:
        return None

    def fits(self, memory: Any, read: Readings) -> bool:
        return memory is None

    def step(self, memory: None, total: int, count: int, noise: Noise) -> tuple[None, Answer]:
        noisy = noise.gaussian(total, sensitivity=self.grid.steps, rho=self.rho)
        return None, Answer(noisy / self.grid.steps, count, 1)


@dataclass(frozen=True, kw_only=True)
class Exact(Separable):
    """Release the exact running sum. Not private: its entries in the ledger have the cost None."""

    grid: Grid = Grid()
    public_memory = True

    @property
    def guarantee(self) -> None:
        return None

    @property
    def law(self) -> AnswerLaw:
        return AnswerLaw("none")

    def noised_sum(self, answer: Answer, release: int) -> NoisedSum:
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
        """Yield the answers one by one; a list of thousands would occupy the garbage collector."""
        grid = self.grid.steps
        for (before, rounds), total, count in zip(memories, totals, counts, strict=True):
            now, n = before + total, rounds + count
            yield (now, n), NEW(Answer, (now / grid, n, 0))


# Batches of super arms whose arms have different shares of the budget.


class WeightedAnswer(NamedTuple):
    """An `Answer` whose draws have `kind` times the scale of the inner mechanism's. Public."""

    total: float
    rounds: int
    draws: int
    kind: int


@final
@dataclass(frozen=True, kw_only=True)
class WeightedArms(Around):
    """Release the arms of a super arm, each when its own block ends, at its own cost. A record
    enters up to `width` of them.

    Guarantee: `epsilon`; a record whose arms cost more together is refused.

    Args:
        inner: `LazyForgetful` or `LazyCumulative`, at an ε of which each arm's cost is a whole
            fraction.
        kinds: for each arm that whole number, so that it is released at ε/kind of the inner
            mechanism.
        epsilon: ε of a record.
        width: the most arms of a super arm.
    """

    inner: LazyForgetful | LazyCumulative
    kinds: tuple[int, ...]
    epsilon: Fraction
    width: int = field()
    costs: tuple[Fraction, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        costs = tuple(self.inner.epsilon / kind for kind in self.kinds)
        object.__setattr__(self, "costs", costs)

    @property
    def guarantee(self) -> Guarantee:
        return replace(self.inner.guarantee, epsilon=self.epsilon, proof="each_arm")

    @cached_property
    def each(self) -> dict[int, LazyForgetful | LazyCumulative]:
        """The arms' mechanisms by kind."""
        epsilon = self.inner.epsilon
        return {kind: replace(self.inner, epsilon=epsilon / kind) for kind in set(self.kinds)}

    def init(self, coordinates: int) -> Any:
        if coordinates != len(self.kinds):
            raise ValueError(
                f"Expected as many arms as weights, {len(self.kinds)}, got {coordinates}."
            )
        return super().init(coordinates)

    def noised_sum(self, answer: WeightedAnswer, release: int) -> NoisedSum:
        return NoisedSum(answer.total, answer.rounds, ((answer.kind, answer.draws),))

    def answer(
        self, memory: list[Any], block: Block, noise: Noise
    ) -> tuple[list[Any], tuple[WeightedAnswer, ...]]:
        memory, answers = list(memory), list[WeightedAnswer]()
        for arm, total, count in zip(*block, strict=True):
            kind = self.kinds[arm]
            memory[arm], answer = self.each[kind].step(memory[arm], int(total), count, noise)
            answers.append(WeightedAnswer(*answer, kind))
        return memory, tuple(answers)
