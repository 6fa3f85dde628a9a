"""A database that goes away, is full, or commits and says nothing; many processes at once."""

from __future__ import annotations

import json
import os
import random
import secrets
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from benchmarks.service.postgres import Server
from sqlalchemy import Connection

import dpbandits as dpb
from dpbandits.core.errors import StoreError
from dpbandits.service.opening import open_store
from dpbandits.service.operations import Ask
from dpbandits.service.transaction import QueuedCall
from dpbandits.service.witness import Witness
from tests.service.conftest import Open
from tests.service.machine import Time
from tests.service.timelines import Lite, create, inside, turns


def test_a_commit_whose_reply_is_lost(make: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it stands is not known; made again, the call counts nothing twice."""
    store = make()
    campaign, commit = create(store), Connection.commit

    def eaten(connection: Connection) -> None:
        commit(connection)
        if connection.engine is store.database.engine:
            raise OSError("the reply never came")

    with monkeypatch.context() as patched:
        patched.setattr(Connection, "commit", eaten)
        with pytest.raises(StoreError, match="same call again"):
            campaign.ask(20, key="k")
    asked = campaign.ask(20, key="k")
    with monkeypatch.context() as patched:
        patched.setattr(Connection, "commit", eaten)
        with pytest.raises(StoreError, match="same call again"):
            campaign.tell_many([(d, 1) for d in asked])
        with pytest.raises(StoreError, match="same call again"):
            campaign.add_arm()
    assert {*campaign.tell_many([(d, 0) for d in asked])} == {"already"}
    assert (campaign.summary().asked, len(campaign.arms)) == (20, 4)
    assert campaign.generation == 1
    turns(campaign, 20)


def test_a_disk_that_is_full(tmp_path: Path) -> None:
    with Lite(tmp_path).open() as store:
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
        assert {*campaign.tell_many([(d, 1) for d in asked])} == {"recorded"}
        turns(campaign, 20)


def test_a_witness_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was released is not shown before it is witnessed, and is shown then."""
    lite = Lite(tmp_path)
    with lite.open() as store:
        campaign = create(store)
        asked = campaign.ask(40)

        def full(*_: object) -> None:
            raise OSError("no space left")

        with monkeypatch.context() as patched:
            patched.setattr(Witness, "_begin", full)
            with pytest.raises(RuntimeError, match="witness"):
                campaign.tell_many([(d, 1) for d in asked])
            with pytest.raises(RuntimeError, match="witness"):
                campaign.releases()
        assert {*campaign.tell_many([(d, 0) for d in asked])} == {"already"}
        assert campaign.generation == 1
        assert campaign.releases()


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
                campaign.tell_many([(d, 1) for d in asked])
        # blocks were read: what was drawn is written by the next call
        assert {*campaign.tell_many([(d, 1) for d in asked])} == {"already"}
        server.run(cut)
        turns(campaign, 20)
        assert campaign.generation == 1


def in_children(count: int, work: Callable[[int], Counter[str]]) -> Counter[str]:
    """What so many forked children count, in all."""
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
    found = Counter[str]()
    for out in pipes:
        with os.fdopen(out) as said:
            found += Counter(json.loads(said.read()))
    for _ in pipes:
        os.wait()
    return found


@pytest.mark.parametrize("many", [400, pytest.param(12_500, marks=pytest.mark.hours)])
def test_eight_processes_at_once(make: Open, many: int) -> None:
    """The same object in eight forked processes: every decision is told by one of them or by
    several, in any order, and counts once.
    """
    store = make()
    campaign = create(store)
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
    records = inside(campaign, lambda part, _: part.session._current.records)
    assert records == many * 8


def test_calls_that_are_done_together_take_a_place_each(make: Open) -> None:
    campaign = create(make(), privacy_unit="user", max_contributions=2)
    campaign.ask(user="u")
    together = [QueuedCall(Ask(user="u")) for _ in range(3)]
    campaign._calls.host._transact(together)
    assert [ticket.answer()[0].learn for ticket in together] == [True, False, False]


def test_campaigns_that_join_a_scope_at_once(make: Open) -> None:
    """Both have looked at the scope before one of them is written."""
    store, other = make(), make()
    store.scope("s", epsilon=1)
    inner: Any = store.database.create

    def late(*given: Any) -> Any:
        del store.database.create
        other.create("first", dpb.DPKLUCB(arms=2, epsilon=1), scope="s")
        return inner(*given)

    store.database.create = late
    with pytest.raises(ValueError, match="would take 1 more"):
        store.create("second", dpb.DPKLUCB(arms=2, epsilon=1), scope="s")
    assert list(other) == ["first"]


def test_an_answer_that_comes_twice_in_one_call_is_held_once(make: Open) -> None:
    """Where answers are waited for, every reply is the same, and the first answer counts."""
    clock = Time()
    options: dict[str, Any] = {"attribution_window": timedelta(minutes=1), "assignment": "planned"}
    policy = dpb.DPKLUCB(arms=1, epsilon=10**6, first=3)
    campaign = create(make(clock=clock), policy, default=0, **options)
    asked = campaign.ask(3)
    replies = campaign.tell_many([(asked[0], 1), (asked[1], 1), (asked[0], 0), (asked[2], 0.5)])
    assert replies == ["recorded"] * 4
    assert campaign.tell(asked[2], 1) == "recorded"
    clock.now += 61
    campaign.settle()
    assert [release.answers for release in campaign.releases()] == [([2.5, 3, 1],)]
