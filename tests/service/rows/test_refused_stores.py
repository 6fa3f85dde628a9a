"""Databases that a store does not open, their schema, and what is written in them."""

import logging
import re
import secrets
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from benchmarks.service.postgres import Server
from sqlalchemy import event

import dpbandits as dpb
from dpbandits.core.errors import StoreError
from dpbandits.service import tables
from dpbandits.service.database import PRESENT
from dpbandits.service.opening import open_store
from tests.service.conftest import KEY, Open
from tests.service.http.web import at_once
from tests.service.timelines import Lite, create, turns

pytestmark = pytest.mark.usefixtures("migrations")


def test_a_server_that_forgets_is_refused(server: Server, tmp_path: Path) -> None:
    url = server.fresh(name := secrets.token_hex(8))
    server.run(f'ALTER DATABASE "{name}" SET synchronous_commit = off')
    with pytest.raises(StoreError, match="synchronous_commit is off"):
        open_store(url, witness=tmp_path / "witness")


def test_a_database_with_other_settings_is_used_as_any(server: Server, tmp_path: Path) -> None:
    """Its schema is that of the address, its encoding none, and its transactions serializable."""
    name = secrets.token_hex(8)
    server.run(f"CREATE DATABASE \"{name}\" ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0")
    server.run(f'ALTER DATABASE "{name}" SET default_transaction_isolation = serializable')
    server.run("CREATE SCHEMA app", name)
    address = f"{server.url(name)}?options=-csearch_path%3Dapp"
    policy = dpb.DPKLUCB(arms=["blå", "日本"], epsilon=1)
    with ExitStack() as stack:
        how: dict[str, Any] = {"witness": tmp_path / "witness", "key": KEY}
        one, other = (stack.enter_context(open_store(address, **how)) for _ in range(2))
        campaigns = [create(one, policy, name="試験"), other["試験"]]
        both = at_once(2, lambda: turns(campaigns.pop(), 80))
        assert sum(map(len, both)) == 160
        schema = "SELECT DISTINCT schemaname::text FROM pg_tables WHERE tablename ~ '^dpbandits_'"
        with one.database.engine.connect() as connection:
            assert connection.exec_driver_sql(schema).all() == [("app",)]


def test_a_pooler_may_give_every_transaction_another_connection(
    server: Server, tmp_path: Path
) -> None:
    """Which knows nothing of what was set or prepared before, or what another program set."""
    others = ["off", "local", "remote_apply"]
    with open_store(server.fresh(secrets.token_hex(8)), witness=tmp_path / "witness") as store:

        @event.listens_for(store.database.engine, "checkin")
        def forget(connection: Any, _: object) -> None:
            connection.pgconn.exec_(b"DISCARD ALL")
            connection.pgconn.exec_(f"SET synchronous_commit = {others[0]}".encode())

        assert len(turns(create(store), 40)) == 40
        for kept in ("on", "on", "remote_apply"):  # which makes replicas wait, too
            with store.database.begun() as connection:
                names = "synchronous_commit", "lock_timeout"
                shown = [connection.exec_driver_sql(f"SHOW {name}").scalar() for name in names]
                del others[: len(others) > 1]
            assert shown == [kept, "30s"]


def test_a_database_of_another_version_is_refused(lite: Lite) -> None:
    lite.open().close()
    lite.run("UPDATE dpbandits_version SET version_num = '9999'")
    with pytest.raises(StoreError, match="Use the dpbandits that wrote it"):
        lite.open()


def test_the_tables_are_those_of_the_migrations(make: Open) -> None:
    with make().database.engine.connect() as connection:
        options = {"version_table": tables.VERSION_TABLE}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, tables.metadata) == []


