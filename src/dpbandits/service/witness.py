"""The witness: a small second database that says how far each campaign has come. A store that is
restored from a copy is behind it, and is noticed.

A mark is on disk before anything that was computed from a release is shown to anybody. So the
witness is kept where no backup or snapshot of the store takes it along: a file on a local disk, or
another database server.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, final

from sqlalchemy import (
    Column,
    Connection,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Row,
    String,
    Table,
    UniqueConstraint,
    bindparam,
    func,
    insert,
    inspect,
    select,
    text,
)
from sqlalchemy.engine import make_url

from dpbandits.core.errors import WitnessError
from dpbandits.service.database import (
    PRESENT,
    Database,
    Place,
    address_of,
    begin_alone,
    make_private_file,
    require_durable,
    run,
    translated,
    why,
)
from dpbandits.service.tables import COUNTED, HASH, NAME, UID, HeadRow, ScopeKind
from dpbandits.session.times import EARLIEST

metadata = MetaData()

mark_table = Table(
    "dpbandits_witness_mark",
    metadata,
    Column("id", COUNTED, primary_key=True),
    Column("campaign", UID, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("step", Integer, nullable=False),
    Column("chain", HASH, nullable=False),
    Column("latest", Float),
    UniqueConstraint("campaign", "generation", "step", "chain"),
    Index("dpbandits_witness_newest", "campaign", "id"),
)
scope_table = Table(
    "dpbandits_witness_scope",
    metadata,
    Column("id", COUNTED, primary_key=True),
    Column("name", NAME, nullable=False),
    Column("spent", String, nullable=False),
    Column("unit", String),
    Column("window", Float),
    Column("trust", String),
    Column("noise", String),
)
batch_table = Table(
    "dpbandits_witness_batch",
    metadata,
    Column("id", COUNTED, primary_key=True),
    Column("call", String(64), nullable=False, unique=True),
    Column("generation", Integer, nullable=False),
)
secret_table = Table(
    "dpbandits_witness_secret",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("secret", LargeBinary, nullable=False),
)
key_table = Table(
    "dpbandits_witness_key",
    metadata,
    Column("id", COUNTED, primary_key=True),
    Column("hash", String(64), nullable=False),
    Column("revoked", Float),
)

APPEND_ONLY = {
    "sqlite": """
CREATE TRIGGER IF NOT EXISTS {table}_no_update BEFORE UPDATE ON {table}
BEGIN SELECT RAISE(ABORT, 'the witness is append only'); END;;
CREATE TRIGGER IF NOT EXISTS {table}_no_delete BEFORE DELETE ON {table}
BEGIN SELECT RAISE(ABORT, 'the witness is append only'); END""",
    "postgresql": """
