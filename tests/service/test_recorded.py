"""Campaigns whose people are assigned elsewhere: a batch of outcomes counts once, in every kind of
store, over a server, after failures and restored copies.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import dpbandits as dpb
from dpbandits.service.operations import RecordOutcomes
from dpbandits.terminal.cli import app
from tests.service.conftest import KEY, Open
from tests.service.test_closing import Failing
from tests.service.timelines import Lite, create, inside

POLICY = dpb.DPKLUCB(arms=["a", "b"], epsilon=1, first=4, grid=1)


def facts(campaign: Any) -> Any:
    said = campaign.summary()
    return said.asked, said.told, said.waiting, campaign.ledger, campaign.beliefs().rows


def test_parts_take_batches_of_their_own(make: Open) -> None:
    store = make(noise=dpb.SimulatedNoise(1))
    lands = store.create("lands", POLICY, segments=["DE", "FR"])
    assert lands.record("a", (8, 4), segment="DE", key="w") == "recorded"
    assert lands["FR"].record("a", (8, 4), key="other") == "recorded"
    assert [lands[name].summary().asked for name in ("DE", "FR")] == [8, 8]
    assert lands.shares(7)["DE"].people == 7
    assert {row.segment for row in lands.lift("a")} == {"DE", "FR"}
    with pytest.raises(ValueError, match="segment="):
        lands.record("a", (8, 4), key="w 2")
    sale = store.create("sale", POLICY, holdout=".2")
    for call in (lambda: sale.record("a", (8, 4), key="w"), lambda: sale["policy"].shares(3)):
        with pytest.raises(ValueError, match="without holdout="):
            call()
    assert sale["policy"].lift("a").control == "a"


def test_a_release_that_fails_leaves_the_batch_recorded(tmp_path: Path) -> None:
    """The next call makes the release; the batch, recorded again, counts once."""
    noise = Failing()
    store = dpb.open_store("memory:", key=KEY, noise=noise)
    campaign = store.create("trial", POLICY, assignment="planned")
    noise.failing = True
    assert campaign.record("a", (40, 20), key="w") == "recorded"
    assert facts(campaign)[:2] == (40, 40)
    noise.failing = False
    assert campaign.record("a", (40, 20), key="w") == "recorded"
    assert facts(campaign)[:2] == (40, 40)
    assert sum(line.stop - line.start for line in campaign.ledger) == 40
    store.close()


def test_no_outcome_is_kept_or_shown() -> None:
    """Batches that differ in their outcomes alone leave the same public rows, and one hash of the
    call.
    """
    said = []
    for ones in (1, 3):
        with dpb.open_store("memory:", key=KEY, noise=dpb.SimulatedNoise(1)) as store:
            campaign = store.create("trial", POLICY, seed=1)
            campaign.record("a", (3, ones), key="w")
            part = inside(campaign, lambda part, rows: rows.decisions(part.uid, 0, 10))
            said.append([each._replace(nonce=0, asked_at=0) for each in part])
            op = RecordOutcomes(arm="a", people=3, successes=ones, key="w")
            said.append([repr(op), op.identity()])
            said.append([repr(RecordOutcomes(arm="a", outcomes=[0.7312549], key="w"))])
            assert "7312549" not in str(said)
    assert said[:3] == said[3:]


# Restored copies


@pytest.mark.parametrize("releases", [True, False])
def test_a_batch_of_a_lost_timeline_is_not_read_again(tmp_path: Path, releases: bool) -> None:
    """The copy is older than the batch. If its outcomes were released, recording it again says that
    it is gone; else nothing of it was shown, and it counts.
    """
    lite = Lite(tmp_path)
    with lite.open() as store:
        create(store, POLICY)
        copy = lite.copy(tmp_path / "copy.db")
        many = 8 if releases else 3
        assert store["c"].record("a", (many, 2), key="w") == "recorded"
        assert bool(store["c"].ledger) is releases
    lite.put_back(copy)
    with lite.open() as store:
        campaign = store["c"]
        status = campaign.record("a", (many, 2), key="w")
        assert status == ("gone" if releases else "recorded")
        assert campaign.summary().asked == (0 if releases else 3)
        assert campaign.record("a", (many, 2), key="w") == status
        assert campaign.record("a", (many, 2), key="w 2") == "recorded"


def test_a_batch_whose_release_came_later_is_not_read_again(tmp_path: Path) -> None:
    lite = Lite(tmp_path)
    with lite.open() as store:
        create(store, POLICY)
        copy = lite.copy(tmp_path / "copy.db")
        store["c"].record("a", (3, 2), key="w")
        store["c"].record("a", (5, 2), key="w 2")
        assert store["c"].ledger
    lite.put_back(copy)
    with lite.open() as store:
        campaign = store["c"]
        assert campaign.record("a", (3, 2), key="w") == "gone"
        assert campaign.record("a", (5, 2), key="w 2") == "gone"
        assert campaign.summary().asked == 0


def test_a_commit_that_fails_lets_the_batch_be_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The witness knows of the batch, and the campaign was not fenced since: nothing of it was
    recorded, so it is recorded now.
    """
    from dpbandits.service.transaction import Written

    with Lite(tmp_path).open() as store:
        campaign = create(store, POLICY)

        def fails(self: Any, rows: Any) -> None:
            raise OSError("the disk is full")

        with monkeypatch.context() as patch:
            patch.setattr(Written, "write", fails)
            with pytest.raises(dpb.StoreError, match="disk"):
                campaign.record("a", (3, 2), key="w")
        assert campaign.summary().asked == 0
        assert campaign.record("a", (3, 2), key="w") == "recorded"
        assert campaign.summary().asked == 3


