"""A PostgreSQL server of our own: in a temporary folder, on a free port, with fsync on. Tests and
benchmarks use it.

    python -m benchmarks.service.postgres

says which one it would be, or why there is none.
"""

from __future__ import annotations

import os
import pwd
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

OLDEST = 15
"""The version that the service needs."""
DEBIAN = Path("/usr/lib/postgresql")
NEEDED = ("postgres", "initdb", "pg_ctl")
PATIENCE = 600
"""Seconds for a start or a stop: a stop writes whatever many databases have changed to the disk,
which took more than the usual minute on a busy machine.
"""


class Found(NamedTuple):
    """A version, and the folder of its programs."""

    version: int
    folder: Path


def newest() -> Found | None:
    """The newest server of Debian's packages and of what is on the path."""
    folders = {each.parent.resolve() for each in DEBIAN.glob("*/bin/postgres")}
    own = shutil.which("postgres")
    if own is not None:
        folders.add(Path(own).resolve().parent)
    whole = [each for each in folders if all((each / name).exists() for name in NEEDED)]
    return max((Found(version_of(each), each) for each in whole), default=None)


def version_of(folder: Path) -> int:
    """The main version of the server whose programs lie there."""
    said = subprocess.check_output([folder / "postgres", "--version"], text=True, timeout=60)
    found = re.search(r"\d+", said)
    return 0 if found is None else int(found.group())


def missing() -> str | None:
    """Why no server can be started here."""
    found = newest()
    if found is None:
        return "needs PostgreSQL's server and initdb (Debian's package postgresql)"
    if found.version < OLDEST:
        return f"needs PostgreSQL {OLDEST} or newer, and here is {found.version}"
    if os.getuid() != 0:
        return None
    if shutil.which("runuser") is None:
        return "PostgreSQL does not run as root, and there is no runuser"
    if "postgres" not in {each.pw_name for each in pwd.getpwall()}:
        return "PostgreSQL does not run as root, and there is no user postgres"
    return None


@contextmanager
def running(place: str | Path | None = None) -> Iterator[Server]:
    """A server for a while, in a new folder that goes with it.

    place: where the folder is made. The server may run as somebody else, who has to be able to
    enter.

    Raises:
        RuntimeError: none can be started here.
    """
    why = missing()
    if why is not None:
        raise RuntimeError(why)
    with tempfile.TemporaryDirectory(prefix="dpbandits-postgres-", dir=place) as name:
        folder = Path(name)
        folder.chmod(0o755)
        server = Server(folder)
        try:
            yield server
        finally:
            server.stop("immediate")


class Server:
    """folder: empty; it belongs to the server."""

    def __init__(self, folder: Path) -> None:
        found = newest()
        assert found is not None
        self.folder, self.port, self._programs = folder, free_port(), found.folder
        if os.getuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        self._run("initdb", "-D", str(folder / "data"), "-A", "trust", "-U", "postgres")
        self.start()

    def _run(self, program: str, *args: str) -> None:
        before = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        subprocess.run(
            [*before, str(self._programs / program), *args],
            check=True,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=PATIENCE + 60,
        )

    def start(self, *settings: str) -> None:
        """settings: of the server, as name=value; the last one of a name counts."""
        said = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1"
        said += "".join(f" -c {each}" for each in ("fsync=on", *settings))
        log = str(self.folder / "log")
        self._control("-l", log, "-o", said, "start")

    def stop(self, mode: str = "fast") -> None:
        self._control("-m", mode, "stop")

    def _control(self, *args: str) -> None:
        """Start or stop the server, and wait until that is done."""
        data = str(self.folder / "data")
        self._run("pg_ctl", "-D", data, "-w", "-t", str(PATIENCE), *args)

    def url(self, database: str = "postgres") -> str:
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/{database}"

    def run(self, sql: str, database: str = "postgres") -> list[Any]:
        """Run a statement by itself, outside of any transaction."""
        import psycopg

        place = f"host=127.0.0.1 port={self.port} user=postgres dbname={database}"
        with psycopg.connect(place, autocommit=True) as connection:
            cursor = connection.execute(sql)
            return list(cursor) if cursor.description else []

    def fresh(self, name: str) -> str:
        """The address of a new database."""
        self.run(f'CREATE DATABASE "{name}"')
        return self.url(name)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def main() -> None:
    why, found = missing(), newest()
    if why is not None or found is None:
        print(f"No PostgreSQL: {why}.")
        sys.exit(1)
    print(f"PostgreSQL {found.version} in {found.folder}")


if __name__ == "__main__":
    main()
