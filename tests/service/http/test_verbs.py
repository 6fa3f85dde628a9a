"""Campaigns over HTTP: every verb does what the campaign's own does, and can be made again."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dpbandits as dpb
from tests.service.http.web import POLICY, ask, at_once, client_of, remote, served, tell


def test_a_request_is_a_campaign_s_verb() -> None:
    plain = dpb.Session(
        dpb.DPKLUCB(arms=["blue", "green"], epsilon=1),  # type: ignore[arg-type]  # their names
        noise=dpb.SimulatedNoise(1),
        seed=1,
        campaign="trial",
        assignment="shuffled",
    )
    with served() as (store, client):
        for at in range(30):
            theirs, ours = ask(client, 7), plain.ask(7)
            assert [each["label"] for each in theirs] == [each.label for each in ours]
            rewards = [float((at + place) % 3 == 0) for place in range(7)]
            ids = [each["id"] for each in theirs]
            assert tell(client, *zip(ids, rewards, strict=True)) == ["recorded"] * 7
            plain.tell_many(zip(ours, rewards, strict=True))
        ledger = client.get("/v1/campaigns/trial/ledger").json()
        read = sorted((line["coordinate"], line["start"], line["stop"]) for line in ledger)
        assert read == sorted((each.coordinate, each.start, each.stop) for each in plain.ledger)
        assert ledger
        assert {line["cost"] for line in ledger} == {"1"}
        beliefs = client.get("/v1/campaigns/trial/beliefs").json()
        assert [row["mean"] for row in beliefs["rows"]] == [row.mean for row in plain.beliefs()]
        assert store["trial"].spent == plain.spent


def test_an_answer_counts_once_and_its_repeats_say_nothing() -> None:
    with served() as (store, client):
        (decision,) = ask(client)
        assert tell(client, (decision["id"], 1)) == ["recorded"]
        for again in (0, 1, 0.5, -3, 10**9):
            assert tell(client, (decision["id"], again)) == ["already"]
        assert tell(client, ("0" * 32, 1), ("nonsense", 1)) == ["unknown", "unknown"]
        assert store["trial"].summary().told == 1


def test_one_wrong_reward_refuses_its_request_and_no_other() -> None:
    with served() as (store, client):
        one, two = ask(client, 2)
        body = [{"id": one["id"], "reward": 1}, {"id": two["id"], "reward": 7314}]
        answer = client.post("/v1/campaigns/trial/tell", json=body)
        assert answer.status_code == 422
        assert "7314" not in answer.text
        assert store["trial"].summary().told == 0
        assert tell(client, (one["id"], 1), (two["id"], 0)) == ["recorded", "recorded"]


def test_an_ask_made_again_with_its_key_gives_the_same_decisions() -> None:
    with served() as (store, client):
        first = ask(client, 3, key="visit 17")
        assert ask(client, 3, key="visit 17") == first
        assert ask(client, 3, key="visit 18") != first
        for other in ({"count": 4}, {"count": 3, "eligible": ["blue"]}):
            body = {"key": "visit 17", **other}
            assert client.post("/v1/campaigns/trial/ask", json=body).status_code == 422
        together = at_once(8, lambda: ask(client, 2, key="visit 19"))
        assert all(each == together[0] for each in together)
        assert store["trial"].summary().asked == 8


def test_eligible_arms_are_what_is_asked_among() -> None:
    with served() as (_, client):
        assert {each["label"] for each in ask(client, 5, eligible=["green"])} == {"green"}
        answer = client.post("/v1/campaigns/trial/ask", json={"eligible": ["red"]})
        assert answer.status_code == 422


def test_arms_come_and_go() -> None:
    with served() as (_, client):
        assert client.post("/v1/campaigns/trial/arms", json={"arm": "red"}).json() == {"arm": 2}
        for verb, status in (("pause", "paused"), ("resume", "active"), ("retire", "retired")):
            said = client.post(f"/v1/campaigns/trial/{verb}", json={"arm": "blue"}).json()
            assert said == {"status": "done"}
            arms = client.get("/v1/campaigns/trial/arms").json()["arms"]
            assert arms[0] == {"arm": "blue", "status": status}
        events = client.get("/v1/campaigns/trial/events").json()
        assert [each["what"] for each in events] == [
            "retire arm",
            "resume arm",
            "pause arm",
            "add arm",
        ]


def test_decisions_expire_and_are_void() -> None:
    with served() as (store, client):
        one, two, three = (each["id"] for each in ask(client, 3))
        expired = client.post("/v1/campaigns/trial/expire", json={"ids": [one, one]}).json()
        assert [each["status"] for each in expired["results"]] == ["recorded", "already"]
        void = client.post("/v1/campaigns/trial/void", json={"ids": [two]}).json()
        assert [each["status"] for each in void["results"]] == ["recorded"]
        assert tell(client, (two, 1), (three, 1)) == ["gone", "recorded"]
        assert store["trial"].summary().waiting == 0


def test_a_campaign_that_is_over_asks_no_more_and_drops_late_answers() -> None:
    with served() as (_, client):
        (decision,) = ask(client)
        said = client.post("/v1/campaigns/trial/close", json={"why": "winner declared: blue"})
        assert said.json() == {"status": "done"}
        assert client.get("/v1/campaigns/trial").json()["closed"] == "winner declared: blue"
        answer = client.post("/v1/campaigns/trial/ask", json={})
        assert answer.json()["code"] == "closed"
        assert tell(client, (decision["id"], 1)) == ["gone"]
        assert client.get("/v1/campaigns/trial").json()["waiting"] == 0


def test_a_closed_campaign_shows_its_winner_over_http() -> None:
    with served() as (_, client):
        blue = client.get("/v1/campaigns/trial/arms").json()["arms"][0]["arm"]
        said = client.post("/v1/campaigns/trial/close", json={"winner": blue, "read": False})
        assert said.json() == {"status": "done"}
        shown = ask(client, 2)
        assert {(each["label"], each["learn"], each["propensity"]) for each in shown} == {
            (blue, False, 1.0)
        }
        assert tell(client, (shown[0]["id"], 1)) == ["gone"]
        found = client.get("/v1/campaigns/trial").json()
        assert (found["closed"], found["winner"]) == (f"winner: {blue}", blue)
        assert client.post("/v1/campaigns/trial/close", json={}).status_code == 422


def test_with_a_window_nothing_tells_who_answered() -> None:
    with served(attribution_window=60.0, assignment="planned") as (_, client):
        one, two = ask(client, 2)
        before = client.get("/v1/campaigns/trial").json()
        assert before["waiting"] is None
        assert before["told"] is None
        assert tell(client, (one["id"], 1), (one["id"], 0)) == ["recorded", "recorded"]
        after = client.get("/v1/campaigns/trial").json()
        assert after == before, "not even how often something was written"
        rows = client.get("/v1/campaigns/trial/decisions").json()["decisions"]
        assert [row["waiting"] for row in rows] == [None, None]
        assert "waiting{" not in client.get("/metrics").text
        assert tell(client, (two["id"], 1)) == ["recorded"]


def test_reports_of_devices_are_told() -> None:
    local = {"name": "LDPKLUCB", "arms": 2, "epsilon": "1"}
    with dpb.open_store("memory:") as store:
        client = client_of(store)
        made = {"name": "trial", "policy": local}
        assert client.post("/v1/campaigns", json=made).status_code == 201
        described = client.get("/v1/campaigns/trial/randomizer").text
        device = dpb.Client(described, most=1)
        decision, another = ask(client, 2)
        message = device.answer(decision["message"], 1)
        swapped = [{"id": another["id"], "report": message}]
        assert client.post("/v1/campaigns/trial/tell", json=swapped).status_code == 422
        body: list[dict[str, Any]] = [{"id": decision["id"], "report": message}]
        told = client.post("/v1/campaigns/trial/tell", json=body).json()["results"]
        assert [each["status"] for each in told] == ["recorded"]
        assert store["trial"].summary().told == 1


def test_a_client_has_the_verbs_of_a_campaign() -> None:
    with served() as (store, client):
        there = remote(client)
        assert list(there) == ["trial"]
        made = there.create("other", dpb.DPSE(arms=3, epsilon=2), min_share=None, max_pending=50)
        decisions = made.ask(4)
        assert [each.round for each in decisions] == [1, 2, 3, 4]
        pairs = [(each, 1.0) for each in decisions]
        assert made.tell_many(pairs) == ["recorded"] * 4
        assert made.tell(decisions[0], 0.0) == "already"
        assert made.void(made.ask()) == ["recorded"]
        assert made.expire(made.ask()) == ["recorded"]
        assert made.summary().asked == store["other"].summary().asked == 6
        assert made.ledger == store["other"].ledger
        assert "PRIVACY STATEMENT" in made.statement()
        with pytest.raises(RuntimeError, match="max_pending"):
            made.ask(60)
        with pytest.raises(KeyError):
            there["nobody"]
        with pytest.raises(ValueError, match="taken"):
            there.create("other", dpb.DPSE(arms=3, epsilon=2))


def test_a_client_looks_at_what_a_campaign_shows() -> None:
    with served(assignment="shuffled", min_share=0.1) as (store, client):
        here, there = store["trial"], remote(client)["trial"]
        for _ in range(4):
            made = there.ask(50)
            there.tell_many([(each, each.round % 2) for each in made])
        there.pause_arm("green")
        for name in ("arms", "generation", "spent", "options", "ledger", "alarms"):
            assert getattr(there, name) == getattr(here, name), name
        for look in ("summary", "releases", "decisions", "history", "recent", "statement"):
            assert getattr(there, look)() == getattr(here, look)(), look
        assert len(there.releases()) == here.summary().step > 1
        assert there.events() == here.events()
        assert there.events()[0].what == "pause arm"
        assert there.beliefs() == here.beliefs()
        assert there.sample_ratio() == here.sample_ratio()
        assert str(there.guarantee) == str(here.guarantee)
        there.drop_open()
        assert there.events() == here.events()
        assert there.events()[0].what == "drop"
        with pytest.raises(ValueError, match="guardrail"):
            there.harm()


def test_a_guardrail_is_kept_over_http() -> None:
    """An arm whose harm passes the limit is suspended, whoever looks."""
    rail = dpb.Guardrail("refunds", limit=0.2)
    with dpb.open_store("memory:") as store:
        made = remote(client_of(store)).create(
            "trial",
            dpb.DPKLUCB(arms=["bad", "good"], epsilon=4),
            noise=dpb.SimulatedNoise(1),
            guardrail=rail,
        )
        for _ in range(40):
            pairs = [(each, [0.5, float(each.label == "bad")]) for each in made.ask(50)]
            assert set(made.tell_many(pairs)) == {"recorded"}
        assert dict(made.arms) == {"bad": "paused", "good": "active"}
        assert [(alarm.what, alarm.arm) for alarm in made.alarms] == [("suspend", "bad")]
        bad, good = made.harm()
        assert bad.low is not None
        assert bad.low > rail.limit
        assert good.mean is not None
        assert good.mean < rail.limit
        assert made.harm() == store["trial"].harm()
        with pytest.raises(ValueError, match="reward and the harm"):
            made.tell(made.ask(), 0.5)


def test_decisions_are_exported_as_a_table_that_computes_nothing() -> None:
    labels = {**POLICY, "arms": ["=1+1", "@sum"]}
    with served(policy=labels) as (_, client):
        ask(client, 20)
        table = client.get("/v1/campaigns/trial/decisions?format=csv").text.splitlines()
        assert len(table) == 21
        assert all(row.split(",")[2][:1] == "'" for row in table[1:])
        page = client.get("/v1/campaigns/trial/decisions?limit=7&after=7").json()
        assert [row["id"] for row in page["decisions"]] == list(range(8, 15))
        assert page["after"] == 14
        assert json.dumps(page)
