"""Stores in a file of SQLite and in a database of PostgreSQL; in memory where a test says so."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from benchmarks.service.postgres import Server, missing, running

from dpbandits.service.database import Database
from dpbandits.service.opening import open_store
from dpbandits.service.store import CampaignStore
from dpbandits.service.witness import Witness

KINDS = ("sqlite", "postgresql")
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


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder in memory, where it can be: thousands of transactions need not wait for a disk."""
    memory = Path("/dev/shm")
    place = memory if memory.is_dir() else None
    with TemporaryDirectory(dir=place, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


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
    """Opens one and the same store, of each kind; options as for `open_store`. One in memory has
    the same statements, so only the storage suite and interrupted calls are tried there.
    """
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
