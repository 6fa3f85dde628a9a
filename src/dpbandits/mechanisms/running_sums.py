"""Running sums of whole records, for a known number of releases: a signed tree with one joint draw
for each node (pure ε), and the square-root factorisation (zCDP).

Replacing a record moves the rewards of all actions by at most one unit each.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from operator import mul
from typing import Any, ClassVar, NamedTuple, final

import numpy as np

from dpbandits.core.errors import HorizonError
from dpbandits.core.inputs import MOST_ARMS, whole_number
from dpbandits.core.privacy import Grid, Guarantee, as_fraction, printed
from dpbandits.mechanisms.base import (
    Answer,
    AnswerLaw,
    Block,
    Mechanism,
    NoisedSum,
    PureDP,
    Readings,
    noised_fits,
    whole_numbers,
)
from dpbandits.mechanisms.joint import FINEST, fine_enough
from dpbandits.noise.exact import LARGEST_SCALE
from dpbandits.noise.protocol import Noise

Vector = list[int]
"""A number of grid steps for each action."""


class RunningSums(Mechanism):
    """Base class of mechanisms that release every action's running sum after each of at most
    `leaves` blocks of whole records.
    """

    leaves: int
    actions: int

    def _check_sizes(self) -> None:
        for name, of, high in (("leaves", "releases", 2**62), ("actions", "actions", MOST_ARMS)):
            value = whole_number(getattr(self, name), name, 1, high, of=of)
            object.__setattr__(self, name, value)

    def _check_actions(self, coordinates: int) -> None:
        if coordinates != self.actions:
            raise ValueError(
                f"Expected a record of {self.actions} actions, the number that this mechanism's "
                f"noise covers, got {coordinates}. Make it with actions={coordinates}."
            )

    def _next_leaf(self, leaf: int) -> int:
        if leaf >= self.leaves:
            raise HorizonError(
                f"Expected at most {self.leaves} releases, the number that this policy's noise is "
                "made for; one more is due, and nothing was released. Earlier releases remain "
                "valid: continue with a new session of a policy with a longer horizon."
            )
        return leaf + 1

    def reads_last(self, memory: Any, coordinate: int) -> bool:
        """Unless all releases were made, or answers state no law of their noise."""
        leaf: int = memory[0]
        return leaf < self.leaves and self.law is not None

    def _counted(self, memory: Any, fields: int, readings: Sequence[Readings]) -> bool:
        """Return whether a saved memory of so many fields has these numbers of releases and
        rewards, and sums that these rewards can have.
        """
        if (
            not isinstance(memory, list)
            or len(memory) != fields
            or len(readings) != self.actions
            or not whole_numbers(memory[:2], 2)
            or not whole_numbers(memory[2], self.actions)
        ):
            return False
        leaf, rounds, sums = memory[:3]
        return leaf <= self.leaves and all(
            (leaf, rounds) == (read.releases, read.rewards) and read.sum_fits(total, rounds)
            for read, total in zip(readings, sums, strict=True)
        )


def added(a: Sequence[int], b: Sequence[int]) -> Vector:
    return [x + y for x, y in zip(a, b, strict=True)]


# The signed tree: the number of leaves so far is written with digits −m … m to the base 2m + 1. A
# positive digit adds nodes that are complete, a negative one takes nodes away that lie ahead, of a
# node above that lies ahead in part. So an answer has about k/4 draws a level.


def digits_of(leaf: int, base: int, levels: int) -> list[int]:
    """Return the signed digits of a number of leaves to an odd base, the lowest first.

    >>> digits_of(14, 3, 4)
    [-1, -1, -1, 1]
    """
    half, digits = base // 2, list[int]()
    for _ in range(levels):
        digit = (leaf + half) % base - half
        digits.append(digit)
        leaf = (leaf - digit) // base
    return digits


def reach(base: int, levels: int) -> int:
    """Return the largest number with so many signed digits to an odd base."""
    return int(base**levels - 1) // 2


def levels_of(leaves: int, base: int) -> int:
    """Return the number of signed digits that numbers up to `leaves` have to an odd base."""
    levels = 1
    while reach(base, levels) < leaves:
        levels += 1
    return levels


def best_base(leaves: int) -> int:
    """Return the odd base with the least mean variance of the noise: a node's grows as levels², and
    an answer has levels·(base − 1/base)/4 nodes on average.

    >>> best_base(100_000)
    23
    """
    found = list[tuple[Fraction, int]]()
    levels, base = 0, 0
    while base != 3:
        levels += 1
        base = max(3, int((2 * leaves + 1) ** (1 / levels)) | 1)
        while reach(base, levels) < leaves:
            base += 2
        while base > 3 and reach(base - 2, levels) >= leaves:
            base -= 2
        found.append((levels**3 * (base - Fraction(1, base)), base))
    return min(found)[1]


class SignedMemory(NamedTuple):
    leaf: int  # releases so far
    rounds: int
    sums: Vector  # exact sums of all records
    noise: list[list[Vector]]  # by level: one sum of draws, or the draws to be taken away


@final
@dataclass(frozen=True, kw_only=True)
class SignedTree(PureDP, RunningSums):
    """Release every action's running sum after each of at most `leaves` blocks of whole records. A
    node of the tree has one joint draw for all actions.

    The number of leaves is written in signed digits to an odd base. A leaf is in one node at each
    level, at ε/levels. The grid is refined as that of `JointBatch`.

    Guarantee: ε-DP.

    Source: Andersson, Pagh and Torkamani 2024 (k-ary trees with subtraction); Hardt and Talwar 2010
    (the joint draw).

    Args:
        leaves: the most releases.
        actions: number of actions.
        base: children of a node, an odd number of at least 3; None takes the one with the least
            noise on average.
    """

    leaves: int
    actions: int
    base: int | None = None
    refined_from: int | None = field(default=None, init=False, repr=False, compare=False)
    ahead = True
    proof: ClassVar[str] = "signed_tree"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_sizes()
        base = best_base(self.leaves) if self.base is None else self.base
        if whole_number(base, "base", 3) % 2 == 0:
            raise ValueError(f"Expected base={base} to be odd, such as {base + 1}.")
        object.__setattr__(self, "base", base)
        if self.actions * self.share > FINEST:
            raise ValueError(
                f"Expected epsilon of at most {FINEST * self.levels // self.actions:,} for "
                f"{self.actions:,} actions, got {printed(self.epsilon)}: such noise would need a "
                f"finer grid than 1/{FINEST:,}."
            )
        requested, used = self.grid, fine_enough(self.grid, self.actions, self.share)
        object.__setattr__(self, "grid", used)
        object.__setattr__(self, "refined_from", None if used == requested else requested.steps)

    @property
    def guarantee(self) -> Guarantee:
        return replace(super().guarantee, refined_from=self.refined_from)

    @cached_property
    def levels(self) -> int:
        return levels_of(self.leaves, self._base)

    @cached_property
    def half(self) -> int:
        """The largest digit."""
        return self._base // 2

    @property
    def _base(self) -> int:
        assert self.base is not None  # since it was made
        return self.base

    @cached_property
    def share(self) -> Fraction:
        """ε of one node."""
        return self.epsilon / self.levels

    @cached_property
    def most_draws(self) -> int:
        """The most draws in an answer."""
        return most_digits(self.leaves, self._base, self.levels)

    @property
    def law(self) -> AnswerLaw:
        return AnswerLaw("joint", float(self.share), redraws=True)

    def noised_sum(self, answer: Answer, release: int) -> NoisedSum:
        return NoisedSum(answer.total, answer.rounds, ((self.actions, answer.draws),))

    def init(self, coordinates: int) -> SignedMemory:
        self._check_actions(coordinates)
        return SignedMemory(0, 0, [0] * self.actions, [[] for _ in range(self.levels)])

    def remembers(self, memory: Any, readings: Sequence[Readings]) -> bool:
        if not self._counted(memory, 4, readings):
            return False
        leaf, _, _, noise = memory
        digits = digits_of(leaf, self._base, self.levels)
        if not isinstance(noise, list) or len(noise) != self.levels:
            return False
        return all(map(self._noise_fits, noise, digits))

    def _noise_fits(self, vectors: Any, digit: int) -> bool:
        return (
            isinstance(vectors, list)
            and len(vectors) == (digit > 0 or -digit)
            and all(
                whole_numbers(vector, self.actions)
                and all(noised_fits(draw, max(1, digit)) for draw in vector)
                for vector in vectors
            )
        )

    def answer(
        self, memory: SignedMemory, block: Block, noise: Noise
    ) -> tuple[SignedMemory, tuple[Answer, ...]]:
        before, rounds, sums, drawn = memory
        leaf = self._next_leaf(before)
        after = self._stepped(digits_of(before, self._base, self.levels), drawn, noise)
        rounds, sums = rounds + block.counts[0], added(sums, [int(x) for x in block.sums])
        digits = digits_of(leaf, self._base, self.levels)
        draws, totals = sum(map(abs, digits)), sums
        for digit, vectors in zip(digits, after, strict=True):
            for vector in vectors:
                totals = added(totals, vector if digit > 0 else [-draw for draw in vector])
        answers = tuple(Answer(total / self.grid.steps, rounds, draws) for total in totals)
        return SignedMemory(leaf, rounds, sums, after), answers

    def _draw(self, noise: Noise) -> Vector:
        return list(
            noise.joint((0,) * self.actions, sensitivity=self.grid.steps, epsilon=self.share)
        )

    def _stepped(
        self, digits: Sequence[int], drawn: list[list[Vector]], noise: Noise
    ) -> list[list[Vector]]:
        """Return the noise by level after one leaf more. At a level whose digit is the largest the
        nodes to be taken away are drawn, and the level above has a node more.
        """
        levels, half = list(drawn), self.half
        for level, digit in enumerate(digits):
            if digit < 0:
                levels[level] = drawn[level][1:]
                break
            if digit < half:
                vector = self._draw(noise)
                levels[level] = [added(drawn[level][0], vector) if digit else vector]
                break
            levels[level] = [self._draw(noise) for _ in range(half)]
        return levels


@lru_cache(256)
def most_digits(leaves: int, base: int, levels: int) -> int:
    """Return the largest sum of absolute signed digits of a number up to `leaves`.

    At each level: with digits of `leaves` above, a smaller digit here, and the largest below.
    """
    half, digits = base // 2, digits_of(leaves, base, levels)
    most, above = 0, 0
    for level in reversed(range(levels)):
        smaller = half if digits[level] > -half else -1
        if above == 0:  # the first digit of a number is not negative
            smaller = digits[level] - 1
        if smaller >= 0:
            most = max(most, above + smaller + half * level)
        above += abs(digits[level])
    return max(most, above)


# The square-root factorisation: what is noised at release s is a weighted sum of all blocks so far,
# with weights about 1/√(π·age). Running sums are worked out from these, which costs less noise than
# any tree. Blocks of like age share a weight, so that only sums of them are kept.


FINE = 2**20
"""The weight of the newest block."""

INVERSE_PI = 350007067763
"""⌊2^40/π⌋."""

WIDTH = 8
"""A cell of old blocks is at most this part of their age."""

LONGEST = 2**24
"""The most releases: the sum of all squared weights is worked out one by one."""


def weight(age: int) -> int:
    """Return the weight of a block that was followed by `age` others, in parts of `FINE`; about
    binomial(2·age, age)/4^age.
    """
    return FINE if age == 0 else math.isqrt(4 * INVERSE_PI // (4 * age + 1))


def cells_at(newest: int) -> Iterator[tuple[int, int]]:
    """Yield (first block, number of blocks) of the cells when block `newest` (from 0) is new.

    A cell has a power of two of blocks and begins at a multiple of it. It is made of two smaller
    ones when its first block is `WIDTH` times its size old.
    """
    start = 0
    while start <= newest:
        size = 1
        while start % (2 * size) == 0 and newest - start >= WIDTH * 2 * size:
            size *= 2
        yield start, size
        start += size


@lru_cache(64)
def squared_weights(leaves: int) -> int:
    """Return the sum of the squared weights that the first of `leaves` blocks ever has, the largest
    of any block (proofs/square_root.md).
    """
    total, start, size = 0, 0, 1
    while start < leaves:
        stop = min(leaves, 2 * WIDTH * size)
        ages = np.arange(start - size + 1, stop - size + 1)
        # exact: a root of a number far below 2^52 is not rounded up to a whole number
        weights = np.sqrt(4 * INVERSE_PI // (4 * ages + 1)).astype(np.int64)
        weights[ages == 0] = FINE
        total += int((weights * weights).sum())
        start, size = stop, 2 * size
    return total


class RootMemory(NamedTuple):
    leaf: int  # releases so far
    rounds: int
    sums: Vector  # exact sums of all records
    cells: list[Vector]  # exact sums of each cell, oldest first
    estimates: list[Vector]  # what answers say of them, in parts of a grid step. Public


@final
@dataclass(frozen=True, kw_only=True)
class SquareRoot(RunningSums):
    """Release every action's running sum after each of at most `leaves` blocks of whole records, by
    the square-root factorisation.

    A release noises one weighted sum of all blocks for each action. The running sums follow from
    these noised numbers. The memory has a few sums for each power of two.

    Guarantee: ρ-zCDP.

    Source: Fichtenberger, Henzinger and Upadhyay 2023; Henzinger, Upadhyay and Upadhyay 2023 (the
    factorisation); Andersson and Pagh 2024 (weights shared by blocks of like age).

    Args:
        rho: ρ of one record.
        grid: the grid that rewards are rounded to.
        leaves: the most releases, up to 2^24.
        actions: number of actions.
    """

    rho: Fraction
    grid: Grid = Grid()
    leaves: int
    actions: int
    proof: ClassVar[str] = "square_root"

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", as_fraction(self.rho, "rho"))
        self._check_sizes()
        if self.leaves > LONGEST:
            raise ValueError(
                f"Expected at most {LONGEST:,} rounds under zCDP (rho=), got {self.leaves:,}. For "
                "longer horizons use pure differential privacy (epsilon=)."
            )
        if FINE * self.grid.steps / self.share > LARGEST_SCALE:
            least = self.rho * FINE * self.grid.steps / self.share / LARGEST_SCALE
            raise ValueError(
                f"Expected rho >= {float(least):.1g} for grid={self.grid.steps} and "
                f"{self.actions:,} actions, got {float(self.rho):.1g}. Use a coarser grid or a "
                "larger budget."
            )

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(measure="zCDP", rho=self.rho, grid=self.grid, proof=self.proof)

    @cached_property
    def share(self) -> Fraction:
        """ρ of one noised number whose sum moves by `FINE` for a unit of reward."""
        return self.rho * FINE**2 / (self.actions * squared_weights(self.leaves))

    def init(self, coordinates: int) -> RootMemory:
        self._check_actions(coordinates)
        return RootMemory(0, 0, [0] * self.actions, [], [])

    def remembers(self, memory: Any, readings: Sequence[Readings]) -> bool:
        if not self._counted(memory, 5, readings):
            return False
        leaf, _, sums, cells, estimates = memory
        count = sum(1 for _ in cells_at(leaf - 1))
        return (
            isinstance(cells, list)
            and isinstance(estimates, list)
            and len(cells) == len(estimates) == count
            and all(whole_numbers(cell, self.actions) for cell in (*cells, *estimates))
            and [sum(column) for column in zip([0] * self.actions, *cells, strict=True)] == sums
            and all(noised_fits(part, FINE) for cell in estimates for part in cell)
            and all(
                read.sum_fits(total, read.rewards)
                for cell in cells
                for total, read in zip(cell, readings, strict=True)
            )
        )

    def answer(
        self, memory: RootMemory, block: Block, noise: Noise
    ) -> tuple[RootMemory, tuple[Answer, ...]]:
        newest, rounds, sums, cells, estimates = memory
        leaf, record = self._next_leaf(newest), [int(x) for x in block.sums]
        layout = list(cells_at(newest))
        unread = [0] * self.actions
        cells = merged([*cells, record], newest, layout)
        estimates = merged([*estimates, unread], newest, layout)
        weights = [weight(newest - start - size + 1) for start, size in layout]
        noised = [
            noise.gaussian(exact, sensitivity=FINE * self.grid.steps, rho=self.share)
            for exact in weighted(weights, cells)
        ]
        # the newest cell is this block alone: it is what the older ones do not explain
        estimates[-1] = [
            (FINE * noisy - known + FINE // 2) // FINE
            for noisy, known in zip(noised, weighted(weights, estimates), strict=True)
        ]
        rounds, sums = rounds + block.counts[0], added(sums, record)
        unit = FINE * self.grid.steps
        answers = tuple(
            Answer(sum(column) / unit, rounds, leaf) for column in zip(*estimates, strict=True)
        )
        return RootMemory(leaf, rounds, sums, cells, estimates), answers


def weighted(weights: Sequence[int], cells: Sequence[Vector]) -> Vector:
    """Return the weighted sum of the cells, for each action."""
    return [sum(map(mul, weights, column)) for column in zip(*cells, strict=True)]


def merged(cells: Sequence[Vector], newest: int, layout: Sequence[tuple[int, int]]) -> list[Vector]:
    """Return the sums of the cells of `layout`, from those of the layout before and of the newest
    block.
    """
    at, found, sizes = 0, list[Vector](), [size for _, size in cells_at(newest - 1)] + [1]
    for _, size in layout:
        total, covered, at = cells[at], sizes[at], at + 1
        while covered < size:
            total, covered, at = added(total, cells[at]), covered + sizes[at], at + 1
        found.append(total)
    return found
