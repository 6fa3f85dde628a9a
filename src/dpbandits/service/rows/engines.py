"""Connections to a database, such that what it commits it keeps."""

import logging
import os
import sqlite3
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from dpbandits.core.errors import StoreError
from dpbandits.service.rows.tables import PRIVATE

OTHERS = 0o077
"""The rights of everybody but a file's owner."""

PATIENCE = 30
"""Seconds that a transaction waits for another one to end."""


def known_url(url: str | URL) -> URL:
    """The address of a database.

    Raises:
        ValueError: it is none, or of a kind that is not known here. A password is not shown.
    """
    try:
        made = make_url(url)
        if made.get_backend_name() in ("sqlite", "postgresql"):
            return made
    except (ArgumentError, ValueError):
        pass
    raise ValueError(
        "Expected an address such as 'sqlite:///trial.db' or "
        "'postgresql+psycopg://user@host/database'."
    )


def database_file(url: URL) -> Path | None:
    """The file that an address of SQLite means, links followed; None: a database in memory.

    Raises:
        ValueError: an address in another form, which may mean another file, or one that forgets.
    """
    name = url.database or ":memory:"
    known = url.drivername in ("sqlite", "sqlite+pysqlite")
    if not known or url.query or url.host or name.startswith("file:"):
        raise ValueError(
            "Expected the address of a file of SQLite such as 'sqlite:///trial.db', without "
            "'file:', a host or a '?'. Nothing was opened."
        )
    return None if name == ":memory:" else Path(os.path.realpath(name))


def require_private_file(path: Path) -> None:
    """Make a database's file for its owner's eyes only, if there is none. SQLite would make it
    as the process's umask says, and gives its log the mode that the database has.

    Raises:
        OSError: it cannot be made there.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def withdraw_from_others(path: Path) -> None:
    """Take other users' rights to a database and its log away, and say so. Only for files that are
    known to be a store's.
    """
    for end in ("", "-wal", "-shm", "-journal"):
        file = path.with_name(path.name + end)
        try:
            found = os.lstat(file).st_mode
            if not stat.S_ISREG(found) or not found & OTHERS:
                continue
            with suppress(OSError):  # another user's
                os.chmod(file, 0o600)
            left = os.lstat(file).st_mode & OTHERS
        except FileNotFoundError:  # another process has closed the database meanwhile
            continue
        logging.getLogger("dpbandits").warning(
            "%s was open to other users of this machine (mode %o). %s",
            file,
            stat.S_IMODE(found),
            "Its owner should make it 600." if left else "It is 600 now.",
        )


def file_engine(address: URL) -> Engine:
    """Connections to a file of SQLite, for all threads."""
    return create_engine(
        address,
        connect_args={"timeout": PATIENCE, "check_same_thread": False},
        pool_size=20,
        hide_parameters=True,
    )


def uri_of(path: Path, mode: str) -> URL:
    """The address of a file that SQLite does not make. mode: "rw" or "ro"."""
    name = f"file:{quote(os.fsencode(path))}"
    return URL.create("sqlite", database=name, query={"mode": mode, "uri": "true"})


def lite_engine(url: URL) -> Engine:
    """SQLite: transactions begin as we say, and a commit is on disk when it returns.

    Raises:
        OSError: the database's file cannot be made.
    """
    path = database_file(url)
    if path is not None:
        require_private_file(path)
    engine = file_engine(url if path is None else uri_of(path, "rw"))

    @event.listens_for(engine, "connect")
    def settle(connection: Any, _: object) -> None:
        connection.isolation_level = None  # no BEGIN but ours
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "secure_delete=ON"):
            connection.execute(f"PRAGMA {pragma}")

    return engine


def looking_engine(url: URL) -> Engine:
    """SQLite for those who only look: nothing can be written, no private table can be read.

    Raises:
        StoreError: there is no such file.
    """
    path = database_file(url) or Path(":memory:")
    if not path.is_file():
        raise StoreError(f"There is no database {path}. Whoever serves it makes it.")
    engine = file_engine(uri_of(path, "ro"))

    @event.listens_for(engine, "do_connect")
    def require(*_: object) -> None:
        require_server(path)

    @event.listens_for(engine, "connect")
    def settle(connection: Any, _: object) -> None:
        connection.isolation_level = None
        connection.set_authorizer(is_allowed)

    return engine


def require_server(path: Path) -> None:
    """Refuse to be the first who connects: SQLite would make its files beside the database, ours
    for ever, and whoever serves the database could write no more.

    Raises:
        StoreError: nobody serves the database, and it is another user's.
    """
    served = path.with_name(f"{path.name}-shm").exists()
    if not served and os.geteuid() not in (0, path.stat().st_uid):
        raise StoreError(
            f"Nobody serves the database {path} at present. Another user's can be looked at while "
            "it is served: start the server first, or look as the user that it belongs to."
        )


def is_allowed(action: int, table: str | None, *_: object) -> int:
    """What SQLite asks before it compiles a statement."""
    private = action == sqlite3.SQLITE_READ and table in PRIVATE
    return sqlite3.SQLITE_DENY if private else sqlite3.SQLITE_OK


def big_engine(url: URL) -> Engine:
    return create_engine(
        url,
        pool_size=20,
        pool_pre_ping=True,
        hide_parameters=True,
        connect_args={"connect_timeout": PATIENCE, "options": f"-c lock_timeout={PATIENCE}s"},
    )


def require_durable(engine: Engine) -> None:
    """Refuse a database that may forget what it committed: then noise would be drawn twice.

    Raises:
        StoreError: so it is.
    """
    settings = ("fsync", "full_page_writes", "synchronous_commit")
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            off = int(connection.execute(text("PRAGMA synchronous")).scalar_one()) < 2
            forgets = ["synchronous"] if off else []
        else:
            said = {name: connection.execute(text(f"SHOW {name}")).scalar() for name in settings}
            forgets = [name for name, value in said.items() if value == "off"]
    if forgets:
        raise StoreError(
            f"Expected a database that keeps what it commits; {', '.join(forgets)} is off, so "
            "a loss of power could bring back blocks that were read. Switch it on."
        )
