"""Counters under continual observation: running sums with little noise in each.

For a known number of releases: a binary tree, a tree in signed digits, and the square-root
factorisation. For an unknown one: the logarithmic and the hybrid counter.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import count, pairwise
from operator import mul
from typing import Any, ClassVar, Literal, NamedTuple, final, get_args

import numpy as np

from dpbandits.core.errors import HorizonError
from dpbandits.core.inputs import MOST_ARMS, opaque, require_one_of, whole_number
from dpbandits.core.privacy import Guarantee, printed
from dpbandits.mechanisms.base import (
    Answer,
    AnswerLaw,
    Block,
    ConcentratedDP,
    Mechanism,
    NoiseDraws,
    NoisedSum,
    PureDP,
    Separable,
    SeparableDP,
    keep_whole,
    require_number,
)
from dpbandits.mechanisms.joint import FINEST, fine_enough
from dpbandits.noise.exact import LARGEST_SCALE
from dpbandits.noise.protocol import Noise, Values, laplaces

# The binary tree mechanism: every prefix sum of a stream of known length.
#
# Source: Chan, Shi and Song 2011; Dwork, Naor, Pitassi and Rothblum 2010. A leaf is in at most
# `leaves.bit_length()` released nodes, so each node carries Laplace noise of that many times
# 1/epsilon.


Nodes = tuple[list[int], list[int]]
"""Exact and noisy partial sums by level. A level is in use if the number of leaves so far contains
it.
"""


def empty_nodes(levels: int) -> Nodes:
    return [0] * levels, [0] * levels


def add_leaf(
    nodes: Nodes, leaf: int, total: int, epsilon: Fraction, sensitivity: int, noise: Noise
) -> Nodes:
    """Return the nodes after the `leaf`-th block (counted from 1). The noisy ones add up to the
    noisy prefix sum.

    There is one draw, for the node that this leaf completes. Nothing is changed in place, so a
    failed draw loses nothing.
    """
    node = completed_sum(nodes, leaf, total)
    return with_node(
        nodes, leaf, node, noise.laplace(node, sensitivity=sensitivity, epsilon=epsilon)
    )


def completed_sum(nodes: Nodes, leaf: int, total: int) -> int:
    """Return the exact sum of the node that this leaf completes."""
    return total + sum(nodes[0][: level_of(leaf)])


def with_node(nodes: Nodes, leaf: int, node: int, noisy: int) -> Nodes:
    """Return the nodes with the one that this leaf completes, in place of those below it."""
    exact, noised = nodes
    level = level_of(leaf)
    below = [0] * level
    return [*below, node, *exact[level + 1 :]], [*below, noisy, *noised[level + 1 :]]


def level_of(leaf: int) -> int:
    """Return the level of the node that this leaf completes."""
    return (leaf & -leaf).bit_length() - 1


def tree_is_full(leaves: int) -> HorizonError:
    return HorizonError(
        f"Expected at most {leaves} releases of one arm, the size of this policy's tree; one more "
        "is due, and nothing was released. Earlier releases remain valid: continue with a new "
        "session of a policy with a longer horizon."
    )


@opaque
class TreeMemory(NamedTuple):
    leaf: int  # leaves so far
    rounds: int
    exact: list[int]
    noised: list[int]


class ArmTrees(Separable):
    """Base class of mechanisms that keep a tree for each coordinate, of at most `leaves` blocks."""

    leaves: int
    share: Any  # ε of one node, a Fraction

    @property
    def law(self) -> AnswerLaw:
        return AnswerLaw("laplace", float(self.share), redraws=True)

    def reads_last(self, memory: list[Any], coordinate: int) -> bool:
        """Unless the tree is full."""
        # of whole records (coordinate −1) every action has as many leaves as the last one
        return memory[coordinate][0] < self.leaves


@dataclass(frozen=True, kw_only=True)
class BinaryTree(PureDP, ArmTrees):
    """Release every prefix sum of at most `leaves` blocks.

    A tree is never extended: a block beyond `leaves` raises an error before anything is released.

    Guarantee: ε-DP.

    Source: Chan, Shi and Song 2011; Dwork, Naor, Pitassi and Rothblum 2010.

    Args:
        leaves: the most blocks of one coordinate.
        padded: True if every answer carries `levels` draws: spare draws are added to those of its
            nodes.
    """

    leaves: int
    padded: bool = False
    proof: ClassVar[str] = "binary_tree"

    def __post_init__(self) -> None:
        super().__post_init__()
        keep_whole(self, "leaves", "releases")

    @cached_property
    def levels(self) -> int:
        return self.leaves.bit_length()

    def most_draws_up_to(self, leaf: int) -> int:
        """The most nodes in one of the first `leaf` answers, spare draws not counted."""
        return leaf.bit_length()

    @cached_property
    def share(self) -> Fraction:
        """ε of one node, computed once because division of fractions is slow."""
        return self.epsilon / self.levels

    def start(self) -> TreeMemory:
        return TreeMemory(0, 0, *empty_nodes(self.levels))

    def step(
        self, memory: TreeMemory, total: int, count: int, noise: Noise
    ) -> tuple[TreeMemory, Answer]:
        return self.steps([memory], (total,), (count,), noise)[0]

    def steps(
        self, memories: list[Any], totals: Values, counts: Sequence[int], noise: Noise
    ) -> list[tuple[TreeMemory, Answer]]:
        """Apply `step` to all coordinates with one call of the noise source: for each, the draw of
        its node and then its spare draws.
        """
        leaves = [memory[0] + 1 for memory in memories]
        if max(leaves, default=0) > self.leaves:
            raise tree_is_full(self.leaves)
        exact, starts = list[int](), list[int]()
        for memory, leaf, total in zip(memories, leaves, totals, strict=True):
            starts.append(len(exact))
            exact.append(completed_sum(memory[2:], leaf, total))
            if self.padded:
                exact.extend([0] * (self.levels - leaf.bit_count()))
        drawn = laplaces(noise, exact, sensitivity=self.grid.steps, epsilon=self.share)
        starts.append(len(exact))
        return [
            self._stepped(memory, leaf, count, exact[start], drawn[start:end])
            for memory, leaf, count, (start, end) in zip(
                memories, leaves, counts, pairwise(starts), strict=True
            )
        ]

    def _stepped(
        self, memory: Any, leaf: int, count: int, node: int, drawn: list[int]
    ) -> tuple[TreeMemory, Answer]:
        exact, noised = with_node(memory[2:], leaf, node, drawn[0])
        rounds = memory[1] + count
        total, draws = sum(noised) + sum(drawn[1:]), leaf.bit_count() + len(drawn) - 1
        return TreeMemory(leaf, rounds, exact, noised), Answer(
            total / self.grid.steps, rounds, draws
        )


# Prefix sums of a stream of unknown length: the logarithmic and the hybrid mechanism (Chan, Shi
# and Song 2011).
#
# Time is divided into segments. A closed segment is one number with one draw (the array side,
# epsilon/2). A tree answers inside the open segment (epsilon/2). The corrected tree never releases
# its root: the array side answers for a full segment.


Segments = Literal["powers", "doubling"]


def segment_size(segment: int, segments: Segments) -> int:
    """Return the number of leaves of a segment. "powers": 1, 1, 2, 4, …, closing at powers of two;
    "doubling": 1, 2, 4, …, closing at 2^r − 1. No memory is so old that it has 2^64.
    """
    return 1 << min(segment if segments == "doubling" else max(0, segment - 1), 64)


@dataclass(frozen=True, kw_only=True)
class Logarithmic(SeparableDP):
    """Release noisy prefix sums at leaves 1, 2, 4, 8, …; in between, repeat the last one.

    An answer's `rounds` are those up to the end of the last closed segment.

    Guarantee: ε-DP.

    Source: Chan, Shi and Song 2011.
    """

    proof: ClassVar[str] = "logarithmic"

    @property
    def law(self) -> AnswerLaw:
        return AnswerLaw("laplace", float(self.epsilon))

    def reads_last(self, memory: list[Any], coordinate: int) -> bool:
        """Where the segment closes: any other answer says again what the one before said."""
        return (memory[coordinate][0] + 1).bit_count() == 1

    def start(self) -> list[int]:
        return [0, 0, 0, 0, 0, 0]

    def step(
        self, memory: list[int], total: int, count: int, noise: Noise
    ) -> tuple[list[int], Answer]:
        leaf, pending, waiting, noisy, rounds, draws = memory
        leaf, pending, waiting = leaf + 1, pending + total, waiting + count
        if leaf.bit_count() == 1:
            noisy += noise.laplace(pending, sensitivity=self.grid.steps, epsilon=self.epsilon)
            pending, rounds, waiting, draws = 0, rounds + waiting, 0, draws + 1
        return [leaf, pending, waiting, noisy, rounds, draws], Answer(
            noisy / self.grid.steps, rounds, draws
        )


def leaves_before(segment: int, segments: Segments) -> int:
    """Return the number of leaves of all earlier segments."""
    return (1 << segment) - 1 if segments == "doubling" else (1 << segment) // 2


@opaque
class HybridMemory(NamedTuple):
    segment: int  # number of the open segment
    leaf: int  # leaves in the open segment
    pending: int  # exact sum of the open segment
    closed: int  # noised sum of the closed segments
    rounds: int
    exact: list[int]  # the open tree
    noised: list[int]


@dataclass(frozen=True, kw_only=True)
class Hybrid(SeparableDP):
    """Release every prefix sum of a stream of unknown length: ε/2 for closed segments, ε/2 for the
    open segment's tree.

    Guarantee: ε-DP with root=False. With root=True, ε(1 + 1/(2r)) for a segment of 2^r leaves, at
    worst (r = 1) 3ε/2.

    Source: Chan, Shi and Song 2011; Hu, Huang and Mehta 2021, Algorithm 4.

    Args:
        segments: sizes of the segments (see `segment_size`).
        root: False (corrected): the array side answers for a full segment, so a tree of 2^r leaves
            releases r levels. True (as printed in Algorithm 4): the full tree's root is released
            with noise for r levels, so a record may be in r + 1 nodes.
    """

    segments: Segments = "powers"
    root: bool = False
    proof: ClassVar[str] = "hybrid"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_one_of(self.segments, "segments", *get_args(Segments))

    @property
    def guarantee(self) -> Guarantee:
        epsilon = self.epsilon * Fraction(3, 2) if self.root else self.epsilon
        return Guarantee(
            measure="pure", epsilon=epsilon, claimed=self.epsilon, grid=self.grid, proof=self.proof
        )

    @property
    def law(self) -> AnswerLaw:
        return AnswerLaw("laplace", float(self.epsilon / 2), redraws=True)

    def noised_sum(self, answer: Answer, release: int) -> NoisedSum:
        return NoisedSum(answer.total, answer.rounds, self.draws_at(release))

    def draws_at(self, release: int) -> NoiseDraws:
        """Return the draws in a coordinate's answer of this number.

        Each closed segment has one draw. The open tree has draws that are wider by its number of
        levels.
        """
        segment = release.bit_length() - 1
        if self.segments == "powers":
            segment = (release - 1).bit_length()
        leaf = release - leaves_before(segment, self.segments)
        size = segment_size(segment, self.segments)
        levels = (size - 1).bit_length()
        if leaf == size and not (self.root and levels):
            return ((1, segment + 1),)
        return ((1, segment), (levels, leaf.bit_count()))

    def start(self) -> HybridMemory:
        return HybridMemory(0, 0, 0, 0, 0, *empty_nodes(1))

    def step(
        self, memory: HybridMemory, total: int, count: int, noise: Noise
    ) -> tuple[HybridMemory, Answer]:
        segment, leaf, pending, closed, rounds, exact, noised = memory
        size = segment_size(segment, self.segments)
        leaf, pending, rounds = leaf + 1, pending + total, rounds + count
        levels, half, steps = (size - 1).bit_length(), self.epsilon / 2, self.grid.steps
        full = leaf == size
        if full:
            archived = closed + noise.laplace(pending, sensitivity=steps, epsilon=half)
        if full and not (self.root and levels):  # the array side answers; the tree is discarded
            answer = Answer(archived / steps, rounds, segment + 1)
        else:
            exact, noised = add_leaf((exact, noised), leaf, total, half / levels, steps, noise)
            answer = Answer((closed + sum(noised)) / steps, rounds, segment + leaf.bit_count())
        if full:
            return HybridMemory(
                segment + 1, 0, 0, archived, rounds, *empty_nodes(segment + 2)
            ), answer
        return HybridMemory(segment, leaf, pending, closed, rounds, exact, noised), answer


# Running sums for a known number of releases: signed trees (pure ε), for whole records with one
# joint draw a node, or for each arm with a draw of its own; and the square-root factorisation
# (zCDP), for whole records.
#
# Replacing a whole record moves the rewards of all actions by at most one unit each.


Vector = list[int]
"""A number of grid steps for each action."""


class RunningSums(Mechanism):
    """Base class of mechanisms that release every action's running sum after each of at most
    `leaves` blocks of whole records.
    """

    leaves: int
    actions: int

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
        return memory[0] < self.leaves and self.law is not None


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
    return next(levels for levels in count(1) if reach(base, levels) >= leaves)


def best_base(leaves: int, fewest: int = 0) -> int:
    """Return the odd base with the least mean variance of the noise: a node's grows as levels², and
    an answer has levels·(base − 1/base)/4 nodes on average.

    Args:
        fewest: nodes below which a radius that is used does not fall (`sum_radius`); then it is
            the base with the least radius on average.

    >>> best_base(100_000), best_base(100_000, 46)
    (23, 59)
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
        found.append(
            (levels**2 * max(Fraction(4 * fewest), levels * (base - Fraction(1, base))), base)
        )
    return min(found)[1]


