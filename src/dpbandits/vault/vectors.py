"""The vault of full information: whole records, with one open block for all of them."""

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.plan import EVERY
from dpbandits.mechanisms.base import Block, Mechanism
from dpbandits.mechanisms.rewards import check_sums, checked_rewards, few_on_grid, vector_on_grid
from dpbandits.noise.protocol import Noise
from dpbandits.policies.contract import Release
from dpbandits.policies.turn import ToldCounts
from dpbandits.vault.blocks import WHOLE, Open, PlanBlock
from dpbandits.vault.saved import SavedVault


class VectorVault(SavedVault):
    """Full information: a record is a vector with the reward of every action; all are read at once,
    as coordinate `EVERY`.
    """

    def __init__(self, mechanism: Mechanism, coordinates: int, noise: Noise) -> None:
        super().__init__(mechanism, coordinates, noise)
        self._open: dict[int, Open] = {EVERY: (self._nothing(), 0, 0)}
        self._each = coordinates

    def check(self, where: Any, value: object) -> Any:
        return self._once_read(self._checked(where, value))

    def on_grid(self, where: Any, value: object) -> Any:
        few = self._few(where, value)
        if few is not None:
            return np.array(few, np.int64)
        return vector_on_grid(self._checked(where, value), self._grid, self._noise)

    @final
    def _few(self, where: Any, value: object) -> list[int] | None:
        """A short record of plain numbers in whole grid steps; None for any other."""
        plain = self.unit is None
        return few_on_grid(value, self._length(where), self._grid) if plain else None

    def _length(self, where: Any) -> int:
        """Of a record."""
        return self._coordinates

    def _checked(self, where: Any, value: object) -> NDArray[np.float64]:
        """The rewards as numbers in [0, 1]."""
        arms = range(self._coordinates)
        return checked_rewards(self._in_units(value), self._coordinates, arms, "action")

    def enter(
        self, where: object, steps: NDArray[np.int64], count: int = 1, block: PlanBlock = WHOLE
    ) -> None:
        self.settle()
        total, rewards, entered = self._open[EVERY]
        fuller = (total + steps, rewards + count, entered + count)
        self.staged = self.records + count, None, EVERY, fuller
        self.settle()

    def add_block(self, where: object, steps: NDArray[np.int64], count: int) -> None:
        check_sums(int(steps.min()), int(steps.max()), count, self._grid)
        self.enter(where, steps, count)

    def _nothing(self) -> Any:
        return np.zeros(self._coordinates, np.int64)

    def emptied(self) -> tuple[int, ...]:
        return () if self._open[EVERY][1] else tuple(range(self._coordinates))

    def _droppable(self, arms: tuple[int, ...] | None) -> tuple[int, ...]:
        return (EVERY,) if self._open[EVERY][1] else ()

    def _plain(self, coordinates: tuple[Any, ...]) -> tuple[int, ...]:
        if coordinates not in ((), (EVERY,)):
            raise RuntimeError(
                f"Refused {coordinates}: a record is read or dropped whole, as {(EVERY,)}, and "
                "once. Nothing was released."
            )
        return coordinates

    def _block(self, coordinates: Sequence[int]) -> Block:
        total, rewards, _ = self._open[EVERY]
        return Block((EVERY,), total, (rewards,))

    def finish(self, round: int, told: ToldCounts) -> Release:
        raise TypeError(f"{type(self).__name__} has nothing to finish.")

    def _many(self, observe: Sequence[int] | None) -> int:
        return self._coordinates if observe is None else len(observe)

    def _as_steps(self, steps: Any) -> Any:
        return np.array(steps, np.int64)

    def _sums(self) -> list[int]:
        sums: list[int] = self._open[EVERY][0].tolist()
        return sums

    def _counts(self) -> list[int]:
        return [self._open[EVERY][1]]

    def _keys(self) -> list[int]:
        return [EVERY] * self._coordinates

    def _reopen(self, sums: list[int], counts: list[int]) -> None:
        self._open = {
            EVERY: (np.array(sums, np.int64), counts[0], counts[0] + self._ledger.clock(EVERY))
        }
