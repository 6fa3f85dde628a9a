"""A mechanism for one coordinate, applied to every part of a record: to all actions of a whole
record, or to the arms of a super arm.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, final

from dpbandits.core.privacy import Guarantee
from dpbandits.mechanisms.base import Answer, Around, Block, Separable
from dpbandits.noise.sources import Noise


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