@dataclass(frozen=True, kw_only=True)
class SignedNodes(PureDP):
    """Base class of signed trees: their sizes, and the noise of their nodes."""

    leaves: int
    base: int | None = None
    actions = 1
    ahead = True
    proof: ClassVar[str] = "signed_tree"

    def __post_init__(self) -> None:
        super().__post_init__()
        keep_whole(self, "leaves", "releases")
        base = best_base(self.leaves) if self.base is None else self.base
        if whole_number(base, "base", 3) % 2 == 0:
            raise ValueError(f"Expected base={base} to be odd, such as {base + 1}.")
        object.__setattr__(self, "base", base)

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
        return self.most_draws_up_to(self.leaves)

    def most_draws_up_to(self, leaf: int) -> int:
        """The most draws in one of the first `leaf` answers."""
        return most_digits(leaf, self._base, self.levels)

    @abstractmethod
    def _draw(self, noise: Noise) -> Vector:
        """The noise of a node."""

    def _no_noise(self) -> list[list[Vector]]:
        return [[] for _ in range(self.levels)]

    def _noise_at(
        self, leaf: int, drawn: list[list[Vector]], noise: Noise
    ) -> tuple[list[list[Vector]], Vector, int]:
        """Return the noise by level once there are so many leaves, its sum, and the number of draws
        in it.
        """
        after = self._stepped(digits_of(leaf - 1, self._base, self.levels), drawn, noise)
        digits = digits_of(leaf, self._base, self.levels)
        total = [0] * self.actions
        for digit, vectors in zip(digits, after, strict=True):
            for vector in vectors:
                total = added(total, vector if digit > 0 else [-draw for draw in vector])
        return after, total, sum(map(abs, digits))

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


