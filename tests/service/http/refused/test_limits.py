"""Limits of a request: what has too many items is refused before they are looked at, and of wrong
items the first one is named.
"""

from __future__ import annotations

from typing import Any

from tests.service.http.web import POLICY, ask, served, tell

MANY = 40_000
ID = "0" * 32


def graph(edges: int) -> dict[str, Any]:
    problem = {"kind": "GraphicMatroid", "edges": [[at, at + 1] for at in range(edges)]}
    return {"name": "DPJointCUCB", "epsilon": "1", "problem": problem}


def new(**more: Any) -> dict[str, Any]:
    return {"name": "other", "policy": POLICY, **more}


WRONG: dict[str, tuple[str, Any, str]] = {
    "numbers": ("/trial/tell", [1] * MANY, "0"),
    "the second": ("/trial/tell", [{"id": ID, "reward": 1}, *[{}] * MANY], "1.id"),
    "ids": ("/trial/expire", {"ids": [1] * 9_000}, "ids.0"),
    "segments": ("", new(segments=[1] * MANY), "segments.0"),
}
"""Of each list, the first wrong item."""

TOO_MANY: dict[str, tuple[str, Any, str]] = {
    "answers": ("/trial/tell", [{"id": ID, "reward": 1}] * 10_001, "at most 10000 items"),
    "rewards": ("/trial/tell", [{"id": ID, "reward": [1] * MANY}], "at most 10000 items"),
    "ids": ("/trial/void", {"ids": [ID] * 10_001}, "at most 10000 items"),
    "arms": ("/trial/ask", {"eligible": [0] * MANY}, "at most 10,000 arms"),
    "segments": ("", new(segments=[f"{at}" for at in range(1_001)]), '"option"'),
    "named arms": ("", new(policy={**POLICY, "arms": ["a"] * 10_001}), '"policy"'),
    "numbered arms": ("", new(policy={**POLICY, "arms": 10**7}), '"policy"'),
    "edges": ("", new(policy=graph(10_001)), '"policy"'),
    "arms of segments": (
        "",
        new(policy={**POLICY, "arms": 101}, segments=[f"{at}" for at in range(100)]),
        '"option"',
    ),
}


def test_of_wrong_items_the_first_is_named() -> None:
    """An error for each of them would keep other requests waiting for seconds."""
    with served() as (_, client):
        for name, (path, body, where) in WRONG.items():
            answer = client.post(f"/v1/campaigns{path}", json=body)
            assert answer.status_code == 422, name
            found = {each["where"] for each in answer.json()["errors"]}
            assert all(each.startswith(where) for each in found), name
            assert len(found) <= 2, name


def test_too_many_items_are_refused_and_change_nothing() -> None:
    with served() as (store, client):
        (decision,) = ask(client)
        before = store["trial"].summary()
        for name, (path, body, said) in TOO_MANY.items():
            answer = client.post(f"/v1/campaigns{path}", json=body)
            assert answer.status_code == 422, name
            assert said in answer.text, name
        assert store["trial"].summary() == before
        assert list(store) == ["trial"]
        assert tell(client, (decision["id"], 1)) == ["recorded"]


def test_as_many_as_may_be_are_answered() -> None:
    with served() as (_, client):
        assert tell(client, *[(ID, 1)] * 10_000) == ["unknown"] * 10_000


def test_headers_are_few_and_short() -> None:
    with served() as (_, client):
        for headers in {f"x-{at}": "a" for at in range(100)}, {"x": "a" * 40_000}:
            answer = client.get("/healthz", headers=headers)
            assert answer.status_code == 431
            assert "at most 100 headers, and 32,768 bytes" in answer.json()["detail"]
        assert client.get("/healthz?x=" + "a" * 40_000).status_code == 431
        assert client.get("/healthz", headers={"x": "a" * 30_000}).status_code == 200
