"""A database's reply that is lost: the transaction stands, or it does not, and nobody is told. The
call made again comes to the same; nothing counts twice.
"""

from __future__ import annotations

import secrets
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from benchmarks.service.postgres import Server

import dpbandits as dpb
from dpbandits.core.errors import StoreError
from dpbandits.service.opening import open_store
from tests.service.conftest import KEY


class Proxy:
    """Passes on what a database and its clients say to each other.

    eats: the next COMMIT of a client is not answered: "reply", it is passed on and its reply is
        thrown away; "both", it never comes to the database.
    eaten: how often that was done.
    """

    def __init__(self, port: int) -> None:
        self.eats, self.eaten = "", 0
        self._unheard = set[socket.socket]()  # whose next reply is thrown away
        self._to, self._listening = port, socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            database = socket.create_connection(("127.0.0.1", self._to))
            for ends in ((client, database), (database, client)):
                work = self._pass_on if ends[0] is database else self._pass_on_or_eat
                threading.Thread(target=work, args=ends, daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while said := source.recv(65_536):
                if source in self._unheard:  # it is committed
                    break
                target.sendall(said)
        hang_up(source, target)

    def _pass_on_or_eat(self, client: socket.socket, database: socket.socket) -> None:
        try:
            while said := client.recv(65_536):
                if self.eats and b"COMMIT" in said:
                    way, self.eats, self.eaten = self.eats, "", self.eaten + 1
                    if way == "reply":
                        self._unheard.add(database)
                        database.sendall(said)
                        return  # the other direction hangs up when the reply has come
                    break
                database.sendall(said)
        except OSError:
            pass
        hang_up(client, database)

    def close(self) -> None:
        self._listening.close()


def hang_up(*ends: socket.socket) -> None:
    """Also where another thread still listens."""
    for end in ends:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()


@pytest.fixture
def between(server: Server) -> Iterator[Proxy]:
    proxy = Proxy(server.port)
    yield proxy
    proxy.close()


@pytest.fixture
def stores(server: Server, between: Proxy, tmp_path: Path) -> Iterator[tuple[Any, Any]]:
    """A store behind the proxy, and the same store without it."""
    url = server.fresh(secrets.token_hex(8))
    behind = url.replace(f":{server.port}/", f":{between.port}/")
    both = [open_store(each, key=KEY, witness=tmp_path / "w") for each in (behind, url)]
    policy = dpb.DPKLUCB(arms=2, epsilon=1, first=4)
    both[1].create("trial", policy, noise=dpb.SimulatedNoise(1), seed=1)
    yield both[0], both[1]
    for store in both:
        store.close()


WAYS = pytest.mark.parametrize("way", ["reply", "both"])


@WAYS
def test_answers_whose_commit_was_not_answered_count_once(
    stores: tuple[Any, Any], between: Proxy, way: str
) -> None:
    behind, direct = stores
    campaign = behind["trial"]
    statuses = Counter[str]()
    for turn in range(12):
        decisions = campaign.ask(5)
        between.eats = way if turn % 2 else ""
        pairs = [(decision, 1) for decision in decisions]
        if turn % 2:
            with pytest.raises(StoreError):
                campaign.tell_many(pairs)
        statuses.update(campaign.tell_many(pairs))
    assert between.eaten == 6
    assert statuses.total() == statuses["recorded"] + statuses["already"] == 60
    # what never came is written by the next call, if a block was read
    assert statuses["already"] == 30 if way == "reply" else 0 < statuses["already"] <= 30
    found = direct["trial"]
    assert (found.summary().asked, found.summary().told) == (60, 60)
    spans = [(line.coordinate, line.start, line.stop) for line in found.ledger]
    read = Counter((arm, place) for arm, start, stop in spans for place in range(start, stop))
    assert set(read.values()) == {1}
    assert found.spent == 1
    assert found.generation == 1


@WAYS
def test_asks_whose_commit_was_not_answered_give_the_same_decisions(
    stores: tuple[Any, Any], between: Proxy, way: str
) -> None:
    behind, direct = stores
    campaign = behind["trial"]
    between.eats = way
    with pytest.raises(StoreError):
        campaign.ask(5, key="visit 1")
    first = campaign.ask(5, key="visit 1")
    assert [d.id for d in direct["trial"].ask(5, key="visit 1")] == [d.id for d in first]
    assert direct["trial"].summary().asked == 5
    assert between.eaten == 1
