"""Files of a store are for their owner's eyes only, and keep little of what was written over."""

import asyncio
import itertools
import logging
import multiprocessing
import os
import re
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.service.server.app import make_app
from dpbandits.service.server.serving import run_maintenance
from tests.service.timelines import create, turns

pytestmark = pytest.mark.usefixtures("migrations")
KEY = bytes(32)
URL = "sqlite:///{}/trial.db"


@pytest.fixture(autouse=True)
def careless() -> Iterator[None]:
    """A process that lets everybody read and write what it makes."""
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, str]:
    """The mode of every file."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {each.name: f"{stat.S_IMODE(each.stat().st_mode):o}" for each in files}


def opened(folder: Path, url: str = "", **options: Any) -> Any:
    how = {"witness": folder / "witness", "key": KEY, **options}
    return dpb.open_store(url or URL.format(folder), **how)


@pytest.mark.parametrize("name", ["trial", "50% #1 &é", "link"])
def test_files_are_their_owner_s_alone(tmp_path: Path, name: str) -> None:
    """Wherever they lie: in a folder whose name has signs of an address, or where a link leads."""
    (folder := tmp_path / name).mkdir()
    file = folder / "trial.db"
    if name == "link":
        (real := tmp_path / "inside" / "real.db").parent.mkdir()
        file.symlink_to(real)
        file = real
    for _ in range(2):
        with opened(folder) as store:
            if "c" not in store:
                create(store)
            turns(store["c"], 20)
            assert {file.name + end for end in ("", "-wal", "-shm")} <= modes(file.parent).keys()
            found = modes(tmp_path)
            assert "witness" in found
            assert set(found.values()) == {"600"}


def test_a_store_that_others_could_read_is_closed_to_them(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "trial.db"
    with opened(tmp_path) as store, opened(tmp_path) as other:
        turns(create(store), 20)
        for each in tmp_path.glob("trial.db*"):
            each.chmod(0o644)
        caplog.clear()
        with opened(tmp_path) as again:
            turns(again["c"], 20)
            turns(other["c"], 20)
            assert set(modes(tmp_path).values()) == {"600"}
    said = [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]
    assert any(f"{file} was open to other users" in each and "644" in each for each in said)
    caplog.clear()
    opened(tmp_path).close()
    assert not caplog.records


def test_another_program_s_file_stays_as_it_is(tmp_path: Path) -> None:
    """Named by mistake, it is refused, and its mode is not ours to change."""
    file = tmp_path / "trial.db"
    with closing(sqlite3.connect(file)) as database:
        database.execute("CREATE TABLE dpbandits_decision (mine TEXT)")
    file.chmod(0o644)
    with pytest.raises(dpb.StoreError, match="a database of its own"):
        opened(tmp_path)
    file.write_text("words " * 300, encoding="utf-8")
    with pytest.raises(dpb.StoreError):
        opened(tmp_path)
    assert modes(tmp_path)["trial.db"] == "644"


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:///file:{}/trial.db?uri=true",
        "sqlite:///file:{}/trial.db?mode=memory&uri=true",
        "sqlite:///file:{}/trial.db",
        "sqlite:///{}/trial.db?nolock=1&uri=true",
        "sqlite:///{}/trial.db?timeout=1",
        "sqlite+pysqlite://host/{}/trial.db",
        "sqlite+pysqlcipher:///{}/trial.db",
    ],
)
def test_an_address_means_one_file(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="without 'file:', a host or a"):
        opened(tmp_path, url.format(tmp_path))
    assert not list(tmp_path.iterdir())


def test_a_database_that_was_taken_away_is_not_made_anew(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        create(store)
        store.database.close()
        (tmp_path / "trial.db").unlink()
        with pytest.raises(dpb.StoreError):
            store["c"].ask()
    assert "trial.db" not in modes(tmp_path)


def open_and_ask(folder: Path, name: str, go: Any, found: Any) -> None:
    os.umask(0)
    go.wait()
    with opened(folder) as store:
        turns(create(store, name=name), 8)
        found.put(modes(folder))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_processes_that_open_a_new_store_together(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    go, found = context.Barrier(3), context.Queue()
    workers = [
        context.Process(target=open_and_ask, args=(tmp_path, name, go, found)) for name in "abc"
    ]
    for each in workers:
        each.start()
    seen = [found.get(timeout=300) for _ in workers]
    for each in workers:
        each.join()
    assert {mode for each in seen for mode in each.values()} == {"600"}
    with opened(tmp_path) as store:
        assert sorted(store) == ["a", "b", "c"]


def test_the_first_campaigns_of_a_store_are_created_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process's first campaign comes between two looks of this one."""
    with opened(tmp_path) as store, opened(tmp_path) as other:

        def look() -> bool:
            monkeypatch.undo()
            create(other, name="a")
            return True

        monkeypatch.setattr(store.witness, "is_empty", look)
        create(store, name="b")
        assert sorted(store) == ["a", "b"]


SUMS = rb'"sums":[^\]]*'
"""The open sums of a store without a key."""


def written(folder: Path, what: bytes) -> set[bytes]:
    """All of this kind that is found in the files of a folder."""
    files = [path.read_bytes() for path in folder.iterdir() if path.is_file()]
    return {found for each in files for found in re.findall(what, each)}


def told_one_by_one(store: Any, many: int) -> Any:
    campaign = create(store, dpb.DPKLUCB(arms=1, epsilon=1, first=1_000, grid=1))
    for decision in campaign.ask(many):
        campaign.tell(decision, 1)
    return campaign


def test_the_log_of_a_store_without_a_server_is_emptied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Open sums, one after the other, tell each reward."""
    now = itertools.count(step=3.0)
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    with opened(tmp_path, key=None) as store:
        told_one_by_one(store, 30)
        assert len(written(tmp_path, SUMS)) == 1


def test_a_store_that_is_closed_empties_the_log_though_others_have_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)
    with opened(tmp_path, key=None) as other:
        with opened(tmp_path, key=None) as store:
            told_one_by_one(store, 8)
            assert other["c"].summary().told == 8
            assert len(written(tmp_path, SUMS)) > 1
        assert len(written(tmp_path, SUMS)) == 1
        assert other["c"].summary().told == 8


def test_a_server_empties_the_log_now_and_then_and_as_it_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)
    with opened(tmp_path, key=None) as store:
        campaign, app = told_one_by_one(store, 8), make_app(store)
        assert len(written(tmp_path, SUMS)) > 1
        run_maintenance(store, {})
        assert len(written(tmp_path, SUMS)) == 1
        for decision in campaign.ask(8):
            campaign.tell(decision, 1)

        async def stopped() -> None:
            async with app.router.lifespan_context(app):
                assert len(written(tmp_path, SUMS)) > 1

        asyncio.run(stopped())
        assert len(written(tmp_path, SUMS)) == 1


def test_an_erasure_that_a_reader_held_up_is_made_good(tmp_path: Path) -> None:
    user = {"privacy_unit": "user", "max_contributions": 2}
    with opened(tmp_path) as store:
        campaign = create(store, **user)
        campaign.ask(user="anna")
        with closing(sqlite3.connect(tmp_path / "trial.db")) as reader:
            ((who,),) = reader.execute("SELECT pseudonym FROM dpbandits_contribution")
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM dpbandits_decision").fetchone()
            campaign.erase("anna")
            store.database.forget()  # which waits for nobody
        campaign.ask(user="bert")  # by then nobody reads
        files = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        # once with the count of contributions, and once in its index
        assert files.count(who.encode()) == 2
        store.database.forget()
        assert (tmp_path / "trial.db-wal").stat().st_size == 0
