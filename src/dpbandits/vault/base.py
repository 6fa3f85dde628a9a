"""What every vault does: feedback is staged and added, blocks are read through the mechanism, the
ledger is written.

Every change is first written down whole (`staged`, one assignment: that is the moment it happens)
and then carried out in steps that say what will stand where, not what is added. Whatever interrupts
these steps, the next call carries them out again from the start.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, final

from dpbandits.core.calls.gate import Gate
from dpbandits.core.errors import RewardError
from dpbandits.core.ledger import Ledger, Page
from dpbandits.core.plan import EVERY
from dpbandits.mechanisms.base import Block, Mechanism
from dpbandits.mechanisms.randomizers import Randomizer
from dpbandits.mechanisms.rewards import reward_parts, tried
from dpbandits.noise.protocol import Noise
from dpbandits.policies.contract import Release
from dpbandits.policies.turn import ToldCounts
from dpbandits.vault.blocks import WHOLE, Closing, Coordinates, PlanBlock, ReadRewards, Staged
from dpbandits.vault.once import Drawn, OnceDrawn
from dpbandits.vault.shown import ShownVault


class Vault(ShownVault, ABC):
    """Open blocks, mechanism memory and ledger of one policy's run. Its repr shows counts only.

    randomizer: set for local policies; the vault then takes reports and refuses raw rewards.
    width: of how many coordinates one record may be read. staged: a change that may still have to
        be carried out (see `settle`).
    together: a record belongs to its plan (see `Mechanism`). records: rounds whose feedback was
        added. turns: calls of `release` that were answered; newest: the last answer.
    held: rewards in grid steps that count only later, by decision: private (see
        `campaign/attribution.py`).
    unit: makes a reward in the user's units one in [0, 1]; None: it is that already.
    guarantee: what mechanism or randomizer promises one record, read once, as it was opened.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        coordinates: int,
        noise: Noise,
        randomizer: Randomizer | None = None,
    ) -> None:
        self._mechanism, self._noise, self._randomizer = mechanism, noise, randomizer
        self._grid, self._coordinates = mechanism.grid, coordinates
        self._memory = mechanism.init(coordinates)
        source = randomizer or mechanism
        self.guarantee = source.promise()
        self.width, self.together = source.width, mechanism.together
        self._ledger = Ledger(
            self.guarantee.cost / source.width if self.guarantee is not None else None, source.width
        )
        self.staged: Staged | None = None
        self._gate, self._drawn = Gate(), Drawn()
        self.records = self.turns = 0
        self.newest: Release | None = None
        self.held: dict[int, Any] = {}
        self.unit: Callable[[object], float] | None = None

    @final
    def _in_units(self, value: Any) -> Any:
        """A reward, or several, in [0, 1] each, where another range was declared; else as they
        came, to be checked.
        """
        if self.unit is None:
            return value
        if type(value) is ReadRewards:
            return value.plain
        if type(value) is float:  # the common case
            return self.unit(value)
        found = tried(reward_parts, value)
        if found is None:
            raise RewardError(
                f"Expected rewards that can be read; those of type {type(value).__name__} failed "
                "(not shown). Nothing was recorded."
            )
        return [self.unit(each) for each in found[1]] if found[0] else self.unit(value)

    @final
    def _once_read(self, plain: Any) -> Any:
        """Checked numbers in [0, 1], for `on_grid`, which is not to scale them again."""
        return plain if self.unit is None else ReadRewards(plain)

    @abstractmethod
    def on_grid(self, where: Any, value: Any) -> Any:
        """What `enter` takes: one round's feedback in whole grid steps. Nothing is changed."""

    @abstractmethod
    def check(self, where: Any, value: Any) -> Any:
        """The value as plain numbers, read once, for `on_grid`. Raises what that would raise, and
        throws no rounding coin.
        """

    @abstractmethod
    def enter(self, where: Any, steps: Any, count: int = 1, block: PlanBlock = WHOLE) -> None:
        """Add `count` rounds whose sum in grid steps `on_grid` or a simulator made.

        block: the block they belong to, where a record belongs to its plan.
        """

    @final
    def add(self, where: Any, value: Any) -> None:
        """What one round brought, and to which coordinates: a number in [0, 1], in the local model
        one `Report`.

        Of several arms, and of a whole record, it is one number each.

        Raises:
            RewardError: not a number in [0, 1]; or a raw value where only a report may come, or the
            reverse. Nothing was recorded.
            RuntimeError: no coordinates, one of them twice, or more than the promise pays for.
            Nothing was recorded.
        """
        self.enter(where, self.on_grid(where, value))

    @abstractmethod
    def add_block(self, where: Any, steps: Any, count: int) -> None:
        """`count` rounds at once, their sum in whole grid steps: simulated feedback drawn as a
        block.
        """

    def release(
        self,
        coordinates: Coordinates,
        round: int,
        told: ToldCounts,
        drop: Coordinates = (),
        block: int = EVERY,
    ) -> Release:
        """Close these coordinates' blocks, read each once through the mechanism, and write the
        ledger; throw `drop`'s away unread.

        block: whose coordinates they are, where a record belongs to its plan (see `JointVault`).

        Raises:
            RuntimeError: a coordinate is none, is named twice, or its block is empty: a reward
            would be read twice. Nothing was released.
            LedgerError: the counts do not add up. Nothing was released.
            SharedError: another release is under way. Nothing was released.
        """
        self._gate.enter()
        try:
            self.settle()
            return self._release(coordinates, round, told, drop, block)
        finally:
            self._gate.leave()

    def _release(
        self, coordinates: Coordinates, round: int, told: ToldCounts, drop: Coordinates, block: int
    ) -> Release:
        both = self._plain((*coordinates, *drop))
        coordinates, drop = both[: len(coordinates)], both[len(coordinates) :]
        empty = [c for c in coordinates if self._open[c][1] == 0]
        if empty:
            raise RuntimeError(
                f"Refused to release {coordinates}: every reward may be read once, and "
                f"coordinates {empty} have no new one since their "
                "last release. Nothing was released."
            )
        page, memory, answers = self._page(coordinates, drop), self._memory, ()
        if coordinates:
            memory, answers = self._mechanism.answer(memory, self._block(coordinates), self._once())
        return self._close(both, memory, page, Release(coordinates, answers, round, told))

    def finish(self, round: int, told: ToldCounts) -> Release:
        """No more feedback comes: close every block, read each once, and have the mechanism give
        the answer it still owes.

        Raises:
            TypeError: the mechanism owes none.
            ValueError: nothing was ever added.
        """
        self._gate.enter()
        try:
            self.settle()
            coordinates = tuple(range(self._coordinates))
            page, block = self._page(self._droppable(None), ()), self._block(coordinates)
            memory, answers = self._mechanism.finish(self._memory, block, self._once())
            release = Release(coordinates, answers, round, told)
            return self._close(coordinates, memory, page, release)
        finally:
            self._gate.leave()

    @final
    def drop(self, arms: tuple[int, ...] | None, round: int, told: ToldCounts) -> Release:
        """Throw open blocks away unread, those of `arms` or (None) all, though no plan says so."""
        self.settle()
        return self.release((), round, told, drop=self._droppable(arms))

    def _droppable(self, arms: tuple[int, ...] | None) -> tuple[int, ...]:
        """The coordinates among these that have an open block."""
        known = range(self._coordinates) if arms is None else arms
        return tuple(c for c in known if self._open[c][1])

    @final
    def settle(self) -> None:
        """Carry out what was interrupted, if anything was."""
        staged = self.staged
        if staged is None:
            return
        self.records, closing, *blocks = staged
        opened = self._open
        for at in range(0, len(blocks), 2):
            opened[blocks[at]] = blocks[at + 1]
        if closing is not None:
            self.turns, self._memory, page, self.newest = closing
            self._ledger.write(page)
            self._drawn = []
        self.staged = None

    def _page(self, read: Sequence[int], drop: Sequence[int]) -> Page:
        opened = map(self._open.__getitem__, (*read, *drop))
        leaving = [
            (c, n, entered) for c, (_, n, entered) in zip((*read, *drop), opened, strict=True)
        ]
        return self._ledger.page(leaving[: len(read)], leaving[len(read) :])

    def _once(self) -> Any:
        """The source of noise of one try of a release: it goes on from what earlier tries drew."""
        return OnceDrawn(self._noise, self._drawn)

    def _close(
        self, coordinates: Sequence[int], memory: Any, page: Page, release: Release
    ) -> Release:
        """The moment of a release: nothing of it stands before the assignment, everything after."""
        self._gate.home.require()  # the mechanism or its noise source may have forked
        nothing, opened = self._nothing(), self._open
        blocks = {c: (nothing, 0, opened[c][2]) for c in coordinates}
        closing = Closing(self.turns + 1, memory, page, release)
        self.staged = self.records, closing, *chain.from_iterable(blocks.items())
        self.settle()
        return release

    @abstractmethod
    def _nothing(self) -> Any:
        """The sum of no rewards."""

    @abstractmethod
    def _plain(self, coordinates: tuple[Any, ...]) -> tuple[int, ...]:
        """Coordinates as plain ints; what is none, and what is named twice, is refused."""

    @abstractmethod
    def _block(self, coordinates: Sequence[int]) -> Block:
        """What the mechanism reads."""
