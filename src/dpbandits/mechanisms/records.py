"""Mechanisms of records that have several coordinates: each coordinate goes through a mechanism of
its own, or only the index of the largest noised sum is released.

Report noisy max: replacing a record moves every sum by up to one unit, each in its own direction,
so the winner's lead over a rival moves by up to two. Noise of scale 2/epsilon pays for that. If
records can only lose reward (zero-out), the lead moves by one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, final

from dpbandits.core.privacy import Guarantee
from dpbandits.mechanisms.base import Answer, Around, Block, PurePrice, Readings, Separable
from dpbandits.noise.protocol import Noise, Selection


@dataclass(frozen=True, kw_only=True)
class Each(Around):
    """Each coordinate goes through `inner` alone, with noise of its own; a record pays for each
    coordinate that it touches.
    """

    inner: Separable

    @final
    def times(self, parts: int, proof: str) -> Guarantee | None:
        """The promise to a record with so many parts."""
        one = self.inner.promise()
        if one is None or one.epsilon is None:
            return None
        claimed = None if one.claimed is None else parts * one.claimed
        return replace(one, epsilon=parts * one.epsilon, claimed=claimed, proof=proof)


@final
@dataclass(frozen=True, kw_only=True)
class EachAction(Each):
    """Every action of a whole record. A record pays `actions` times inner's epsilon."""

    actions: int

    def init(self, coordinates: int) -> Any:
        if coordinates != self.actions:
            raise ValueError(
                f"Expected a record of {self.actions} actions, the number this mechanism's "
                f"promise pays for, got {coordinates}. "
                f"Make it with actions={coordinates}."
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
    """The arms of a super arm, each when its own block ends. A record touches up to `width` of them
    and pays inner's epsilon for each.
    """

    # required: the base class has a default, and a wrong one would promise too much
    width: int = field()

    def promise(self) -> Guarantee | None:
        return self.times(self.width, "each_arm")


class Choice(NamedTuple):
    """Public: the action whose noisy sum was the largest, and the rounds that were compared."""

    action: int
    rounds: int


@final
@dataclass(frozen=True, kw_only=True)
class NoisyMax(PurePrice):
    """The index of the largest of a whole record's noised sums. Guarantee: epsilon, or epsilon/2
    under zero-out.

    Source: Dwork and Roth 2014, section 3.3 (with the scale for two-sided changes); McSherry and
    Talwar 2007 (exponential mechanism); McKenna and Sheldon 2020 (permute-and-flip, never worse
    than the exponential mechanism at the same epsilon).

    selection: noise of scale 2/epsilon: "laplace" (discrete, ties to the lowest action),
        "exponential" (the exponential mechanism exp(epsilon·sum/2), as Gumbel noise), or
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
