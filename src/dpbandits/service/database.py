"""The database of a store: SQLite in a file or in memory, or PostgreSQL; its transactions and rows.

What is committed here is on disk when the call returns; a database that could forget a commit is
refused. Nothing here knows policies.
"""

from __future__ import annotations

import json
import logging
import math
import os
import queue
import sqlite3
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache, lru_cache, partial
from importlib.resources import files
from itertools import groupby, starmap
from pathlib import Path
from queue import SimpleQueue
from typing import Any, final
from urllib.parse import quote
from weakref import WeakSet

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import (
    JSON,
    Connection,
    CursorResult,
    Dialect,
    Engine,
    Insert,
    QueuePool,
    Select,
    StaticPool,
    Table,
    bindparam,
    case,
    cast,
    create_engine,
    delete,
    event,
    func,
    insert,
    inspect,
    literal_column,
    null,
    select,
    text,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry
from sqlalchemy.util.queue import Empty, Full, QueueCommon

from dpbandits.core.errors import (
    EditedRowsError,
    Error,
    LedgerError,
    NameTakenError,
    SharedError,
    StoreError,
)
from dpbandits.core.inputs import shown
from dpbandits.core.locks import CallLock, this_process
from dpbandits.service import tables
from dpbandits.service.refusals import refusal
from dpbandits.service.sealing import EDITED, edited_decisions
from dpbandits.service.tables import (
    CampaignRow,
    CellRow,
    Change,
    ContextChange,
    ContextRow,
    DecisionRow,
    EventRow,
    HeadRow,
    KeyRow,
    ReadingRow,
    ReleaseRow,
    ScopeRow,
    StatusRow,
)

PATIENCE = 30
"""Seconds that a transaction waits for another one to end."""

KEEPALIVES = {"idle": 15, "interval": 5, "count": 3}
"""Seconds of silence after which PostgreSQL and this process ask whether the other one is there,
seconds between two such questions, and how many stay unanswered where it is not. By default a
machine that is gone keeps its locks, or a call waiting, for two hours.
"""

BEGUN = f"""SET LOCAL lock_timeout = '{PATIENCE}s';
SELECT set_config('synchronous_commit', 'on', true)
WHERE current_setting('synchronous_commit') != 'remote_apply'"""
"""What a transaction that writes to PostgreSQL begins with: a pooler may give it a connection for
which others set these. Who wants replicas to be up to date keeps that.
"""

OFTEN = 2.0
"""Seconds after which a transaction empties SQLite's log."""

MANY = 500
"""Rows that one statement names."""

OTHERS = 0o077
"""The rights of everybody but a file's owner."""


def busy() -> SharedError:
    return SharedError(
        "Another call of this campaign or store is under way in this thread, around this one (a "
        "signal handler, a noise source, a clock). Nothing was done. Call again once it has "
        "returned."
    )


class IdleConnections(QueueCommon[ConnectionPoolEntry]):
    """Connections that wait to be used. SQLAlchemy's own queue is locked in Python, and an
    interruption while the lock is being taken leaves it locked for ever.
    """

    def __init__(self, maxsize: int = 0, use_lifo: bool = False) -> None:
        self.maxsize, self.use_lifo = maxsize, use_lifo
        self._queue = SimpleQueue[ConnectionPoolEntry]()

    def qsize(self) -> int:
        return self._queue.qsize()

    def put(
        self, item: ConnectionPoolEntry, block: bool = True, timeout: float | None = None
    ) -> None:
        if self.maxsize and self._queue.qsize() >= self.maxsize:
            raise Full
        self._queue.put(item)

    def get(self, block: bool = True, timeout: float | None = None) -> ConnectionPoolEntry:
        try:
            return self._queue.get(block, timeout)
        except queue.Empty:
            raise Empty from None


@final
class Connections(QueuePool):
    """SQLAlchemy's pool, with a queue that interruptions cannot lock."""

    _queue_class = IdleConnections

    def close_idle(self) -> None:
        """Close the connections that nobody uses; they are opened again when they are needed."""
        for _ in range(self._pool.qsize()):
            with suppress(Empty, Full):
                idle = self._pool.get(False)
                idle.invalidate()
                self._pool.put(idle)


# Addresses and files


def known_url(url: str | URL) -> URL:
    """Return the address of a database; `memory:` is SQLite in memory.

    Raises:
        ValueError: it is none, or of an unknown kind. A password is not shown.
    """
    if url in ("memory:", "memory://"):
        return make_url("sqlite://")
    with suppress(ArgumentError, ValueError):
        made = make_url(url)
        if made.get_backend_name() in ("sqlite", "postgresql"):
            return made
    raise ValueError(
        "Expected an address such as 'sqlite:///trial.db', "
        "'postgresql+psycopg://user@host/database' or, of a server, 'http://localhost:8080'."
    )


def address_of(url: URL) -> str:
    """Return an address to show: without its password, and without options, which may have one."""
    return url.set(query={}).render_as_string(hide_password=True)


def database_file(url: URL) -> Path | None:
    """Return the file that an address of SQLite means, links followed; None for one in memory.

    Raises:
        ValueError: the address has another form, which may mean another file.
    """
    name = url.database or ":memory:"
    known = url.drivername in ("sqlite", "sqlite+pysqlite")
    if not known or url.query or url.host or name.startswith("file:"):
        raise ValueError(
            "Expected the address of a file of SQLite such as 'sqlite:///trial.db', without "
            "'file:', a host or a '?'. Nothing was opened."
        )
    return None if name == ":memory:" else Path(os.path.realpath(name))


def inode_of(path: Path) -> tuple[int, int] | None:
    """Tell a file from another one that takes its place; None: there is none."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def make_private_file(path: Path) -> None:
    """Make a database's file with mode 600, if there is none; SQLite's log gets the same."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def withdraw_from_others(path: Path) -> None:
    """Take other users' rights to a database and its log away, with a warning."""
    for end in ("", "-wal", "-shm", "-journal"):
        file = path.with_name(path.name + end)
        try:
            mode = os.lstat(file).st_mode
            if not stat.S_ISREG(mode) or not mode & OTHERS:
                continue
            with suppress(OSError):  # another user's
                os.chmod(file, 0o600)
            left = os.lstat(file).st_mode & OTHERS
        except FileNotFoundError:  # another process has closed the database meanwhile
            continue
        logging.getLogger("dpbandits").warning(
            "%s was open to other users of this machine (mode %o). %s",
            file,
            stat.S_IMODE(mode),
            "Its owner should make it 600." if left else "It is 600 now.",
        )


FORKED = (
    "This process was forked while the one before it used the same file of SQLite, whose locks do "
    "not work here. Nothing was done. Open the store after the fork, and not before (uWSGI: "
    "lazy-apps), or use PostgreSQL."
)


@final
class FileConnection(sqlite3.Connection):
    """A connection to a file of SQLite. A forked child knows which ones its parent had open, and is
    refused before it calls SQLite, which may wait for ever there for another thread of its parent.
    """

    def __init__(self, path: Path, *given: Any, **options: Any) -> None:
        self.inode = inode_of(path)
        if any(each.inode == self.inode for each in INHERITED):
            raise SharedError(FORKED)
        OPEN.add(self)
        super().__init__(*given, **options)

    def close(self) -> None:
        """Close it."""
        super().close()
        OPEN.discard(self)


FILE_ENGINES, OPEN, INHERITED = WeakSet[Engine](), WeakSet[FileConnection](), list[FileConnection]()
"""Engines of files of SQLite, the connections of this process, and those that its parent had."""


def close_idle_files() -> None:
    """Before a fork: SQLite in the child would think that it holds the locks of open connections,
    and others would delete the log that it writes.
    """
    for engine in list(FILE_ENGINES):
        engine.pool.close_idle()  # type: ignore[attr-defined]


def keep_inherited() -> None:
    """After a fork, in the child: what is still open was in use by another thread, or the fork was
    not Python's. It is never closed here.
    """
    INHERITED.extend(OPEN)
    OPEN.clear()


if hasattr(os, "register_at_fork"):  # where there is fork
    os.register_at_fork(before=close_idle_files, after_in_child=keep_inherited)


class KeptConnection(sqlite3.Connection):
    """A connection to a database in memory, which lives as long as the connection: it is not closed
    by whoever gives up an interrupted call.
    """

    def close(self) -> None:
        """Keep what is committed."""
        self.rollback()

    def __del__(self) -> None:
        super().close()  # Python 3.13 warns of a connection that nobody closed


def begin_log(connection: Any) -> None:
    """Write ahead. Where several processes open a new file at once, SQLite itself does not wait."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


def roll_back_on_return(engine: Engine) -> None:
    """Have every connection rolled back as it goes back to its pool. SQLAlchemy takes a commit that
    was interrupted before the driver had it for done, and the transaction would stay open.
    """

    @event.listens_for(engine, "reset")
    def roll_back(connection: Any, _: object, __: object) -> None:
        connection.rollback()


SILENT: dict[str, Any] = {"hide_parameters": True, "logging_name": "dpbandits"}
"""Of an engine that logs nothing of what it writes; nor, by the filter, of what it reads."""

logging.getLogger("sqlalchemy.engine.Engine.dpbandits").addFilter(
    lambda record: record.levelno > logging.DEBUG
)


def sqlite_engine(path: Path | None) -> Engine:
    """SQLite, in which transactions begin as we say and a commit is on disk when it returns."""
    how: dict[str, Any] = {**SILENT, "pool_reset_on_return": None}
    if path is None:
        kept = sqlite3.connect(":memory:", check_same_thread=False, factory=KeptConnection)
        how |= {"poolclass": StaticPool, "creator": lambda: kept}
        engine = create_engine("sqlite://", **how)
    else:
        name = f"file:{quote(os.fsencode(path))}"
        query = {"mode": "rw", "uri": "true"}  # a file that was taken away is not made anew
        url = URL.create("sqlite", database=name, query=query)
        connect_args = {
            "timeout": PATIENCE,
            "check_same_thread": False,
            "factory": partial(FileConnection, path),
        }
        how |= {"poolclass": Connections, "pool_size": 20}
        engine = create_engine(url, connect_args=connect_args, **how)
        FILE_ENGINES.add(engine)
    roll_back_on_return(engine)

    @event.listens_for(engine, "connect")
    def settle(connection: Any, _: object) -> None:
        connection.isolation_level = None  # no BEGIN but ours
        begin_log(connection)
        for pragma in ("synchronous=FULL", "secure_delete=ON"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "handle_error")
    def keep(context: Any) -> None:
        # an interruption, or a TimeoutError of an alarm, is no disconnection: it would close a
        # database in memory for good, and leave a file locked for as long as somebody keeps the
        # error
        if not isinstance(context.original_exception, sqlite3.Error):
            context.is_disconnect = False

    return engine


def server_engine(url: URL) -> Engine:
    """PostgreSQL, whatever its database or role sets by default. Options of the address count for
    this end of a connection, not for what is set at the server.
    """
    waiting = {"connect_timeout": PATIENCE, "tcp_user_timeout": 1_000 * PATIENCE}
    waiting |= {f"keepalives_{name}": value for name, value in KEEPALIVES.items()}
    engine = create_engine(
        url,
        poolclass=Connections,
        pool_size=20,
        pool_pre_ping=True,
        pool_reset_on_return=None,
        **SILENT,
        isolation_level="READ COMMITTED",
        connect_args={
            **{name: url.query.get(name, value) for name, value in waiting.items()},
            "client_encoding": "utf8",
            "prepare_threshold": None,  # a pooler may give each transaction another connection
        },
    )
    roll_back_on_return(engine)

    @event.listens_for(engine, "connect")
    def settle(connection: Any, _: object) -> None:
        settings = {f"tcp_keepalives_{name}": value for name, value in KEEPALIVES.items()}
        for name, value in {"lock_timeout": f"{PATIENCE}s", **settings}.items():
            connection.cursor().execute(f"SET {name} = '{value}'")
        connection.commit()

    return engine


@final
class Place:
    """Where a store, or a witness, is kept: SQLite in a file or in memory, or PostgreSQL.

    Args:
        path: of the file; None: in memory, or a server.
        url: of the server.
    """

    def __init__(self, path: Path | None, url: URL | None = None) -> None:
        self.path, self.is_server = path, url is not None
        self.engine = sqlite_engine(path) if url is None else server_engine(url)
        self._inode = None if path is None else inode_of(path)
        self._process, self._parents = this_process(), list[Any]()
        self._lock, self._left = CallLock(busy), dict[tuple[object, int], list[Any]]()

    @property
    def is_moved(self) -> bool:
        """Whether another file took the place of the one that was opened: some connections would
        have one, and some the other.
        """
        return self.path is not None and inode_of(self.path) != self._inode

    @property
    def is_own(self) -> bool:
        """Whether this process opened it, and not one that was forked since."""
        return self._process == this_process()

    def follow_fork(self) -> None:
        """A forked child takes connections of its own."""
        if not self.is_own:
            self._parents.append(self.engine.pool)  # whose connections are never closed here
            self.engine.dispose(close=False)
            self._process = this_process()

    @contextmanager
    def alone(self) -> Iterator[Connection]:
        """A connection, while nobody else has one. One that an interrupted call left within a
        transaction is rolled back by the next call: it would keep every later one waiting. A forked
        child leaves those of its parent alone.
        """
        with self._lock.held():
            left = self._left.setdefault(this_process(), [])
            for raw in left:
                with suppress(self.engine.dialect.loaded_dbapi.Error):
                    raw.rollback()
            left.clear()
            with self.engine.connect() as connection:
                left.append(connection.connection.driver_connection)
                try:
                    yield connection
                except Exception:
                    left.clear()
                    raise
            left.clear()


def require_durable(engine: Engine) -> None:
    """Refuse a database that may forget what it committed: then noise would be drawn twice.

    Raises:
        StoreError: a setting is off.
    """
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            off = int(connection.execute(text("PRAGMA synchronous")).scalar_one()) < 2
            forgets = ["synchronous"] if off else []
        else:
            names = ("fsync", "full_page_writes", "synchronous_commit")
            settings = {name: connection.execute(text(f"SHOW {name}")).scalar() for name in names}
            forgets = [name for name, value in settings.items() if value == "off"]
    if forgets:
        raise StoreError(
            f"Expected a database that keeps what it commits; {', '.join(forgets)} is off, so "
            "a loss of power could bring back blocks that were read. Switch it on."
        )


# Versions


def config_of(connection: Connection) -> Config:
    """Return Alembic's settings, without a file."""
    config = Config()
    folder = files("dpbandits.service").joinpath("migrations")
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def revision_of(connection: Connection) -> str | None:
    """Return a store's version; None if there is no store in this database."""
    options = {"version_table": tables.VERSION_TABLE}
    return MigrationContext.configure(connection, opts=options).get_current_revision()


PRESENT = {
    "sqlite": "SELECT name FROM sqlite_master",
    "postgresql": (
        "SELECT relname FROM pg_class WHERE pg_table_is_visible(oid) UNION ALL SELECT tgname "
        "FROM pg_trigger WHERE pg_table_is_visible(tgrelid) AND tgenabled IN ('O', 'A')"
    ),
}
"""The names of what a schema has. A constraint of PostgreSQL has an index of its name."""

BEHIND = (
    "SELECT '{0}_id_seq' FROM {0} "
    "HAVING max(id) > coalesce(pg_sequence_last_value('{0}_id_seq'::regclass), 0)"
)
"""A counter that would give numbers again, as logical replication leaves it."""


def begin_alone(connection: Connection, lock: int) -> None:
    """Begin a transaction that nobody else writes beside.

    Args:
        lock: its number, for PostgreSQL.
    """
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    else:
        connection.exec_driver_sql(f"{BEGUN}; SELECT pg_advisory_xact_lock({lock})")


def bring_up_to_date(engine: Engine, *, looking: bool) -> None:
    """Make the tables of a new store, or bring an older one up to date.

    Args:
        looking: whether it has to be up to date, and is only read.

    Raises:
        StoreError: it is of another version, or has tables of these names that are not a store's,
            or lacks a part of its schema.
    """
    with engine.connect() as connection:
        config = config_of(connection)
        script = ScriptDirectory.from_config(config)
        newest = script.get_current_head()
        current = revision_of(connection)
        if looking and current != newest:
            raise StoreError(
                f"Expected a store of version {newest}, got {current or 'none'}. Whoever serves it "
                "brings it up to date, with the same dpbandits."
            )
        if looking:
            return
        if current == newest:
            require_whole(connection)
            return
        connection.rollback()
        begin_alone(connection, 7305180139)  # several workers start at once
        current = revision_of(connection)
        if current is not None and current not in {
            each.revision for each in script.walk_revisions()
        }:
            raise StoreError(
                f"This store is of version {current}, which this dpbandits does not know (its "
                f"newest is {newest}). Use the dpbandits that wrote it."
            )
        if current is None and inspect(connection).has_table(tables.decision.name):
            raise StoreError(
                "This database has tables of these names that are not a store's, or a part of a "
                "copy. Give the store a database of its own, or restore the copy into an empty one."
            )
        command.upgrade(config, "head")
        connection.commit()


def require_whole(connection: Connection) -> None:
    """Refuse a database without some table, index or trigger: it works, and would not refuse to
    read a reward twice.

    Raises:
        StoreError: one is missing.
    """
    dialect = connection.dialect.name
    present = set(connection.exec_driver_sql(PRESENT[dialect]).scalars())
    missing = sorted(tables.named_in(dialect) - present)
    if not missing and dialect == "postgresql":
        for table in tables.ledger, tables.event:
            missing += connection.exec_driver_sql(BEHIND.format(table.name)).scalars()
    if missing:
        raise StoreError(
            f"This store was not restored whole: {', '.join(missing)} cannot be found, or does not "
            "work. Restore a copy into an empty database, without an error. Nothing was done."
        )


# Errors


COPY_AGAIN = (
    "Files that end in -wal and -shm belong to the database before: stop the servers, delete both, "
    "and put the copy back again."
)
DAMAGED = f"Its file is damaged. Was a copy put back? {COPY_AGAIN}"
MOVED_FILE = (
    f"The database's file was moved or replaced while it was in use. Nothing was done. {COPY_AGAIN}"
)


def interruption_behind(error: BaseException) -> BaseException | None:
    """Return the interruption of which SQLAlchemy has made an AssertionError; None: it has not."""
    within = error.__context__ if isinstance(error, AssertionError) else None
    return None if isinstance(within, Exception) else within


def why(cause: object) -> str:
    """The kind of a database's or a file's error, and what it says itself where that shows nothing
    of what was to be written.
    """
    kind = type(cause).__name__
    message = getattr(getattr(cause, "diag", None), "message_primary", None)
    if message is None and (kind == "OperationalError" or isinstance(cause, OSError)):
        message = str(cause).partition("\n")[0]
    return f"{kind}: {message}" if message else kind


def database_error(cause: object, what: str) -> StoreError:
    """What is said of a database that could not be opened, read or written."""
    advice = (
        "If this was a change, whether it stands is not known: make the same call again, with the "
        "key= that it had; no reward is counted twice."
    )
    if (getattr(cause, "sqlite_errorcode", 0) or 0) & 0xFF == sqlite3.SQLITE_CORRUPT:
        advice = DAMAGED
    elif what == "opened":
        advice = (
            "Is its address right, is its folder there, with room on its disk, and is it a "
            "database?"
        )
    return StoreError(f"The database could not be {what} ({why(cause)}). {advice}")


@contextmanager
def translated(
    what: str, told: Callable[[object, str], Exception] = database_error
) -> Iterator[None]:
    """Raise a database's errors in our words: theirs show what was to be written.

    Args:
        told: makes our error of theirs, and of what could not be done.
    """
    try:
        yield
    except Error:
        raise
    except AssertionError as error:
        raise interruption_behind(error) or error from None
    except (SQLAlchemyError, OSError) as error:
        raise told(getattr(error, "orig", None) or error, what) from None


def no_scope(name: str) -> Exception:
    return refusal(
        "no_such_scope",
        f"There is no scope {shown(name)} in this store. Make it first: store.scope(name, "
        "epsilon=4). Nothing was created.",
    )


# Statements


def columns(table: Table, kind: Any) -> list[Any]:
    """Return the columns of a table that make this kind of row."""
    return [table.c[name] for name in kind._fields]


def chosen(table: Table, kind: Any, *where: Any) -> Select[Any]:
    """Return a query for rows of this kind."""
    return select(*columns(table, kind)).where(*where)


OF: Any = bindparam("of")
SEQS: Any = bindparam("seqs", expanding=True)
HEAD = select(tables.head.c.campaign, *columns(tables.head, HeadRow))
ONE_HEAD = HEAD.where(tables.head.c.campaign == OF)
ONE_HEAD_LOCKED = ONE_HEAD.with_for_update()
PRIVATE = select(tables.private_state.c.body).where(tables.private_state.c.campaign == OF)
MOVED = (
    select(*[tables.decision.c[name] for name in tables.MOVED])
    .where(tables.decision.c.campaign == OF)
    .order_by(tables.decision.c.seq)
)
MOVED_SINCE = MOVED.where(tables.decision.c.moved > bindparam("since"))
WAITING = MOVED.where(tables.decision.c.status == literal_column("'waiting'"))
STATUSES = chosen(
    tables.decision, StatusRow, tables.decision.c.campaign == OF, tables.decision.c.seq.in_(SEQS)
)
RESPONSE = select(tables.request.c.response).where(
    tables.request.c.group == OF, tables.request.c.place == bindparam("at")
)
KEY = chosen(tables.access_key, KeyRow, tables.access_key.c.hash == OF)
ANY_KEY = select(func.min(tables.access_key.c.hash))
RESOLVE = (
    update(tables.decision)
    .where(
        tables.decision.c.campaign == OF,
        tables.decision.c.seq.between(bindparam("first"), bindparam("last")),
    )
    .values(
        status=bindparam("to"),
        moved=bindparam("at"),
        pseudonym=null(),
        window=null(),
        context=null(),
    )
)
"""Of consecutive decisions with one status.

These are what every call executes; made once, for to make one takes longer than to run it.
"""


WHICH: Any = bindparam("which")
FORGET = delete(tables.context).where(
    tables.context.c.campaign == OF,
    tables.context.c.arm == bindparam("at"),
    tables.context.c.number == WHICH,
)
EMPTY = delete(tables.open_cell).where(
    tables.open_cell.c.campaign == OF,
    tables.open_cell.c.arm == bindparam("at"),
    tables.open_cell.c.cell == WHICH,
)


@lru_cache(maxsize=256)
def prepared(dialect: Dialect, statement: Any, names: tuple[str, ...]) -> tuple[str, Any]:
    """Return the text of a statement, and what makes of its values, in the order of these names,
    those that the driver takes. To have SQLAlchemy do so for each call is most of the work.
    """
    compiled = statement.compile(dialect=dialect, column_keys=names)
    order = compiled.positiontup
    if order is None:
        return str(compiled), lambda values: dict(zip(names, values, strict=True))
    at = [names.index(name) for name in order]
    return str(compiled), lambda values: tuple([values[each] for each in at])


@cache
def putting(
    dialect: str, table: Table, names: tuple[str, ...], by: tuple[str, ...], as_json: bool
) -> Insert:
    """Return the statement that inserts rows with these columns; with `by`, it writes over those
    that are there already by some of them.

    Args:
        as_json: all rows are one JSON text (see `json_rows`).
    """
    module: Any = sqlite if dialect == "sqlite" else postgresql
    made = module.insert(table)
    if as_json:
        of: Any = literal_column(f"NULL::{table.name}"), cast(bindparam("rows"), JSON)
        rows = func.json_populate_recordset(*of).table_valued(*names, with_ordinality="ordinality")
        inner = select(*[rows.c[name] for name in names]).order_by(rows.c.ordinality)
        made = made.from_select(names, inner)
    if by:
        rest = {name: made.excluded[name] for name in names if name not in by}
        made = made.on_conflict_do_update(index_elements=by, set_=rest)
    return made


def json_rows(names: tuple[str, ...], rows: Sequence[Sequence[Any]]) -> str:
    """Return rows as JSON for PostgreSQL, which takes many of them a few times as fast as one by
    one.
    """
    dicts = [dict(zip(names, row, strict=True)) for row in rows]
    return json.dumps(dicts, default=json_value, allow_nan=False, ensure_ascii=False)


def json_value(value: Any) -> Any:
    """Return bytes as PostgreSQL reads them in JSON, and a number of NumPy as a plain one."""
    return f"\\x{value.hex()}" if isinstance(value, bytes) else value.item()


def run(
    connection: Connection, statement: Any, names: tuple[str, ...], *rows: Sequence[Any]
) -> CursorResult[Any]:
    """Execute a statement with these rows of values. Columns come back as the driver has them."""
    text, sent = prepared(connection.dialect, statement, names)
    many = [sent(row) for row in rows]
    return connection.exec_driver_sql(text, many if len(many) > 1 else many[0])


def runs(resolved: Mapping[int, str]) -> Iterator[tuple[int, int, str]]:
    """Return runs of consecutive decisions with one status: first, last, status."""
    ordered = enumerate(sorted(resolved))
    # within a run, a decision's number less its place in this order stays the same
    for (_, status), run in groupby(ordered, lambda each: (each[1] - each[0], resolved[each[1]])):
        seqs = [seq for _, seq in run]
        yield seqs[0], seqs[-1], status


@final
class Rows:
    """The rows of one campaign and its parts, within a transaction."""

    def __init__(self, connection: Connection, group: str, *, locks: bool) -> None:
        self._connection, self.group = connection, group
        self._locks = locks and connection.dialect.name != "sqlite"  # which locks the whole file

    def _of(
        self,
        uid: str,
        table: Table,
        kind: Any,
        *where: Any,
        by: Sequence[Any] = (),
        limit: int | None = None,
    ) -> list[Any]:
        """Rows of this kind, of one part of the campaign."""
        query = chosen(table, kind, table.c.campaign == uid, *where).order_by(*by).limit(limit)
        return list(starmap(kind, self._connection.execute(query)))

    def heads(self, uids: Sequence[str]) -> dict[str, HeadRow]:
        """The heads of these parts, by uid. In a transaction that writes, they stay locked."""
        c = tables.head.c
        if len(uids) == 1:
            query = ONE_HEAD_LOCKED if self._locks else ONE_HEAD
            rows = run(self._connection, query, ("of",), uids)
        else:
            query = HEAD.where(c.campaign.in_(uids)).order_by(c.campaign)
            rows = self._connection.execute(query.with_for_update() if self._locks else query)
        heads: dict[str, HeadRow] = {row[0]: HeadRow._make(row[1:]) for row in rows}
        if len(heads) != len(uids):
            raise StoreError(
                "This campaign is not in the database any more. If a copy was restored that lacks "
                "it, create it again, and open the store again (a server does so by itself)."
            )
        return heads

    def private(self, uid: str) -> bytes:
        """The private row, sealed."""
        body = run(self._connection, PRIVATE, ("of",), [uid]).scalar_one_or_none()
        if body is None:
            raise EditedRowsError(EDITED)
        return bytes(body)

    def moved(self, uid: str, since: int) -> Iterable[Any]:
        """Decisions that a version after `since` changed, oldest first; of 0 the pending ones. Of
        each what `tables.MOVED` says.
        """
        query, since_then = (MOVED_SINCE, {"since": since}) if since else (WAITING, {})
        return self._connection.execute(query, {"of": uid, **since_then})

    def decision(self, uid: str, seq: int) -> DecisionRow | None:
        rows = self._of(uid, tables.decision, DecisionRow, tables.decision.c.seq == seq)
        return next(iter(rows), None)

    def statuses(self, uid: str, seqs: Sequence[int]) -> list[StatusRow]:
        """Where those of these decisions stand that there are, in any order."""
        statuses = list[StatusRow]()
        for at in range(0, len(seqs), MANY):
            some = {"of": uid, "seqs": seqs[at : at + MANY]}
            statuses += starmap(StatusRow, self._connection.execute(STATUSES, some))
        return statuses

    def decisions(self, uid: str, after: int, limit: int) -> list[DecisionRow]:
        """Decisions in order."""
        seq = tables.decision.c.seq
        return self._of(uid, tables.decision, DecisionRow, seq > after, by=[seq], limit=limit)

    def has_eligible(self, uid: str, until: int) -> bool:
        """Whether of the decisions up to one some were chosen among some arms only."""
        c = tables.decision.c
        among = select(c.seq).where(c.campaign == uid, c.seq <= until, c.eligible.is_not(None))
        return self._connection.execute(among.limit(1)).first() is not None

    def held(self, uid: str, seqs: Sequence[int]) -> dict[int, bytes]:
        """The sealed rows of those of these decisions that have one (see `Change.held`)."""
        c, answers = tables.held.c, dict[int, bytes]()
        for at in range(0, len(seqs), MANY):
            query = select(c.seq, c.body).where(c.campaign == uid, c.seq.in_(seqs[at : at + MANY]))
            answers |= {seq: bytes(body) for seq, body in self._connection.execute(query)}
        return answers

    def contexts(self, uid: str, since: int) -> list[ContextRow]:
        """Contexts that the next codebooks need, in order, that were written after a version."""
        c = tables.context.c
        return self._of(uid, tables.context, ContextRow, c.moved > since, by=[c.arm, c.number])

    def open_cells(self, uid: str) -> list[CellRow]:
        """The public counts beside all sums of open blocks."""
        return self._of(uid, tables.open_cell, CellRow)

    def learned(self, uid: str, what: str) -> str | None:
        """The policy or its state, where rows of their own have them (see `LearnedRow`)."""
        c = tables.learned.c
        query = select(c.body).where(c.campaign == uid, c.what == what)
        return self._connection.execute(query).scalar_one_or_none()

    def readings(self, uid: str, since: int) -> list[ReadingRow]:
        """The lines of the ledger, in order, that were written after a version."""
        c = tables.ledger.c
        return self._of(uid, tables.ledger, ReadingRow, c.moved > since, by=[c.id])

    def releases(self, uid: str, after: int, until: int) -> list[ReleaseRow]:
        """Releases after one step up to another."""
        step = tables.release.c.step
        return self._of(uid, tables.release, ReleaseRow, step > after, step <= until, by=[step])

    def events(self, uid: str, limit: int) -> list[EventRow]:
        """The newest public events, newest first."""
        newest_first = [tables.event.c.id.desc()]
        return self._of(uid, tables.event, EventRow, by=newest_first, limit=limit)

    def used(self, pseudonyms: Sequence[str]) -> dict[str, tuple[int, int]]:
        """By pseudonym, the window and the places that were taken in it.

        Raises:
            EditedRowsError: they are no whole numbers. SQLite lets anybody write anything.
        """
        c = tables.contribution.c
        query = select(c.pseudonym, c.window, c.used).where(
            c.group == self.group, c.pseudonym.in_(pseudonyms)
        )
        places = {who: (window, used) for who, window, used in self._connection.execute(query)}
        if not all(type(window) is int and type(used) is int for window, used in places.values()):
            raise EditedRowsError(EDITED)
        return places

    def people(self, window: int) -> tuple[int, int]:
        """How many people have learned rounds (see `Register.people`), and how many of them in this
        window.
        """
        c = tables.contribution.c
        ever = func.sum(case(((c.used > 0) | (c.window > 0), 1), else_=0))
        learned = func.sum(case(((c.window == window) & (c.used > 0), 1), else_=0))
        found = self._connection.execute(select(ever, learned).where(c.group == self.group)).one()
        return int(found[0] or 0), int(found[1] or 0)

    def kept_arm(self, pseudonym: str) -> bytes | None:
        """Which arm a person keeps, sealed."""
        c = tables.contribution.c
        query = select(c.kept).where(c.group == self.group, c.pseudonym == pseudonym)
        return self._connection.execute(query).scalar_one_or_none()

    def waiting_of(self, uid: str, pseudonym: str) -> list[int]:
        """The pending decisions of a person."""
        c = tables.decision.c
        query = select(c.seq).where(
            c.campaign == uid, c.pseudonym == pseudonym, c.status == "waiting"
        )
        return list(self._connection.execute(query.order_by(c.seq)).scalars())

    def response(self, place: str) -> str | None:
        """What was replied to this call before."""
        of = self.group, place
        return run(self._connection, RESPONSE, ("of", "at"), of).scalar_one_or_none()

    # Writing

    def write(self, uid: str, change: Change) -> None:
        """Write all of a change.

        Raises:
            LedgerError: it reads a reward that was read before. Nothing will be written.
            EditedRowsError: a row is there already that nobody wrote. Nothing will be written.
        """
        try:
            self._write(uid, change)
        except IntegrityError:
            raise edited_decisions() from None

    def _write(self, uid: str, change: Change) -> None:
        version, execute, c = change.head.version, self._connection.execute, tables.decision.c
        self._insert(tables.head, uid, [change.head], "campaign")
        if change.voids_pending:
            execute(delete(tables.held).where(tables.held.c.campaign == uid))
            lose = update(tables.decision).where(c.campaign == uid, c.status == "waiting")
            none = dict.fromkeys(("pseudonym", "window", "context"))
            execute(lose.values(status="lost", moved=version, **none))
        self._insert(tables.decision, uid, change.asked)
        ended = [(uid, *each, version) for each in runs(change.resolved)]
        if ended:
            run(self._connection, RESOLVE, ("of", "first", "last", "to", "at"), *ended)
        windowed = [seq for seq, status in change.resolved.items() if status in ("passed", "void")]
        for at in range(0, len(windowed), MANY):
            gone = tables.held.c.seq.in_(windowed[at : at + MANY])
            execute(delete(tables.held).where(tables.held.c.campaign == uid, gone))
        for at in range(0, len(change.unlearned), MANY):
            which = c.seq.in_(change.unlearned[at : at + MANY])
            unlearn = update(tables.decision).where(c.campaign == uid, which)
            execute(unlearn.values(learn=False, moved=version))
        self.hold(uid, change)
        self._insert(tables.release, uid, change.releases)
        try:  # the database itself refuses a reading that overlaps another one
            self._insert(tables.ledger, uid, change.readings)
        except DBAPIError as error:
            if "read before" in str(error.orig) or "ledger_once" in str(error.orig):
                raise LedgerError(
                    "The store refused to read a reward that was read before. Nothing was written."
                ) from None
            raise
        self._insert(tables.event, uid, change.events)
        if change.contexts is not None:
            self._write_contexts(uid, change.contexts)

    def _write_contexts(self, uid: str, change: ContextChange) -> None:
        execute, table, cell = self._connection.execute, tables.context, tables.open_cell
        if change.anew:
            execute(delete(table).where(table.c.campaign == uid))
            execute(delete(cell).where(cell.c.campaign == uid))
        if change.gone:
            execute(FORGET, [{"of": uid, "at": arm, "which": n} for arm, n in change.gone])
        self._insert(table, uid, change.contexts)
        if change.cells_gone:
            execute(EMPTY, [{"of": uid, "at": arm, "which": n} for arm, n in change.cells_gone])
        self._insert(cell, uid, change.cells, "campaign", "arm", "cell")
        self._insert(tables.learned, uid, change.learned, "campaign", "what")

    def hold(self, uid: str, change: Change) -> None:
        """Write only `private` and `held` of a change, in place: no public row moves, so nobody
        sees that somebody answered.
        """
        if change.private is not None:
            names, body = ("campaign", "body"), (uid, change.private)
            put(self._connection, tables.private_state, names, [body], "campaign")
        held = [(uid, seq, body) for seq, body in change.held.items()]
        put(self._connection, tables.held, ("campaign", "seq", "body"), held, "campaign", "seq")

    def contribute(self, used: Mapping[str, tuple[int, int]], kept: Mapping[str, bytes]) -> None:
        """Write how many places people have taken, and which arms they keep, sealed."""
        names = "group", "pseudonym", "window", "used", "kept"
        rows = [
            (self.group, who, window, many, kept.get(who)) for who, (window, many) in used.items()
        ]
        put(self._connection, tables.contribution, names, rows, "group", "pseudonym")

    def respond(self, responses: Mapping[str, str]) -> None:
        """Keep replies, for calls that are made again."""
        rows = [(self.group, *reply) for reply in responses.items()]
        put(self._connection, tables.request, ("group", "place", "response"), rows)

    def _insert(self, table: Table, uid: str, rows: Sequence[Any], *by: str) -> None:
        """Insert rows of a campaign; those that are there already, by these columns, are written
        over.
        """
        if rows:
            names = "campaign", *rows[0]._fields
            put(self._connection, table, names, [(uid, *row) for row in rows], *by)


def put(
    connection: Connection,
    table: Table,
    names: tuple[str, ...],
    rows: Sequence[Sequence[Any]],
    *by: str,
) -> None:
    """Insert rows with these columns; with `by`, write over those that are there already, and over
    earlier ones of these: PostgreSQL refuses a statement that does so itself.
    """
    if not rows:
        return
    dialect = connection.dialect.name
    if by and len(rows) > 1:
        at = [names.index(name) for name in by]
        rows = list({tuple([row[each] for each in at]): row for row in rows}.values())
    as_json = dialect == "postgresql" and len(rows) > 1
    statement = putting(dialect, table, names, by, as_json)
    if as_json:
        run(connection, statement, ("rows",), [json_rows(names, rows)])
    else:
        run(connection, statement, names, *rows)


@final
class Database:
    """Where the rows of a store are kept.

    Args:
        url: as SQLAlchemy writes it, `sqlite:///trial.db` or `postgresql+psycopg://host/database`;
            or `memory:`.
        looking: nothing is written, for a role of PostgreSQL that may only read public tables.

    Raises:
        StoreError: no such database, one of a newer version, or one that forgets what it committed.
    """

    def __init__(self, url: str | URL, *, looking: bool = False) -> None:
        self.url, self._looking = known_url(url), looking
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.file = database_file(self.url) if self.is_sqlite else None
        self.is_durable = not self.is_sqlite or self.file is not None
        with translated("opened"):
            if self.file is not None:
                make_private_file(self.file)
            self._place = Place(self.file, None if self.is_sqlite else self.url)
        self.engine = self._place.engine
        try:
            with translated("opened"):
                bring_up_to_date(self.engine, looking=looking)
                if self.is_durable and not looking:
                    require_durable(self.engine)
        except BaseException:
            self.engine.dispose()
            raise
        event.listen(self.engine, "connect", lambda *_: self._require_same_file(), insert=True)
        if self.file is not None:
            withdraw_from_others(self.file)
        self._emptied = -math.inf  # a crash may have left a log behind

        @event.listens_for(self.engine, "handle_error")
        def mark(context: Any) -> None:
            error = context.sqlalchemy_exception or context.original_exception
            error.dpbandits_engine = self.engine

    def __repr__(self) -> str:
        return f"Database({address_of(self.url)!r})"

    def caused(self, error: BaseException) -> bool:
        """Whether it is this database's own error, or an interruption in it: a policy may use a
        database, too.
        """
        own = getattr(error, "dpbandits_engine", None) is self.engine
        return own or isinstance(interruption_behind(error), KeyboardInterrupt)

    @contextmanager
    def begun(self, *, write: bool = True) -> Iterator[Connection]:
        """A transaction, committed as the block is left; an exception rolls it back."""
        self._require_own_process()
        self._require_same_file()
        if write:
            self.require_writer()
        # SQLite has one writer, and lets the others sleep; threads wait here. One in memory has
        # one connection.
        is_alone = self.is_sqlite and (write or not self.is_durable)
        connect: Any = self._place.alone if is_alone else self.engine.connect
        with translated("written" if write else "read"), connect() as connection:
            if self.is_sqlite:
                connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
            else:
                level = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
                connection.exec_driver_sql(BEGUN if write else level)
            yield connection
            if write:
                try:
                    connection.commit()
                except AssertionError:  # what SQLAlchemy makes of an interruption here
                    raise OSError("the commit was interrupted") from None
                if self.file is not None and time.monotonic() - self._emptied > OFTEN:
                    # the transaction stands, whatever becomes of older pages
                    with suppress(SQLAlchemyError, OSError):
                        self._empty_log(connection)

    def require_writer(self) -> None:
        """Raise RuntimeError if this process only looks."""
        if self._looking:
            raise RuntimeError(
                "Expected a view: this process only looks. Ask and tell where the campaigns are "
                "served. Nothing was done."
            )

    def _require_own_process(self) -> None:
        """A forked child takes connections of its own; a store in memory refuses it."""
        if not self.is_durable and not self._place.is_own:
            raise SharedError(
                "This store in memory was made before the process forked; in the child its people "
                "would pay twice. Nothing was done. Make it in the process that uses it, or keep "
                "it in a file: open_store('sqlite:///trial.db')."
            )
        self._place.follow_fork()

    def _require_same_file(self) -> None:
        """Refuse a file that took the place of the one that was opened."""
        with translated("read"):
            is_moved = self._place.is_moved
        if is_moved:
            raise StoreError(MOVED_FILE)

    @contextmanager
    def transaction(self, group: str) -> Iterator[Rows]:
        """Change a campaign. PostgreSQL locks its heads as they are read, SQLite the whole file."""
        with self.begun() as connection:
            yield Rows(connection, group, locks=True)

    @contextmanager
    def reading(self, group: str) -> Iterator[Rows]:
        """Read one state of a campaign's rows, without a lock."""
        with self.begun(write=False) as connection:
            yield Rows(connection, group, locks=False)

    def create(
        self,
        rows: Sequence[CampaignRow],
        changes: Mapping[str, Change],
        responses: Mapping[str, str],
        joining: tuple[str, Callable[[ScopeRow], ScopeRow]] | None = None,
    ) -> None:
        """Write a campaign with its first rows, or nothing of it.

        Args:
            rows: the campaign, and its parts.
            changes: by uid, what each part begins with.
            joining: the scope that it joins, and what the scope's row becomes.

        Raises:
            NameTakenError: the name is taken.
            ValueError: there is no such scope.
        """
        with self.begun() as connection:
            try:
                connection.execute(insert(tables.campaign), [row._asdict() for row in rows])
            except IntegrityError:
                raise NameTakenError(
                    "Expected a name that no campaign of this store has; this one is taken. Open "
                    "it with store[name], or choose another name. Nothing was created."
                ) from None
            made = Rows(connection, rows[0].group, locks=True)
            for uid, change in changes.items():
                made.write(uid, change)
            made.respond(responses)
            if joining is not None:
                name, join = joining
                c = tables.scope.c
                query = chosen(tables.scope, ScopeRow, c.name == name)
                existing = connection.execute(query.with_for_update()).one_or_none()
                if existing is None:
                    raise no_scope(name)
                put(connection, tables.scope, ScopeRow._fields, [join(ScopeRow(*existing))], "name")

    def _selected(self, table: Table, kind: Any, *where: Any, by: Any) -> list[Any]:
        query = chosen(table, kind, *where).order_by(by)
        with self.begun(write=False) as connection:
            return list(starmap(kind, connection.execute(query)))

    def campaigns(self) -> list[CampaignRow]:
        """All campaigns, oldest first."""
        c = tables.campaign.c
        return self._selected(tables.campaign, CampaignRow, c.uid == c.group, by=c.created)

    def campaign(self, name: str) -> CampaignRow | None:
        """One campaign, by its name; None if there is none."""
        c = tables.campaign.c
        where = (c.name == name, c.uid == c.group)
        return next(iter(self._selected(tables.campaign, CampaignRow, *where, by=c.created)), None)

    def parts(self, group: str) -> list[CampaignRow]:
        """The parts of a campaign, without itself."""
        c = tables.campaign.c
        where = (c.group == group, c.uid != group)
        return self._selected(tables.campaign, CampaignRow, *where, by=c.created)

    def some_private(self) -> bytes | None:
        """The private row of some campaign, sealed; None if there is no campaign."""
        with self.begun(write=False) as connection:
            body = connection.execute(select(tables.private_state.c.body).limit(1)).scalar()
        return None if body is None else bytes(body)

    def scope(self, name: str) -> ScopeRow | None:
        """A budget over campaigns."""
        c = tables.scope.c
        return next(iter(self._selected(tables.scope, ScopeRow, c.name == name, by=c.name)), None)

    def scopes(self) -> list[ScopeRow]:
        """All budgets over campaigns, by name."""
        return self._selected(tables.scope, ScopeRow, by=tables.scope.c.name)

    def add_scope(self, scope: ScopeRow) -> None:
        """Write a new scope; one that is there stays as it is."""
        module: Any = sqlite if self.is_sqlite else postgresql
        with self.begun() as connection:
            made = module.insert(tables.scope).values(scope._asdict())
            connection.execute(made.on_conflict_do_nothing())

    def access_keys(self) -> list[KeyRow]:
        """All bearer keys."""
        return self._selected(tables.access_key, KeyRow, by=tables.access_key.c.created)

    def has_keys(self) -> bool:
        """Whether a bearer key was ever made."""
        with self.begun(write=False) as connection:
            return run(connection, ANY_KEY, (), ()).scalar() is not None

    def key(self, hash: str) -> KeyRow | None:
        """One bearer key, by its hash."""
        with self.begun(write=False) as connection:
            row = run(connection, KEY, ("of",), [hash]).first()
        return None if row is None else KeyRow._make(row)

    def add_key(self, key: KeyRow) -> None:
        """Write a new bearer key.

        Raises:
            NameTakenError: a key has its name, revoked or not. Nothing was written.
        """
        with self.begun() as connection:
            if not self.is_sqlite:  # which has one writer
                name = tables.access_key.name
                connection.exec_driver_sql(f"LOCK TABLE {name} IN SHARE ROW EXCLUSIVE MODE")
            c = tables.access_key.c
            if connection.execute(select(c.hash).where(c.name == key.name)).first() is not None:
                raise NameTakenError(
                    f"Expected a name that no key of this store has or had, got {shown(key.name)}: "
                    "calls are remembered by it. Choose another name, such as one with a number, "
                    "and revoke the older key if it is to be replaced. No key was made."
                )
            connection.execute(insert(tables.access_key), [key._asdict()])

    def revoke(self, key: KeyRow, at: float) -> None:
        """A bearer key opens nothing from now on."""
        table = tables.access_key
        with self.begun() as connection:
            connection.execute(update(table).where(table.c.hash == key.hash).values(revoked=at))

    def forget(self) -> None:
        """Empty SQLite's log, unless somebody is reading it: the differences of open sums in it are
        rewards. PostgreSQL sees to its own.
        """
        self._require_own_process()
        if self.file is None:
            return
        with translated("written"), self._place.alone() as connection:
            self._emptied = -math.inf  # where somebody reads, the next transaction tries again
            self._empty_log(connection)

    def _empty_log(self, connection: Connection) -> None:
        run = connection.exec_driver_sql
        try:
            run("PRAGMA busy_timeout = 0")  # nobody waits for this
            busy, *_ = run("PRAGMA wal_checkpoint(TRUNCATE)").one()
            run(f"PRAGMA busy_timeout = {1_000 * PATIENCE}")
        except BaseException:  # nobody is to have a connection that does not wait
            connection.invalidate()
            raise
        if not busy:
            self._emptied = time.monotonic()

    def close(self) -> None:
        """Let go of the database."""
        with suppress(StoreError, SharedError):  # other processes may keep the log open
            self.forget()
        self.engine.dispose()
