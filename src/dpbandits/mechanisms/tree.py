"""The binary (tree) mechanism: every prefix sum of a stream of known length.

Chan, Shi and Song 2011 and Dwork, Naor, Pitassi and Rothblum 2010. A leaf sits in at most
`leaves.bit_length()` released nodes, so each node carries Laplace noise of that many times
1/epsilon.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

from dpbandits.core.errors import HorizonError
from dpbandits.mechanisms.base import Answer, Pure
from dpbandits.mechanisms.meaning import AnswerLaw, NoisedSum
from dpbandits.mechanisms.restored import Readings
from dpbandits.noise.protocol import Noise, Values, laplaces

Nodes = tuple[list[int], list[int]]
"""Exact and noised partial sums by level. Only the levels that the number of leaves so far contains
are in use.
"""


def empty_nodes(levels: int) -> Nodes:
    return [0] * levels, [0] * levels


def add_leaf(
    nodes: Nodes, leaf: int, total: int, epsilon: Fraction, sensitivity: int, noise: Noise
) -> Nodes:
    """The nodes after the `leaf`-th block (counted from 1); the noised ones add up to the noised
    prefix sum.

    There is one draw, for the node that this leaf completes. Nothing is changed in place, so a
    failed draw loses nothing.
    """
    node = completed(nodes, leaf, total)
    return with_node(
        nodes, leaf, node, noise.laplace(node, sensitivity=sensitivity, epsilon=epsilon)
    )


def completed(nodes: Nodes, leaf: int, total: int) -> int:
    """The exact sum of the node that this leaf completes."""
    return total + sum(nodes[0][: level_of(leaf)])


def with_node(nodes: Nodes, leaf: int, node: int, noisy: int) -> Nodes:
    """The nodes, with the one that this leaf completes in place of those below it."""
    exact, noised = nodes
    level = level_of(leaf)
    below = [0] * level
    return [*below, node, *exact[level + 1 :]], [*below, noisy, *noised[level + 1 :]]


def level_of(leaf: int) -> int:
    """Of the node that this leaf completes."""
    return (leaf & -leaf).bit_length() - 1


class TreeMemory(NamedTuple):
    leaf: int  # leaves so far
    rounds: int
    exact: list[int]
    noised: list[int]


@dataclass(frozen=True, kw_only=True)
class BinaryTree(Pure):
    """Every prefix sum of at most `leaves` blocks. Guarantee: epsilon.

    A tree in use is never deepened: a block beyond `leaves` raises before anything is read.

    padded: every answer carries `levels` draws; spare ones, of no sum, are added to those of its
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
        """The part of epsilon that one node pays. It is computed once, because division of
        fractions is slow.
        """
        return self.epsilon / self.levels

    @property
    def law(self) -> AnswerLaw:
        return AnswerLaw("laplace", float(self.share), redraws=True)

    def says(self, answer: Answer, release: int) -> NoisedSum:
        return NoisedSum(answer.total, answer.rounds, ((1, answer.draws),))

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
        """One question to the noise source for all coordinates: each in turn its node, then its
        spare draws.
        """
        leaves = [memory[0] + 1 for memory in memories]
        if max(leaves, default=0) > self.leaves:
            raise HorizonError(
                f"Expected at most {self.leaves} releases of one arm, for which this policy's tree "
                "was made; one more is due. Nothing was released, and no further reward will be "
                "read. What was released stands: go on with a new session, of a policy with a "
                "longer horizon."
            )
        exact, starts = list[int](), list[int]()
        for memory, leaf, total in zip(memories, leaves, totals, strict=True):
            starts.append(len(exact))
            exact.append(completed(memory[2:], leaf, total))
            exact.extend([0] * self._spare(leaf))
        drawn = laplaces(noise, exact, sensitivity=self.grid.steps, epsilon=self.share)
        starts.append(len(exact))
        return [
            self._stepped(memory, leaf, count, exact[start], drawn[start:end])
            for memory, leaf, count, (start, end) in zip(
                memories, leaves, counts, pairwise(starts), strict=True
            )
        ]

    def _spare(self, leaf: int) -> int:
        """How many draws of no sum come with the answer at this leaf."""
        return self.levels - leaf.bit_count() if self.padded else 0

    def _stepped(
        self, memory: Any, leaf: int, count: int, node: int, drawn: list[int]
    ) -> tuple[TreeMemory, Answer]:
        """drawn: the noised node, then the spare draws."""
        exact, noised = with_node(memory[2:], leaf, node, drawn[0])
        rounds = memory[1] + count
        total, draws = sum(noised) + sum(drawn[1:]), leaf.bit_count() + len(drawn) - 1
        return TreeMemory(leaf, rounds, exact, noised), Answer(
            total / self.grid.steps, rounds, draws
        )
