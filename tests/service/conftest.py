"""The three kinds of store: in memory, a file of SQLite, a database of PostgreSQL."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.service.postgres import Server, missing, running

from dpbandits.service.database import Database
from dpbandits.service.opening import open_store
from dpbandits.service.store import CampaignStore
from dpbandits.service.witness import Witness

KINDS = ("memory", "sqlite", "postgresql")
KEY = bytes(range(32))
OPENED = list[Any]()
"""What timelines have opened for a test."""

Open = Callable[..., Any]


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One server for all tests; each takes a database of its own."""
    why = missing()
    if why is not None:
        pytest.skip(why)
    # not within pytest's own folder: the server runs as somebody else, who may not enter that
    with running() as server:
        yield server


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Python warns of databases that nobody closed, in whichever test it finds them."""
    yield
    while OPENED:
        OPENED.pop().close()


@pytest.fixture
def opened() -> Iterator[list[Any]]:
    """Stores that are closed when the test ends."""
    stores: list[Any] = []
    yield stores
    for store in stores:
        store.close()


@pytest.fixture(params=KINDS)
def make(request: pytest.FixtureRequest, tmp_path: Path, opened: list[Any]) -> Open:
    """Opens one and the same store, of each kind; options as for `open_store`."""
    witness = tmp_path / "witness"
    if request.param == "memory":
        database = Database("memory:")
        opened.append(CampaignStore(database, Witness(witness), key=KEY))
        return lambda **options: CampaignStore(
            database, Witness(witness), **{"key": KEY, **options}
        )
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path}/trial.db"
    else:
        url = request.getfixturevalue("server").fresh(secrets.token_hex(8))

    def opener(**options: Any) -> CampaignStore:
        store = open_store(url, **{"key": KEY, "witness": witness, **options})
        opened.append(store)
        return store

    return opener
