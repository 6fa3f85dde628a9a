"""Stores in a file of SQLite and in a database of PostgreSQL; in memory where a test says so."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from benchmarks.service.postgres import Server, missing, running
from sqlalchemy import Engine

from dpbandits.noise import SimulatedNoise
from dpbandits.service import database
from dpbandits.service.database import Database
from dpbandits.service.opening import open_store
from dpbandits.service.store import CampaignStore
from dpbandits.service.witness import Witness
from tests.service.timelines import KEY, OPENED, Lite

KINDS = ("sqlite", "postgresql")

Open = Callable[..., Any]


@pytest.fixture(scope="session", autouse=True)
def template() -> Iterator[Callable[..., None]]:
    """New databases of SQLite are copies of a migrated one, in a tenth of the time."""
    migrate, empty = database.bring_up_to_date, "SELECT count(*) = 0 FROM sqlite_master"
    original = Database("memory:")
    made: Any = original.engine.raw_connection()

    def copy(engine: Engine, **how: bool) -> None:
        if engine.dialect.name == "sqlite":
            with suppress(sqlite3.Error), closing(engine.raw_connection()) as connection:
                new: Any = connection.driver_connection
                if new.execute(empty).fetchone()[0]:
                    made.driver_connection.backup(new)
        migrate(engine, **how)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "bring_up_to_date", copy)
        yield migrate
    original.close()


@pytest.fixture
def migrations(template: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    """New databases are made as everywhere else: for tests of opening itself."""
    monkeypatch.setattr(database, "bring_up_to_date", template)


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
def store() -> Iterator[Any]:
    """A store in memory with a key and simulated noise."""
    with open_store("memory:", key=KEY, noise=SimulatedNoise(1)) as store:
        yield store


@pytest.fixture
def lite(tmp_path: Path) -> Lite:
    return Lite(tmp_path)


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Python warns of databases that nobody closed, in whichever test it finds them."""
    yield
    while OPENED:
        OPENED.pop().close()


@pytest.fixture
def opened() -> Iterator[list[Any]]:
    stores: list[Any] = []
    yield stores
    for store in stores:
        store.close()


@pytest.fixture(params=KINDS)
def make(request: pytest.FixtureRequest, tmp_path: Path, opened: list[Any]) -> Open:
    """Opens one and the same store, of each kind; options as for `open_store`. One in memory has
    the same statements, so only the storage suite and interrupted calls are tried there.
    """
    known: dict[str, Any] = {"key": KEY, "witness": tmp_path / "witness"}
    memory, url = None, f"sqlite:///{tmp_path}/trial.db"
    if request.param == "memory":
        memory = Database("memory:")
    elif request.param == "postgresql":
        url = request.getfixturevalue("server").fresh(secrets.token_hex(8))

    def opener(**options: Any) -> CampaignStore:
        how = known | options
        if memory is None:
            opened.append(open_store(url, **how))
        else:
            opened.append(CampaignStore(memory, Witness(how.pop("witness")), **how))
        return opened[-1]

    return opener
