"""BROKEN ON PURPOSE: joint releases that do not keep what they promise."""

from dataclasses import dataclass
from typing import Any, final

from dpbandits.auditing.broken.specimen import ONE, Specimen
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import Block, JointBatch
from dpbandits.mechanisms.base import Around
from dpbandits.mechanisms.joint import JointAnswer
from dpbandits.noise.protocol import Noise


def joint_answers(block: Block, noised: Any, steps: int) -> tuple[JointAnswer, ...]:
    size, rounds = len(block.sums), block.counts[0]
    return tuple(JointAnswer(total / steps, rounds, size) for total in noised)


@final
@dataclass(frozen=True, kw_only=True)
class OneTooFew(Around):
    """BROKEN ON PURPOSE: the draw has a dimension less than the release, and the last arm gets the
    first one's noise.
    """

    def answer(self, memory: Any, block: Block, noise: Noise) -> tuple[Any, tuple[Any, ...]]:
        price: dict[str, Any] = {"sensitivity": self.grid.steps, "epsilon": ONE}
        noised = noise.joint(block.sums[:-1], **price)
        last = int(block.sums[-1]) + noised[0] - int(block.sums[0])
        return memory, joint_answers(block, (*noised, last), self.grid.steps)


@final
@dataclass(frozen=True, kw_only=True)
class OneEach(Around):
    """BROKEN ON PURPOSE: a draw an arm, each at the whole budget."""

    def answer(self, memory: Any, block: Block, noise: Noise) -> tuple[Any, tuple[Any, ...]]:
        price: dict[str, Any] = {"sensitivity": self.grid.steps, "epsilon": ONE}
        noised = [noise.joint((total,), **price)[0] for total in block.sums]
        return memory, joint_answers(block, noised, self.grid.steps)


@final
@dataclass(frozen=True, kw_only=True)
class ReadAgain(Around):
    """BROKEN ON PURPOSE: a block's sums are kept, and read with the next block's once more."""

    def init(self, coordinates: int) -> list[int]:
        return [0] * coordinates

    def answer(self, memory: Any, block: Block, noise: Noise) -> tuple[Any, tuple[Any, ...]]:
        sums = [int(total) for total in block.sums]
        both = [a + b for a, b in zip(memory, sums, strict=True)]
        _, answers = self.inner.answer(None, block._replace(sums=tuple(both)), noise)
        return sums, answers


@final
@dataclass(frozen=True, kw_only=True)
class InTwoBlocks(Around):
    """BROKEN ON PURPOSE: a record is in two plans' blocks. One reads it for its first arm, the next
    one, with a draw of its own, for the rest of its arms.
    """

    def init(self, coordinates: int) -> list[int]:
        return [0] * coordinates

    def answer(self, memory: Any, block: Block, noise: Noise) -> tuple[Any, tuple[Any, ...]]:
        sums = [int(total) for total in block.sums]
        _, answers = self.inner.answer(None, block._replace(sums=(sums[0], *memory[1:])), noise)
        return sums, answers


def joint(size: int = 2) -> JointBatch:
    return JointBatch(epsilon=ONE, size=size, grid=Grid(steps=1))


SPECIMENS = (
    Specimen(
        "joint noise of a dimension too few",
        "the last arm gets the first one's noise",
        lambda: OneTooFew(inner=joint()),
        "statistical",
        "not DP",
    ),
    Specimen(
        "joint noise drawn arm by arm",
        "a draw an arm, each at the whole budget",
        lambda: OneEach(inner=joint()),
        "transcript",
        "Kε = 2ε",
    ),
    Specimen(
        "joint blocks read again",
        "a block's sums enter the next release, too",
        lambda: ReadAgain(inner=joint()),
        "transcript",
        "2ε",
    ),
    Specimen(
        "joint record in two plans' blocks",
        "its first arm is read in one release, the rest of its arms in the next",
        lambda: InTwoBlocks(inner=joint()),
        "transcript",
        "2ε",
    ),
)
