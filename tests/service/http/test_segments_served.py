"""Segments over HTTP, in a client and on pages: what the store's own campaign does and shows."""

from __future__ import annotations

from tests.service.http.web import served

SEGMENTS = ["DE", "FR"]


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
