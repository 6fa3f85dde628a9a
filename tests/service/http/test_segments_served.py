"""Segments over HTTP, in a client and on pages: what the store's own campaign does and shows."""

from __future__ import annotations

import dpbandits as dpb
from tests.service.http.web import ask, remote, served, tell

SEGMENTS = ["DE", "FR"]


def test_a_segment_is_asked_told_and_looked_at() -> None:
    with served(segments=SEGMENTS) as (store, client):
        for _ in range(20):
            for segment in SEGMENTS:
                asked = ask(client, 10, segment=segment)
                assert {each["campaign"] for each in asked} == {f"trial/{segment}"}
                pairs = [(each["id"], float(each["label"] == "blue")) for each in asked]
                assert tell(client, *pairs) == ["recorded"] * 10
        trial = store["trial"]
        ledger = client.get("/v1/campaigns/trial/ledger?segment=DE").json()
        assert ledger == [line.model_dump() for line in trial["DE"].ledger]  # type: ignore[index]
        assert ledger
        summary = client.get("/v1/campaigns/trial").json()
        assert (summary["asked"], summary["segments"]) == (400, SEGMENTS)
        assert client.get("/v1/campaigns/trial?segment=FR").json()["asked"] == 200
        assert client.get("/v1/campaigns/trial/spent").json() == "1"
        listed = client.get("/v1/campaigns").json()["campaigns"]
        assert [each["name"] for each in listed] == ["trial"]
        assert 'dpbandits_decisions_total{campaign="trial"} 400' in client.get("/metrics").text


def test_requests_that_name_no_segment_or_a_wrong_one() -> None:
    with served(segments=SEGMENTS) as (_, client):
        for body in ({}, {"segment": "ES"}):
            answer = client.post("/v1/campaigns/trial/ask", json=body)
            assert answer.status_code == 422
            assert answer.json()["code"] == "unknown_segment"
        for verb in ("releases", "decisions", "events", "history", "recent"):
            for query, code in (("", "part_needed"), ("?segment=ES", "unknown_segment")):
                answer = client.get(f"/v1/campaigns/trial/{verb}{query}")
                assert answer.status_code == 422
                assert answer.json()["code"] == code
        for verb in ("ledger", "beliefs", "alarms", "sample_ratio", "arms"):
            said = client.get(f"/v1/campaigns/trial/{verb}").json()["segments"]
            assert list(said) == SEGMENTS
            assert said["FR"] == client.get(f"/v1/campaigns/trial/{verb}?segment=FR").json()
    with served() as (_, client):
        assert client.get("/v1/campaigns/trial?segment=DE").status_code == 422
        assert client.post("/v1/campaigns/trial/ask", json={"segment": "DE"}).status_code == 422


def test_one_wrong_reward_refuses_the_answers_of_all_segments() -> None:
    with served(segments=SEGMENTS) as (store, client):
        one, two = ask(client, segment="DE")[0], ask(client, segment="FR")[0]
        body = [{"id": one["id"], "reward": 1}, {"id": two["id"], "reward": 7314}]
        answer = client.post("/v1/campaigns/trial/tell", json=body)
        assert answer.status_code == 422
        assert "7314" not in answer.text
        assert store["trial"].summary().told == 0


def test_a_client_makes_and_asks_segments() -> None:
    with served() as (store, client):
        made = remote(client).create("other", dpb.DPKLUCB(arms=2, epsilon=1), segments=SEGMENTS)
        decisions = [made.ask(segment="DE"), made["FR"].ask()]
        assert made.tell_many([(each, 1.0) for each in decisions]) == ["recorded"] * 2
        assert made.summary().asked == store["other"].summary().asked == 2
        assert made["FR"].summary().asked == 1
        assert made["DE"].ledger == []
