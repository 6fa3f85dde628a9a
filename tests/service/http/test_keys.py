"""Access keys: every route asks for one with its role, and a refusal tells nothing of others."""

import sys
from pathlib import Path
from threading import Barrier
from types import FrameType
from typing import Any

import httpx
import pytest
from fastapi import Request

import dpbandits as dpb
from dpbandits.service.operations import OPERATIONS
from dpbandits.service.server import serving
from dpbandits.service.server.app import Access, make_app
from tests.service.conftest import Open
from tests.service.http.web import POLICY, at_once, client_of, from_environment, remote, served
from tests.service.timelines import Lite, copy_file, create, stored

PUBLIC = {"/healthz", "/readyz"}
WRONG: dict[str, Any] = {"content": b"{", "headers": {"content-type": "application/json"}}
"""A body that no route takes: each asks for a key before it reads any."""

RIGHT: dict[str, Any] = {
    "campaigns": {"name": "new", "policy": POLICY},
    "scopes": {"name": "new", "epsilon": "1"},
    "record": {"arm": 0, "outcomes": [1.0], "key": "week 1"},
    "close": {"why": "over"},
    "erase": {"user": "anna"},
    "tell": [],
    "expire": {"ids": []},
    "void": {"ids": []},
    **{verb: {"arm": 0} for verb in ("retire", "pause", "resume", "restart")},
}
"""By the end of a path, a body that its route takes; others take an empty one."""


