"""Campaigns in a database: SQLite in one file, or PostgreSQL."""

import math
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, final

from sqlalchemy import Connection, insert, select, text
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from dpbandits.core.calls.gate import Home
from dpbandits.core.errors import Error, StoreError
from dpbandits.service.call_lock import CallLock
from dpbandits.service.rows import tables
from dpbandits.service.rows.backend import Backend, CampaignRows, Joining, Part
from dpbandits.service.rows.engines import (
    PATIENCE,
    big_engine,
    database_file,
    known_url,
    lite_engine,
    looking_engine,
    require_durable,
    withdraw_from_others,
)
from dpbandits.service.rows.memory import no_scope, taken_key, taken_name
from dpbandits.service.rows.migrating import bring_up, require_newest
from dpbandits.service.rows.records import CampaignRow, KeyRow, ScopeRow
from dpbandits.service.rows.sql_rows import SqlRows, columns_of
from dpbandits.service.rows.statements import KEY_OF, KEYS

CAMPAIGN = columns_of(tables.campaign, CampaignRow)
SCOPE = columns_of(tables.scope, ScopeRow)

OFTEN = 2.0
"""Seconds after which a transaction empties SQLite's log."""


@final
class SqlBackend(Backend):
    """Campaigns in a database.

    url: as SQLAlchemy writes it, `sqlite:///trial.db` or `postgresql+psycopg://host/database`.
    looking: nothing is written, and no private row is read.

    Raises:
        StoreError: no such database, one of a newer version, or one that forgets what it committed.
    """

    durable = True
    failures = (SQLAlchemyError,)

    def __init__(self, url: str | URL, *, looking: bool = False) -> None:
        self.url = known_url(url)
        self._lite = self.url.get_backend_name() == "sqlite"
        self._looking = looking
        lite = looking_engine if looking else lite_engine
        with told("opened"):
            self._engine = lite(self.url) if self._lite else big_engine(self.url)
        try:
            with told("opened"):
                if looking:
                    require_newest(self._engine)
                else:
                    bring_up(self._engine)
                    require_durable(self._engine)
        except BaseException:
            self._engine.dispose()
            raise
        self._groups, self._home = dict[str, str](), Home()
        # SQLite has one writer, and lets the others sleep; threads wait here
        self._writing = CallLock()
        self._left = list[Any]()  # a parent's connections, never closed in its child
        self._emptied = -math.inf  # a crash may have left a log behind
        file = database_file(self.url) if self._lite and not looking else None
        if file is not None:
            withdraw_from_others(file)

    @contextmanager
    def _begun(self, *, write: bool = True) -> Iterator[Connection]:
        """A transaction, committed as the block is left."""
        self._settle_in()
        turn = self._writing if write and self._lite else nullcontext()
        with told("written" if write else "read"), turn, self._engine.connect() as connection:
            if self._lite:
                connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
            elif not write:
                connection.execute(
                    text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
                )
            yield connection
            if write:
                connection.commit()
                self._empty_log_in_time(connection)

    def _settle_in(self) -> None:
        """A forked child takes connections of its own."""
        if not self._home.here:
            self._left.append(self._engine.pool)
            self._engine.dispose(close=False)
            self._home, self._writing = Home(), CallLock()

    def create(
        self, row: CampaignRow, parts: Sequence[Part], joining: Joining | None = None
    ) -> None:
        with self._begun() as connection:
            named = {each.name: each for each in (row, *(part for part, _ in parts))}
            try:
                connection.execute(insert(tables.campaign), [r._asdict() for r in named.values()])
            except IntegrityError:
                raise taken_name() from None
            for part, change in parts:
                rows = SqlRows(connection, part.uid, part.group)
                rows.write(change)
            if joining is not None:
                name, join = joining
                query = select(*SCOPE).where(tables.scope.c.name == name).with_for_update()
                found = connection.execute(query).one_or_none()
                if found is None:
                    raise no_scope(name)
                rows._put(tables.scope, join(ScopeRow(*found))._asdict(), "name")

    def campaigns(self) -> list[CampaignRow]:
        query = select(*CAMPAIGN).order_by(tables.campaign.c.created, tables.campaign.c.uid)
        with self._begun(write=False) as connection:
            return [CampaignRow(*row) for row in connection.execute(query)]

    def campaign(self, name: str) -> CampaignRow | None:
        query = select(*CAMPAIGN).where(tables.campaign.c.name == name)
        with self._begun(write=False) as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else CampaignRow(*row)

    def some_private(self) -> bytes | None:
        with self._begun(write=False) as connection:
            body = connection.execute(select(tables.private_state.c.body).limit(1)).scalar()
        return None if body is None else bytes(body)

    @contextmanager
    def transaction(self, uid: str) -> Iterator[CampaignRows]:
        with self._begun() as connection:
            group = self._group_of(connection, uid)
            rows = SqlRows(connection, uid, group)
            if not self._lite and group == uid:  # SQLite locks the whole file
                rows.lock()
            elif not self._lite:  # segments count their people together
                whole = select(tables.campaign.c.uid).where(tables.campaign.c.uid == group)
                connection.execute(whole.with_for_update())
            yield rows

    @contextmanager
    def reading(self, uid: str) -> Iterator[CampaignRows]:
        with self._begun(write=False) as connection:
            yield SqlRows(connection, uid, self._group_of(connection, uid))

    def _group_of(self, connection: Connection, uid: str) -> str:
        if uid not in self._groups:
            c = tables.campaign.c
            found = connection.execute(select(c.group).where(c.uid == uid)).scalar_one_or_none()
            if found is None:
                raise StoreError("This campaign is not in the database any more.")
            self._groups[uid] = found
        return self._groups[uid]

    def scope(self, name: str) -> ScopeRow | None:
        query = select(*SCOPE).where(tables.scope.c.name == name)
        with self._begun(write=False) as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else ScopeRow(*row)

    def add_scope(self, scope: ScopeRow) -> None:
        kind = sqlite_insert if self._lite else postgresql_insert
        with self._begun() as connection:
            connection.execute(kind(tables.scope).values(scope._asdict()).on_conflict_do_nothing())

    def access_keys(self) -> list[KeyRow]:
        with self._begun(write=False) as connection:
            return [KeyRow(*row) for row in connection.exec_driver_sql(KEYS)]

    def key(self, hash: str) -> KeyRow | None:
        sql = KEY_OF if self._lite else KEY_OF.replace("?", "%s")
        with self._begun(write=False) as connection:
            row = connection.exec_driver_sql(sql, (hash,)).one_or_none()
        return None if row is None else KeyRow(*row)

    def add_key(self, key: KeyRow) -> None:
        with self._begun() as connection:
            if not self._lite:  # which has one writer
                connection.exec_driver_sql("LOCK TABLE access_key IN SHARE ROW EXCLUSIVE MODE")
            same = select(tables.access_key.c.hash).where(tables.access_key.c.name == key.name)
            if connection.execute(same).first() is not None:
                raise taken_key(key.name)
            connection.execute(insert(tables.access_key).values(key._asdict()))

    def put_key(self, key: KeyRow) -> None:
        with self._begun() as connection:
            SqlRows(connection, "", "")._put(tables.access_key, key._asdict(), "hash")

    def forget(self) -> None:
        """SQLite's log holds older pages until it begins anew, one by one: the differences of
        open sums in it are rewards. PostgreSQL sees to its own.
        """
        if not self._lite or self._looking:
            return
        self._settle_in()
        with told("written"), self._writing, self._engine.connect() as connection:
            self._emptied = -math.inf  # where somebody reads, the next transaction tries again
            self._empty_log(connection)

    def _empty_log(self, connection: Connection) -> None:
        """Begin SQLite's log anew, unless somebody is reading it."""
        run = connection.exec_driver_sql
        try:
            run("PRAGMA busy_timeout = 0")  # nobody waits for this
            busy, *_ = run("PRAGMA wal_checkpoint(TRUNCATE)").one()
            run(f"PRAGMA busy_timeout = {1_000 * PATIENCE}")
        except BaseException:  # an interruption, too: nobody is to have a connection that waits not
            connection.invalidate()
            raise
        if not busy:
            self._emptied = time.monotonic()

    def _empty_log_in_time(self, connection: Connection) -> None:
        """After a commit: begin the log anew, now and then, for it costs as much as some commits.
        In between it has a thousand pages at most, by SQLite's own count.
        """
        if self._lite and time.monotonic() - self._emptied > OFTEN:
            with suppress(SQLAlchemyError, OSError):  # it stands, whatever becomes of older pages
                self._empty_log(connection)

    def close(self) -> None:
        with suppress(StoreError):  # other processes may keep the log open
            self.forget()
        self._engine.dispose()