CREATE OR REPLACE FUNCTION dpbandits_witness_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'the witness is append only'; END $$;;
CREATE OR REPLACE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}
FOR EACH STATEMENT EXECUTE FUNCTION dpbandits_witness_refuse()""",
}
REFUSING = {"sqlite": ("_no_update", "_no_delete"), "postgresql": ("_append_only",)}
"""How the names of these triggers end."""


AGAIN = "See to that, and make the call again. What this call computed is not shown."
LOCK = 7305180140
"""Of PostgreSQL, while a witness is written."""


class Mark(NamedTuple):
    """How far a campaign has come: fences, releases, and a hash over those."""

    generation: int
    step: int
    chain: str

    @classmethod
    def of(cls, head: HeadRow) -> Mark:
        return cls(head.generation, head.step, head.chain)


MARKS = select(
    mark_table.c.campaign, mark_table.c.generation, mark_table.c.step, mark_table.c.chain
)
NEWEST = MARKS.where(
    mark_table.c.id
    == select(func.max(mark_table.c.id))
    .where(mark_table.c.campaign == bindparam("of"))
    .scalar_subquery()
)
"""Of one campaign, which every call asks for: made once, for to make it takes longer."""


Moves = Mapping[str, tuple[Mark, Mark | None, float]]
"""By uid of a campaign, its new mark, the one before it, and the latest time that it has seen,
where its people come back.
"""


class ScopeMark(NamedTuple):
    """What is spent of a budget over campaigns, an exact fraction, and what its guarantees are
    about.
    """

    spent: str
    kind: ScopeKind


@final
class Witness:
    """Marks of campaigns, which are added and never changed.

    Args:
        place: a file; the address of a database server other than the store's; None: in memory, for
            a store that forgets anyway.
        make: whether the file is made at once if there is none; else with its first mark.
        looking: whether it is only read, and has to be there.
        store: the store's database, whose own server is refused.

    Raises:
        WitnessError: it cannot be opened, is another program's, or is not there.
    """

    def __init__(
        self,
        place: str | Path | None,
        *,
        make: bool = True,
        looking: bool = False,
        store: Database | None = None,
    ) -> None:
        self._looking = looking
        self._opened: Place | None = None
        self._url = make_url(str(place)) if is_server(place) else None
        self.path = None if place is None or self._url is not None else Path(place)
        self.place = "in memory" if place is None else str(place)
        if self._url is not None:
            self.place = address_of(self._url)
        if self.path is None or make or self.path.exists():
            with translated("opened", self._error):
                self._open(store)
        elif looking:
            raise WitnessError(
                f"There is no witness {self.place}. Name the one of whoever serves the store, with "
                "witness= or --witness."
            )

    def __repr__(self) -> str:
        return f"Witness({self.place!r})"

    def _open(self, store: Database | None = None) -> Place:
        """Open it, make its tables and triggers where they are missing, and read it once."""
        if self.path is not None and not self._looking:
            make_private_file(self.path)
        opened = Place(self.path, self._url)
        try:
            self._prepare(opened, store)
        except BaseException:
            opened.engine.dispose()
            raise
        self._opened = opened
        return opened

    def _prepare(self, opened: Place, store: Database | None) -> None:
        if opened.is_server and store is not None:
            require_other_server(opened.engine, store)
        if opened.is_server or self.path is not None:
            require_durable(opened.engine)
        with opened.engine.connect() as connection:
            dialect = connection.dialect.name
            named = {name + end for name in metadata.tables for end in ("", *REFUSING[dialect])}
            missing = named - set(connection.exec_driver_sql(PRESENT[dialect]).scalars())
            if self._looking and mark_table.name in missing:
                raise self._strange()
            if missing and not self._looking:
                connection.rollback()
                self._make_tables(connection)
            connection.execute(select(func.count()).select_from(mark_table)).scalar()

    def _make_tables(self, connection: Connection) -> None:
        """Make what is missing."""
        begin_alone(connection, LOCK)
        names = inspect(connection).get_table_names()
        if names and mark_table.name not in names and self._url is None:
            raise self._strange()
        metadata.create_all(connection)
        for table in metadata.sorted_tables:
            for statement in APPEND_ONLY[connection.dialect.name].split(";;"):
                connection.exec_driver_sql(statement.format(table=table.name))
        connection.commit()

    def _strange(self) -> WitnessError:
        return WitnessError(
            f"Expected {self.place} to be a witness of dpbandits; it is another file, or damaged. "
            "Nothing was done."
        )

    def _error(self, cause: object, what: str) -> WitnessError:
        if type(cause).__name__ == "DatabaseError":
            return self._strange()
        advice = {
            "opened": "Is its address right, is its folder there, with room on its disk, and is it "
            "a witness?",
            "read": f"May this process read it? {AGAIN}",
            "written": f"Is the disk full? {AGAIN}",
        }
        why_not = f"could not be {what} ({why(cause)})"
        return WitnessError(f"The witness {self.place} {why_not}. {advice[what]}")

    @contextmanager
    def _connected(self, what: str) -> Iterator[Connection | None]:
        """A connection; None: there is no witness, and it is only read."""
        with translated(what, self._error):
            if self._opened is None and what == "read" and self.path and not self.path.exists():
                yield None
                return
            opened = self._opened or self._open()
            opened.follow_fork()
            if opened.is_moved:
                raise WitnessError(
                    f"The witness {self.place} was replaced while it was in use. Nothing was done. "
                    "Put the file back as it was, and open the store again."
                )
            with opened.alone() as connection:
                yield connection

    def _rows(self, query: Any) -> Sequence[Row[Any]]:
        """The rows of a query; none, where there is no witness."""
        with self._connected("read") as connection:
            return [] if connection is None else connection.execute(query).all()

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """A transaction that nobody else writes beside, committed as the block is left."""
        with self._connected("written") as connection:
            assert connection is not None
            begin_alone(connection, LOCK)
            yield connection
            connection.commit()

    def marks(self, uids: Sequence[str]) -> dict[str, Mark]:
        """How far these campaigns were seen to have come."""
        with self._connected("read") as connection:
            if connection is None:
                return {}
            if len(uids) == 1:
                rows: Any = run(connection, NEWEST, ("of",), uids)
            else:  # in one state of the rows
                c = mark_table.c
                newest = select(func.max(c.id)).where(c.campaign.in_(uids)).group_by(c.campaign)
                rows = connection.execute(MARKS.where(c.id.in_(newest)))
            return {uid: Mark(*row) for uid, *row in rows}

    def knows(self, uid: str, mark: Mark) -> bool:
        """Whether a campaign was ever seen at this mark."""
        return bool(self._rows(of_mark(uid, mark)))

    def latest_time(self, uid: str) -> float:
        """The latest time, in seconds, that a campaign of returning people was seen at; −∞ where
        none was.
        """
        query = select(func.max(mark_table.c.latest)).where(mark_table.c.campaign == uid)
        latest = [at for (at,) in self._rows(query) if at is not None]
        return float(latest[0]) if latest else -math.inf

    def add(
        self, moves: Moves, joined: tuple[str, ScopeMark, ScopeMark | None] | None = None
    ) -> None:
        """Witness that campaigns came from one mark to the next. Made again, it changes nothing.

        Args:
            joined: a budget over campaigns by name, how it stands once they have begun, and how it
                was seen to stand before (see `scope`).

        Raises:
            WitnessError: one was seen elsewhere, so two copies of one campaign, or of the budget,
                are at work; or the witness cannot be written.
        """
        with self._writing() as connection:
            for uid, (mark, after, at) in moves.items():
                if connection.execute(of_mark(uid, mark)).first() is not None:
                    continue  # another process was here, and may have come further since
                row = connection.execute(NEWEST, {"of": uid}).first()
                if (None if row is None else Mark(*row[1:])) != after:
                    raise WitnessError(
                        "This campaign was seen elsewhere, at another release: two copies of one "
                        "database are at work. What this call computed is not shown. Stop one of "
                        "them."
                    )
                seen = at if at > EARLIEST else None
                values = {"campaign": uid, **mark._asdict(), "latest": seen}
                connection.execute(insert(mark_table), [values])
            if joined is not None:
                name, stands, before = joined
                if newest_scope(connection.execute(of_scope(name)).all()) != before:
                    raise WitnessError(
                        f"The scope {name!r} was joined elsewhere meanwhile: two copies of one "
                        "database are at work. Nothing was created. Stop one of them."
                    )
                budget = {"name": name, "spent": stands.spent, **stands.kind._asdict()}
                connection.execute(insert(scope_table), [budget])

    def batch(self, call: str, generation: int) -> int:
        """Witness, before its outcomes are recorded, that a batch is being recorded. Returns the
        generation of the campaign in which it was tried first.

        Args:
            call: a hash of the call's key.
        """
        return int(self._kept(batch_table.c.generation, {"call": call}, generation))

    def scope(self, name: str) -> ScopeMark | None:
        """How a budget over campaigns was seen to stand."""
        return newest_scope(self._rows(of_scope(name)))

    def is_empty(self) -> bool:
        """Whether it never saw a campaign."""
        return not self._rows(select(mark_table.c.id).limit(1))

    def add_key(self, hash: str, revoked: float | None = None) -> None:
        """Witness that an access key was made, or revoked at a time."""
        with self._writing() as connection:
            connection.execute(insert(key_table), [{"hash": hash, "revoked": revoked}])

    def keys(self) -> dict[str, float | None]:
        """By hash, when the access keys that were ever made were revoked."""
        c = key_table.c
        query = select(c.hash, func.max(c.revoked)).group_by(c.hash)
        return dict(map(tuple, self._rows(query)))

    def secret(self) -> bytes:
        """32 secret bytes, made once and kept: of them campaigns that join a scope have their uids,
        and under them calls of a store without a key are known.
        """
        return bytes(self._kept(secret_table.c.secret, {"id": 1}, secrets.token_bytes(32)))

    def _kept(self, column: Column[Any], row: Mapping[str, Any], value: Any) -> Any:
        """What a row has in this column. A row that there is not is made, with this value."""
        with self._writing() as connection:
            kept = connection.execute(select(column).filter_by(**row)).scalar()
            if kept is None:
                connection.execute(insert(column.table), [{**row, column.name: value}])
        return value if kept is None else kept

    def close(self) -> None:
        """Let go of the witness."""
        if self._opened is not None and self._opened.is_own:
            self._opened.engine.dispose()


def is_server(place: str | Path | None) -> bool:
    return isinstance(place, str) and place.startswith("postgresql")


def require_folder(place: str | Path | None) -> None:
    """Refuse a file whose folder does not exist. It is not made: a mount that is missing, or a
    typo, would go unnoticed.

    Raises:
        WitnessError: there is no such folder.
    """
    if place is None or is_server(place) or Path(place).parent.is_dir():
        return
    raise WitnessError(
        f"There is no folder {Path(place).parent} for the witness {place}. Nothing was opened."
    )


def of_scope(name: str) -> Any:
    """The query of how a budget over campaigns was seen to stand."""
    c = scope_table.c
    query = select(c.spent, c.unit, c.window, c.trust, c.noise).where(c.name == name)
    return query.order_by(c.id.desc()).limit(1)


def newest_scope(rows: Sequence[Row[Any]]) -> ScopeMark | None:
    return ScopeMark(rows[0].spent, ScopeKind(*rows[0][1:])) if rows else None


def of_mark(uid: str, mark: Mark) -> Any:
    """The query of a campaign's mark."""
    c = mark_table.c
    place = (c.campaign == uid, c.generation == mark.generation, c.step == mark.step)
    return select(c.id).where(*place, c.chain == mark.chain)


def require_other_server(engine: Any, store: Database) -> None:
    """Refuse the store's own server as its witness: one backup would take both along.

    Raises:
        WitnessError: it is.
    """
    if store.is_sqlite:
        return
    began = text("SELECT pg_postmaster_start_time()")
    with engine.connect() as here, store.engine.connect() as there:
        same = here.execute(began).scalar() == there.execute(began).scalar()
    if same:
        raise WitnessError(
            "Expected the witness on another database server than the store's: a backup that takes "
            "both along cannot be told from the newest state. Name a file, or another server."
        )
