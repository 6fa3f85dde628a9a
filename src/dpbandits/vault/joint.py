"""The vault of joint releases: a record lives in its own plan's block, which is read once and as a
whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.ledger import Leaving
from dpbandits.core.plan import EVERY
from dpbandits.core.values import damaged, entries, whole
from dpbandits.mechanisms.base import Block, Mechanism
from dpbandits.mechanisms.rewards import checked_rewards, vector_on_grid
from dpbandits.noise.protocol import Noise
from dpbandits.policies.contract import Release
from dpbandits.policies.turn import ToldCounts
from dpbandits.vault.blocks import WHOLE, Coordinates, Open, PlanBlock
from dpbandits.vault.vectors import VectorVault

LATE: PlanBlock = -2, ()
"""No block: of a record whose plan's block is closed."""


class OpenBlocks(dict[int, Open]):
    """Open blocks by their numbers; one of a plan goes when nothing is left in it."""

    def __setitem__(self, key: int, block: Open) -> None:
        if block[1] or key == EVERY:
            dict.__setitem__(self, key, block)
        else:
            self.pop(key, None)


@final
class JointVault(VectorVault):
    """A record is a reward for each arm of a super arm. Each plan that was asked for has a block of
    its own; block `EVERY` is that of hosts with one plan at a time, and counts what ever entered
    any block.

    A release reads the sums of the arms it names together, as one record at the whole price, and
    throws the rest of that block away; after it nothing that depends on these records is left. A
    record of a block that is closed already comes too late: it is dropped unread (`LATE`).
    """

    def __init__(self, mechanism: Mechanism, coordinates: int, noise: Noise) -> None:
        super().__init__(mechanism, coordinates, noise)
        self._open = OpenBlocks(self._open)
        # the arms that were looked at last, which most often are the next ones, too; and what is
        # read of them: always replaced as a whole, for a call may be interrupted anywhere
        self._seen: tuple[int, ...] = ()
        self._kept: tuple[tuple[int, ...], tuple[int, ...] | None, list[tuple[int, int]]]
        self._kept = (), None, []

    def _checked(self, where: Any, value: object) -> NDArray[np.float64]:
        arms = self._arms(where)
        return checked_rewards(self._in_units(value), len(arms), arms)

    def _length(self, where: Any) -> int:
        return len(self._arms(where))

    def on_grid(self, where: Any, value: object) -> list[int]:
        steps = self._few(where, value)
        if steps is None:
            steps = vector_on_grid(self._checked(where, value), self._grid, self._noise).tolist()
        return steps

    def enter(self, where: Any, steps: Any, count: int = 1, block: PlanBlock = WHOLE) -> None:
        """See there; of a plan's block only the arms that will be read are kept."""
        self.settle()
        key, read = block
        if key == LATE[0]:
            self.staged = self.records + count, None
            self.settle()
            return
        if type(steps) is not list:
            steps = np.asarray(steps).tolist()
        every, rewards, entered = self._open[EVERY]
        counted = (every, rewards, entered + count)
        before, rewards, of_block = self._open.get(key) or (self._nothing(), 0, 0)
        total = dict(before)
        for place, arm in self._read_of(self._arms(where), read):
            total[arm] = total.get(arm, 0) + steps[place]
        fuller = (total, rewards + count, of_block + count)
        self.staged = self.records + count, None, EVERY, counted, key, fuller
        self.settle()

    def _release(
        self, coordinates: Coordinates, round: int, told: ToldCounts, drop: Coordinates, block: int
    ) -> Release:
        """Close a plan's block: read the sums of these arms, once and together; drop the rest.

        Without arms the block is dropped as a whole, at no price; with drop=(EVERY,) every block.

        Raises:
            RuntimeError: a coordinate is none, is named twice, or no reward entered this block.
            Nothing was released.
            LedgerError: the counts do not add up. Nothing was released.
        """
        everything = drop == (EVERY,)
        arms = self._arms((*coordinates, *(() if everything else drop)))[: len(coordinates)]
        total, count, _ = self._open.get(block, (self._nothing(), 0, 0))
        if arms and not count:
            raise RuntimeError(
                f"Refused to release {arms}: every reward may be read once, and none came since "
                "the last release. Nothing was released."
            )
        closed = [key for key in self._open if everything or key == block]
        leaving = [self._leaving(closed)]
        page = self._ledger.page(leaving, []) if arms else self._ledger.page([], leaving)
        memory, answers = self._memory, ()
        if arms:
            sums = tuple([total.get(arm, 0) for arm in arms])
            read = Block(arms, sums, (count,) * len(arms))
            memory, answers = self._mechanism.answer(memory, read, self._once())
        return self._close(closed, memory, page, Release(arms, answers, round, told))

    def _leaving(self, closed: Sequence[int]) -> Leaving:
        """Records that leave these blocks, and how many ever entered any but those that stay."""
        counts = {key: rewards for key, (_, rewards, _) in self._open.items()}
        out = sum(counts.get(key, 0) for key in closed)
        return EVERY, out, self._open[EVERY][2] - (sum(counts.values()) - out)

    def emptied(self) -> tuple[int, ...]:
        return () if any(self._counts()) else tuple(range(self._coordinates))

    def _droppable(self, arms: tuple[int, ...] | None) -> tuple[int, ...]:
        return (EVERY,) if any(self._counts()) else ()

    def _nothing(self) -> dict[int, int]:
        return {}

    def _arms(self, where: Any) -> tuple[int, ...]:
        """The arms of a record or a release, as plain ints."""
        seen = self._seen
        again = where is seen  # the common case: plays of one plan share their arms
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
        plain = {int}.issuperset(map(type, where))
        found: tuple[int, ...] = where if plain else tuple(map(int, where))
        self._seen = found
        return found

    def _read_of(
        self, arms: tuple[int, ...], read: tuple[int, ...] | None
    ) -> list[tuple[int, int]]:
        """(place in a record, arm) of those of its arms that will be read."""
        known = self._kept
        if arms is known[0] and read is known[1]:  # the common case, as above
            return known[2]
        wanted = set(arms if read is None else read)
        found = [(place, arm) for place, arm in enumerate(arms) if arm in wanted]
        self._kept = arms, read, found
        return found

    def _adds_up(self, counts: list[int]) -> bool:
        """What came late entered no block."""
        return self._ledger.rounds + sum(counts) <= self.records

    def _named(self) -> dict[str, Any]:
        return {"blocks": sorted(self._open)}

    def _name(self, public: dict[str, Any]) -> None:
        said = entries(public.get("blocks"), "vault.blocks")
        keys = [whole(key, "a block of vault.blocks", EVERY) for key in said]
        if keys != sorted({EVERY, *keys}):
            raise damaged("vault.blocks are not in order, or one is there twice")
        self._open = OpenBlocks({key: (self._nothing(), 0, 0) for key in keys})

    def _counts(self) -> list[int]:
        return [self._open[key][1] for key in sorted(self._open)]

    def _sums(self) -> list[int]:
        arms = range(self._coordinates)
        return [self._open[key][0].get(arm, 0) for key in sorted(self._open) for arm in arms]

    def _reopen(self, sums: list[int], counts: list[int]) -> None:
        each, entered = self._coordinates, sum(counts) + self._ledger.clock(EVERY)
        for at, key in enumerate(sorted(self._open)):
            of_block = enumerate(sums[each * at : each * (at + 1)])
            total = {arm: steps for arm, steps in of_block if steps}
            self._open[key] = total, counts[at], entered if key == EVERY else 0
