"""The binary (tree) mechanism: every prefix sum of a stream of known length.

Chan, Shi and Song 2011 and Dwork, Naor, Pitassi and Rothblum 2010. A leaf sits in at most
`leaves.bit_length()` released nodes, so each node carries Laplace noise of that many times
1/epsilon.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from dpbandits.mechanisms.base import Answer, Pure
from dpbandits.mechanisms.restored import Readings
from dpbandits.noise.sources import Noise

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
    exact, noised = nodes
    level = (leaf & -leaf).bit_length() - 1
    node = total + sum(exact[:level])
    noisy = noise.laplace(node, sensitivity=sensitivity, epsilon=epsilon)
    return [0] * level + [node, *exact[level + 1 :]], [0] * level + [noisy, *noised[level + 1 :]]


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

    @property
    def levels(self) -> int:
        return self.leaves.bit_length()

    @cached_property
    def share(self) -> Fraction:
        """The part of epsilon that one node pays. It is computed once, because division of
        fractions is slow.
        """
        return self.epsilon / self.levels

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
        leaf, rounds, exact, noised = memory
        leaf, rounds = leaf + 1, rounds + count
        if leaf > self.leaves:
            raise ValueError(
                f"This tree was made for {self.leaves} releases of one arm; give the policy a "
                "longer horizon."
            )
        exact, noised = add_leaf((exact, noised), leaf, total, self.share, self.grid.steps, noise)
        total, draws = sum(noised), leaf.bit_count()
        if self.padded:
            spare = range(self.levels - draws)
            total += sum(
                noise.laplace(0, sensitivity=self.grid.steps, epsilon=self.share) for _ in spare
            )
            draws = self.levels
        return TreeMemory(leaf, rounds, exact, noised), Answer(
            total / self.grid.steps, rounds, draws
        )
