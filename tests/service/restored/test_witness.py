"""The witness: a second database that is added to, compared and never changed."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from benchmarks.service.postgres import Server

import dpbandits as dpb
from dpbandits.core.errors import WitnessError
from dpbandits.service.witness import Mark, Witness
from tests.service.conftest import KEY
from tests.service.timelines import Lite, create, turns

ONE, TWO = Mark(1, 0, "a"), Mark(1, 1, "b")


@pytest.mark.parametrize("held", [b"f00dcafe" * 8, b'{"key": 1}', b"\x00\x01\x02", b"[]\n{"])
def test_a_file_of_another_kind_is_left_as_it_is(tmp_path: Path, held: bytes) -> None:
    path = tmp_path / "key"
    path.write_bytes(held)
    with pytest.raises(WitnessError, match="to be a witness of dpbandits"):
        Witness(path)
    assert path.read_bytes() == held


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    """A mount that is missing, or a typo, would go unnoticed."""
    path = tmp_path / "mount" / "trial.witness"
    with pytest.raises(WitnessError, match="is its folder there"):
        Witness(path)
    assert not path.parent.exists()


def test_another_program_s_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE notes (text)")
    with pytest.raises(WitnessError, match="to be a witness of dpbandits"):
        Witness(path)


def test_marks_are_compared_and_set(tmp_path: Path) -> None:
    """Of two that go on from one mark, one is refused; a move that was made is made again."""
    first, second = Witness(tmp_path / "w"), Witness(tmp_path / "w")
    first.add({"u": (ONE, None, 1.0)})
    second.add({"u": (ONE, None, 1.0)})
    first.add({"u": (TWO, ONE, 2.0)})
    with pytest.raises(WitnessError, match="two copies"):
        second.add({"u": (Mark(1, 1, "c"), ONE, 3.0)})
    assert first.marks(["u", "v"]) == second.marks(["u", "v"]) == {"u": TWO}
    assert second.knows("u", ONE)
    assert not second.knows("u", Mark(1, 1, "c"))
    assert second.latest_time("u") == 2.0
    for each in (first, second):
        each.close()


def test_of_many_at_once_one_moves(tmp_path: Path) -> None:
    witness, moved = Witness(tmp_path / "w"), list[str]()
    witness.add({"u": (ONE, None, 1.0)})

    def move(chain: str) -> None:
        try:
            Witness(tmp_path / "w").add({"u": (Mark(1, 1, chain), ONE, 1.0)})
            moved.append(chain)
        except WitnessError:
            pass

    threads = [threading.Thread(target=move, args=[f"{n}"]) for n in range(12)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert witness.marks(["u"])["u"].chain == moved[0]
    assert len(moved) == 1
    witness.close()


def test_nothing_is_altered(tmp_path: Path) -> None:
    with Lite(tmp_path).open() as store:
        turns(create(store), 20)
    with closing(sqlite3.connect(Lite(tmp_path).witness)) as anybody:
        for change in ("UPDATE {} SET id = 9", "DELETE FROM {}"):
            with pytest.raises(sqlite3.IntegrityError, match="append only"):
                anybody.execute(change.format("dpbandits_witness_mark"))


def test_a_witness_without_its_log_counts_as_put_back(tmp_path: Path) -> None:
    lite = Lite(tmp_path)
    with lite.open() as store:
        campaign = create(store)
        turns(campaign, 60)
        main = lite.witness.read_bytes()  # the newest marks are in its log
    lite.witness.write_bytes(main)
    with lite.open() as store, pytest.raises(WitnessError, match="campaign fence"):
        store["c"].ask()


def test_a_witness_that_is_replaced_while_it_is_in_use_is_noticed(tmp_path: Path) -> None:
    lite = Lite(tmp_path)
    with lite.open() as store:
        campaign = create(store)
        turns(campaign, 20)
        lite.witness.rename(lite.witness.with_name("away"))
        with pytest.raises(WitnessError, match="replaced while it was in use"):
            campaign.ask()


def test_another_server_is_a_witness_and_the_store_s_own_is_none(
    server: Server, tmp_path: Path
) -> None:
    place = server.fresh("witness")
    with dpb.open_store(f"sqlite:///{tmp_path}/trial.db", witness=place, key=KEY) as store:
        turns(create(store), 60)
    with dpb.open_store(f"sqlite:///{tmp_path}/trial.db", witness=place, key=KEY) as store:
        turns(store["c"], 20)
        assert store["c"].generation == 1
    with pytest.raises(WitnessError, match="another database server"):
        dpb.open_store(server.fresh("own"), witness=place, key=KEY)
