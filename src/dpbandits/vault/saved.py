"""What a vault saves, and how it goes on from that."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, final

from dpbandits.core.inputs import MOST
from dpbandits.core.values import damaged, whole
from dpbandits.mechanisms.restored import Readings, restored_counts, restored_sums
from dpbandits.vault.base import Vault


class SavedVault(Vault):
    """A vault that can be saved, and opened again as it stood."""

    @final
    def private_state(self) -> dict[str, Any]:
        """Open sums, mechanism memory and noise position. As sensitive as the rewards
        themselves.
        """
        self.settle()
        return {"sums": self._sums(), "memory": self._memory, "noise": self._noise.state()}

    @final
    def public_state(self) -> dict[str, Any]:
        """Counts and ledger."""
        self.settle()
        return {
            "records": self.records,
            "turns": self.turns,
            "counts": self._counts(),
            "ledger": self._ledger.to_data(),
        }

    @abstractmethod
    def _sums(self) -> list[int]:
        """All open sums."""

    @abstractmethod
    def _counts(self) -> list[int]:
        """Rewards in each open block."""

    @final
    def restore(self, public: dict[str, Any], private: dict[str, Any]) -> None:
        """Continue from what `public_state` and `private_state` returned (after a trip through
        JSON).

        Raises:
            ValueError: damaged data, of another shape or with numbers that no records have. No
            private number is shown.
        """
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
        bounds = (
            None if self._randomizer is not None else [self._grid.steps * count for count in counts]
        )
        sums = restored_sums(private["sums"], self._coordinates, bounds)
        if not self._mechanism.remembers(private["memory"], self._readings()):
            raise damaged(
                "private.memory does not fit the policy's mechanism and what the ledger says was "
                "read (not shown: it is private)"
            )
        self._memory = private["memory"]
        self._reopen(sums, counts)

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
