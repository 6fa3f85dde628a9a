"""A database that goes away or is full, and many processes; the rest is in test_faults.py."""

import json
import os
import random
import secrets
import socket
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from benchmarks.service.postgres import Server
from sqlalchemy import Connection, insert
from sqlalchemy.engine.default import DefaultDialect

import dpbandits as dpb
from dpbandits.core.errors import StoreError
from dpbandits.service import database
from dpbandits.service.opening import open_store
from dpbandits.service.operations import Ask
from dpbandits.service.transaction import Host, QueuedCall
from dpbandits.service.witness import mark_table
from tests.service.conftest import Open
from tests.service.timelines import Lite, create, inside, turns


def told(campaign: Any, asked: list[Any], reward: float = 1) -> set[str]:
    return {*campaign.tell_many([(decision, reward) for decision in asked])}


def test_a_disk_that_is_full(lite: Lite) -> None:
    with lite.open() as store:
        campaign = create(store)
        asked = campaign.ask(40)

        def room(pages: int) -> None:
            with store.database.engine.connect() as connection:
                connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")

        room(1)  # no page more than there are
        with pytest.raises(StoreError, match="full"):
            campaign.ask(3_000)
        room(10**9)
        assert campaign.summary().asked == 40
        assert told(campaign, asked) == {"recorded"}
        turns(campaign, 20)


def test_a_machine_that_is_gone_keeps_nobody_waiting(server: Server, tmp_path: Path) -> None:
    """Each end soon asks whether the other is there; by default a campaign is locked for hours."""
    url = server.fresh(secrets.token_hex(8))
    store = open_store(url, witness=tmp_path / "witness")
    with store, store.database.engine.connect() as connection:
        asked = connection.exec_driver_sql("SHOW tcp_keepalives_idle").scalar()
        raw: Any = connection.connection.driver_connection
        with socket.socket(fileno=os.dup(raw.pgconn.socket)) as own:
            asks = own.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE)
    assert (asked, asks) == ("15", 15)