@opaque
class SignedMemory(NamedTuple):
    leaf: int  # releases so far
    rounds: int
    sums: Vector  # exact sums of all records
    noise: list[list[Vector]]  # by level: one sum of draws, or the draws to be taken away


@final
@dataclass(frozen=True, kw_only=True)
class SignedTree(SignedNodes, RunningSums):
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

    # required: the base class's number would draw one number for all actions
    actions: int = field()
    refined_from: int | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        keep_whole(self, "actions", "actions", MOST_ARMS)
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

    @property
    def law(self) -> AnswerLaw:
        return AnswerLaw("joint", float(self.share), redraws=True)

    def noised_sum(self, answer: Answer, release: int) -> NoisedSum:
        return NoisedSum(answer.total, answer.rounds, ((self.actions, answer.draws),))

    def init(self, coordinates: int) -> SignedMemory:
        require_number(coordinates, self.actions, "actions")
        return SignedMemory(0, 0, [0] * self.actions, self._no_noise())

    def answer(
        self, memory: SignedMemory, block: Block, noise: Noise
    ) -> tuple[SignedMemory, tuple[Answer, ...]]:
        before, rounds, sums, drawn = memory
        leaf = self._next_leaf(before)
        after, noises, draws = self._noise_at(leaf, drawn, noise)
        rounds, sums = rounds + block.counts[0], added(sums, [int(x) for x in block.sums])
        totals = added(sums, noises)
        answers = tuple(Answer(total / self.grid.steps, rounds, draws) for total in totals)
        return SignedMemory(leaf, rounds, sums, after), answers

    def _draw(self, noise: Noise) -> Vector:
        return list(
            noise.joint((0,) * self.actions, sensitivity=self.grid.steps, epsilon=self.share)
        )


