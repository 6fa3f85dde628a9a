"""The vault of joint releases: a record lives in its own plan's block, which is read once and as a
whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.arrays import Places
from dpbandits.core.plan import EVERY
from dpbandits.mechanisms.base import Block, Mechanism
from dpbandits.mechanisms.rewards import check_sums, checked_rewards
from dpbandits.noise.protocol import Noise
from dpbandits.policies.contract import Release
from dpbandits.policies.turn import ToldCounts
from dpbandits.vault.vectors import VectorVault


@final
class JointVault(VectorVault):
    """A record is a reward for each arm of a super arm. One block is open, that of the plan under
    way.

    A release reads the sums of the arms it names together, as one record at the whole price, and
    throws the rest of the block away; after it nothing that depends on these records is left. A
    record that was asked for under an earlier plan comes too late: it is dropped unread.
    """

    def __init__(self, mechanism: Mechanism, coordinates: int, noise: Noise) -> None:
        super().__init__(mechanism, coordinates, noise)
        # the arms that were looked at last, which most often are the next ones, too: always
        # replaced as a pair, for a call may be interrupted anywhere
        self._seen: tuple[tuple[int, ...], Places] = ((), np.zeros(0, np.intp))

    def _checked(self, where: Any, value: object) -> NDArray[np.float64]:
        arms = self._arms(where)
        return checked_rewards(self._in_units(value), len(arms), arms)

    def enter(self, where: Any, steps: Any, count: int = 1, late: bool = False) -> None:
        self.settle()
        total, rewards, entered = self._open[EVERY]
        if late:
            self.staged = (), self.records + count, None
        else:
            total = total.copy()
            total[self._places(where)] += steps
            block = total, rewards + count, entered + count
            self.staged = ((EVERY, block),), self.records + count, None
        self.settle()

    def add_block(self, where: Any, steps: NDArray[np.int64], count: int) -> None:
        check_sums(int(steps.min()), int(steps.max()), count, self._grid)
        self.enter(where, steps, count)

    def release(
        self, coordinates: tuple[int, ...], round: int, told: ToldCounts, drop: tuple[int, ...] = ()
    ) -> Release:
        """Close the plan's block: read the sums of these arms, once and together; drop the rest.

        Without arms the block is dropped as a whole, at no price.

        Raises:
            RuntimeError: a coordinate is none, is named twice, or no reward entered this block.
            Nothing was released.
            LedgerError: the counts do not add up. Nothing was released.
        """
        self.settle()
        arms = self._arms((*coordinates, *drop))[: len(coordinates)]
        count, entered = self._open[EVERY][1:]
        if arms and not count:
            raise RuntimeError(
                f"Refused to release {arms}: every reward may be read once, and none came since "
                "the last release. Nothing was released."
            )
        leaving = [(EVERY, count, entered)]
        page = self._ledger.page(leaving, []) if arms else self._ledger.page([], leaving)
        memory, answers, this_try = self._memory, (), self._begin()
        if arms:
            memory, answers = self._mechanism.answer(memory, self._block(arms), this_try)
        return self._close(this_try, (EVERY,), memory, page, Release(arms, answers, round, told))

    def _droppable(self, arms: tuple[int, ...] | None) -> tuple[int, ...]:
        return ()  # a release that names no arms drops the block

    def _arms(self, where: Any) -> tuple[int, ...]:
        """The arms of a record or a release, as plain ints."""
        return self._looked_at(where)[0]

    def _places(self, where: Any) -> Places:
        """The same as an array."""
        return self._looked_at(where)[1]

    def _looked_at(self, where: Any) -> tuple[tuple[int, ...], Places]:
        seen = self._seen
        again = where is seen[0]  # the common case: plays of one plan share their arms
        if again:
            return seen
        if (
            not isinstance(where, tuple)
            or len(set(where)) < len(where)
            or not all(isinstance(c, Integral) and not isinstance(c, bool) for c in where)
            or not all(0 <= c < self._coordinates for c in where)
        ):
            raise RuntimeError(
                f"Refused {where}: expected a tuple of whole numbers from 0 to "
                f"{self._coordinates - 1}, each once. Correct the policy's plan or its oracle. "
                "Nothing was recorded or released."
            )
        plain: tuple[int, ...] = tuple(map(int, where))
        kept = where if {int}.issuperset(map(type, where)) else plain
        self._seen = found = kept, np.array(plain, np.intp)
        return found

    def _block(self, coordinates: Sequence[int]) -> Block:
        total, count, _ = self._open[EVERY]
        arms = tuple(coordinates)
        return Block(arms, tuple(total[list(arms)].tolist()), (count,) * len(arms))

    def _adds_up(self, counts: list[int]) -> bool:
        """What came late entered no block."""
        return self._ledger.rounds + sum(counts) <= self.records