LOST = {
    "sqlite": {
        "ledger_once": "DROP TRIGGER dpbandits_ledger_once",
        "scope": "DROP TABLE dpbandits_scope",
    },
    "postgresql": {
        "campaign_name_key": "ALTER TABLE dpbandits_campaign DROP CONSTRAINT {}",
        "ledger_no_truncate": "DROP TRIGGER {} ON dpbandits_ledger",
        "ledger_once": "ALTER TABLE dpbandits_ledger DROP CONSTRAINT {}",
        "release_append_only": "ALTER TABLE dpbandits_release DISABLE TRIGGER {}",
        "release_no_truncate": "ALTER TABLE dpbandits_release ENABLE REPLICA TRIGGER {}",
        "request_pkey": "ALTER TABLE dpbandits_request DROP CONSTRAINT {}",
    },
}


def test_a_store_that_was_not_restored_whole_is_refused(make: Open) -> None:
    """As where a copy was restored by a role that may not make everything."""
    with make() as store, store.database.engine.connect() as connection:
        dialect = connection.dialect.name
        present = connection.exec_driver_sql(PRESENT[dialect]).scalars()
        names = {name for name in present if re.match(r"dpbandits_(?!version)", name)}
        assert names == tables.named_in(dialect)
        for name, sql in LOST[dialect].items():
            connection.exec_driver_sql(sql.format(tables.PREFIX + name))
        connection.commit()
    lost = ", ".join(tables.PREFIX + name for name in LOST[dialect])
    with pytest.raises(StoreError, match=f"not restored whole: {lost} cannot be found"):
        make()


def test_counters_as_logical_replication_leaves_them_are_refused(
    server: Server, tmp_path: Path
) -> None:
    """A line of the ledger would get the number of another one, and the campaign a fence."""
    url, witness = server.fresh(name := secrets.token_hex(8)), tmp_path / "witness"
    with open_store(url, witness=witness) as store:
        turns(create(store), 60)
    open_store(url, witness=witness).close()
    server.run("SELECT setval('dpbandits_ledger_id_seq', 1)", name)
    with pytest.raises(StoreError, match="whole: dpbandits_ledger_id_seq cannot be found, or does"):
        open_store(url, witness=witness)


def test_no_reward_is_seen_in_files_logs_or_errors(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """123.456789 is told, held for a while, refused, and told to a database that fails."""
    caplog.set_level(logging.DEBUG)
    lite, seen = Lite(tmp_path), list[str]()
    now = [1e6]
    with lite.open(clock=lambda: now[0]) as store:
        late: dict[str, Any] = {"attribution_window": timedelta(minutes=1), "default": 0}
        campaign = create(store, rewards=dpb.Range(0, 1000), **late)
        asked = campaign.ask(40)
        campaign.tell_many([(d, 123.456789) for d in asked[:20]])
        with pytest.raises(ValueError) as refused:  # noqa: PT011
            campaign.tell(asked[20], -123.456789)
        seen.append(str(refused.value))
        with store.database.engine.connect() as connection:
            connection.exec_driver_sql("DROP TABLE dpbandits_held")
            connection.commit()
        with pytest.raises(StoreError) as failed:
            campaign.tell(asked[21], 123.456789)
        seen.append(str(failed.value))
        files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) >= 2
    steps = str(round(123.456789 / 1000 * 1024)).encode()
    assert not any(b"123.456789" in each or b"0.123456" in each for each in files)
    assert not any(b"p" + steps in each for each in files)
    assert "123.45" not in caplog.text + "".join(seen)


def test_what_cannot_be_opened_is_asked_about(tmp_path: Path) -> None:
    no_database = tmp_path / "notes.txt"
    no_database.write_text("words " * 300, encoding="utf-8")
    for place in (tmp_path / "no" / "trial.db", no_database):
        with pytest.raises(dpb.StoreError, match="is its folder there") as caught:
            dpb.open_store(f"sqlite:///{place}", witness=tmp_path / "w")
        assert "counted twice" not in str(caught.value)
    nobody = "postgresql+psycopg://me:hush@127.0.0.1:1/trials?password=hush"  # nobody listens
    for stores in ({"url": nobody}, {"url": "memory:", "witness": nobody}):
        away = pytest.raises((dpb.StoreError, dpb.WitnessError), match=r"connection failed.*folder")
        with away as caught:
            dpb.open_store(**stores)
        assert "hush" not in str(caught.value)