@final
@dataclass(frozen=True, kw_only=True)
class SignedCounter(SignedNodes, ArmTrees):
    """Release every running sum of one arm after each of at most `leaves` blocks: as `BinaryTree`,
    with a signed tree's nodes, of which a leaf is in fewer.

    Guarantee: ε-DP.

    Source: Andersson, Pagh and Torkamani 2024.

    Args:
        leaves: the most releases of one coordinate.
        base: see `SignedTree`.
    """

    def start(self) -> SignedMemory:
        return SignedMemory(0, 0, [0], self._no_noise())

    def step(
        self, memory: SignedMemory, total: int, count: int, noise: Noise
    ) -> tuple[SignedMemory, Answer]:
        leaf, rounds, (exact,), drawn = memory
        if leaf >= self.leaves:
            raise tree_is_full(self.leaves)
        leaf, rounds, exact = leaf + 1, rounds + count, exact + total
        after, (noises,), draws = self._noise_at(leaf, drawn, noise)
        answer = Answer((exact + noises) / self.grid.steps, rounds, draws)
        return SignedMemory(leaf, rounds, [exact], after), answer

    def _draw(self, noise: Noise) -> Vector:
        return [noise.laplace(0, sensitivity=self.grid.steps, epsilon=self.share)]


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


@opaque
class RootMemory(NamedTuple):
    leaf: int  # releases so far
    rounds: int
    sums: Vector  # exact sums of all records
    cells: list[Vector]  # exact sums of each cell, oldest first
    estimates: list[Vector]  # what answers say of them, in parts of a grid step. Public


