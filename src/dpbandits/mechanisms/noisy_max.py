"""Report noisy max: of the sums of all actions, only the index of the largest noisy one is
released.

Replacing a record moves every sum by up to one unit, each in its own direction, so the winner's
lead over a rival moves by up to two. Noise of scale 2/epsilon pays for that. If records can only
lose reward (zero-out), the lead moves by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, final

from dpbandits.core.privacy import Guarantee
from dpbandits.mechanisms.base import Block, PurePrice
from dpbandits.mechanisms.restored import Readings
from dpbandits.noise.sources import Noise, Selection


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
