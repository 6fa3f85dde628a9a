"""Every route asks for a key with its role."""

from __future__ import annotations

import sys
from pathlib import Path
from threading import Barrier
from types import FrameType
from typing import Any

import pytest
from fastapi import Request

import dpbandits as dpb
from dpbandits.service.operations import OPERATIONS
from dpbandits.service.server.access import Access
from dpbandits.service.server.app import make_app
from tests.service.conftest import Open
from tests.service.http.web import POLICY, at_once, client_of, served
from tests.service.timelines import create

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
                if name == "me":  # it says what any key may do
                    assert client.request(method, path).json()["roles"] == [role]
                    continue
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


# An access key's name is its alone, for ever: calls are remembered by it


def keys_of(store: Any) -> Access:
    return Access(store.database, open=False)


def test_a_name_is_given_once(make: Open) -> None:
    """Not again after its key was revoked: the next owner would be given the last one's replies."""
    store = make()
    create(store)
    mine = keys_of(store).create("Zoë", ["ask"])
    body = {"count": 2, "key": "visit 1"}

    def asked(token: str) -> Any:
        with client_of(store, open=False, token=token) as client:
            return client.post("/v1/campaigns/c/ask", json=body)

    first = asked(mine).json()["decisions"]
    for name in "Zoë", "Zoe\u0308":
        with pytest.raises(dpb.NameTakenError, match=r"no key of this store has or had.*No key w"):
            keys_of(make()).create(name, ["ask"])
    assert asked(mine).json()["decisions"] == first
    with pytest.raises(ValueError, match="at most 64 characters"):
        keys_of(store).create("\u0958" * 64, ["ask"])  # each of which is two, in the end
    assert keys_of(store).revoke("Zoe\u0308") == 1
    with pytest.raises(dpb.NameTakenError):
        keys_of(make()).create("Zoë", ["ask"])
    assert len(keys_of(store).keys()) == 1
    other = asked(keys_of(store).create("Zoë 2", ["ask"])).json()["decisions"]
    assert not {each["id"] for each in first} & {each["id"] for each in other}
    assert asked(mine).status_code == 401


def test_of_several_who_want_it_at_once_one_has_it(make: Open) -> None:
    stores, begin = [make() for _ in range(6)], Barrier(6)

    def want() -> str:
        own = keys_of(stores.pop())
        begin.wait()
        try:
            own.create("website", ["ask"])
        except dpb.NameTakenError:
            return "refused"
        return "made"

    assert sorted(at_once(6, want)) == ["made", *["refused"] * 5]
    assert len(keys_of(make()).keys()) == 1


# What nobody outside can tell: rewards, and which keys there are


PACKAGE = str(Path(dpb.__file__).parent)


def walked(access: Access, key: str) -> tuple[list[str], int]:
    """Every function of this package that a key is looked up by, in order; and what it comes to."""
    steps = list[str]()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            steps.append(frame.f_code.co_qualname)

    headers = [(b"authorization", f"Bearer {key}".encode())]
    request = Request({"type": "http", "method": "GET", "headers": headers, "query_string": b""})
    before, status = sys.getprofile(), 200
    sys.setprofile(note)
    try:
        access.principal(request)
    except PermissionError:
        status = 401
    finally:
        sys.setprofile(before)
    return steps, status


def test_a_key_that_there_is_not_is_refused_as_one_that_there_was(make: Open) -> None:
    """A clock would tell by chance. One hash is made of whatever came, and one row looked up by it,
    so nothing that takes time depends on how much of a key is right.
    """
    access = Access(make().database, open=False)
    mine, gone = (access.create(name, ["read"]) for name in ("mine", "gone"))
    access.revoke("gone")
    walked(access, mine)  # what is made once is made
    (known, found), (revoked, refused) = walked(access, mine), walked(access, gone)
    assert (found, refused) == (200, 401)
    assert [*known, "refusal", "coded"] == revoked
    assert known.count("hash_of") == 1
    assert sum(step.endswith("Database.key") for step in known) == 1
    almost = mine[:-1] + ("a" if mine[-1] != "a" else "b")
    for other in ("dpb_wrong", almost, mine[:20], "x" * 5_000, "é"):
        steps, status = walked(access, other)
        assert status == 401
        assert steps == revoked
