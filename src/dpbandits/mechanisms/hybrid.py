"""Prefix sums of a stream of unknown length: the logarithmic and the hybrid mechanism (Chan, Shi
and Song 2011).

Time is cut into segments. A closed segment is one number with one draw (the array side, epsilon/2);
inside the open segment a tree answers (epsilon/2). A corrected tree never releases its root: the
array side answers for a full segment.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, NamedTuple

from dpbandits.core.privacy import Guarantee
from dpbandits.mechanisms.base import Answer, Pure
from dpbandits.mechanisms.meaning import AnswerLaw, NoiseDraws, NoisedSum
from dpbandits.mechanisms.restored import Readings, noised_fits, whole_numbers
from dpbandits.mechanisms.tree import add_leaf, empty_nodes
from dpbandits.noise.protocol import Noise

Segments = Literal["powers", "doubling"]


def segment_size(segment: int, segments: Segments) -> int:
    """Leaves of the segment: "powers" 1, 1, 2, 4, … closes at powers of two; "doubling" 1, 2, 4, …
    at 2^r − 1.
    """
    return 1 << (segment if segments == "doubling" else max(0, segment - 1))


@dataclass(frozen=True, kw_only=True)
class Logarithmic(Pure):
    """Noised prefix sums at leaves 1, 2, 4, 8, …; in between, the last one again. Guarantee:
    epsilon.

    The answer's `rounds` are those of the last closed segment's end.
    """

    proof: ClassVar[str] = "logarithmic"

    @property
    def law(self) -> AnswerLaw:
        return AnswerLaw("laplace", float(self.epsilon))

    def says(self, answer: Answer, release: int) -> NoisedSum:
        return NoisedSum(answer.total, answer.rounds, ((1, answer.draws),))

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
    """Leaves of all segments before this one."""
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
class Hybrid(Pure):
    """Every prefix sum, horizon unknown: epsilon/2 for closed segments, epsilon/2 for the open
    segment's tree.

    root=False (corrected): a full segment is answered from the array side; a tree of 2^r leaves
    releases r levels. Guarantee: epsilon. root=True (as printed by Hu, Huang and Mehta 2021,
    Algorithm 4): the full tree's root is released with noise for r levels, so a record may sit in r
    + 1 nodes. Guarantee: epsilon(1 + 1/(2r)), at its worst, r = 1, 3 epsilon/2.
    """

    segments: Segments = "powers"
    root: bool = False
    proof: ClassVar[str] = "hybrid"

    def promise(self) -> Guarantee:
        held = self.epsilon * Fraction(3, 2) if self.root else self.epsilon
        return Guarantee(
            measure="pure", epsilon=held, claimed=self.epsilon, grid=self.grid, proof=self.proof
        )

    @property
    def law(self) -> AnswerLaw:
        return AnswerLaw("laplace", float(self.epsilon / 2), redraws=True)

    def says(self, answer: Answer, release: int) -> NoisedSum:
        return NoisedSum(answer.total, answer.rounds, self.draws_at(release))

    def draws_at(self, release: int) -> NoiseDraws:
        """The draws in a coordinate's so-manieth answer: one for each closed segment, and those of
        the open tree, as many times as wide as its levels are.
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
        if not 0 <= segment <= read.releases.bit_length() + 1:  # before 2 to its power is made
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
        if full and not (self.root and levels):  # the array side answers; the tree is dropped
            answer = Answer(archived / steps, rounds, segment + 1)
        else:
            exact, noised = add_leaf((exact, noised), leaf, total, half / levels, steps, noise)
            answer = Answer((closed + sum(noised)) / steps, rounds, segment + leaf.bit_count())
        if full:
            return HybridMemory(
                segment + 1, 0, 0, archived, rounds, *empty_nodes(segment + 2)
            ), answer
        return HybridMemory(segment, leaf, pending, closed, rounds, exact, noised), answer
