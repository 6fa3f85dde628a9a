"""An access key's name is its alone, for ever: calls are remembered by it."""

from __future__ import annotations

from threading import Barrier
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.service.server.access import Access
from tests.service.conftest import Open
from tests.service.http.web import at_once, client_of
from tests.service.timelines import create


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