def test_a_server_that_goes_away(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All connections are cut in the middle of a transaction, and between two."""
    url = server.fresh(name := secrets.token_hex(8))
    with open_store(url, witness=tmp_path / "witness") as store:
        campaign, commit = create(store), Connection.commit
        asked = campaign.ask(40)
        cut = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"

        def gone(connection: Connection) -> None:
            server.run(cut)
            commit(connection)

        with monkeypatch.context() as patched:
            patched.setattr(Connection, "commit", gone)
            with pytest.raises(StoreError, match="same call again"):
                told(campaign, asked)
        assert told(campaign, asked) == {"already"}  # what was drawn is written by the next call
        server.run(cut)
        turns(campaign, 20)
        server.run(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
        server.run(cut)
        for call in (campaign.ask, campaign.summary):
            with pytest.raises(StoreError, match="not currently accepting"):
                call()
        server.run(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')
        assert campaign.generation == 1


def test_a_commit_under_way_is_waited_for(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection breaks while the server commits a release: it stands, and nothing is fenced."""
    with open_store(server.fresh(secrets.token_hex(8)), witness=tmp_path / "witness") as store:
        campaign = create(store)
        asked = campaign.ask(40)

        def late(connection: Any) -> None:
            sent = connection.connection.driver_connection.pgconn
            sent.send_query(b"SELECT pg_sleep(.5); COMMIT")
            sent.finish()

        with monkeypatch.context() as patched:
            patched.setattr(Connection, "commit", late)
            with pytest.raises(StoreError, match="same call again"):
                told(campaign, asked)
        assert told(campaign, asked) == {"already"}
        assert campaign.generation == 1


@pytest.mark.parametrize("where", ["queue", "transaction", "witness", "database"])
def test_who_waits_for_an_interrupted_call_is_told(
    monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Nobody waits for ever, nobody is told of nothing, and the next call works."""
    campaign = create(dpb.open_store("memory:"))
    transact, other = Host._transact, QueuedCall(Ask())
    campaign._calls.host._queue.append(other)

    def interrupted(self: Host, *given: Any) -> Any:
        if where == "queue":
            self._queue.popleft()
        elif where == "witness":
            transact(self, *given)
        elif where == "database":
            raise StoreError("away")
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Host, "_run_queue" if where == "queue" else "_transact", interrupted)
        with pytest.raises(StoreError if where == "database" else KeyboardInterrupt):
            campaign.ask()
    if where in ("transaction", "database"):
        with pytest.raises(StoreError, match="away" if where == "database" else "interrupted"):
            other.answer()
    assert campaign.tell(campaign.ask(), 1) == "recorded"


class TimeIsUp(Exception):
    """What a task queue raises in a signal's handler."""


@pytest.mark.parametrize("error", [KeyboardInterrupt, TimeoutError, TimeIsUp])
def test_a_commit_that_is_interrupted_before_the_driver_has_it(
    make: Open, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    """Its transaction does not stay open, with a lock that other processes wait for."""
    monkeypatch.setattr(database, "PATIENCE", 1)
    campaign = create(make())

    def early(*_: object) -> None:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(DefaultDialect, "do_commit", early)
        with pytest.raises((error, StoreError)):
            campaign.ask()
    assert make()["c"].ask().round == 1
    assert campaign.summary().asked == 1


def in_children(
    count: int, work: Callable[[int], Counter[str]], meanwhile: Callable[[], None] = lambda: None
) -> Counter[str]:
    """What so many forked children count, in all. meanwhile: what their parent does."""
    pipes = []
    for number in range(count):
        out, into = os.pipe()
        if not os.fork():
            try:
                os.close(out)
                os.write(into, json.dumps(work(number)).encode())
            finally:
                os._exit(0)
        os.close(into)
        pipes.append(out)
    meanwhile()
    found = Counter[str]()
    for out in pipes:
        with os.fdopen(out) as said:
            found += Counter(json.loads(said.read()))
    for _ in pipes:
        os.wait()
    return found


@pytest.mark.parametrize("many", [400, pytest.param(12_500, marks=pytest.mark.hours)])
def test_eight_processes_at_once(make: Open, many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each decision is told by one of eight forks or by several, and counts once."""
    monkeypatch.setattr(database, "PATIENCE", 3_600)  # a busy machine keeps them waiting
    campaign = create(make())
    asked = campaign.ask(many * 8)

    def work(number: int) -> Counter[str]:
        drawn = random.Random(number)
        own = asked[number::8] + drawn.sample(asked, many * 3 // 10)
        drawn.shuffle(own)
        counted = Counter[str]()
        step = max(1, len(own) // 6)
        for at in range(0, len(own), step):
            some = own[at : at + step]
            counted.update(campaign.tell_many([(d, drawn.random()) for d in some]))
        return counted

    counted = in_children(8, work)
    assert counted == {"recorded": many * 8, "already": many * 3 // 10 * 8}
    summary = campaign.summary()
    assert (summary.waiting, summary.told, summary.generation) == (0, many * 8, 1)
    assert inside(campaign, lambda part, _: part.session._current.records) == many * 8


def test_a_child_goes_on_when_its_parent_closes_the_store(lite: Lite) -> None:
    """SQLite deletes its log with the last connection that it knows of."""
    store = lite.open()
    campaign = create(store)
    asked = campaign.ask(8)
    (began, begin), (closed, close) = os.pipe(), os.pipe()

    def work(_: int) -> Counter[str]:
        campaign.summary()
        os.write(begin, b".")
        os.read(closed, 1)
        return Counter(campaign.tell_many([(decision, 1) for decision in asked]))

    def leave() -> None:
        os.close(begin)
        os.read(began, 1)
        store.close()
        os.write(close, b".")

    assert in_children(1, work, leave) == {"recorded": 8}
    with lite.open() as again:
        assert again["c"].summary().told == 8


def test_a_child_that_is_forked_within_a_call_is_refused(lite: Lite) -> None:
    """SQLite's locks do not work in it: it is not called, as it might wait for ever."""
    store = lite.open()
    campaign = create(store)
    opened = partial(database.FileConnection, lite.file, "/no/such/folder/file")

    def work(_: int) -> Counter[str]:
        refused = Counter[str]()
        for call in (campaign.summary, campaign.ask, lite.open, opened):
            try:
                call()
            except dpb.SharedError:
                refused["refused"] += 1
        return refused

    with store.database.begun():
        assert in_children(1, work) == {"refused": 4}
    assert campaign.ask().round == 1


def test_a_child_leaves_a_transaction_of_its_parent_alone(server: Server, lite: Lite) -> None:
    with lite.open(witness=server.fresh("forked")) as store:
        witness, first = store.witness, {"generation": 1, "step": 0, "chain": ""}
        with witness._writing() as connection:
            connection.execute(insert(mark_table), [{"campaign": "u", **first}])
            assert not in_children(1, lambda _: Counter(witness.marks(["u"])))
        assert [*witness.marks(["u"])] == ["u"]


def test_a_child_that_closes_its_store_cuts_no_connection_of_its_parent(
    server: Server, tmp_path: Path
) -> None:
    name = secrets.token_hex(8)
    with open_store(server.fresh(name), witness=tmp_path / "witness") as store:
        create(store)
        connected = f"SELECT pid FROM pg_stat_activity WHERE datname = '{name}'"
        before = server.run(connected)

        def work(_: int) -> Counter[str]:
            store.close()
            return Counter()

        in_children(1, work)
        assert server.run(connected) == before != []
