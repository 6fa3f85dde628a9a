"""Databases as they are kept beside this file, a folder a version. After a new version:

    python -m tests.service.rows.migrations.written

writes what the newest one lacks. What is there stays as it was: it is what people have.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from alembic.script import ScriptDirectory
from benchmarks.service.postgres import Server, newest, running
from sqlalchemy import create_engine

from dpbandits.service.http.access import Access
from dpbandits.service.opening import open_store
from dpbandits.service.rows.migrating import config_of
from tests.service.conftest import KEY
from tests.service.timelines import create, turns

HERE = Path(__file__).parent
KINDS = ("sqlite", "postgresql")
THEN = 1.79e9
"""When they were written."""
PEOPLE = {"scope": "all", "privacy_unit": "user", "max_contributions": 2}
"""Options of a campaign that promises something to each person, in a scope."""


def versions() -> list[str]:
    """All versions of the database, the newest first."""
    engine = create_engine("sqlite://")
    with engine.connect() as connection:
        script = ScriptDirectory.from_config(config_of(connection))
    engine.dispose()
    return [each.revision for each in script.walk_revisions()]


def play(store: Any) -> dict[str, Any]:
    """Something of every kind; and what its people were given.

    `c`: 20 decisions, of which 12 were told. `people`: in a scope, with a call under a key, an
    answer that is held, and a decision that waits.
    """
    campaign = create(store)
    turns(campaign, 12)
    waiting = campaign.ask(8)
    store.scope("all", epsilon=2)
    window = {"attribution_window": timedelta(hours=1), "default": 0}
    people = create(store, name="people", **PEOPLE, **window)
    visit = people.ask(user="anna", key="visit")
    people.tell(people.ask(user="bert"), 1)
    token = Access(store.backend, open=False).create("me", ["admin"])
    return {"waiting": [each.id for each in waiting], "visit": visit.id, "token": token}


def write(version: str, url: str, witness: Path) -> dict[str, Any]:
    """Into an empty database, whose newest version has to be this one."""
    assert versions()[0] == version
    with open_store(url, key=KEY, witness=witness, clock=lambda: THEN) as store:
        return play(store)


def keep(version: str, kind: str, text: str, witness: Path, names: dict[str, Any]) -> None:
    (HERE / version).mkdir(exist_ok=True)
    (HERE / version / f"{kind}.sql").write_text(text, "utf-8")
    (HERE / version / f"{kind}.witness").write_bytes(witness.read_bytes())
    (HERE / version / f"{kind}.json").write_text(json.dumps(names, indent=1) + "\n", "utf-8")


def write_lite(version: str, folder: Path) -> None:
    file, witness = folder / "kept.db", folder / "sqlite.witness"
    names = write(version, f"sqlite:///{file}", witness)
    with closing(sqlite3.connect(file)) as database:
        keep(version, "sqlite", "\n".join(database.iterdump()) + "\n", witness, names)


def write_big(version: str, folder: Path, server: Server) -> None:
    witness = folder / "postgresql.witness"
    names = write(version, server.fresh(f"kept{version}"), witness)
    keep(version, "postgresql", dumped(server, f"kept{version}"), witness, names)


def dumped(server: Server, database: str) -> str:
    """A database of PostgreSQL as statements, without what only its own terminal understands."""
    found = newest()
    assert found is not None
    place = ["--host=127.0.0.1", f"--port={server.port}", "--username=postgres", database]
    dump = [str(found.folder / "pg_dump"), "--inserts", "--no-owner", "--no-comments", *place]
    text = subprocess.check_output(dump, text=True, timeout=120)
    lines = [line for line in text.splitlines() if line and not line.startswith(("--", "\\"))]
    return "\n".join(lines) + "\n"


@contextmanager
def opened(url: str, witness: Path) -> Iterator[Any]:
    """The store as this code opens it, some time later."""
    with open_store(url, key=KEY, witness=witness, clock=lambda: THEN + 60) as store:
        yield store


def main() -> None:
    version = versions()[0]
    with tempfile.TemporaryDirectory() as name, running() as server:
        if not (HERE / version / "sqlite.sql").exists():
            write_lite(version, Path(name))
        if not (HERE / version / "postgresql.sql").exists():
            write_big(version, Path(name), server)


if __name__ == "__main__":
    main()
