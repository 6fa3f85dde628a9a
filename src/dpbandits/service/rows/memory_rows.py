"""The rows of one campaign in memory."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

from dpbandits.core.errors import LedgerError
from dpbandits.service.rows.backend import CampaignRows
from dpbandits.service.rows.records import (
    DecisionRecord,
    EventRow,
    HeadRow,
    MovedRow,
    ReadingRow,
    ReleaseRow,
    RowChange,
    StatusRow,
)

Happened = tuple[RowChange, int, int, int]
"""A change that has happened and may still have to be carried out, and how many readings, releases
and events there were before it.
"""


@dataclass(repr=False)
class Tables:
    """Everything of one campaign. staged: one assignment is the moment of a commit."""

    head: HeadRow
    private: bytes
    group: dict[str, tuple[int, int]]
    decisions: dict[int, DecisionRecord] = field(default_factory=dict)
    held: dict[int, bytes] = field(default_factory=dict)
    readings: list[ReadingRow] = field(default_factory=list)
    releases: list[ReleaseRow] = field(default_factory=list)
    events: list[EventRow] = field(default_factory=list)
    responses: dict[str, str] = field(default_factory=dict)
    ends: dict[tuple[int, int], int] = field(default_factory=dict)
    staged: Happened | None = None


@final
class MemoryRows(CampaignRows):
    """Rows in dictionaries."""

    def __init__(self, tables: Tables, family: Mapping[str, Tables] | None = None) -> None:
        self._tables, self._family = tables, family or {}
        self._written: RowChange | None = None
        for each in self._family.values():  # people are counted over all of them
            MemoryRows(each)
        self.settle()

    def head(self) -> HeadRow:
        return self._tables.head

    def heads(self) -> dict[str, HeadRow]:
        return {uid: tables.head for uid, tables in self._family.items()}

    def private(self) -> bytes:
        return self._tables.private

    def moved(self, since: int) -> Iterator[MovedRow]:
        for row in list(self._tables.decisions.values()):
            if row.moved > since and (since or row.status == "waiting"):
                yield MovedRow(*(getattr(row, name) for name in MovedRow._fields))

    def decision(self, seq: int) -> DecisionRecord | None:
        return self._tables.decisions.get(seq)

    def statuses(self, seqs: Sequence[int]) -> list[StatusRow]:
        rows = [self._tables.decisions[seq] for seq in seqs if seq in self._tables.decisions]
        return [StatusRow(row.seq, row.status, row.nonce) for row in rows]

    def decisions(self, after: int, limit: int) -> list[DecisionRecord]:
        known = self._tables.decisions
        last = min(len(known), after + limit)
        return [known[seq] for seq in range(after + 1, last + 1)]

    def held(self, seqs: Sequence[int]) -> dict[int, bytes]:
        return {seq: self._tables.held[seq] for seq in seqs if seq in self._tables.held}

    def readings(self, since: int) -> list[ReadingRow]:
        return [row for row in self._tables.readings if row.moved > since]

    def releases(self, after: int, until: int) -> list[ReleaseRow]:
        return [row for row in self._tables.releases if after < row.step <= until]

    def used(self, pseudonyms: Sequence[str]) -> dict[str, tuple[int, int]]:
        used = self._tables.group
        return {who: used[who] for who in pseudonyms if who in used}

    def response(self, place: str) -> str | None:
        return self._tables.responses.get(place)

    def answered_by(self, place: str) -> str | None:
        return next((uid for uid, own in self._family.items() if place in own.responses), None)

    def events(self, limit: int) -> list[EventRow]:
        return self._tables.events[::-1][:limit]

    def counts(self) -> dict[str, dict[str, int]]:
        found = dict[str, Counter[str]]()
        for row in list(self._tables.decisions.values()):
            found.setdefault(row.action, Counter())[row.status] += 1
        return {action: dict(each) for action, each in found.items()}

    def write(self, change: RowChange) -> None:
        require_once(self._tables.ends, change.readings)
        self._written = change

    def hold(self, change: RowChange) -> None:
        self._written = RowChange(self._tables.head, change.private, held=change.held)

    def commit(self) -> None:
        """What was written has happened."""
        tables, change = self._tables, self._written
        if change is not None:
            sizes = len(tables.readings), len(tables.releases), len(tables.events)
            tables.staged = (change, *sizes)
            self.settle()

    def settle(self) -> None:
        """Carry out what happened, in steps that say what will stand where: whatever interrupts
        them, the next transaction carries them out again from the start.
        """
        tables = self._tables
        if tables.staged is None:
            return
        change, readings, releases, events = tables.staged
        tables.head, version = change.head, change.head.version
        if change.private is not None:
            tables.private = change.private
        if change.give_up:
            tables.held.clear()
            for seq in [row.seq for row in tables.decisions.values() if row.status == "waiting"]:
                self._move(seq, status="lost", pseudonym=None, window=None, moved=version)
        tables.decisions.update({row.seq: row for row in change.asked})
        for seq, status in change.resolved.items():
            self._move(seq, status=status, pseudonym=None, window=None, moved=version)
            tables.held.pop(seq, None)
        for seq in change.unlearned:
            self._move(seq, learn=False, moved=version)
        tables.held |= change.held
        tables.readings[readings:] = change.readings
        for row in change.readings:
            place = row.generation, row.coordinate
            tables.ends[place] = max(row.stop, tables.ends.get(place, 0))
        tables.releases[releases:] = change.releases
        tables.events[events:] = change.events
        tables.group.update(change.used)
        tables.responses |= change.responses
        tables.staged = None

    def _move(self, seq: int, **to: object) -> None:
        decisions = self._tables.decisions
        decisions[seq] = decisions[seq]._replace(**to)  # type: ignore[arg-type]  # fields by name

    def waiting_of(self, pseudonym: str) -> list[int]:
        rows = self._tables.decisions.values()
        return [row.seq for row in rows if row.pseudonym == pseudonym and row.status == "waiting"]


def require_once(ends: Mapping[tuple[int, int], int], new: Sequence[ReadingRow]) -> None:
    """Refuse a reading of what was read before.

    ends: by generation and coordinate, where the last reading stopped.

    Raises:
        LedgerError: so it is.
    """
    reached = dict(ends)
    for row in new:
        place = row.generation, row.coordinate
        if row.kind == "read" and row.start < reached.get(place, 0):
            raise LedgerError(
                "The store refused to read a reward that was read before. Nothing was written."
            )
        reached[place] = max(row.stop, reached.get(place, 0))
