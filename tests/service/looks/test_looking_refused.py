"""What cannot be looked at, and questions that are none."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.core.errors import StoreError, WitnessError
from dpbandits.service.http.serving import require_witness
from dpbandits.service.opening import open_store
from tests.service.http.web import client_of
from tests.service.looks.conftest import looked_at
from tests.service.looks.played import everything
from tests.service.timelines import Lite, create, turns


@pytest.mark.parametrize(
    ("url", "options"),
    [
        ("memory:", {}),
        ("http://localhost:1", {}),
        ("sqlite:///trial.db", {"key": bytes(32)}),
        ("sqlite:///trial.db", {"noise": dpb.SimulatedNoise(1)}),
    ],
)
def test_where_nothing_can_be_looked_at(url: str, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="looking=True"):
        open_store(url, looking=True, **options)


def test_another_store_s_witness_is_told(lite: Lite, tmp_path: Path) -> None:
    other = tmp_path / "other"
    with lite.open() as store, open_store(f"sqlite:///{tmp_path}/o.db", witness=other) as another:
        create(store)
        create(another)
        onlookers = open_store(f"sqlite:///{lite.file}", witness=other, looking=True)
        with onlookers, pytest.raises(WitnessError, match="does not know"):
            onlookers["c"].summary()


def test_what_has_to_be_there(lite: Lite, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no database"):
        looked_at(lite)
    lite.open().close()
    lite.witness.unlink()
    with pytest.raises(WitnessError, match="cannot be read"):
        looked_at(lite)
    empty = tmp_path / "empty.db"
    sqlite3.connect(empty).close()
    with pytest.raises(StoreError, match="version"):
        open_store(f"sqlite:///{empty}", witness=tmp_path / "w", looking=True)
    assert not (tmp_path / "w").exists()


def test_a_look_makes_no_files_that_whoever_serves_could_not_write(
    lite: Lite, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lite.open() as store:
        turns(create(store), 16)
    monkeypatch.setattr(os, "geteuid", lambda: lite.file.stat().st_uid + 1)
    with pytest.raises(StoreError, match="Nobody serves the database"):
        looked_at(lite)
    assert sorted(each.name for each in lite.file.parent.iterdir()) == ["elsewhere", "trial.db"]
    with lite.open() as store, looked_at(lite) as onlookers:
        assert everything(onlookers["c"]) == everything(store["c"])


@pytest.mark.parametrize("wrong", [None, -1, True, 1.5, float("nan"), 10**30])
def test_pages_of_a_look_are_counted_in_whole_numbers(lite: Lite, wrong: Any) -> None:
    with lite.open() as store:
        turns(create(store), 8)
        with looked_at(lite) as onlookers:
            for each in (store["c"], onlookers["c"]):
                for look in (each.decisions, each.releases):
                    with pytest.raises(ValueError, match="Expected after="):
                        look(after=wrong)
                for look in (each.decisions, each.releases, each.events):
                    with pytest.raises(ValueError, match="Expected limit="):
                        look(limit=wrong)


def test_verbs_are_told_that_this_server_only_looks(lite: Lite) -> None:
    with lite.open() as store:
        turns(create(store), 8)
        with looked_at(lite) as onlookers:
            client = client_of(onlookers)
            for path in ("/v1/campaigns", "/v1/campaigns/c/ask", "/v1/campaigns/c/tell"):
                said = client.post(path, json={})
                assert said.status_code == 409
                assert "this server only looks" in said.json()["detail"]
            assert client.get("/v1/campaigns/c").status_code == 200


def test_a_server_that_looks_does_not_start_with_another_stores_witness(lite: Lite) -> None:
    with lite.open() as store:
        turns(create(store), 8)
        strange = lite.file.parent / "strange.witness"
        strange.write_bytes(b"")
        url = f"sqlite:///{lite.file}"
        with (
            open_store(url, witness=strange, looking=True) as onlookers,
            pytest.raises(WitnessError, match="does not know this campaign"),
        ):
            require_witness(onlookers)
        with looked_at(lite) as onlookers:
            require_witness(onlookers)
