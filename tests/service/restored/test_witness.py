"""The witness: a second database that is added to, compared and never changed."""

from __future__ import annotations

import sqlite3
from contextlib import AbstractContextManager, closing
from pathlib import Path
from threading import Lock
from typing import Any

import pytest
from benchmarks.service.postgres import Server
from sqlalchemy import Connection

import dpbandits as dpb
from dpbandits.core.errors import WitnessError
from dpbandits.service.database import Database
from dpbandits.service.witness import Mark, Witness
from tests.service.conftest import KEY, Open
from tests.service.http.web import at_once
from tests.service.timelines import Lite, create, turns

ONE, TWO = Mark(1, 0, "a"), Mark(1, 1, "b")


@pytest.mark.parametrize("held", [b"f00dcafe" * 8, b'{"key": 1}', b"\x00\x01\x02", b"[]\n{"])
def test_a_file_of_another_kind_is_left_as_it_is(tmp_path: Path, held: bytes) -> None:
    path = tmp_path / "key"
    path.write_bytes(held)
    with pytest.raises(WitnessError, match="to be a witness of dpbandits"):
        Witness(path)
    assert path.read_bytes() == held


def test_places_that_are_not_for_it_are_refused(tmp_path: Path) -> None:
    """Nor is a folder made, or a database whose witness has none."""
    path = tmp_path / "mount" / "trial.witness"
    with pytest.raises(WitnessError, match="is its folder there"):
        Witness(path)
    with pytest.raises(WitnessError, match="There is no folder"):
        dpb.open_store(f"sqlite:///{tmp_path}/trial.db", witness=path)
    assert list(tmp_path.iterdir()) == []
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE notes (text)")
    with pytest.raises(WitnessError, match="to be a witness of dpbandits"):
        Witness(tmp_path / "other.db")


def test_a_witness_that_could_not_be_opened_is_opened_by_the_next_call(tmp_path: Path) -> None:
    """One without tables stayed so, and a file of another kind was not checked again."""
    made, other = (Witness(tmp_path / name, make=False) for name in ("w", "other.db"))
    with closing(sqlite3.connect(tmp_path / "other.db")) as file:
        file.execute("CREATE TABLE notes (text)")
    with closing(made), closing(other):
        for _ in range(2):
            with pytest.raises(WitnessError, match="to be a witness of dpbandits"):
                other.add({"u": (ONE, None, 1.0)})
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("dpbandits.service.witness.begin_alone", interrupted)
            with pytest.raises(KeyboardInterrupt):
                made.add({"u": (ONE, None, 1.0)})
        made.add({"u": (ONE, None, 1.0)})
        assert made.marks(["u"]) == {"u": ONE}


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_marks_are_compared_and_set(tmp_path: Path) -> None:
    """Of two that go on from one mark, one is refused; a move that was made is made again."""
    with closing(Witness(tmp_path / "w")) as first, closing(Witness(tmp_path / "w")) as second:
        first.add({"u": (ONE, None, 1.0)})
        second.add({"u": (ONE, None, 1.0)})
        first.add({"u": (TWO, ONE, 2.0)})
        with pytest.raises(WitnessError, match="two copies"):
            second.add({"u": (Mark(1, 1, "c"), ONE, 3.0)})
        assert first.marks(["u", "v"]) == second.marks(["u", "v"]) == {"u": TWO}
        assert second.knows("u", ONE)
        assert not second.knows("u", Mark(1, 1, "c"))
        assert second.latest_time("u") == 2.0


