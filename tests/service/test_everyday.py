"""What a site needs every day: pending decisions that can be expired, tables of all decisions, and
commands.
"""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import dpbandits as dpb
from dpbandits.terminal.cli import app
from tests.service.conftest import Open
from tests.service.http.web import client_of, remote

POLICY = dpb.DPKLUCB(arms=["blue", "green"], epsilon=1, first=4)


def test_pending_decisions_are_listed_and_expired(
    make: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them, page by page; and from afar more than one request may name."""
    monkeypatch.setattr("dpbandits.service.campaign.PAGE_ROWS", 2)
    monkeypatch.setattr("dpbandits.service.client.MOST_ITEMS", 2)
    store = make(noise=dpb.SimulatedNoise(1))
    campaign = store.create("trial", POLICY)
    asked = campaign.ask(6)
    campaign.tell(asked[1], 1)
    kept = [each.id for at, each in enumerate(asked) if at != 1]
    far = remote(client_of(store))["trial"]
    for seen in (campaign, make()["trial"], far):
        found = seen.pending()
        assert [each.id for each in found] == kept
        assert found[0] == asked[0]
        assert [each.id for each in seen.pending(limit=2)] == kept[:2]
        assert [each.id for each in seen.pending(after=5)] == kept[4:]
    assert far.expire(*far.pending()) == ["recorded"] * 5
    assert campaign.pending() == []
    assert campaign.summary().waiting == 0
    for wrong in ({"after": -1}, {"limit": 0}, {"limit": 10**6}):
        with pytest.raises(ValueError, match=r"after|limit"):
            campaign.pending(**wrong)
    lands = store.create("lands", POLICY, segments=["DE", "FR"])
    one = lands.ask(segment="FR")
    assert [each.id for each in lands["FR"].pending()] == [one.id]
    assert lands.pending(segment="DE") == []
    with pytest.raises(ValueError, match="segment="):
        lands.pending()
    late = store.create("late", POLICY, attribution_window=timedelta(days=1))
    with pytest.raises(ValueError, match="without attribution_window="):
        late.pending()


def test_decisions_are_all_of_them(make: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpbandits.service.campaign.PAGE_ROWS", 3)
    store = make(noise=dpb.SimulatedNoise(1))
    campaign = store.create("trial", POLICY)
    campaign.ask(7, eligible=["blue", "green"])
    for seen in (campaign, remote(client_of(store))["trial"]):
        table = seen.decisions()
        assert [row.id for row in table] == [row.id for row in table.rows] == [*range(1, 8)]
        assert len(table) == table.to_polars().height == len(table.to_pandas()) == 7
        assert [row.id for row in seen.decisions(after=5)] == [6, 7]
        assert [row.id for row in seen.decisions(limit=2)] == [1, 2]
        assert seen.decisions(limit=2).after == 2


def test_columns_have_the_same_types_when_they_are_empty() -> None:
    with dpb.open_store("memory:", noise=dpb.SimulatedNoise(1)) as store:
        empty, full = store.create("empty", POLICY), store.create("full", POLICY)
        before = full.beliefs()
        for decision in full.ask(40, eligible=["blue", "green"]):
            full.tell(decision, 1)
        pairs = [
            (empty.decisions(), full.decisions()),
            (before, full.beliefs()),
            (empty.lift(), full.lift()),
            (empty.shares(1), full.shares(100)),
        ]
        session = dpb.Session(POLICY, noise=dpb.SimulatedNoise(1))
        nothing = session.decisions()
        session.ask(3)
        pairs.append((nothing, session.decisions()))
        for one, other in pairs:
            schema = one.to_polars().schema
            assert schema == other.to_polars().schema
            assert pl.Null not in schema.values()
            assert (one.to_pandas().dtypes == other.to_pandas().dtypes).all()


def test_notebooks_show_tables() -> None:
    policy = dpb.DPKLUCB(arms=["<b>", "green"], epsilon=1, first=4)
    with dpb.open_store("memory:", noise=dpb.SimulatedNoise(1)) as store:
        campaign = store.create("trial", policy)
        for decision in campaign.ask(40):
            campaign.tell(decision, 1)
        shown = campaign._repr_html_()
        assert shown.count("<tr>") == 3
        assert "&lt;b&gt;" in shown
        assert "<b>" not in shown
        assert "No arm is named" in shown
        assert campaign.decisions()._repr_html_().count("<tr>") == 21
        assert "40 rows, of which the first 20 are shown" in campaign.decisions()._repr_html_()
        lands = store.create("lands", policy, segments=["DE", "FR"])
        assert lands._repr_html_().count("<tr>") == 5
        assert f"Segment FR\n{lands['FR'].shares(3)}" in str(lands.shares(3))


def test_commands(tmp_path: Path) -> None:
    """Statements, scopes, what waits, batches of outcomes, and views."""
    where = ["--store", f"sqlite:///{tmp_path}/t.db", "--witness", str(tmp_path / "w")]
    with dpb.open_store(where[1], witness=where[3], noise=dpb.SimulatedNoise(1)) as made:
        made.scope("all", epsilon=2)
        made.create("t", POLICY, scope="all", min_share={"blue": 0.3})
        made["t"].ask(3)

    def run(*words: str, refused: bool = False) -> str:
        done = CliRunner().invoke(app, ["campaign", *words, *where])
        assert (done.exit_code != 0) is refused, done.output
        return done.output if refused else done.stdout

    assert "PRIVACY STATEMENT" in run("statement", "t")
    assert run("scopes") == "all: 1 of 2 spent\n  t: 1\n"
    ids = [json.loads(line)["id"] for line in run("pending", "t").splitlines()]
    assert len(ids) == 3
    for line in run("expire", "t", *ids).splitlines():
        assert json.loads(line)["status"] == "recorded"
    assert run("pending", "t") == ""
    record = ["record", "t", "blue", "--people", "90", "--successes", "31", "--key", "week 1"]
    for _ in range(2):
        assert run(*record) == "recorded\n"
    (rewards := tmp_path / "rewards").write_text("1\n0\n" * 45)
    file = ["record", "t", "green", "--rewards", str(rewards), "--key"]
    run(*file, "week 1 too")
    rewards.write_text("0.7312549\nx\n")
    assert "7312549" not in run(*file, "other", refused=True)
    run(*record[:3], "--key", "none", refused=True)
    lift = ["view", "t", "lift", "--param"]
    seen = json.loads(run(*lift, "control=green", "--param", "confidence=0.9"))
    assert (seen["control"], seen["rows"][0]["people"] > 0) == ("green", True)
    shares = json.loads(run("view", "t", "shares", "--param", "people=10"))
    assert sum(row["people"] for row in shares["rows"]) == 10
    for param in ("confidence=9", "people=10", "control"):
        run(*lift, param, refused=True)
    for words in (["settle", "t"], ["pause", "t", "blue"], ["resume", "t", "blue"]):
        assert json.loads(run(*words)) == {"status": "done"}
    assert json.loads(run("retire", "t", "blue")) == {"status": "done"}
    run("close", "t", "over")
