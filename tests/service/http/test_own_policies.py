"""A campaign whose policy no server knows keeps nobody from the others of its database."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import dpbandits as dpb
from dpbandits.service.server.serving import run_maintenance
from dpbandits.terminal.cli import app
from tests.service.http.web import client_of
from tests.service.machine import Time
from tests.service.timelines import Lite, create


class OwnPolicy(dpb.DPKLUCB):
    """Of the caller's own."""


@pytest.fixture
def lite(tmp_path: Path) -> Lite:
    """A store with a campaign of that policy, made first, and one that everybody can open."""
    found = Lite(tmp_path)
    with found.open() as store:
        create(store, OwnPolicy(arms=2, epsilon=1), name="own")
        create(store, name="trial", attribution_window=timedelta(seconds=60), default=0)
    return found


@pytest.fixture
def store(lite: Lite) -> Iterator[Any]:
    """As another process opens it."""
    with lite.open(clock=Time()) as store:
        yield store


def test_lists_show_the_others_and_say_what_they_do_not_show(store: Any) -> None:
    client = client_of(store)
    said = client.get("/v1/campaigns").json()
    assert [each["name"] for each in said["campaigns"]] == ["trial"]
    assert said["not_shown"] == ["own"]
    metrics = client.get("/metrics")
    assert metrics.status_code == 200
    assert 'campaign="trial"' in metrics.text
    assert client.get("/v1/campaigns/own").status_code == 422


def test_answers_of_the_others_are_recorded_when_their_time_has_passed(store: Any) -> None:
    trial = store["trial"]
    trial.tell(trial.ask(), 1)
    store._clock.now += 61
    run_maintenance(store, {})
    with store.database.reading(trial.uid) as rows:
        assert rows.held(trial.uid, [1, 2]) == {}


def test_the_command_line_goes_on(lite: Lite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPBANDITS_KEY", bytes(range(32)).hex())
    where = ["--store", f"sqlite:///{lite.file}", "--witness", str(lite.witness)]
    said = CliRunner().invoke(app, ["campaign", "list", *where])
    assert said.exit_code == 0
    assert "own: cannot be shown here" in said.output
    assert "trial: DPKLUCB" in said.output
