"""Mechanisms for records with several coordinates: each coordinate has its own noise, or only the
index of the largest noisy sum is released.

Report noisy max: replacing a record moves every sum by up to one unit, each in its own direction,
so the winner's lead over a rival moves by up to two. Noise of scale 2/ε covers that. If records can
only lose reward (zero-out), the lead moves by one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, final

from dpbandits.core.privacy import Guarantee
from dpbandits.mechanisms.base import Answer, Around, Block, PurePrice, Readings, Separable
from dpbandits.noise.protocol import Noise, Selection


@dataclass(frozen=True, kw_only=True)
class Each(Around):
    """Release each coordinate through `inner`, with separate noise. A record is charged for each
    coordinate that it enters.
    """

    inner: Separable

    @final
    def times(self, parts: int, proof: str) -> Guarantee | None:
        """Return the guarantee to a record with this number of parts."""
        one = self.inner.promise()
        if one is None or one.epsilon is None:
            return None
        claimed = None if one.claimed is None else parts * one.claimed
        return replace(one, epsilon=parts * one.epsilon, claimed=claimed, proof=proof)


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

    def init(self, coordinates: int) -> Any:
        if coordinates != self.actions:
            raise ValueError(
                f"Expected a record of {self.actions} actions, the number that this mechanism's "
                f"guarantee covers, got {coordinates}. Make it with actions={coordinates}."
            )
        return super().init(coordinates)

    def promise(self) -> Guarantee | None:
        return self.times(self.actions, "each_action")

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

    def promise(self) -> Guarantee | None:
        return self.times(self.width, "each_arm")


class Choice(NamedTuple):
    """The released action with the largest noisy sum, and the number of rounds compared. Public."""

    action: int
    rounds: int


@final
@dataclass(frozen=True, kw_only=True)
class NoisyMax(PurePrice):
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

    def promise(self) -> Guarantee:
        return replace(super().promise(), zero_out=self.epsilon / 2)

    def init(self, coordinates: int) -> None:
        return None

    def remembers(self, memory: Any, readings: Sequence[Readings]) -> bool:
        return memory is None

    def answer(self, memory: None, block: Block, noise: Noise) -> tuple[None, tuple[Choice, ...]]:
        winner = noise.select(
            block.sums, sensitivity=self.grid.steps, epsilon=self.epsilon, law=self.selection
        )
        return None, (Choice(winner, block.counts[0]),)
