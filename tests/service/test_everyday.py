"""What a site needs every day: scopes that can be listed, pending decisions that can be expired,
tables of all decisions, ids of any kind, and errors that are this package's.
"""

from __future__ import annotations

import json
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import anyio
import httpx
import polars as pl
import pytest
from typer.testing import CliRunner

import dpbandits as dpb
from dpbandits.service.client import AsyncRemoteStore, RemoteStore
from dpbandits.terminal.cli import app
from tests.service.conftest import Open
from tests.service.http.web import app_of, client_of, remote
from tests.service.timelines import Lite

POLICY = dpb.DPKLUCB(arms=["blue", "green"], epsilon=1, first=4)
USERS: dict[str, Any] = {"privacy_unit": "user", "max_contributions": 2}


def test_scopes_say_who_took_what(make: Open) -> None:
    store = make()
    store.scope("patients", epsilon=2)
    store.scope("others", epsilon="1/2")
    store.create("spring", dpb.DPKLUCB(arms=2, epsilon="1/2"), scope="patients")
    store.create("summer", POLICY, scope="patients", segments=["DE", "FR"])
    store.create("apart", POLICY)
    for found in (store.scopes(), remote(client_of(store)).scopes(), make().scopes()):
        assert [scope.name for scope in found] == ["others", "patients"]
        assert found[0].taken == {}
        assert found[1].taken == {"spring": Fraction(1, 2), "summer": Fraction(1)}
        assert found[1].spent == sum(found[1].taken.values())
    assert store.scope("patients") == store.scopes()[1]


def test_what_a_lost_campaign_took_stays_taken(tmp_path: Path) -> None:
    lite = Lite(tmp_path)
    with lite.open() as store:
        store.scope("patients", epsilon=2)
        copy = lite.copy(tmp_path / "copy.db")
        store.create("spring", POLICY, scope="patients")
    lite.put_back(copy)
    with lite.open() as store:
        (found,) = store.scopes()
        assert (found.spent, found.taken, found.left) == (1, {}, 1)


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
        assert found[0] == asked[0].model_copy(update={"propensity": found[0].propensity})
        assert [each.id for each in seen.pending(limit=2)] == kept[:2]
        assert [each.id for each in seen.pending(after=5)] == kept[4:]
    assert far.expire(*far.pending()) == ["recorded"] * 5
    assert campaign.pending() == []
    assert campaign.summary().waiting == 0
    lands = store.create("lands", POLICY, segments=["DE", "FR"])
    one = lands.ask(segment="FR")
    assert [each.id for each in lands["FR"].pending()] == [one.id]
    assert lands.pending(segment="DE") == []
    with pytest.raises(ValueError, match="segment="):
        lands.pending()
    late = store.create("late", POLICY, attribution_window=timedelta(days=1))
    with pytest.raises(ValueError, match="without attribution_window="):
        late.pending()
    for wrong in ({"after": -1}, {"limit": 0}, {"limit": 10**6}):
        with pytest.raises(ValueError, match=r"after|limit"):
            campaign.pending(**wrong)


def test_decisions_are_all_of_them(make: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpbandits.service.campaign.PAGE_ROWS", 3)
    monkeypatch.setattr("dpbandits.service.client.PAGE_ROWS", 3)
    store = make(noise=dpb.SimulatedNoise(1))
    campaign = store.create("trial", POLICY)
    campaign.ask(7, eligible=["blue", "green"])
    for seen in (campaign, remote(client_of(store))["trial"]):
        table = seen.decisions()
        assert [row.id for row in table] == list(range(1, 8))
        assert len(table) == table.to_polars().height == len(table.to_pandas()) == 7
        assert [row.id for row in seen.decisions(after=5)] == [6, 7]
        assert [row.id for row in seen.decisions(limit=2)] == [1, 2]
        assert seen.decisions(limit=2).after == 2
    transport = httpx.ASGITransport(app=app_of(store))

    async def rows() -> list[int]:
        client = httpx.AsyncClient(transport=transport, base_url="http://localhost")
        async with AsyncRemoteStore("http://localhost", client=client) as away:
            trial = await away.campaign("trial")
            return [row.id for row in await trial.decisions()]

    assert anyio.run(rows) == list(range(1, 8))


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
            (store.create("more", POLICY).shares(1), full.shares(100)),
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


def test_ids_of_any_kind_are_taken(make: Open) -> None:
    store, user = make(noise=dpb.SimulatedNoise(1)), uuid4()
    campaign = store.create("trial", POLICY, **USERS)
    far = remote(client_of(store))["trial"]
    assert [campaign.ask(user=user).learn, far.ask(user=user).learn] == [True, True]
    third = campaign.ask(user=str(user))
    assert not third.learn, "the same person"
    first = campaign.pending()[0]
    assert campaign.tell(UUID(first.id), 1) == "recorded"
    assert campaign.erase(user) == 1
    session = dpb.Session(POLICY, noise=dpb.SimulatedNoise(1), **USERS)
    assert [session.ask(user=each).learn for each in (user, str(user), user)] == [True, True, False]
    sale = store.create("sale", POLICY, holdout=".5")
    assert sale.side(user) == sale.side(str(user))


@pytest.mark.parametrize("more", [{}, {"segments": ["DE", "FR"]}], ids=str)
def test_a_void_decision_gives_its_place_back_whoever_calls(make: Open, more: Any) -> None:
    where = {"segment": "DE"} if more else {}
    campaign = make().create("trial", POLICY, **{**USERS, "max_contributions": 1}, **more)
    decision, other = campaign.ask(user="ann", **where), make()["trial"]
    assert other.void(decision) == ["recorded"]
    assert [other.ask(user="ann", **where).learn for _ in range(2)] == [True, False]


@pytest.mark.parametrize("fallback", ["bleu", 2, -1])
def test_a_misspelt_fallback_is_refused(fallback: Any) -> None:
    with dpb.open_store("memory:") as store:
        store.create("trial", POLICY)
        client = client_of(store)
        away = RemoteStore("http://localhost", client=client, fallback=fallback)
        for call in (lambda: away["trial"], lambda: away.create("other", POLICY)):
            with pytest.raises(ValueError, match=r"fallback=.*'blue', 'green'"):
                call()
        assert "other" not in store
        right = RemoteStore("http://localhost", client=client, fallback="green")
        assert right["trial"].name == "trial"


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


def test_commands_print_statements_scopes_and_what_waits(tmp_path: Path) -> None:
    store = ["--store", f"sqlite:///{tmp_path}/t.db", "--witness", str(tmp_path / "w")]
    with dpb.open_store(store[1], witness=store[3], noise=dpb.SimulatedNoise(1)) as made:
        made.scope("all", epsilon=2)
        made.create("t", POLICY, scope="all")
        made["t"].ask(3)

    def run(*words: str) -> str:
        done = CliRunner().invoke(app, ["campaign", *words, *store])
        assert done.exit_code == 0, done.output
        return str(done.stdout)

    assert "PRIVACY STATEMENT" in run("statement", "t")
    assert run("scopes") == "all: 1 of 2 spent\n  t: 1\n"
    ids = [json.loads(line)["id"] for line in run("pending", "t").splitlines()]
    assert len(ids) == 3
    for line in run("expire", "t", *ids).splitlines():
        assert json.loads(line)["status"] == "recorded"
    assert run("pending", "t") == ""
    for words in (["settle", "t"], ["pause", "t", "blue"], ["resume", "t", "blue"]):
        assert json.loads(run(*words)) == {"status": "done"}
    assert json.loads(run("retire", "t", "blue")) == {"status": "done"}
    run("close", "t", "--why", "over")
