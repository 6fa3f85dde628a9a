"""What a vault saves, and how it goes on from that."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np

from dpbandits.core.inputs import MOST
from dpbandits.core.values import damaged, entries, whole
from dpbandits.mechanisms.restored import Readings, restored_counts, restored_sums
from dpbandits.vault.base import Vault


class SavedVault(Vault):
    """A vault that can be saved, and opened again as it stood. _each: sums in a block."""

    _each = 1

    @final
    def private_state(self) -> dict[str, Any]:
        """Open sums, mechanism memory and noise position. As sensitive as the rewards
        themselves.
        """
        self.settle()
        held = [[id, np.asarray(steps).tolist()] for id, steps in sorted(self.held.items())]
        memory, noise = self._memory, self._noise.state()
        return {"sums": self._sums(), "memory": memory, "noise": noise, "held": held}

    @final
    def public_state(self) -> dict[str, Any]:
        """Counts and ledger."""
        self.settle()
        return {
            "records": self.records,
            "turns": self.turns,
            "counts": self._counts(),
            "ledger": self._ledger.to_data(),
        } | self._named()

    def _named(self) -> dict[str, Any]:
        """What `counts` are of, where that is not known beforehand."""
        return {}

    def _name(self, public: dict[str, Any]) -> None:
        """Open the blocks that `_named` wrote, with nothing in them."""

    @final
    def restore_held(self, data: object, waiting: Mapping[int, Any]) -> None:
        """Rewards that are held for decisions that wait, as `private_state` wrote them.

        waiting: what each of these decisions plays.

        Raises:
            DamagedSessionError: they are none; no number is shown.
        """
        bounded = self._randomizer is None
        for row in entries(data, "private.held"):
            id, steps = entries(row, "an entry of private.held", 2)
            play = waiting.get(id) if type(id) is int else None
            values = steps if isinstance(steps, list) else [steps]
            fits = all(
                type(value) is int and (not bounded or 0 <= value <= self._grid.steps)
                for value in values
            )
            if play is None or not fits or not self._fits(play.observe, steps):
                raise damaged("private.held has what no decision waits for (not shown)")
            self.held[id] = self._as_steps(steps)

    @final
    def _fits(self, observe: Sequence[int] | None, steps: Any) -> bool:
        """Whether so many numbers are one round's."""
        return (len(steps) if isinstance(steps, list) else None) == self._many(observe)

    def _many(self, observe: Sequence[int] | None) -> int | None:
        """How many numbers a round's feedback has; None: it is a single one."""
        return None if observe is None else len(observe)

    @final
    def blank(self, observe: Sequence[int] | None) -> int | list[int]:
        """Zeros, of the form that a round's feedback has."""
        many = self._many(observe)
        return 0 if many is None else [0] * many

    def _as_steps(self, steps: Any) -> Any:
        """As `on_grid` makes them."""
        return tuple(steps) if isinstance(steps, list) else steps

    @abstractmethod
    def _sums(self) -> list[int]:
        """All open sums."""

    @abstractmethod
    def _counts(self) -> list[int]:
        """Rewards in each open block."""

    @final
    def restore(self, public: dict[str, Any], private: dict[str, Any] | None) -> None:
        """Continue from what `public_state` and `private_state` returned (after a trip through
        JSON).

        private: None for a vault that is only looked at, whose sums are not known.

        Raises:
            ValueError: damaged data, of another shape or with numbers that no records have. No
            private number is shown.
        """
        self._name(public)
        counts = restored_counts(public["counts"], len(self._counts()))
        self._ledger.restore(public["ledger"], set(self._keys()))
        self.records, self.turns = (
            whole(public["records"], "vault.records"),
            whole(public["turns"], "vault.turns"),
        )
        if not self._adds_up(counts):
            raise damaged(
                "the counts of its open blocks and its ledger do not add up to the records that "
                "entered"
            )
        if any(releases > self.turns for releases, _ in self._ledger.readings().values()):
            raise damaged("vault.ledger says that an arm was read more often than there were turns")
        sums = [0] * (len(counts) * self._each)
        if private is not None:
            sums = self._restored_sums(private, counts)
            self._memory = private["memory"]
        self._reopen(sums, counts)

    def _restored_sums(self, private: dict[str, Any], counts: list[int]) -> list[int]:
        """All open sums; they and the memory fit what is public."""
        highest = [self._grid.steps * count for count in counts for _ in range(self._each)]
        bounds = None if self._randomizer is not None else highest
        sums = restored_sums(private["sums"], len(highest), bounds)
        if not self._mechanism.remembers(private["memory"], self._readings()):
            raise damaged(
                "private.memory does not fit the policy's mechanism and what the ledger says was "
                "read (not shown: it is private)"
            )
        return sums

    def _adds_up(self, counts: list[int]) -> bool:
        """Whether open blocks and ledger together hold what so many records may bring."""
        return self.records <= self._ledger.rounds + sum(counts) <= self.records * self.width

    def _readings(self) -> list[Readings]:
        """What the ledger says of each coordinate of the mechanism."""
        low, high = (0, self._grid.steps) if self._randomizer is None else (-MOST, MOST)
        read = self._ledger.readings()
        return [Readings(*read.get(coordinate, (0, 0)), low, high) for coordinate in self._keys()]

    @abstractmethod
    def _keys(self) -> Sequence[int]:
        """As what the ledger knows each coordinate of the mechanism."""

    @abstractmethod
    def _reopen(self, sums: list[int], counts: list[int]) -> None:
        """Blocks as they were saved."""
