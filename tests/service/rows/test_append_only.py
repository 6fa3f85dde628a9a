"""What the database itself refuses: to read a reward twice, and to alter a release."""

import secrets
from pathlib import Path
from typing import Any

import pytest
from benchmarks.service.postgres import Server
from sqlalchemy import Engine, create_engine, event, select
from sqlalchemy.exc import DBAPIError

from dpbandits.core.errors import StoreError
from dpbandits.service import tables
from dpbandits.service.database import make_private_file, put, require_durable, sqlite_engine
from dpbandits.service.opening import open_store
from tests.service.conftest import KEY, Open
from tests.service.timelines import Lite, create, turns

TABLES = "dpbandits_ledger", "dpbandits_release"
LINE = "campaign, generation, coordinate, start, stop, cost, step, kind, moved"
RELEASE = "campaign, step, generation, coordinates, answers, asked, made_at, chain"


class Written:
    """A database in which a campaign has released, and one of its ledger's lines."""

    def __init__(self, url: str, witness: Path) -> None:
        with open_store(url, witness=witness, key=KEY) as store:
            turns(create(store), 60)
        self.engine = create_engine(url)
        query = "SELECT campaign, coordinate, start, stop FROM dpbandits_ledger ORDER BY start DESC"
        self.uid, self.arm, self.start, self.stop = self.run(query)[0]
        assert 0 < self.start < self.stop - 2

    def run(self, sql: str) -> list[Any]:
        """Run a statement by itself, as anybody may who has the database."""
        with self.engine.connect() as connection:
            found = connection.exec_driver_sql(sql)
            rows = [*found] if found.returns_rows else []
            connection.commit()
        return rows

    def rows(self) -> list[Any]:
        return [self.run(f"SELECT * FROM {table} ORDER BY 1, 2") for table in TABLES]

    def line(self, start: int, stop: int, generation: int = 1) -> str:
        values = f"'{self.uid}', {generation}, {self.arm}, {start}, {stop}, '1', 99, 'read', 99"
        return f"INSERT INTO dpbandits_ledger ({LINE}) VALUES ({values})"

    def refuses(self, sql: str) -> None:
        """Nothing changes, and the statement fails."""
        before = self.rows()
        with pytest.raises(DBAPIError):
            self.run(sql)
        assert self.rows() == before


@pytest.fixture(params=["sqlite", "postgresql"])
def written(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    url = f"sqlite:///{tmp_path}/trial.db"
    if request.param == "postgresql":
        url = request.getfixturevalue("server").fresh(secrets.token_hex(8))
    made = Written(url, tmp_path / "elsewhere")
    yield made
    made.engine.dispose()


def test_the_database_refuses_a_reading_that_overlaps_another(written: Written) -> None:
    start, stop = written.start, written.stop
    inner, over = (start + 1, stop - 1), (0, stop + 99)
    for part in (start, stop), (start - 1, start + 1), inner, (stop - 1, stop + 9), over, (0, 1):
        written.refuses(written.line(*part))
    written.refuses(written.line(stop, stop + 4) + f", ({written.line(0, 9).split('VALUES (')[1]}")
    for low, high, generation in ((stop, stop + 4, 1), (start, stop, 2)):
        written.run(written.line(low, high, generation))
        written.refuses(written.line(low, high, generation))


def test_the_database_alters_no_line_and_no_release(written: Written) -> None:
    for sql in (
        "UPDATE dpbandits_ledger SET stop = stop + 1",
        "UPDATE dpbandits_ledger SET kind = 'lost'",
        "UPDATE dpbandits_ledger SET cost = '0'",
        "DELETE FROM dpbandits_ledger",
        "UPDATE dpbandits_release SET answers = '[0]'",
        "UPDATE dpbandits_release SET step = step + 1000",
        "DELETE FROM dpbandits_release",
        f"INSERT INTO dpbandits_release ({RELEASE}) SELECT {RELEASE} FROM dpbandits_release",
    ):
        written.refuses(sql)
    anew = f"SELECT {RELEASE.replace('answers', '9')} FROM dpbandits_release"
    values = LINE.replace("kind", "'lost'")
    if written.engine.dialect.name == "sqlite":
        written.refuses(f"INSERT OR REPLACE INTO dpbandits_release ({RELEASE}) {anew}")
        written.refuses(
            f"INSERT OR REPLACE INTO dpbandits_ledger (id, {LINE}) "
            f"SELECT id, {values} FROM dpbandits_ledger"
        )
        written.refuses("UPDATE OR REPLACE dpbandits_ledger SET id = 1")
        return
    change = "ON CONFLICT (campaign, step) DO UPDATE SET answers = '9'"
    written.refuses(
        f"INSERT INTO dpbandits_release ({RELEASE}) "
        f"SELECT {RELEASE} FROM dpbandits_release {change}"
    )
    for table in (*TABLES, ", ".join(TABLES)):
        written.refuses(f"TRUNCATE {table}")


@pytest.mark.long
@pytest.mark.parametrize("setting", ["fsync", "full_page_writes"])
def test_a_server_that_could_lose_a_commit_is_refused(
    server: Server, tmp_path: Path, setting: str
) -> None:
    url = server.fresh(secrets.token_hex(8))
    open_store(url, witness=tmp_path / "w", key=KEY).close()
    server.stop()
    server.start(f"{setting}=off")
    try:
        with pytest.raises(StoreError, match=f"; {setting} is off"):
            open_store(url, witness=tmp_path / "w", key=KEY)
    finally:
        server.stop()
        server.start()
    open_store(url, witness=tmp_path / "w", key=KEY).close()


def test_every_connection_to_a_file_waits_for_the_disk(lite: Lite) -> None:
    store = lite.open()
    turns(create(store), 20)
    for connection in [store.database.engine.connect() for _ in range(3)]:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        connection.close()


@pytest.mark.parametrize("level", ["OFF", "NORMAL"])
def test_a_file_that_could_lose_a_commit_is_refused(tmp_path: Path, level: str) -> None:
    make_private_file(tmp_path / "trial.db")
    engine: Engine = sqlite_engine(tmp_path / "trial.db")

    @event.listens_for(engine, "connect")
    def settle(connection: Any, _: object) -> None:
        connection.execute(f"PRAGMA synchronous={level}")

    with pytest.raises(StoreError, match="synchronous is off"):
        require_durable(engine)
    engine.dispose()


# Rows that are written over


def test_of_two_rows_in_one_place_the_later_one_stays(make: Open) -> None:
    """PostgreSQL refuses a statement that writes over its own rows, SQLite does not."""
    store = make()
    uid, table = create(store).uid, tables.contribution
    names = "group", "pseudonym", "window", "used", "kept"
    for used in (1, 3):
        rows = [(uid, who, 0, used + at, None) for at, who in enumerate(["a", "b", "a"])]
        with store.database.begun() as connection:
            put(connection, table, names, rows, "group", "pseudonym")
        with store.database.begun(write=False) as connection:
            query = select(table.c.pseudonym, table.c.used).order_by(table.c.pseudonym)
            assert [*map(tuple, connection.execute(query))] == [("a", used + 2), ("b", used + 1)]
