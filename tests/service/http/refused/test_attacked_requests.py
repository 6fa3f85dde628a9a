"""What an attacker sends: changes from another site's page, requests that are cut off, text that no
database keeps.
"""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from tests.service.http.web import app_of, ask, served, tell

JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    "says",
    [
        {"origin": "http://evil.example", "sec-fetch-site": "cross-site"},
        {"origin": "http://localhost:3000", "sec-fetch-site": "same-site"},
        {"origin": "http://localhost:3000"},
        {"origin": "null"},
    ],
)
def test_without_keys_no_page_of_another_site_changes_anything(says: dict[str, str]) -> None:
    """A form without fields has an empty body, and a browser sends it to anybody."""
    with served() as (store, client):
        ask(client, 3)
        before = store["trial"].summary()
        form = {"content-type": "application/x-www-form-urlencoded", **says}
        for verb in ("drop", "finish"):
            answer = client.post(f"/v1/campaigns/trial/{verb}", content=b"", headers=form)
            assert answer.status_code == 403, answer.text
            assert "another site" in answer.json()["detail"]
        assert store["trial"].summary() == before
        own = {"origin": "http://localhost", "sec-fetch-site": "same-origin"}
        assert client.post("/v1/campaigns/trial/drop", headers=own).status_code == 200


def test_a_request_that_was_cut_off_does_nothing() -> None:
    """Who sends half of a body and leaves has asked for nothing."""
    parts: list[Any] = [
        {"type": "http.request", "body": b'{"count"', "more_body": True},
        {"type": "http.disconnect"},
    ]
    sent = list[Any]()
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/campaigns/trial/drop",
        "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")],
        "query_string": b"",
    }

    async def receive() -> Any:
        return parts.pop(0) if parts else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    with served() as (store, client):
        ask(client, 3)
        anyio.run(app_of(store), scope, receive, send)
        assert store["trial"].events() == []
        assert all(message.get("status", 422) == 422 for message in sent)


@pytest.mark.parametrize("verb", ["expire", "void"])
def test_a_refused_list_of_ids_changes_nothing(verb: str) -> None:
    """A lone surrogate is JSON, and no text that can be sent back."""
    with served(default=0) as (_, client):
        (decision,) = ask(client)
        body = f'{{"ids": ["{decision["id"]}", "\\ud800"]}}'
        answer = client.post(f"/v1/campaigns/trial/{verb}", content=body, headers=JSON)
        assert answer.status_code == 422, answer.text
        assert tell(client, (decision["id"], 1)) == ["recorded"]
