"""Campaigns over HTTP: every verb does what the campaign's own does, and can be made again."""

from __future__ import annotations

import json
from typing import Any

import dpbandits as dpb
from tests.service.http.web import POLICY, ask, client_of, served


def test_reports_of_devices_are_told() -> None:
    local = {"name": "LDPKLUCB", "arms": 2, "epsilon": "1"}
    with dpb.open_store("memory:") as store:
        client = client_of(store)
        made = {"name": "trial", "policy": local}
        assert client.post("/v1/campaigns", json=made).status_code == 201
        described = client.get("/v1/campaigns/trial/description").text
        device = dpb.Client(described, most=1)
        decision, another = ask(client, 2)
        message = device.answer(decision["message"], 1)
        swapped = [{"id": another["id"], "report": message}]
        assert client.post("/v1/campaigns/trial/tell", json=swapped).status_code == 422
        body: list[dict[str, Any]] = [{"id": decision["id"], "report": message}]
        told = client.post("/v1/campaigns/trial/tell", json=body).json()["results"]
        assert [each["status"] for each in told] == ["recorded"]
        assert store["trial"].summary().told == 1


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


# Segments over HTTP, in a client and on pages: what the store's own campaign does and shows


SEGMENTS = ["DE", "FR"]


def test_requests_that_name_no_segment_or_a_wrong_one() -> None:
    with served(segments=SEGMENTS) as (_, client):
        for body in ({}, {"segment": "ES"}):
            answer = client.post("/v1/campaigns/trial/ask", json=body)
            assert answer.status_code == 422
            assert answer.json()["code"] == "no_such_segment"
        for verb in ("releases", "decisions", "events", "history", "recent"):
            for query, code in (("", "part_needed"), ("?segment=ES", "no_such_segment")):
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
