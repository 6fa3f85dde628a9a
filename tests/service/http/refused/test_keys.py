"""Every route asks for a key with its role."""

from __future__ import annotations

from typing import Any

import dpbandits as dpb
from dpbandits.service.operations import OPERATIONS
from dpbandits.service.server.access import Access
from dpbandits.service.server.app import make_app
from tests.service.http.web import POLICY, client_of, served

BODIES: dict[str, Any] = {
    "tell": [],
    "expire": {"ids": []},
    "void": {"ids": []},
    "record": {"arm": "blue", "people": 2, "successes": 1, "key": "week 1"},
    "retire": {"arm": "blue"},
    "pause": {"arm": "blue"},
    "resume": {"arm": "blue"},
    "restart": {"arm": "blue"},
    "close": {"why": "over"},
    "erase": {"user": "anna"},
    "campaigns": {"name": "other", "policy": POLICY},
    "scopes": {"name": "all", "epsilon": "1"},
}
"""Well-formed bodies; of other routes an empty object is one."""

PUBLIC = {"/healthz", "/readyz"}


def calls_of(app: Any) -> list[tuple[str, str, Any]]:
    """Method, path and body of every route but those for everybody."""
    return [
        (method, path.format(name="trial"), BODIES.get(path.rsplit("/", 1)[1], {}))
        for path, methods in app.openapi()["paths"].items()
        for method in methods
        if path not in PUBLIC
    ]


def test_no_route_answers_without_a_key_or_to_one_of_another_role() -> None:
    with served() as (store, _):
        access = Access(store.database, open=False)
        keys = {role: access.create(role, [role]) for role in ("ask", "tell", "read")}
        calls = calls_of(make_app(store, open=False))
        assert len(calls) > len(OPERATIONS) + 20
        before = store["trial"].summary(), store["trial"].events()
        stranger = client_of(store, open=False)
        for method, path, body in calls:
            json = body if method == "post" else None
            answer = stranger.request(method, path, json=json)
            assert (answer.status_code, answer.json()["code"]) == (401, "no_key"), path
        for role, key in keys.items():
            client = client_of(store, open=False, token=key)
            for method, path, body in calls:
                name = path.rsplit("/", 1)[1]
                needed = OPERATIONS[name].role if name in OPERATIONS else "admin"
                if method == "get":
                    needed = "read"
                if needed != role:
                    answer = client.request(method, path, json=body if method == "post" else None)
                    assert (answer.status_code, answer.json()["code"]) == (403, "role"), path
        assert (store["trial"].summary(), store["trial"].events()) == before


def test_a_key_may_do_what_its_role_says() -> None:
    with served() as (store, _):
        key = Access(store.database, open=False).create("me", ["admin"])
        client = client_of(store, open=False, token=key)
        assert client.post("/v1/campaigns/trial/pause", json={"arm": "blue"}).status_code == 200
        assert dict(store["trial"].arms) == {"blue": "paused", "green": "active"}
        assert isinstance(store["trial"].guarantee, dpb.Guarantee)
