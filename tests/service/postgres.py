"""A PostgreSQL server of our own: in a temporary folder, on a free port, with fsync on."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Any

BIN = Path("/usr/lib/postgresql/15/bin")


def missing() -> str | None:
    """Why no server can be started here."""
    if not (BIN / "postgres").exists() and shutil.which("postgres") is None:
        return "needs PostgreSQL (Debian's package postgresql)"
    if os.getuid() == 0 and shutil.which("runuser") is None:
        return "PostgreSQL does not run as root, and there is no runuser"
    return None


class Server:
    """folder: empty; it belongs to the server."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        if os.getuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        self._run("initdb", "-D", str(folder / "data"), "-A", "trust", "-U", "postgres")
        self.start()

    def _run(self, program: str, *args: str) -> None:
        path = BIN / program if (BIN / program).exists() else Path(program)
        before = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        subprocess.run(
            [*before, str(path), *args],
            check=True,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=120,
        )

    def start(self) -> None:
        said = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1 -c fsync=on"
        log = str(self.folder / "log")
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-l", log, "-o", said, "-w", "start")

    def stop(self, mode: str = "fast") -> None:
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-m", mode, "-w", "stop")

    def url(self, database: str = "postgres") -> str:
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/{database}"

    def run(self, sql: str, database: str = "postgres") -> list[Any]:
        """Run a statement by itself, outside of any transaction."""
        import psycopg

        place = f"host=127.0.0.1 port={self.port} user=postgres dbname={database}"
        with psycopg.connect(place, autocommit=True) as connection:
            cursor = connection.execute(sql)  # type: ignore[call-overload]  # any text
            return list(cursor) if cursor.description else []

    def fresh(self, name: str) -> str:
        """The address of a new database."""
        self.run(f'CREATE DATABASE "{name}"')
        return self.url(name)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
