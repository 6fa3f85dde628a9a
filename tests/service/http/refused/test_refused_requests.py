"""What a server refuses: whoever has no key, wrong roles, bodies that are too much, and everything
of another shape. The answer is a problem document, and repeats nothing that was sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.service.server.access import Access
from dpbandits.service.server.app import LARGEST_BODY
from tests.service.http.web import POLICY, ask, client_of, served, tell

CANARY = "canary-7314"
Here = tuple[Any, Any]


@pytest.fixture(scope="module")
def here() -> Iterator[Here]:
    """A store and a client, for requests that change nothing."""
    with served() as pair:
        yield pair


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("ask", {"count": -1}),
        ("ask", {"count": 10**9}),
        ("ask", {"count": "1"}),
        ("ask", {"count": True}),
        ("ask", {"kount": 1}),
        ("ask", {CANARY: 1}),
        ("tell", [{"id": "1", "reward": 1, CANARY: 0.5}]),
        ("ask", {"user": "anna"}),
        ("ask", {"segment": CANARY}),
        ("ask", []),
        ("tell", {"id": CANARY, "reward": 1}),
        ("tell", [{"id": CANARY}]),
        ("tell", [{"id": CANARY, "reward": CANARY}]),
        ("tell", [{"id": CANARY, "reward": True}]),
        ("tell", [{"id": CANARY, "reward": [0.1, CANARY]}]),
        ("tell", [{"id": CANARY, "reward": 1, "report": CANARY}]),
        ("tell", [[CANARY, 1]]),
        ("expire", {"ids": CANARY}),
        ("void", {"ids": [1]}),
        ("arms", {"arm": None}),
        ("arms", {"arm": "blue"}),
        ("retire", {"arm": "nobody"}),
        ("retire", {}),
        ("close", {"why": ""}),
        ("erase", {"user": CANARY}),
        ("record", {"arm": "blue", "people": 3, "key": "k"}),
        ("record", {"arm": "blue", "people": 3, "successes": 4, "key": "k"}),
        ("record", {"arm": "blue", "people": 3.0, "successes": 1, "key": "k"}),
        ("record", {"arm": "blue", "people": 10**6, "successes": 1, "key": "k"}),
        ("record", {"arm": "blue", "outcomes": [1.0], "people": 1, "successes": 1, "key": "k"}),
        ("record", {"arm": "blue", "outcomes": [CANARY], "key": "k"}),
        ("record", {"arm": "blue", "outcomes": [], "key": "k"}),
        ("record", {"arm": "blue", "outcomes": [1.0], "key": " "}),
        ("record", {"arm": "blue", "outcomes": [1.0], "key": None}),
        ("record", {"arm": "red", "outcomes": [1.0], "key": "k"}),
        ("record", {"arm": "blue", "outcomes": [1.0], "segment": "DE", "key": "k"}),
    ],
)
def test_a_wrong_request_changes_nothing_and_is_not_repeated(
    here: Here, path: str, body: Any
) -> None:
    store, client = here
    before = store["trial"].summary()
    answer = client.post(f"/v1/campaigns/trial/{path}", json=body)
    assert answer.status_code == 422, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert CANARY not in answer.text
    assert len(answer.json()["detail"]) > 20
    assert store["trial"].summary() == before


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b'{"count": 1} x', b'{"count": "canary-7314', b'{"count": "\xff"}', b"\xff\xfe"],
)
def test_a_body_that_is_no_json_changes_nothing_and_is_not_repeated(
    here: Here, body: bytes
) -> None:
    store, client = here
    before = store["trial"].summary()
    kind = {"content-type": "application/json"}
    for verb in ("ask", "tell"):
        answer = client.post(f"/v1/campaigns/trial/{verb}", content=body, headers=kind)
        assert answer.status_code == 422, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        assert CANARY not in answer.text
    assert store["trial"].summary() == before


@pytest.mark.parametrize(
    "more",
    [
        {"policy": {"name": "Nobody"}},
        {"policy": {"name": "DPKLUCB"}},
        {"policy": {"name": "DPKLUCB", "arms": 2, "epsilon": "1", "class": "UCB1"}},
        {"policy": {"name": "DPKLUCB", "arms": 2, "epsilon": "0"}},
        {"policy": {"name": "DPKLUCB", "arms": 2, "epsilon": "1e-9999999"}},
        {"policy": {"name": "DPKLUCB", "arms": 10**30, "epsilon": "1"}},
        {"policy": "DPKLUCB"},
        {"min_share": 0.9},
        {"privacy_unit": "user", "max_contributions": 1},  # this store has no key
        {"window": -1.0},
        {"window": 1e300},
        {"attribution_window": 1e20},
        {"name": ".."},
        {"attribution_window": 0.0},
        {"rewards": {"low": 1, "high": 0}},
        {"scope": "nobody"},
        {"name": "a/b"},
        {"name": "x" * 300},
        {"name": "new\nline"},
        {"policy": {**POLICY, "arms": ["one", "one"]}},
    ],
)
def test_a_campaign_that_cannot_be_is_not_created(here: Here, more: dict[str, Any]) -> None:
    store, client = here
    body = {"name": "other", "policy": POLICY, **more}
    answer = client.post("/v1/campaigns", json=body)
    assert answer.status_code == 422, answer.text
    assert list(store) == ["trial"]


def test_bodies_have_an_end() -> None:
    with served() as (_, client):
        where, json = "/v1/campaigns/trial/tell", {"content-type": "application/json"}
        assert (
            client.post(where, content=b" " * (LARGEST_BODY + 1), headers=json).status_code == 413
        )
        deep = b"[" * 100_000 + b"]" * 100_000
        assert client.post(where, content=deep, headers=json).status_code in (400, 422)
        assert client.post(where, content=b"[]", headers={}).status_code == 415
        assert client.post(where, content=b"{", headers=json).status_code == 422


def test_without_keys_the_server_answers_to_its_own_name_only() -> None:
    with served() as (_, client):
        answer = client.get("/v1/campaigns", headers={"host": "evil.example"})
        assert answer.status_code == 421


@pytest.fixture
def guarded() -> Any:
    """A store with a campaign, and a maker of clients with a key for some roles."""
    with dpb.open_store("memory:") as store:
        store.create("trial", dpb.DPKLUCB(arms=2, epsilon=1))
        store.create("other", dpb.DPKLUCB(arms=2, epsilon=1))

        def client(*roles: str, campaign: str | None = None) -> Any:
            name = " ".join(roles)
            key = (
                Access(store.database, open=False).create(name, roles, campaign) if roles else None
            )
            return client_of(store, open=False, token=key)

        yield store, client


def test_a_key_for_one_campaign_opens_no_other(guarded: Any) -> None:
    _, client = guarded
    mine = client("admin", campaign="trial")
    assert mine.get("/v1/campaigns/trial").status_code == 200
    for path in ("/v1/campaigns/other", "/v1/campaigns/nobody", "/v1/campaigns", "/metrics"):
        assert mine.get(path).status_code == 403


def test_a_database_that_is_away_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with served() as (store, client):
        (decision,) = ask(client)
        good = store.database.transaction

        def away(uid: str) -> Any:
            raise dpb.StoreError("The database could not be written (gone).")

        monkeypatch.setattr(store.database, "transaction", away)
        body = [{"id": decision["id"], "reward": 1}]
        answer = client.post("/v1/campaigns/trial/tell", json=body)
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "1"
        monkeypatch.setattr(store.database, "transaction", good)
        assert tell(client, (decision["id"], 1)) == ["recorded"]


def test_a_fault_shows_nothing_of_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    with served() as (store, client):

        def broken(uid: str) -> Any:
            raise ZeroDivisionError(CANARY)

        monkeypatch.setattr(store.database, "reading", broken)
        answer = client.get("/v1/campaigns/trial")
        assert answer.status_code == 500
        assert CANARY not in answer.text


def test_every_route_documents_its_problems() -> None:
    """As what they are: problem documents, and nothing of the framework's own."""
    with served() as (_, client):
        said = client.get("/openapi.json").json()
    for path, verbs in said["paths"].items():
        for verb, operation in verbs.items():
            answers = operation["responses"]
            assert "422" not in answers, f"{verb} {path}"
            if path.startswith("/v1/"):
                assert set(answers["default"]["content"]) == {"application/problem+json"}, path