def test_of_many_at_once_one_moves(tmp_path: Path) -> None:
    with closing(Witness(tmp_path / "w")) as witness:
        witness.add({"u": (ONE, None, 1.0)})
        chains, lock = [f"{n}" for n in range(12)], Lock()

        def move() -> str:
            with lock:
                chain = chains.pop()
            try:
                with closing(Witness(tmp_path / "w")) as other:
                    other.add({"u": (Mark(1, 1, chain), ONE, 1.0)})
            except WitnessError:
                return ""
            return chain

        (moved,) = [chain for chain in at_once(12, move) if chain]
        assert witness.marks(["u"])["u"].chain == moved


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_witness_that_lacks_triggers_or_a_table_gets_them_and_nothing_is_altered(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    """As one that was restored, or made by an earlier dpbandits."""
    table, place = "dpbandits_witness_mark", str(tmp_path / "w")
    lost = [f"DROP TRIGGER {table}_no_update", "DROP TABLE dpbandits_witness_batch"]
    if kind == "postgresql":
        server: Server = request.getfixturevalue("server")
        place = server.fresh("dropped")
        lost[0] = f"DROP TRIGGER {table}_append_only ON {table}"
    for at, sql in enumerate(lost):
        with closing(Witness(place)) as witness:
            witness.add({"u": (ONE, None, 1.0)})
            with witness._writing() as connection:
                connection.exec_driver_sql(sql)
        with closing(Witness(place)) as witness:
            assert (witness.batch(f"{at}", 3), witness.batch(f"{at}", 4)) == (3, 3)
            for name in (table, "dpbandits_witness_batch"):
                for change in (f"UPDATE {name} SET generation = 9", f"DELETE FROM {name}"):
                    with pytest.raises(WitnessError), witness._writing() as connection:
                        connection.exec_driver_sql(change)
            assert witness.marks(["u"]) == {"u": ONE}


def test_a_witness_without_its_log_counts_as_put_back(lite: Lite) -> None:
    with lite.open() as store:
        turns(create(store), 60)
        main = lite.witness.read_bytes()  # the newest marks are in its log
    lite.witness.write_bytes(main)
    with lite.open() as store, pytest.raises(WitnessError, match="campaign fence"):
        store["c"].ask()


def test_a_witness_that_is_replaced_while_it_is_in_use_is_noticed(lite: Lite) -> None:
    with lite.open() as store:
        campaign = create(store)
        turns(campaign, 20)
        lite.witness.rename(lite.witness.with_name("away"))
        with pytest.raises(WitnessError, match="replaced while it was in use"):
            campaign.ask()


def test_a_view_shows_what_is_witnessed_alone(make: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows that it reads are older than the witness's mark, and then newer."""
    here, there = make(), make()
    campaign, marks, begun = create(there), Witness.marks, Database.begun
    left = [campaign.ask(12), campaign.ask(12)]
    seen = here["c"]

    def tell() -> None:
        campaign.tell_many([(each, 1) for each in left.pop()])

    def late(self: Witness, uids: Any) -> dict[str, Mark]:
        if self is here.witness and len(left) == 2:
            tell()
        return marks(self, uids)

    def away(*_: object) -> None:
        raise WitnessError

    def early(self: Database, **how: bool) -> AbstractContextManager[Connection]:
        if self is here.database and len(left) == 1:
            with monkeypatch.context() as patched:
                patched.setattr(Witness, "add", away)
                with pytest.raises(WitnessError):
                    tell()
        return begun(self, **how)

    monkeypatch.setattr(Witness, "marks", late)
    monkeypatch.setattr(Database, "begun", early)
    (uid,) = seen._calls.host._uids
    shown = seen.releases()[-1].step
    assert (left, marks(here.witness, [uid])[uid].step) == ([], shown)


def test_an_interruption_leaves_a_witness_on_a_server_usable(
    server: Server, lite: Lite, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lite.open(witness=server.fresh("interrupted")) as store:
        campaign = create(store)

        def interrupted(connection: Connection, _: int) -> None:
            connection.invalidate()  # as SQLAlchemy does
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr("dpbandits.service.witness.begin_alone", interrupted)
            with pytest.raises(KeyboardInterrupt):
                turns(campaign, 40)
        turns(campaign, 40)
        assert campaign.generation == 1


def test_another_server_is_a_witness_and_the_store_s_own_is_none(
    server: Server, tmp_path: Path
) -> None:
    place = server.fresh("witness")
    for _ in range(2):
        url = f"sqlite:///{tmp_path}/trial.db"
        with dpb.open_store(url, witness=place, key=KEY) as store:
            campaign = store["c"] if "c" in store else create(store)
            turns(campaign, 40)
            assert campaign.generation == 1
    server.run("ALTER DATABASE witness SET timezone = 'Asia/Tokyo'")
    with pytest.raises(WitnessError, match="another database server"):
        dpb.open_store(server.fresh("own"), witness=place, key=KEY)
