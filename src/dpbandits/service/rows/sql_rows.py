"""The rows of a campaign in a database."""

from collections.abc import Iterator, Sequence
from itertools import starmap
from typing import Any, final

from sqlalchemy import Connection, Table, delete, func, literal_column, select, update
from sqlalchemy.exc import DBAPIError, IntegrityError

from dpbandits.core.errors import LedgerError
from dpbandits.service.rows import tables
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
from dpbandits.service.rows.statements import HEAD_OF, HOLD, LOSE, RESOLVE, insertion, runs
from dpbandits.service.sealing import edited_decisions

MANY = 500
"""Rows that one statement names."""


def columns_of(table: Table, kind: Any) -> list[Any]:
    """The columns of a table that make this kind of row."""
    return [table.c[name] for name in kind._fields]


HEAD = columns_of(tables.head, HeadRow)
MOVED = columns_of(tables.decision, MovedRow)
STATUS = columns_of(tables.decision, StatusRow)
DECISION = columns_of(tables.decision, DecisionRecord)
READING = columns_of(tables.ledger, ReadingRow)
RELEASE = columns_of(tables.release, ReleaseRow)
EVENT = columns_of(tables.event, EventRow)


@final
class SqlRows(CampaignRows):
    """Rows behind an open transaction."""

    def __init__(self, connection: Connection, uid: str, group: str) -> None:
        self._connection, self._uid, self._group = connection, uid, group
        self._lite = connection.dialect.name == "sqlite"
        self._locked: HeadRow | None = None

    def _rows_of(self, table: Table, *where: Any) -> Any:
        return select(*self._columns(table)).where(table.c.campaign == self._uid, *where)

    def _columns(self, table: Table) -> list[Any]:
        return {
            "decision": DECISION,
            "ledger": READING,
            "release": RELEASE,
            "event": EVENT,
        }[table.name]

    def lock(self) -> None:
        """Keep the campaign's other transactions waiting until this one ends; its head is read by
        the same statement. For servers: SQLite locks the whole file.
        """
        sql = f"{HEAD_OF.replace('?', '%s')} FOR UPDATE"
        self._locked = HeadRow(*self._connection.exec_driver_sql(sql, (self._uid,)).one())

    def head(self) -> HeadRow:
        if self._locked is not None:
            return self._locked
        sql = HEAD_OF if self._lite else HEAD_OF.replace("?", "%s")
        return HeadRow(*self._connection.exec_driver_sql(sql, (self._uid,)).one())

    def heads(self) -> dict[str, HeadRow]:
        c = tables.campaign.c
        family = select(c.uid).where(c.group == self._group)
        query = select(tables.head.c.campaign, *HEAD).where(tables.head.c.campaign.in_(family))
        return {uid: HeadRow(*row) for uid, *row in self._connection.execute(query)}

    def private(self) -> bytes:
        table = tables.private_state
        found = select(table.c.body).where(table.c.campaign == self._uid)
        return bytes(self._connection.execute(found).scalar_one())

    def moved(self, since: int) -> Iterator[MovedRow]:
        c = tables.decision.c
        where = c.moved > since if since else c.status == literal_column("'waiting'")
        query = select(*MOVED).where(c.campaign == self._uid, where).order_by(c.seq)
        return starmap(MovedRow, self._connection.execute(query))

    def decision(self, seq: int) -> DecisionRecord | None:
        query = self._rows_of(tables.decision, tables.decision.c.seq == seq)
        row = self._connection.execute(query).one_or_none()
        return None if row is None else DecisionRecord(*row)

    def statuses(self, seqs: Sequence[int]) -> list[StatusRow]:
        c, found = tables.decision.c, list[StatusRow]()
        for at in range(0, len(seqs), MANY):
            query = select(*STATUS).where(c.campaign == self._uid, c.seq.in_(seqs[at : at + MANY]))
            found += starmap(StatusRow, self._connection.execute(query))
        return found

    def decisions(self, after: int, limit: int) -> list[DecisionRecord]:
        c = tables.decision.c
        query = self._rows_of(tables.decision, c.seq > after).order_by(c.seq).limit(limit)
        return [DecisionRecord(*row) for row in self._connection.execute(query)]

    def held(self, seqs: Sequence[int]) -> dict[int, bytes]:
        c, found = tables.held.c, dict[int, bytes]()
        for at in range(0, len(seqs), MANY):
            which = c.campaign == self._uid, c.seq.in_(seqs[at : at + MANY])
            rows = self._connection.execute(select(c.seq, c.body).where(*which))
            found |= {seq: bytes(body) for seq, body in rows}
        return found

    def readings(self, since: int) -> list[ReadingRow]:
        c = tables.ledger.c
        query = self._rows_of(tables.ledger, c.moved > since).order_by(c.id)
        return [ReadingRow(*row) for row in self._connection.execute(query)]

    def releases(self, after: int, until: int) -> list[ReleaseRow]:
        c = tables.release.c
        query = self._rows_of(tables.release, c.step > after, c.step <= until).order_by(c.step)
        return [ReleaseRow(*row) for row in self._connection.execute(query)]

    def used(self, pseudonyms: Sequence[str]) -> dict[str, tuple[int, int]]:
        c = tables.contribution.c
        query = select(c.pseudonym, c.window, c.used).where(
            c.group == self._group, c.pseudonym.in_(pseudonyms)
        )
        return {who: (window, used) for who, window, used in self._connection.execute(query)}

    def response(self, place: str) -> str | None:
        c = tables.request.c
        query = select(c.response).where(c.campaign == self._uid, c.place == place)
        return self._connection.execute(query).scalar_one_or_none()

    def answered_by(self, place: str) -> str | None:
        c, of = tables.request.c, tables.campaign.c
        query = select(c.campaign).where(
            c.campaign.in_(select(of.uid).where(of.group == self._group)), c.place == place
        )
        return self._connection.execute(query).scalar()

    def events(self, limit: int) -> list[EventRow]:
        query = self._rows_of(tables.event).order_by(tables.event.c.id.desc()).limit(limit)
        return [EventRow(*row) for row in self._connection.execute(query)]

    def counts(self) -> dict[str, dict[str, int]]:
        c, found = tables.decision.c, dict[str, dict[str, int]]()
        query = select(c.action, c.status, func.count()).where(c.campaign == self._uid)
        for action, status, many in self._connection.execute(query.group_by(c.action, c.status)):
            found.setdefault(action, {})[status] = many
        return found

    def write(self, change: RowChange) -> None:
        try:
            self._write(change)
        except IntegrityError:  # somebody else's row is there already
            raise edited_decisions() from None

    def _write(self, change: RowChange) -> None:
        uid, self._locked = self._uid, None
        self._put(tables.head, {"campaign": uid, **change.head._asdict()}, "campaign")
        if change.give_up:
            self._connection.execute(delete(tables.held).where(tables.held.c.campaign == uid))
            self._many(LOSE, [(change.head.version, uid)])
        self._insert(tables.decision, DecisionRecord._fields, change.asked)
        self._resolve(change)
        self.hold(change)
        self._insert(tables.release, ReleaseRow._fields, change.releases)
        self._read(change.readings)
        self._insert(tables.event, EventRow._fields, change.events)
        self._contribute(change)
        self._insert(tables.request, ("place", "response"), list(change.responses.items()))

    def hold(self, change: RowChange) -> None:
        if change.private is not None:
            body = {"campaign": self._uid, "body": change.private}
            self._put(tables.private_state, body, "campaign")
        held = [(self._uid, *row) for row in change.held.items()]
        self._many(HOLD, held)

    def _resolve(self, change: RowChange) -> None:
        """Decisions that wait no more, and what was held for them; and those nobody learns from."""
        uid, version, run = self._uid, change.head.version, self._connection.execute
        c = tables.decision.c
        self._many(
            RESOLVE,
            [(status, version, uid, first, last) for first, last, status in runs(change.resolved)],
        )
        windowed = [seq for seq, status in change.resolved.items() if status in ("passed", "void")]
        for at in range(0, len(windowed), MANY):
            gone = tables.held.c.seq.in_(windowed[at : at + MANY])
            run(delete(tables.held).where(tables.held.c.campaign == uid, gone))
        for at in range(0, len(change.unlearned), MANY):
            which = c.seq.in_(change.unlearned[at : at + MANY])
            unlearn = update(tables.decision).where(c.campaign == uid, which)
            run(unlearn.values(learn=False, moved=version))

    def _read(self, readings: Sequence[ReadingRow]) -> None:
        """The ledger's lines. The database itself refuses one that overlaps another."""
        try:
            self._insert(tables.ledger, ReadingRow._fields, readings)
        except DBAPIError as error:
            if "read before" in str(error.orig) or "ledger_once" in str(error.orig):
                raise LedgerError(
                    "The store refused to read a reward that was read before. Nothing was written."
                ) from None
            raise

    def _contribute(self, change: RowChange) -> None:
        for who, (window, many) in change.used.items():
            row = {"group": self._group, "pseudonym": who, "window": window, "used": many}
            self._put(tables.contribution, row, "group", "pseudonym")

    def _insert(self, table: Table, names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
        self._many(insertion(table.name, ("campaign", *names)), [(self._uid, *row) for row in rows])

    def _many(self, sql: str, rows: list[tuple[Any, ...]]) -> None:
        """Run a statement for each of these rows."""
        if rows:
            self._connection.exec_driver_sql(sql if self._lite else sql.replace("?", "%s"), rows)

    def _put(self, table: Table, row: dict[str, Any], *by: str) -> None:
        """Write a row, or write it anew."""
        self._many(insertion(table.name, tuple(row), by), [tuple(row.values())])

    def waiting_of(self, pseudonym: str) -> list[int]:
        c = tables.decision.c
        query = select(c.seq).where(
            c.campaign == self._uid, c.pseudonym == pseudonym, c.status == "waiting"
        )
        return list(self._connection.execute(query.order_by(c.seq)).scalars())
