"""The contract of a mechanism, and the mechanisms that release each batch of rewards once.

A mechanism is a frozen record that releases the noisy sum of a block of rewards. It states its
guarantee, what its answers say about means, and which memory it keeps.

The batch mechanisms at the end put each reward into one batch and give each batch one noise draw,
or none: `LazyForgetful` releases the newest batch alone, `LazyCumulative` the running sum of all
noisy batches. `Exact` releases the sum itself, for policies without privacy and for reports that
users randomised. The policy decides when a batch ends, from public counts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, final, get_args

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.inputs import MOST, MOST_ARMS, refuse_others, require_one_of, whole_number
from dpbandits.core.privacy import Grid, Guarantee, as_fraction, require_grid
from dpbandits.noise.protocol import Noise, Selection, Values, laplaces

# What answers say about means: the noisy sum and the law of its noise. All of it is public.


NoiseDraws = tuple[tuple[int, int], ...]
"""The noise in a total, in pairs (kind of draw, number of draws)."""


class NoisedSum(NamedTuple):
    """A noisy sum of rewards (reward units), the rounds it covers, and its noise draws."""

    total: float
    rounds: int
    draws: NoiseDraws


Family = Literal["none", "laplace", "joint", "gaussian"]


@dataclass(frozen=True, slots=True)
class AnswerLaw:
    """The law of the noise in one coordinate's totals, and how successive answers are related.

    Args:
        family: what a draw of kind k adds, in reward units. "laplace": Laplace noise of scale
            k/cost; "joint": one coordinate of a joint draw for k arms at this privacy parameter;
            "gaussian": normal noise of variance k/(2 cost). The moments of the discrete noise are
            not larger.
        cost: privacy parameter of one draw (ε or ρ).
        forgets: True if an answer covers its newest block alone, so that answers must be added up.
        redraws: True if the noise in an answer may replace noise in the previous one, over the same
            rewards. The draws in the n-th answer of a coordinate are known beforehand.
    """

    family: Family
    cost: float = 1.0
    forgets: bool = False
    redraws: bool = False

    def __post_init__(self) -> None:
        # estimates know the moments of no other noise, and would take it for one of these
        require_one_of(self.family, "family", *get_args(Family))


# Mechanisms: the only code that turns exact sums into released values (see `vault`). A closed block
# goes in, a noisy answer comes out.
#
# All numbers inside are whole grid steps, so sums are exact and their order does not matter. The
# division comes after the noise.


class Block(NamedTuple):
    """The exact sums of closed blocks, in grid steps. Private.

    Args:
        coordinates: the arms, or `EVERY` for whole records.
        sums: by coordinate, the sum of its rewards since its last release; for whole records, by
            action.
        counts: by coordinate, the number of these rewards.
    """

    coordinates: tuple[int, ...]
    sums: tuple[int, ...] | NDArray[np.int64]
    counts: tuple[int, ...]

    def __repr__(self) -> str:
        return f"Block(coordinates={self.coordinates}, counts={self.counts})"


class Answer(NamedTuple):
    """A released noisy sum. Public.

    Args:
        total: the noisy sum, in reward units.
        rounds: number of rounds it covers.
        draws: number of noise draws in it.
    """

    total: float
    rounds: int
    draws: int


class Mechanism(ABC):
    """Base class of mechanisms: release blocks, each record in one block only.

    Memory is plain data that is never changed in place. After JSON it has to have the form of a
    fresh one: numbers stay numbers, tuples keep their length, lists may grow, and where a fresh one
    has None there may be anything.

    Attributes:
        grid: the grid that rewards are rounded to.
        width: number of coordinates that one record may enter. Each costs this share of the
            guarantee.
        numbers: numbers in a record for its coordinate (2 with a guardrail).
        together: True if a release takes the coordinates of one plan's records together, at the
            whole privacy cost. Coordinates that it does not take are discarded.
        compares: True if a release compares coordinates with each other, each record being in one.
        public_memory: True if the memory holds released values only.
        costs: what a record is charged for each coordinate that it enters, where that differs
            between coordinates; a record whose coordinates cost more than the guarantee is refused.
        ahead: True if it draws noise for sums that are not complete yet, keeps it in its memory
            and adds it itself. A record then moves noise that was drawn before it, which the
            checks' recordings cannot follow; the transcript level of `audit` works it out.
    """

    grid: Grid
    width: int = 1
    costs: tuple[Fraction, ...] | None = None
    numbers: int = 1
    together: bool = False
    compares: bool = False
    public_memory: bool = False
    ahead: bool = False

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee | None:
        """Return the guarantee to one record that enters one block, over the memory's whole life.
        None without noise.
        """

    @abstractmethod
    def init(self, coordinates: int) -> Any:
        """Return fresh private memory for `coordinates` coordinates."""

    @abstractmethod
    def answer(self, memory: Any, block: Block, noise: Noise) -> tuple[Any, tuple[Any, ...]]:
        """Release a block.

        The old memory is not changed. If this call is interrupted, the same block is released from
        it again.

        Args:
            memory: private memory.
            block: exact sums.
            noise: source of noise.

        Returns:
            The new memory, and an answer for each coordinate of the block.
        """

    def reads_last(self, memory: Any, coordinate: int) -> bool:
        """Whether a block that a session leaves open when it is closed is read for its mean.

        No reading follows it, and nothing is decided from it. Here: if answers say something of
        means.
        """
        return self.law is not None

    def finish(self, memory: Any, block: Block, noise: Noise) -> tuple[Any, tuple[Any, ...]]:
        """Release the last block, which may be empty, and the answers that waited for more records.

        Raises:
            TypeError: this mechanism's answers do not wait.
        """
        raise TypeError(
            f"{type(self).__name__} answers every release at once: there is nothing to finish."
        )

    def widened(self, memory: Any, coordinates: int) -> Any:
        """Return memory for `coordinates` coordinates, the last of which are fresh.

        Raises:
            TypeError: this mechanism's coordinates share their memory.
        """
        raise TypeError(f"{type(self).__name__} takes no new coordinates once it is in use.")

    @property
    def law(self) -> AnswerLaw | None:
        """The law of the noise in this mechanism's totals; None if its answers do not estimate
        means.
        """
        return None

    def noised_sum(self, answer: Any, release: int) -> NoisedSum | None:
        """Return the noisy sum that an answer states, where there is a `law`; None if it states
        none. Here: that of an `Answer`, whose draws are of one kind.

        Args:
            answer: the answer.
            release: the answer's number for this coordinate, from 1.
        """
        return NoisedSum(answer.total, answer.rounds, ((1, answer.draws),))

    def restored(self, answer: Any) -> Any:
        """Return an answer that was read from JSON in its type."""
        return None if answer is None else Answer(*answer)


class Separable(Mechanism):
    """A mechanism that treats every coordinate separately: it defines how one coordinate's memory
    takes one block.
    """

    @abstractmethod
    def start(self) -> Any:
        """Return fresh memory of one coordinate, as plain numbers and lists."""

    @abstractmethod
    def step(self, memory: Any, total: int, count: int, noise: Noise) -> tuple[Any, Any]:
        """Release one coordinate's block.

        Args:
            memory: the coordinate's memory.
            total: the block's sum, in grid steps.
            count: the block's number of rewards.
            noise: source of noise.

        Returns:
            The coordinate's new memory and its answer (usually an `Answer`).
        """

    def steps(
        self, memories: list[Any], totals: Values, counts: Sequence[int], noise: Noise
    ) -> Iterable[tuple[Any, Any]]:
        """Apply `step` to several coordinates, in order, with the same draws."""
        return [self.step(*each, noise) for each in zip(memories, totals, counts, strict=True)]

    @final
    def init(self, coordinates: int) -> list[Any]:
        return [self.start() for _ in range(coordinates)]

    @final
    def widened(self, memory: list[Any], coordinates: int) -> list[Any]:
        return memory + self.init(coordinates - len(memory))

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


def keep_whole(mechanism: Mechanism, name: str, of: str, high: int = MOST) -> None:
    """Require a whole number from 1 to `high`, and keep it as an int."""
    number = whole_number(getattr(mechanism, name), name, 1, high, of=of)
    object.__setattr__(mechanism, name, number)


def require_number(coordinates: int, covered: int, what: str) -> None:
    """Refuse another number of coordinates than a mechanism's noise was made for.

    Args:
        what: they are called.
    """
    if coordinates != covered:
        raise ValueError(
            f"Expected a record of {covered} {what}, the number that this mechanism's guarantee "
            f"covers, got {coordinates}. Make it for {coordinates}."
        )


@dataclass(frozen=True, kw_only=True)
class Around(Mechanism):
    """A mechanism that wraps another one, with its grid and its memory."""

    inner: Mechanism
    grid: Grid = field(init=False, repr=False)

    def __post_init__(self) -> None:
        refuse_others(self.inner, Mechanism, "inner= to be a mechanism", "LazyForgetful(epsilon=1)")
        whole_number(self.width, "width", 1)  # a guarantee is so many times that of one coordinate
        for name in ("grid", "together", "compares", "public_memory", "ahead"):
            object.__setattr__(self, name, getattr(self.inner, name))

    @property
    def guarantee(self) -> Guarantee | None:
        return self.inner.guarantee

    @property
    def law(self) -> AnswerLaw | None:
        return self.inner.law

    def noised_sum(self, answer: Any, release: int) -> NoisedSum | None:
        return self.inner.noised_sum(answer, release)

    def restored(self, answer: Any) -> Any:
        return self.inner.restored(answer)

    def init(self, coordinates: int) -> Any:
        return self.inner.init(coordinates)

    def reads_last(self, memory: Any, coordinate: int) -> bool:
        return self.law is not None and self.inner.reads_last(memory, coordinate)

    def answer(self, memory: Any, block: Block, noise: Noise) -> tuple[Any, tuple[Any, ...]]:
        return self.inner.answer(memory, block, noise)


@dataclass(frozen=True, kw_only=True)
class PureDP(Mechanism):
    """A mechanism with pure ε-DP for replacing one record.

    Args:
        epsilon: ε of one record.
        grid: the grid that rewards are rounded to.
        claimed: ε that the publication claims for these constants, if it differs.
    """

    epsilon: Fraction
    grid: Grid = Grid()
    claimed: Fraction | None = None
    proof: ClassVar[str] = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", as_fraction(self.epsilon, "epsilon"))
        require_grid(self.grid)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(
            measure="pure",
            epsilon=self.epsilon,
            claimed=self.claimed,
            grid=self.grid,
            proof=self.proof,
        )


@dataclass(frozen=True, kw_only=True)
class ConcentratedDP(Mechanism):
    """A mechanism with ρ-zCDP for replacing one record.

    Args:
        rho: ρ of one record.
        grid: the grid that rewards are rounded to.
    """

    rho: Fraction
    grid: Grid = Grid()
    proof: ClassVar[str] = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", as_fraction(self.rho, "rho"))
        require_grid(self.grid)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(measure="zCDP", rho=self.rho, grid=self.grid, proof=self.proof)


@dataclass(frozen=True, kw_only=True)
class SeparableDP(PureDP, Separable):
    """A mechanism with pure ε-DP that treats every coordinate separately."""


# Mechanisms for records with several coordinates: each coordinate has its own noise, or only the
# index of the largest noisy sum is released.
#
# Report noisy max: replacing a record moves every sum by up to one unit, each in its own direction,
# so the winner's lead over a rival moves by up to two. Noise of scale 2/ε covers that. If records
# can only lose reward (zero-out), the lead moves by one.


@dataclass(frozen=True, kw_only=True)
class Each(Around):
    """Release each coordinate through `inner`, with separate noise. A record is charged for each
    coordinate that it enters.
    """

    inner: Separable

    @final
    def times(self, parts: int) -> Guarantee | None:
        """Return the guarantee to a record with this number of parts."""
        one = self.inner.guarantee
        if one is None or one.epsilon is None:
            return None
        claimed = None if one.claimed is None else parts * one.claimed
        return replace(one, epsilon=parts * one.epsilon, claimed=claimed, proof="each_arm")


@final
@dataclass(frozen=True, kw_only=True)
class EachAction(Each):
    """Release every action of a whole record.

    Guarantee: `actions` times the inner mechanism's ε.

    Args:
        inner: the mechanism of each action.
        actions: number of actions.
    """

    actions: int

    def __post_init__(self) -> None:
        super().__post_init__()
        keep_whole(self, "actions", "actions", MOST_ARMS)

    def init(self, coordinates: int) -> Any:
        require_number(coordinates, self.actions, "actions")
        return super().init(coordinates)

    @property
    def guarantee(self) -> Guarantee | None:
        return self.times(self.actions)

    def answer(
        self, memory: list[Any], block: Block, noise: Noise
    ) -> tuple[list[Any], tuple[Answer, ...]]:
        sums, every = tuple(map(int, block.sums)), tuple(range(len(block.sums)))
        return self.inner.answer(memory, Block(every, sums, block.counts * len(every)), noise)


@final
@dataclass(frozen=True, kw_only=True)
class EachArm(Each):
    """Release the arms of a super arm, each when its own block ends. A record enters up to `width`
    of them.

    Guarantee: `width` times the inner mechanism's ε.

    Args:
        inner: the mechanism of each arm.
        width: the most arms of a super arm.
    """

    # required: the base class's default would give a wrong guarantee
    width: int = field()

    @property
    def guarantee(self) -> Guarantee | None:
        return self.times(self.width)


class Choice(NamedTuple):
    """The released action with the largest noisy sum, and the number of rounds compared. Public."""

    action: int
    rounds: int


@final
@dataclass(frozen=True, kw_only=True)
class NoisyMax(PureDP):
    """Release the index of the largest of a whole record's noisy sums.

    Guarantee: ε-DP, or ε/2 under zero-out.

    Source: Dwork and Roth 2014, section 3.3 (with the scale for two-sided changes); McSherry and
    Talwar 2007 (exponential mechanism); McKenna and Sheldon 2020 (permute-and-flip, never worse
    than the exponential mechanism at the same ε).

    Args:
        selection: noise of scale 2/ε: "laplace" (discrete, ties to the lowest action),
            "exponential" (the exponential mechanism exp(ε·sum/2), as Gumbel noise), or
            "permute-and-flip" (exponential noise).
    """

    selection: Selection = "laplace"
    public_memory = True
    proof: ClassVar[str] = "noisy_max"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_one_of(self.selection, "selection", *get_args(Selection))

    @property
    def guarantee(self) -> Guarantee:
        return replace(super().guarantee, zero_out=self.epsilon / 2)

    def init(self, coordinates: int) -> None:
        return None

    def answer(self, memory: None, block: Block, noise: Noise) -> tuple[None, tuple[Choice, ...]]:
        winner = noise.select(
            block.sums, sensitivity=self.grid.steps, epsilon=self.epsilon, law=self.selection
        )
        return None, (Choice(winner, block.counts[0]),)


# Batches: one noise draw each


NEW = tuple.__new__
"""Creates a named tuple twice as fast as its constructor."""


class NewestBatch(Separable):
    """Base class of mechanisms that release the newest batch's sum with one draw."""

    public_memory = True

    @abstractmethod
    def noised(self, values: Values, noise: Noise) -> list[int]:
        """Return these sums in grid steps with one draw each."""

    def start(self) -> None:
        return None

    def answered(self, memory: None, noisy: int, count: int, draws: int = 1) -> tuple[None, Answer]:
        """Return the memory and the answer after a batch's noisy sum."""
        return None, Answer(noisy / self.grid.steps, count, draws)

    def step(self, memory: None, total: int, count: int, noise: Noise) -> tuple[None, Answer]:
        (noisy,) = self.noised((total,), noise)
        return self.answered(memory, noisy, count)