def calls_of(app: Any) -> list[tuple[str, str]]:
    """Method and path of every route but those for everybody, as is documented."""
    document = app.openapi()
    assert document["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
    assert document["security"] == [{"key": []}]
    found = list[tuple[str, str]]()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert (operation.get("security") == []) is (path in PUBLIC), path
            if path not in PUBLIC:
                found.append((method, path.format(name="trial")))
    return found


def access_of(store: Any) -> Access:
    return Access(store, open=False)


def refuse(client: httpx.Client, method: str, path: str, how: tuple[int, str]) -> None:
    for sent in WRONG, {"json": RIGHT.get(path.rpartition("/")[2], {})}:
        answer = client.request(method, path, **sent)
        assert (answer.status_code, answer.json()["code"]) == how, path


def test_no_route_answers_without_a_key_or_to_one_of_another_role() -> None:
    """Nor says what is wrong with a body, nor does what a right one asks for."""
    with served() as (store, _):
        keys = {role: access_of(store).create(role, [role]) for role in ("ask", "tell", "read")}
        calls = calls_of(make_app(store, open=False))
        assert len(calls) > len(OPERATIONS) + 20
        before = stored(store)
        stranger = client_of(store, open=False)
        for method, path in calls:
            refuse(stranger, method, path, (401, "no_key"))
        for role, key in keys.items():
            client = client_of(store, open=False, token=key)
            for method, path in calls:
                name = path.rsplit("/", 1)[1]
                if name == "me":  # it says what any key may do
                    assert client.request(method, path).json()["roles"] == [role]
                    continue
                needed = OPERATIONS[name].role if name in OPERATIONS else "admin"
                if (needed if method == "post" else "read") != role:
                    refuse(client, method, path, (403, "role"))
        assert stored(store) == before


def test_a_key_opens_its_campaign_and_no_other_for_what_it_may_do() -> None:
    with served() as (store, _):
        key = access_of(store).create("website", ["ask", "tell"], "trial")
        website = remote(client_of(store, open=False, token=key))
        assert website["trial"].tell(website["trial"].ask(), 1.0) == "recorded"
        with pytest.raises(PermissionError, match="needs another role"):
            website["trial"].summary()
        with pytest.raises(PermissionError, match="another campaign"):
            website["other"].ask()
        with pytest.raises(dpb.NoKeyError, match="No key was sent"):
            remote(client_of(store, open=False))["trial"]
        mine = client_of(store, open=False, token=access_of(store).create("me", ["admin"], "trial"))
        assert mine.post("/v1/campaigns/trial/pause", json={"arm": "blue"}).status_code == 200
        for path in ("/v1/campaigns/other", "/v1/campaigns", "/metrics"):
            assert mine.get(path).json()["code"] == "other_campaign"


def test_a_server_without_keys_closes_with_the_first_one() -> None:
    with served() as (store, client):
        assert client.get("/v1/campaigns").status_code == 200
        access_of(store).create("me", ["admin"])
        assert client.get("/v1/campaigns").status_code == 401
        access_of(store).revoke("me")
        assert client.get("/v1/campaigns").status_code == 401


def test_a_copy_that_is_put_back_opens_nothing(lite: Lite, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a store that had no keys yet, nor to a key that was revoked since."""
    copies = list[Path]()
    with lite.open() as store:
        copies.append(lite.copy("first.db"))
        key = access_of(store).create("website", ["read"])
        copies.append(lite.copy("second.db"))
        access_of(store).revoke("website")
    for copy in copies:
        lite.put_back(copy)
        client = from_environment(monkeypatch, lite)
        for token in ("", f"Bearer {key}"):
            answer = client.get("/v1/campaigns", headers={"Authorization": token})
            assert answer.json()["code"] == "no_key"


def test_a_copy_that_is_put_back_under_a_server_opens_nothing(lite: Lite) -> None:
    with lite.open() as store:
        key = access_of(store).create("website", ["read"])
        copy = lite.copy()
        access_of(store).revoke("website")
        copy_file(copy, lite.file)
        client = client_of(store, open=False, token=key)
        assert client.get("/v1/campaigns").status_code == 200
        serving.run_maintenance(store, {})
        assert client.get("/v1/campaigns").status_code == 401


def test_a_key_is_for_a_campaign_that_there_is(make: Open, tmp_path: Path) -> None:
    """And is made beside the store's own witness, as the next campaign is."""
    store, other = make(), make(witness=tmp_path / "new")
    create(store)
    with pytest.raises(ValueError, match=r"a campaign of this store, got 'C'\. No key was made"):
        access_of(store).create("website", ["ask"], "C")
    access = access_of(other)
    for begin in (
        lambda: access.create("me", ["read"]),
        lambda: access.revoke("me"),
        lambda: create(other, name="d"),
    ):
        with pytest.raises(dpb.WitnessError, match=r"no campaign of this store.*--witness"):
            begin()
    assert (list(store), access_of(store).keys()) == (["c"], [])


# A name is its key's alone, for ever: calls are remembered by it


def test_a_name_is_given_once(make: Open) -> None:
    """Not again after its key was revoked: the next owner would be given the last one's replies."""
    store = make()
    create(store)
    mine = access_of(store).create("Zoë", ["ask"])

    def asked(token: str) -> Any:
        with client_of(store, open=False, token=token) as client:
            return client.post("/v1/campaigns/c/ask", json={"count": 2, "key": "visit 1"})

    first = asked(mine).json()["decisions"]
    for name in "Zoë", "Zoe\u0308":
        with pytest.raises(dpb.NameTakenError, match=r"no key of this store has or had.*No key w"):
            access_of(make()).create(name, ["ask"])
    assert asked(mine).json()["decisions"] == first
    with pytest.raises(ValueError, match="at most 64 characters"):
        access_of(store).create("\u0958" * 64, ["ask"])  # each of which is two, in the end
    assert access_of(store).revoke("Zoe\u0308") == 1
    with pytest.raises(dpb.NameTakenError):
        access_of(make()).create("Zoë", ["ask"])
    assert len(access_of(store).keys()) == 1
    other = asked(access_of(store).create("Zoë 2", ["ask"])).json()["decisions"]
    assert not {each["id"] for each in first} & {each["id"] for each in other}
    assert asked(mine).status_code == 401


def test_of_several_who_want_it_at_once_one_has_it(make: Open) -> None:
    stores, begin = [make() for _ in range(6)], Barrier(6)

    def want() -> str:
        access = access_of(stores.pop())
        begin.wait()
        try:
            access.create("website", ["ask"])
        except dpb.NameTakenError:
            return "refused"
        return "made"

    assert sorted(at_once(6, want)) == ["made", *["refused"] * 5]
    assert len(access_of(make()).keys()) == 1


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
    """One hash is made of whatever came, and one row looked up, so no time tells of a key."""
    access = access_of(make())
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
        assert walked(access, other) == (revoked, 401)
