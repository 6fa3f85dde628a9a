"""What a site needs every day: pending decisions that are said and can be expired, and tables."""

from datetime import timedelta
from typing import Any

import polars as pl
import pytest

import dpbandits as dpb
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
    asked = campaign.ask(7, eligible=["blue", "green"])
    campaign.tell(asked[2], 1)
    for seen in (campaign, remote(client_of(store))["trial"]):
        table = seen.decisions()
        assert [row.id for row in table] == [row.id for row in table.rows] == [*range(1, 8)]
        assert len(table) == table.to_polars().height == len(table.to_pandas()) == 7
        assert [row.id for row in table if not row.waiting] == [3]
        assert [row.id for row in seen.decisions(after=5)] == [6, 7]
        assert [row.id for row in seen.decisions(limit=2)] == [1, 2]
        assert seen.decisions(limit=2).after == 2


def test_columns_have_the_same_types_when_they_are_empty(store: Any) -> None:
    empty, full = store.create("empty", POLICY), store.create("full", POLICY)
    before = full.beliefs()
    for decision in full.ask(40, eligible=["blue", "green"]):
        full.tell(decision, 1)
    session = dpb.Session(POLICY, noise=dpb.SimulatedNoise(1))
    nothing = session.decisions()
    session.ask(3)
    for one, other in (
        (empty.decisions(), full.decisions()),
        (before, full.beliefs()),
        (empty.lift(), full.lift()),
        (empty.shares(1), full.shares(100)),
        (nothing, session.decisions()),
    ):
        schema = one.to_polars().schema
        assert schema == other.to_polars().schema
        assert pl.Null not in schema.values()
        assert (one.to_pandas().dtypes == other.to_pandas().dtypes).all()


def test_notebooks_show_tables(store: Any) -> None:
    policy = dpb.DPKLUCB(arms=["<b>", "green"], epsilon=1, first=4)
    campaign = store.create("trial", policy)
    for decision in campaign.ask(40):
        campaign.tell(decision, 1)
    shown = campaign._repr_html_()
    assert shown.count("<tr>") == 3
    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown
    assert "No arm is named" in shown
    assert "<th>rounds</th>" in shown  # a person who comes back has several
    assert campaign.decisions()._repr_html_().count("<tr>") == 21
    assert "40 rows, of which the first 20 are shown" in campaign.decisions()._repr_html_()
    lands = store.create("lands", policy, segments=["DE", "FR"])
    assert lands._repr_html_().count("<tr>") == 5
    assert "<th>rounds</th>" in lands._repr_html_()
    assert "<th>people</th>" in campaign.shares()._repr_html_()
    assert f"Segment FR\n{lands['FR'].shares(3)}" in str(lands.shares(3))


# Some people never answer: what waits is said by the API, in metrics and in the log


WAITS = "green waits for 1 answer since 2023-11-14 22:13 UTC; nothing is learned of it until"


def test_an_arm_that_waits_is_said_everywhere() -> None:
    """The second person who gets green is silent, and so are those in their place."""
    now = [1.7e9]
    with dpb.open_store("memory:", noise=dpb.SimulatedNoise(1), clock=lambda: now[0]) as store:
        policy = dpb.DPKLUCB(arms=["blue", "green"], epsilon=1, first=4)
        trial = store.create("trial", policy, seed=1, assignment="planned")
        client = client_of(store)
        waits = list[Any]()
        for person in range(1, 41):
            now[0] += 60.0 * (person > 6)
            decision = trial.ask()
            if person == 6 or (person > 8 and decision.label == "green"):
                waits.append(decision)
            else:
                trial.tell(decision, 1.0)
        (alarm,) = trial.alarms
        assert (alarm.what, alarm.arm) == ("overdue", "green")
        assert alarm.advice.startswith(WAITS)
        far = remote(client)["trial"]
        assert far.alarms == trial.alarms
        assert far.sample_ratio() == trial.sample_ratio()
        assert trial.sample_ratio().answers is not None
        assert client.get("/v1/campaigns/trial/alarms").json() == [alarm._asdict()]
        assert 'dpbandits_overdue{campaign="trial"} 1' in client.get("/metrics").text
        assert trial.summary().overdue == 1
        (event,) = trial.events()
        assert (event.what, event.about, event.asked) == ("overdue", "green", alarm.asked)
        trial.expire(waits[0])
        assert trial.alarms == ()
        assert 'dpbandits_overdue{campaign="trial"} 0' in client.get("/metrics").text
        assert [row.what for row in trial.events()] == ["overdue"]
