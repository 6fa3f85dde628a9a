"""What a server says to a call that does not fit: in words of JSON, and where to look."""

from __future__ import annotations

from typing import Any

import pytest

from tests.service.http.web import POLICY, served


@pytest.mark.parametrize(
    ("method", "path", "body", "said"),
    [
        ("GET", "/v1/campaign", None, "nothing at this address; /docs"),
        ("GET", "/v1/campaigns/trial/ask", None, "another method; /docs"),
        ("POST", "/v1/campaigns/trial/tell", {"id": "x"}, "body: Input should be a valid list"),
        (
            "POST",
            "/v1/campaigns",
            {"name": "x", "policy": "DPKLUCB"},
            "policy: Input should be a valid dictionary",
        ),
        (
            "POST",
            "/v1/campaigns/trial/ask",
            {"count": 3},
            "As many decisions are pending as max_pending= allows",
        ),
        (
            "POST",
            "/v1/campaigns/trial/ask",
            {"user": "anna"},
            "One of the values is not possible for this campaign: an arm, a user",
        ),
        (
            "POST",
            "/v1/campaigns",
            {"name": "x", "policy": POLICY, "guardrail": "refunds"},
            "guardrail: Input should be a valid dictionary",
        ),
    ],
)
def test_a_call_that_does_not_fit_is_told_where_to_look(
    method: str, path: str, body: Any, said: str
) -> None:
    with served(max_pending=2) as (_, client):
        detail = client.request(method, path, json=body).json()["detail"]
    assert said in detail
    assert "session" not in detail