@dataclass(frozen=True, kw_only=True)
class LazyForgetful(PureDP, NewestBatch):
    """Release the newest batch's sum with one discrete Laplace draw of scale 1/ε.

    Guarantee: ε-DP.

    Source: Hu, Huang and Mehta 2021, Algorithm 1 (the array side).
    """

    proof: ClassVar[str] = "lazy_forgetful"

    @property
    def law(self) -> AnswerLaw:
        return AnswerLaw("laplace", float(self.epsilon), forgets=True)

    def noised(self, values: Values, noise: Noise) -> list[int]:
        return laplaces(noise, values, sensitivity=self.grid.steps, epsilon=self.epsilon)


@dataclass(frozen=True, kw_only=True)
class LazyCumulative(SeparableDP):
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

    def start(self) -> list[int]:
        return [0, 0, 0]

    def step(
        self, memory: list[int], total: int, count: int, noise: Noise
    ) -> tuple[list[int], Answer]:
        noisy = noise.laplace(total, sensitivity=self.grid.steps, epsilon=self.epsilon)
        return self.answered(memory, noisy, count)

    def answered(
        self, memory: list[int], noisy: int, count: int, draws: int = 1
    ) -> tuple[list[int], Answer]:
        """Return the memory and the answer after a batch's noisy sum."""
        total, rounds, before = memory
        total, rounds, draws = total + noisy, rounds + count, before + draws
        return [total, rounds, draws], Answer(total / self.grid.steps, rounds, draws)


