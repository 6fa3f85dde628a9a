"""Counters under continual observation: a binary tree of noisy sums for a known horizon, and the
logarithmic and hybrid counters for an unknown one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Literal, NamedTuple

from dpbandits.core.errors import HorizonError
from dpbandits.core.privacy import Guarantee
from dpbandits.mechanisms.base import (
    Answer,
    AnswerLaw,
    NoiseDraws,
    NoisedSum,
    Readings,
    SeparableDP,
    noised_fits,
    whole_numbers,
)
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


class TreeMemory(NamedTuple):
    leaf: int  # leaves so far
    rounds: int
    exact: list[int]
    noised: list[int]


@dataclass(frozen=True, kw_only=True)
class BinaryTree(SeparableDP):
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
        if self.leaves < 1:
            raise ValueError(f"Expected leaves={self.leaves} to be at least 1.")

    @cached_property
    def levels(self) -> int:
        return self.leaves.bit_length()

    @cached_property
    def share(self) -> Fraction:
        """ε of one node, computed once because division of fractions is slow."""
        return self.epsilon / self.levels

    @property
    def law(self) -> AnswerLaw:
        return AnswerLaw("laplace", float(self.share), redraws=True)

    def noised_sum(self, answer: Answer, release: int) -> NoisedSum:
        return NoisedSum(answer.total, answer.rounds, ((1, answer.draws),))

    def reads_last(self, memory: list[Any], coordinate: int) -> bool:
        """Unless the tree is full."""
        # of whole records (coordinate −1) every action has as many leaves as the last one
        leaf: int = memory[coordinate][0]
        return leaf < self.leaves

    def start(self) -> TreeMemory:
        return TreeMemory(0, 0, *empty_nodes(self.levels))

    def fits(self, memory: Any, read: Readings) -> bool:
        if (
            not isinstance(memory, list)
            or len(memory) != 4
            or memory[:2] != [read.releases, read.rewards]
        ):
            return False
        leaf, rounds, exact, noised = memory
        whole = (
            type(leaf) is type(rounds) is int
            and leaf <= self.leaves
            and read.nodes_fit(exact, noised, self.levels, leaf)
        )
        return whole and read.sum_fits(sum(exact), rounds)

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
            raise HorizonError(
                f"Expected at most {self.leaves} releases of one arm, the size of this policy's "
                "tree; one more is due, and nothing was released. Earlier releases remain valid: "
                "continue with a new session of a policy with a longer horizon."
            )
        exact, starts = list[int](), list[int]()
        for memory, leaf, total in zip(memories, leaves, totals, strict=True):
            starts.append(len(exact))
            exact.append(completed_sum(memory[2:], leaf, total))
            exact.extend([0] * self._spare_draws(leaf))
        drawn = laplaces(noise, exact, sensitivity=self.grid.steps, epsilon=self.share)
        starts.append(len(exact))
        return [
            self._stepped(memory, leaf, count, exact[start], drawn[start:end])
            for memory, leaf, count, (start, end) in zip(
                memories, leaves, counts, pairwise(starts), strict=True
            )
        ]

    def _spare_draws(self, leaf: int) -> int:
        return self.levels - leaf.bit_count() if self.padded else 0

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
    "doubling": 1, 2, 4, …, closing at 2^r − 1.
    """
    return 1 << (segment if segments == "doubling" else max(0, segment - 1))


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

    def noised_sum(self, answer: Answer, release: int) -> NoisedSum:
        return NoisedSum(answer.total, answer.rounds, ((1, answer.draws),))

    def reads_last(self, memory: list[Any], coordinate: int) -> bool:
        """Where the segment closes: any other answer says again what the one before said."""
        leaf: int = memory[coordinate][0]
        return (leaf + 1).bit_count() == 1

    def start(self) -> list[int]:
        return [0, 0, 0, 0, 0, 0]

    def fits(self, memory: Any, read: Readings) -> bool:
        if not whole_numbers(memory, 6):
            return False
        leaf, pending, waiting, noisy, rounds, draws = memory
        counted = (leaf, draws, rounds + waiting) == (
            read.releases,
            leaf.bit_length(),
            read.rewards,
        ) and min(rounds, waiting) >= 0
        just_closed = leaf.bit_count() <= 1
        return (
            counted
            and (waiting == 0) is just_closed
            and read.sum_fits(pending, waiting)
            and noised_fits(noisy, draws)
        )

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

    def fits(self, memory: Any, read: Readings) -> bool:
        if not isinstance(memory, list) or len(memory) != 7 or not whole_numbers(memory[:5], 5):
            return False
        segment, leaf, pending, closed, rounds, exact, noised = memory
        if not 0 <= segment <= read.releases.bit_length() + 1:  # before computing a power of 2
            return False
        before, size = leaves_before(segment, self.segments), segment_size(segment, self.segments)
        if (
            not 0 <= leaf < size
            or (before + leaf, rounds) != (read.releases, read.rewards)
            or not noised_fits(closed, segment)
        ):
            return False
        summed = read.nodes_fit(exact, noised, segment + 1, leaf) and sum(exact) == pending
        return summed and read.sum_fits(pending, read.rewards - before if leaf else 0)

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