@final
@dataclass(frozen=True, kw_only=True)
class SquareRoot(ConcentratedDP, RunningSums):
    """Release every action's running sum after each of at most `leaves` blocks of whole records, by
    the square-root factorisation.

    A release noises one weighted sum of all blocks for each action. The running sums follow from
    these noised numbers. The memory has a few sums for each power of two.

    Guarantee: ρ-zCDP.

    Source: Fichtenberger, Henzinger and Upadhyay 2023; Henzinger, Upadhyay and Upadhyay 2023 (the
    factorisation); Andersson and Pagh 2024 (weights shared by blocks of like age).

    Args:
        leaves: the most releases, up to 2^24.
        actions: number of actions.
    """

    leaves: int
    actions: int
    proof: ClassVar[str] = "square_root"

    def __post_init__(self) -> None:
        super().__post_init__()
        keep_whole(self, "leaves", "releases")
        keep_whole(self, "actions", "actions", MOST_ARMS)
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

    @cached_property
    def share(self) -> Fraction:
        """ρ of one noised number whose sum moves by `FINE` for a unit of reward."""
        return self.rho * FINE**2 / (self.actions * squared_weights(self.leaves))

    def init(self, coordinates: int) -> RootMemory:
        require_number(coordinates, self.actions, "actions")
        return RootMemory(0, 0, [0] * self.actions, [], [])

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