@dataclass(frozen=True, kw_only=True)
class GaussianBatches(ConcentratedDP, NewestBatch):
    """Release the newest batch's sum with one discrete Gaussian draw of variance 1/(2ρ).

    Guarantee: ρ-zCDP.

    Source: Azize and Basu 2024 (AdaC episodes); Bun and Steinke 2016 for the Gaussian's privacy
    cost.
    """

    proof: ClassVar[str] = "gaussian_batches"

    @property
    def law(self) -> AnswerLaw:
        return AnswerLaw("gaussian", float(self.rho), forgets=True)

    def noised(self, values: Values, noise: Noise) -> list[int]:
        steps = self.grid.steps
        return [noise.gaussian(value, sensitivity=steps, rho=self.rho) for value in values]


@dataclass(frozen=True, kw_only=True)
class Exact(Separable):
    """Release the exact running sum. Not private: its entries in the ledger have the cost None."""

    grid: Grid = Grid()
    public_memory = True
    guarantee = None
    law = AnswerLaw("none")

    def __post_init__(self) -> None:
        require_grid(self.grid)

    def noised_sum(self, answer: Answer, release: int) -> NoisedSum:
        return NoisedSum(answer.total, answer.rounds, ())

    def start(self) -> tuple[int, int]:
        return 0, 0

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

    Raises:
        ValueError: an epsilon that is not above 0, or a kind that is no whole number from 1 on.
    """

    inner: LazyForgetful | LazyCumulative
    kinds: tuple[int, ...]
    epsilon: Fraction
    width: int = field()
    costs: tuple[Fraction, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "epsilon", as_fraction(self.epsilon, "epsilon"))
        costs = tuple(self.inner.epsilon / whole_number(kind, "kinds", 1) for kind in self.kinds)
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
        require_number(coordinates, len(self.kinds), "arms")
        return super().init(coordinates)

    def noised_sum(self, answer: WeightedAnswer, release: int) -> NoisedSum:
        return NoisedSum(answer.total, answer.rounds, ((answer.kind, answer.draws),))

    def restored(self, answer: Any) -> WeightedAnswer:
        return WeightedAnswer(*answer)

    def answer(
        self, memory: list[Any], block: Block, noise: Noise
    ) -> tuple[list[Any], tuple[WeightedAnswer, ...]]:
        memory, answers = list(memory), list[WeightedAnswer]()
        for arm, total, count in zip(*block, strict=True):
            kind = self.kinds[arm]
            memory[arm], answer = self.each[kind].step(memory[arm], int(total), count, noise)
            answers.append(WeightedAnswer(*answer, kind))
        return memory, tuple(answers)
