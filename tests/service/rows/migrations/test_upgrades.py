"""A database of an earlier version is brought up to date as it is opened; its campaigns go on."""

from __future__ import annotations

import json
import secrets
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

import dpbandits as dpb
from dpbandits.service.rows import tables
from dpbandits.service.rows.migrating import revision_of
from tests.service.http.web import client_of
from tests.service.rows.migrations.written import HERE, KINDS, PEOPLE, opened, versions
from tests.service.timelines import create, lost_lines, turns

WRITTEN = sorted(each.relative_to(HERE).with_suffix("") for each in HERE.glob("*/*.sql"))


class Kept(NamedTuple):
    """A store that was written by an earlier version, and what its people were given."""

    url: str
    witness: Path
    names: dict[str, Any]


@pytest.fixture(params=WRITTEN, ids=str)
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Kept:
    files = HERE / request.param
    text = files.with_suffix(".sql").read_text("utf-8")
    if files.name == "sqlite":
        url = f"sqlite:///{tmp_path}/kept.db"
        with closing(sqlite3.connect(tmp_path / "kept.db")) as database:
            database.executescript(text)
    else:
        server = request.getfixturevalue("server")
        url = server.fresh(name := secrets.token_hex(8))
        server.run(text, name)
    witness = tmp_path / "witness"
    shutil.copyfile(files.with_suffix(".witness"), witness)
    return Kept(url, witness, json.loads(files.with_suffix(".json").read_text("utf-8")))


def test_every_version_has_its_databases() -> None:
    """`python -m tests.service.rows.migrations.written` writes those of the newest one."""
    there = {str(each) for each in WRITTEN}
    assert there == {f"{version}/{kind}" for version in versions() for kind in KINDS}


def test_it_becomes_the_newest(kept: Kept) -> None:
    """With the tables and indices that a new one has."""
    with opened(kept.url, kept.witness) as store, store.backend._engine.connect() as connection:
        assert revision_of(connection) == versions()[0]
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, tables.metadata) == []


def test_its_campaign_goes_on(kept: Kept) -> None:
    """Answers that are late since then count once, and what was read before is not read again."""
    with opened(kept.url, kept.witness) as store:
        campaign = store["c"]
        summary = campaign.summary()
        assert (summary.generation, summary.asked, summary.waiting) == (1, 20, 8)
        waiting = kept.names["waiting"]
        assert campaign.tell_many([(each, 1) for each in waiting]) == ["recorded"] * 8
        assert campaign.tell_many([(each, 0) for each in waiting]) == ["already"] * 8
        turns(campaign, 40)
        assert campaign.generation == 1
        assert not lost_lines(campaign)
        assert len(campaign.releases()) > summary.step
    with opened(kept.url, kept.witness) as store:
        assert store["c"].summary().asked == 60


def test_its_people_scopes_and_keys_are_known(kept: Kept) -> None:
    if "visit" not in kept.names:
        pytest.skip("this file is older than the other parts")
    with opened(kept.url, kept.witness) as store:
        people, visit = store["people"], kept.names["visit"]
        assert people.ask(user="anna", key="visit").id == visit
        assert people.summary().asked == 2
        assert people.tell(visit, 1) == "recorded"
        with pytest.raises(ValueError, match="has a budget of 2"):
            create(store, dpb.DPKLUCB(arms=2, epsilon="3/2"), "more", **PEOPLE)
        if store.scope("all").unit is None:  # nobody knows of which kind its guarantees are
            with pytest.raises(ValueError, match="begun by an earlier version"):
                create(store, dpb.DPKLUCB(arms=2, epsilon=1), "more", **PEOPLE)
        else:
            create(store, dpb.DPKLUCB(arms=2, epsilon=1), "more", **PEOPLE)
        campaigns = "/v1/campaigns"
        assert client_of(store, open=False).get(campaigns).status_code == 401
        with client_of(store, open=False, token=kept.names["token"]) as client:
            assert client.get(campaigns).status_code == 200
