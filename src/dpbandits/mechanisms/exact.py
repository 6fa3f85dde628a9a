"""Running sums without noise: for non-private policies, and for reports that were randomised before
they arrived.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpbandits.core.privacy import Grid
from dpbandits.mechanisms.base import Answer, Separable
from dpbandits.mechanisms.restored import Readings, whole_numbers
from dpbandits.noise.sources import Noise


@dataclass(frozen=True, kw_only=True)
class Exact(Separable):
    """Releases the exact running sum. Not private; its entries in the ledger cost None."""

    grid: Grid = Grid()

    def promise(self) -> None:
        return None

    def start(self) -> list[int]:
        return [0, 0]

    def fits(self, memory: Any, read: Readings) -> bool:
        return (
            whole_numbers(memory, 2)
            and memory[1] == read.rewards
            and read.sum_fits(memory[0], read.rewards)
        )

    def step(
        self, memory: list[int], total: int, count: int, noise: Noise
    ) -> tuple[list[int], Answer]:
        total, count = memory[0] + total, memory[1] + count
        return [total, count], Answer(total / self.grid.steps, count, 0)
