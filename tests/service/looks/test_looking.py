"""A process that only looks sees what everybody sees, reads no private row and writes nothing."""

from __future__ import annotations

import fcntl
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from benchmarks.service.postgres import Server
from dpbandits.service.looks import looking
from dpbandits.service.rows.tables import PRIVATE

from dpbandits.core.errors import StoreError
from dpbandits.service.opening import open_store
from dpbandits.service.witness import Witness
from tests.service.http.web import client_of
from tests.service.looks.conftest import looked_at
from tests.service.looks.played import CAMPAIGNS, everything, go_on
from tests.service.machine import Time
from tests.service.timelines import Lite, create, turns

WORDS = (
    *("guarantee", "ledger", "releases", "decisions", "events"),
    *("beliefs", "history", "recent", "sample_ratio", "statement"),
)


def read_by(server: Server, role: str, url: str) -> str:
    """The address for a role that may do what the guide says, and nothing else."""
    guide = Path(__file__).parents[3] / "docs/guides/service.md"
    granted = guide.read_text(encoding="utf-8").split("```sql\n")[1].split("```")[0]
    database = url.rpartition("/")[2]
    for line in granted.replace("onlooker", role).strip().split(";\n"):
        server.run(line, database)
    return url.replace("postgres@", f"{role}@")


@pytest.mark.parametrize("kind", CAMPAIGNS)
def test_it_sees_what_everybody_sees(lite: Lite, kind: str) -> None:
    clock = Time()
    with lite.open(clock=clock) as store:
        campaign = CAMPAIGNS[kind](store, clock)
        with looked_at(lite, clock=clock) as onlookers:
            for _ in range(4):
                go_on(campaign, clock)
                assert everything(onlookers["c"]) == everything(campaign)
            with looked_at(lite, clock=clock) as later:
                assert everything(later["c"]) == everything(campaign)
            assert campaign.summary().step > 0


@pytest.mark.parametrize("kind", ["people", "segments"])
def test_a_role_without_rights_to_private_tables_is_enough(
    server: Server, tmp_path: Path, kind: str
) -> None:
    import psycopg

    url, clock, witness = server.fresh(f"looks_{kind}"), Time(), tmp_path / "witness"
    with open_store(url, key=bytes(32), witness=witness, clock=clock) as store:
        campaign = CAMPAIGNS[kind](store, clock)
        read_only = read_by(server, f"reader_{kind}", url)
        with open_store(read_only, witness=witness, clock=clock, looking=True) as onlookers:
            for _ in range(2):
                go_on(campaign, clock)
                assert everything(onlookers["c"]) == everything(campaign)
    place = read_only.replace("postgresql+psycopg", "postgresql")
    for sql in (
        "SELECT * FROM dpbandits_private_state",
        "SELECT * FROM dpbandits_held",
        "DELETE FROM dpbandits_decision",
    ):
        with psycopg.connect(place) as connection, pytest.raises(psycopg.Error) as refused:
            connection.execute(sql)
        assert type(refused.value).__name__ == "InsufficientPrivilege"


def test_private_tables_may_be_gone(lite: Lite, tmp_path: Path) -> None:
    clock = Time()
    with lite.open(clock=clock) as store:
        campaign = CAMPAIGNS["windowed"](store, clock)
        go_on(campaign, clock)
        shown = everything(campaign)
    with closing(sqlite3.connect(lite.file)) as connection, connection:
        for table in PRIVATE:
            connection.execute(f"DROP TABLE {table}")
    with looked_at(lite, clock=clock) as onlookers:
        assert everything(onlookers["c"]) == shown


def test_sqlite_refuses_private_rows_and_every_change(lite: Lite) -> None:
    with lite.open() as store:
        create(store)
        turns(store["c"], 16)
    before = lite.file.read_bytes(), lite.witness.read_bytes()
    with looked_at(lite) as onlookers:
        everything(onlookers["c"])
        with onlookers.backend._engine.connect() as connection:
            said = [
                connection.exec_driver_sql("SELECT count(*) FROM dpbandits_decision").scalar_one()
            ]
            for table in PRIVATE:
                with pytest.raises(Exception, match="prohibited"):
                    connection.exec_driver_sql(f"SELECT * FROM {table}")
            with pytest.raises(Exception, match="readonly"):
                connection.exec_driver_sql("UPDATE dpbandits_head SET version = 0")
    assert said == [16]
    assert (lite.file.read_bytes(), lite.witness.read_bytes()) == before


def test_a_database_that_was_put_back_shows_nothing_until_it_is_fenced(lite: Lite) -> None:
    with lite.open() as store:
        campaign = create(store)
        turns(campaign, 16)
        copy = lite.copy(lite.file.with_name("copy.db"))
        turns(campaign, 16)
    lite.put_back(copy)
    with looked_at(lite) as onlookers:
        with pytest.raises(StoreError, match="put back"):
            onlookers["c"].beliefs()
        with lite.open() as store:
            assert store["c"].generation == 2
            assert everything(onlookers["c"]) == everything(store["c"])


def test_what_is_not_witnessed_is_not_shown(lite: Lite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "PATIENCE", 0.05)
    with lite.open() as store:
        campaign = create(store)
        turns(campaign, 8)
        before = lite.witness.read_bytes()
        turns(campaign, 16)
        step = campaign.summary().step
    after = lite.witness.read_bytes()
    lines = after.splitlines(keepends=True)
    assert len(lines) > len(before.splitlines()) + 1
    lite.witness.write_bytes(b"".join(lines[:-1]))
    with looked_at(lite) as onlookers:
        with pytest.raises(StoreError, match="not witnessed"):
            onlookers["c"].summary()
        lite.witness.write_bytes(after)
        assert onlookers["c"].summary().step == step


def test_a_slow_look_keeps_nobody_from_witnessing(
    lite: Lite, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lite.open() as store:
        turns(create(store), 16)
    learn, learned = Witness._learn, list[bytes]()

    def learn_slowly(self: Witness, line: bytes) -> None:
        with lite.witness.open() as file:  # refused if whoever looks holds the lock meanwhile
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        learned.append(line)
        learn(self, line)

    monkeypatch.setattr(Witness, "_learn", learn_slowly)
    Witness(lite.witness, looking=True)
    assert learned == lite.witness.read_bytes().splitlines()


def test_pages_and_looks_are_served_and_no_verb_is(lite: Lite) -> None:
    with lite.open() as store:
        campaign = create(store)
        turns(campaign, 40)
        whole = client_of(store)
        with looked_at(lite) as onlookers:
            client = client_of(onlookers)
            for word in ("", *(f"/{word}" for word in WORDS)):
                wanted = whole.get(f"/v1/campaigns/c{word}")
                assert wanted.status_code == 200
                assert client.get(f"/v1/campaigns/c{word}").text == wanted.text
            assert client.post("/v1/campaigns/c/ask", json={"count": 1}).status_code == 409
            page, other = (each.get("/campaigns/c").text for each in (client, whole))
            assert "/new" in other
            assert "/new" not in page
            assert client.get("/new").status_code == 404
            assert client.get("/campaigns/strange").status_code == 404


def test_a_look_asks_and_tells_nothing(lite: Lite) -> None:
    with lite.open() as store:
        create(store, attribution_window=timedelta(seconds=5), default=0)
    with looked_at(lite) as onlookers:
        verbs = {"ask", "tell", "tell_many", "expire", "void", "close", "erase", "fence", "settle"}
        assert not verbs & {*dir(onlookers["c"])}
        assert not hasattr(onlookers, "create")
        assert "c" in onlookers
        assert [*onlookers] == ["c"]
