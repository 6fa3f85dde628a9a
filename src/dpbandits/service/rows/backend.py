"""What a store has to do, whatever it is made of. `tests/service/suite` checks one.

A store keeps rows and knows nothing of policies. Everything a transaction reads it reads under the
campaign's lock, and all that it writes comes in one `RowChange`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager

from dpbandits.service.rows.records import (
    CampaignRow,
    DecisionRecord,
    EventRow,
    HeadRow,
    KeyRow,
    MovedRow,
    ReadingRow,
    ReleaseRow,
    RowChange,
    ScopeRow,
    StatusRow,
)

Joining = tuple[str, Callable[[ScopeRow], ScopeRow]]
"""The name of a scope, and what becomes of its row."""

Part = tuple[CampaignRow, RowChange]
"""A campaign that is asked and told, and the rows that it begins with."""


class CampaignRows(ABC):
    """The rows of one campaign, within one transaction."""

    @abstractmethod
    def head(self) -> HeadRow:
        """The campaign's head."""

    @abstractmethod
    def heads(self) -> dict[str, HeadRow]:
        """The heads of this campaign and of its other segments, by uid."""

    @abstractmethod
    def private(self) -> bytes:
        """The private part, sealed."""

    @abstractmethod
    def moved(self, since: int) -> Iterator[MovedRow]:
        """Decisions that a version after `since` changed, oldest first; of 0, those that wait."""

    @abstractmethod
    def decision(self, seq: int) -> DecisionRecord | None:
        """One decision."""

    @abstractmethod
    def statuses(self, seqs: Sequence[int]) -> list[StatusRow]:
        """Where those of these decisions stand that there are, in any order."""

    @abstractmethod
    def decisions(self, after: int, limit: int) -> list[DecisionRecord]:
        """Decisions in order, for those who read."""

    @abstractmethod
    def held(self, seqs: Sequence[int]) -> dict[int, bytes]:
        """The sealed rows of those of these decisions that have one (see `RowChange.held`)."""

    @abstractmethod
    def readings(self, since: int) -> list[ReadingRow]:
        """The ledger's lines, in order, that were written after a version."""

    @abstractmethod
    def releases(self, after: int, until: int) -> list[ReleaseRow]:
        """Releases after one step up to another."""

    @abstractmethod
    def used(self, pseudonyms: Sequence[str]) -> dict[str, tuple[int, int]]:
        """By pseudonym, the window and the places that were taken in it."""

    @abstractmethod
    def response(self, place: str) -> str | None:
        """What was replied to this call before."""

    @abstractmethod
    def answered_by(self, place: str) -> str | None:
        """Which of this campaign's segments, by uid, replied to this call before."""

    @abstractmethod
    def events(self, limit: int) -> list[EventRow]:
        """The newest public events, newest first."""

    @abstractmethod
    def counts(self) -> dict[str, dict[str, int]]:
        """By action (as JSON), decisions by status."""

    @abstractmethod
    def write(self, change: RowChange) -> None:
        """Write all of a change. Once in a transaction, as its last step.

        Raises:
            LedgerError: it reads a reward that was read before. Nothing will be written.
            EditedRowsError: a row is there already that nobody wrote. Nothing will be written.
        """

    @abstractmethod
    def hold(self, change: RowChange) -> None:
        """Write only `private` and `held` of a change, in place of `write`, and move no public row:
        nobody is to see that somebody answered. A row that is there is written over where it is.
        """

    @abstractmethod
    def waiting_of(self, pseudonym: str) -> list[int]:
        """The decisions of a person that wait."""


class Backend(ABC):
    """Where campaigns are kept."""

    durable: bool
    """Whether what is committed outlives the process and a loss of power."""

    failures: tuple[type[Exception], ...] = (OSError,)
    """Errors by which the rows say that where they are kept is away, or full."""

    @abstractmethod
    def create(
        self, row: CampaignRow, parts: Sequence[Part], joining: Joining | None = None
    ) -> None:
        """A campaign with its first rows, or none of it. parts: itself, or its segments. joining:
        the scope that it joins, and what the scope's row becomes; it is read, changed and written
        while nobody else does.

        Raises:
            NameTakenError: the name is taken, or there is no such scope. Nothing was written.
        """

    @abstractmethod
    def campaigns(self) -> list[CampaignRow]:
        """All campaigns, and the segments of campaigns, oldest first."""

    @abstractmethod
    def campaign(self, name: str) -> CampaignRow | None:
        """One campaign, by its name."""

    @abstractmethod
    def some_private(self) -> bytes | None:
        """The private part of some campaign, sealed; None: there is no campaign."""

    @abstractmethod
    def transaction(self, uid: str) -> AbstractContextManager[CampaignRows]:
        """Lock a campaign, with all segments of it. What is written is committed as the block is
        left, and rolled back where an exception leaves it.
        """

    @abstractmethod
    def reading(self, uid: str) -> AbstractContextManager[CampaignRows]:
        """One state of a campaign's rows, without a lock."""

    @abstractmethod
    def scope(self, name: str) -> ScopeRow | None:
        """A budget over campaigns."""

    @abstractmethod
    def add_scope(self, scope: ScopeRow) -> None:
        """Write a new scope; one that there is stays as it is."""

    @abstractmethod
    def access_keys(self) -> list[KeyRow]:
        """All bearer keys."""

    @abstractmethod
    def key(self, hash: str) -> KeyRow | None:
        """One of them, by its hash."""

    @abstractmethod
    def add_key(self, key: KeyRow) -> None:
        """Write a new key, while nobody else does.

        Raises:
            NameTakenError: another key has its name, revoked or not. Nothing was written.
        """

    @abstractmethod
    def put_key(self, key: KeyRow) -> None:
        """Write a key that there is anew."""

    @abstractmethod
    def forget(self) -> None:
        """Let go of what was written over, such as open sums of before, as far as it is kept beside
        the rows and nobody else is reading; else the next time.
        """

    @abstractmethod
    def close(self) -> None:
        """Let go of connections."""