@contextmanager
def told(what: str) -> Iterator[None]:
    """A database's errors in our words: theirs show what was to be written."""
    try:
        yield
    except Error:
        raise
    except (SQLAlchemyError, DBAPIError, OSError) as error:
        advice = (
            "Is its address right, is its folder there, and is it a database?"
            if what == "opened"
            else "If this was a change, whether it stands is not known: make the same call again, "
            "with the key= that it had; no reward is counted twice."
        )
        advice = DAMAGED if is_damaged(error) else advice
        raise StoreError(
            f"The database could not be {what} ({without_statement(error)}). {advice}"
        ) from None


DAMAGED = (
    "Its file is damaged. Was a copy put back beside files that end in -wal and -shm? They belong "
    "to the database before: stop the servers, delete both, and put the copy back again."
)


def is_damaged(error: Exception) -> bool:
    """Whether SQLite found a page that is none."""
    code = getattr(getattr(error, "orig", None) or error, "sqlite_errorcode", 0) or 0
    return code & 0xFF == sqlite3.SQLITE_CORRUPT


def without_statement(error: Exception) -> str:
    """What went wrong, without any value that was to be written."""
    cause = getattr(error, "orig", None) or error
    said = getattr(getattr(cause, "diag", None), "message_primary", None)
    if said is None and isinstance(cause, (sqlite3.OperationalError, OSError)):
        said = str(cause).splitlines()[0]
    return f"{type(cause).__name__}: {said}" if said else type(cause).__name__