# The shell


def test_commands_record_and_compare(tmp_path: Path) -> None:
    store = ["--store", f"sqlite:///{tmp_path}/t.db", "--witness", str(tmp_path / "w")]
    shell: Callable[..., Any] = CliRunner().invoke
    options = '{"min_share": {"blue": 0.3}, "simulated_noise": 1}'
    create = ["create", "t", "--arms", "blue,green", "--epsilon", "1", "--options", options]
    assert shell(app, ["campaign", *create, *store]).exit_code == 0
    record = ["record", "t", "blue", "--people", "90", "--successes", "31", "--key", "week 1"]
    for _ in range(2):
        done = shell(app, ["campaign", *record, *store])
        assert (done.exit_code, done.stdout) == (0, "recorded\n"), done.output
    (tmp_path / "rewards").write_text("1\n0\n" * 45)
    file = ["record", "t", "green", "--rewards", str(tmp_path / "rewards"), "--key", "week 1 too"]
    assert shell(app, ["campaign", *file, *store]).exit_code == 0
    (tmp_path / "rewards").write_text("0.7312549\nx\n")
    wrong = shell(app, ["campaign", *file[:-1], "other", *store])
    assert wrong.exit_code != 0
    assert "7312549" not in wrong.output
    assert shell(app, ["campaign", *record[:3], "--key", "none", *store]).exit_code != 0
    lift = ["view", "t", "lift", "--param", "control=green", "--param", "confidence=0.9"]
    seen = shell(app, ["campaign", *lift, *store])
    assert json.loads(seen.stdout)["control"] == "green"
    assert json.loads(seen.stdout)["rows"][0]["people"] > 0
    shares = shell(app, ["campaign", "view", "t", "shares", "--param", "people=10", *store])
    assert sum(row["people"] for row in json.loads(shares.stdout)["rows"]) == 10
    for param in ("confidence=9", "people=10", "control"):
        assert shell(app, ["campaign", *lift[:3], "--param", param, *store]).exit_code != 0


def test_a_witness_without_batches_gets_a_table_of_them(tmp_path: Path) -> None:
    """It was made by an earlier dpbandits."""
    lite = Lite(tmp_path)
    with lite.open() as store:
        create(store, POLICY)
    with closing(sqlite3.connect(lite.witness)) as connection:
        connection.execute("DROP TABLE dpbandits_witness_batch")
        connection.commit()
    with lite.open() as store:
        assert store["c"].record("a", (3, 2), key="w") == "recorded"
    with closing(sqlite3.connect(lite.witness)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM dpbandits_witness_batch").fetchone() == (1,)
        with pytest.raises(sqlite3.IntegrityError, match="append only"):
            connection.execute("DELETE FROM dpbandits_witness_batch")
