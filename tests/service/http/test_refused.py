"""What is refused, and how: one code for each reason, the same error in Python from near and from
afar. Over HTTP it is a problem document that repeats nothing of what was sent, and nothing changes.
"""

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import anyio
import httpx
import pytest

import dpbandits as dpb
from dpbandits.service.refusals import REASONS
from dpbandits.service.server.app import LARGE_BODY, LARGEST_BODY, MOST_LARGE, Limits
from tests.places import REPOSITORY
from tests.service.conftest import KEY
from tests.service.http.web import POLICY, app_of, ask, client_of, remote, served, tell

Here = tuple[Any, httpx.Client]
"""A store and its client."""

CAMPAIGNS: dict[str, dict[str, Any]] = {
    "trial": {},
    "people": {"privacy_unit": "user", "max_contributions": 1},
    "sides": {"holdout": ".5"},
    "lands": {"segments": ["DE", "FR"]},
    "closed": {},
    "full": {"max_pending": 1},
    "held": {"attribution_window": 60.0, "default": 0},
    "contexts": {"policy": {"name": "DPLinTS", "arms": 2, "features": 2, "epsilon": "1"}},
}

CALLS: dict[str, tuple[str, Callable[[Any], object]]] = {
    "no_such_arm": ("trial", lambda c: c.retire_arm("red")),
    "eligible": ("trial", lambda c: c.ask(eligible="blue")),
    "none_in_play": ("trial", lambda c: c.ask(eligible=[])),
    "arm_name": ("trial", lambda c: c.add_arm("blue")),
    "last_arm": ("trial", lambda c: [c.retire_arm(0), c.retire_arm(1)]),
    "arm_retired": ("trial", lambda c: [c.retire_arm(0), c.resume_arm(0)]),
    "mean_stays": ("trial", lambda c: c.restart_arm("green")),
    "count": ("trial", lambda c: c.ask(-1)),
    "context": ("trial", lambda c: c.ask(context=[0.5])),
    "by_context": ("contexts", lambda c: c.beliefs()),
    "key": ("trial", lambda c: c.ask(key=" ")),
    "key_used": ("trial", lambda c: [c.ask(key="one"), c.ask(2, key="one")]),
    "user_unexpected": ("trial", lambda c: c.ask(user="anna")),
    "user_missing": ("people", lambda c: c.ask()),
    "user": ("people", lambda c: c.ask(user=1.5)),
    "user_empty": ("people", lambda c: c.ask(user=" ")),
    "control_needed": ("sides", lambda c: c.ask(user="anna", eligible=["green"])),
    "control_stays": ("sides", lambda c: c.pause_arm("blue")),
    "side_chosen": ("sides", lambda c: c.ask(user="anna", segment="policy")),
    "no_batches": ("sides", lambda c: c.record("blue", [1.0], key="k")),
    "no_such_segment": ("lands", lambda c: c.ask(segment=["DE"])),
    "part_needed": ("lands", lambda c: c.releases()),
    "no_segments": ("trial", lambda c: c.ask(segment="DE")),
    "no_people": ("trial", lambda c: c.erase("anna")),
    "no_stopping_rule": ("trial", lambda c: c.finish()),
    "not_recordable": ("people", lambda c: c.record("blue", [1.0], key="k")),
    "outcomes_count": ("trial", lambda c: c.record("blue", [], key="k")),
    "resolved_by_time": ("held", lambda c: c.pending()),
    "no_holdout": ("trial", lambda c: c.uplift()),
    "no_contexts": ("trial", lambda c: c.predictions()),
    "no_guardrail": ("trial", lambda c: c.harm()),
    "no_description": ("trial", lambda c: c.description()),
    "full": ("full", lambda c: c.ask(2)),
    "closed": ("closed", lambda c: [c.close("over"), c.ask()]),
    "closed_otherwise": ("closed", lambda c: [c.close("over"), c.close("over", winner="blue")]),
    "winner_only": ("closed", lambda c: [c.close("over", winner=0), c.ask(eligible=["green"])]),
    "why": ("trial", lambda c: c.close("")),
    "reward_out_of_range": ("trial", lambda c: c.tell(c.ask(), 1.5)),
}


@pytest.fixture(scope="module")
def keyed() -> Iterator[Here]:
    with dpb.open_store("memory:", key=KEY, noise=dpb.SimulatedNoise(1)) as store:
        yield store, client_of(store)


@pytest.mark.parametrize("code", CALLS)
def test_a_refusal_is_the_same_from_near_and_from_afar(keyed: Here, code: str) -> None:
    """Of one kind, with one code. Afar its text is fixed, so that it repeats nothing."""
    (store, client), (kind, call), found = keyed, CALLS[code], list[Exception]()
    for host in (store, remote(client)):
        made = {"name": f"{code} {len(found)}", "policy": POLICY, **CAMPAIGNS[kind]}
        assert client.post("/v1/campaigns", json=made).status_code == 201
        campaign = host[made["name"]]
        with pytest.raises((ValueError, TypeError, RuntimeError)) as refused:
            call(campaign)
        found.append(refused.value)
    near, far = found
    assert type(near) is type(far) is REASONS[code].kind
    assert near.code == far.code == code  # type: ignore[attr-defined]
    if near.args != far.args:
        assert str(far) == REASONS[code].text


def test_the_guide_lists_every_code_with_its_status() -> None:
    guide = (REPOSITORY / "docs/guides/service.md").read_text(encoding="utf-8")
    listed = dict[str, int]()
    for row in re.findall(r"^\| (\d{3}) \| (.+) \|$", guide, re.MULTILINE):
        listed |= dict.fromkeys(re.findall(r"`(\w+)`", row[1]), int(row[0]))
    assert listed == {code: reason.status for code, reason in REASONS.items()}


def test_every_code_that_is_given_is_known() -> None:
    given = set[str]()
    for path in (REPOSITORY / "src").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        given |= set(re.findall(r'\b(?:coded|refusal|code_for)\(\s*"(\w+)"', text))
    assert len(given) > 40
    assert given <= REASONS.keys()


# Bodies of another shape


CANARY, ID, MANY = "canary-7314", "0" * 32, 40_000
JSON = {"content-type": "application/json"}
DEEP = b"[" * 100_000 + b"]" * 100_000
EDGES = [[at, at + 1] for at in range(10_001)]
MATROID = {"kind": "GraphicMatroid", "edges": EDGES}
GRAPH = {"name": "DPJointCUCB", "epsilon": "1", "problem": MATROID}

BODIES: list[tuple[str, Any]] = [
    ("ask", {"count": 10**9}),
    ("ask", {"count": "1"}),
    ("ask", {"count": True}),
    ("ask", {"kount": 1}),
    ("ask", {CANARY: 1}),
    ("ask", {"segment": CANARY}),
    ("ask", {"eligible": [0] * MANY}),
    ("ask", []),
    ("tell", [{"id": "1", "reward": 1, CANARY: 0.5}]),
    ("tell", {"id": CANARY, "reward": 1}),
    ("tell", [{"id": CANARY}]),
    ("tell", [{"id": CANARY, "reward": CANARY}]),
    ("tell", [{"id": CANARY, "reward": [0.1, CANARY]}]),
    ("tell", [{"id": CANARY, "reward": 1, "report": CANARY}]),
    ("tell", [[CANARY, 1]]),
    ("tell", [{"id": ID, "reward": 1}] * 10_001),
    ("tell", [{"id": ID, "reward": [1] * MANY}]),
    ("expire", {"ids": CANARY}),
    ("void", {"ids": [1]}),
    ("void", {"ids": [ID] * 10_001}),
    ("arms", {"arm": None}),
    ("retire", {}),
    ("close", {}),
    ("close", {"winner": "blue"}),
    ("erase", {"user": CANARY}),
    ("record", {"arm": "blue", "people": 3, "key": "k"}),
    ("record", {"arm": "blue", "people": 3, "successes": 4, "key": "k"}),
    ("record", {"arm": "blue", "people": 3.0, "successes": 1, "key": "k"}),
    ("record", {"arm": "blue", "people": 10**6, "successes": 1, "key": "k"}),
    ("record", {"arm": "blue", "outcomes": [1.0], "people": 1, "successes": 1, "key": "k"}),
    ("record", {"arm": "blue", "outcomes": [CANARY], "key": "k"}),
    ("record", {"arm": "blue", "outcomes": [1.0], "key": None}),
]

NO_JSON = [b"", b"{", b'{"count": 1} x', b'{"count": "canary-7314', b'{"count": "\xff"}']
NO_JSON += [b"\xff\xfe", b'{"ids": ["\\ud800"]}', DEEP]

OTHERS: list[tuple[dict[str, Any], str, list[str]]] = [
    ({"policy": {"name": "Nobody"}}, "no_such_policy", []),
    ({"policy": {"name": "DPKLUCB", "arms": 2}}, "policy", ["epsilon"]),
    ({"policy": {**POLICY, "model": "local"}}, "policy", ["model"]),
    ({"policy": {**POLICY, CANARY: 1}}, "policy", []),
    ({"policy": {**POLICY, "class": "UCB1"}}, "policy", []),
    ({"policy": {**POLICY, "epsilon": "0"}}, "policy", ["epsilon"]),
    ({"policy": {**POLICY, "epsilon": "1e-9999999"}}, "policy", ["epsilon"]),
    ({"policy": {**POLICY, "arms": ["one", "one"]}}, "arm_name", []),
    ({"policy": {**POLICY, "arms": ["a"] * 10_001}}, "policy", []),
    ({"policy": {**POLICY, "arms": 10**7}}, "policy", []),
    ({"policy": {**POLICY, "arms": 10**30}}, "policy", ["arms"]),
    ({"policy": {**POLICY, "arms": 101}, "segments": [f"{at}" for at in range(100)]}, "option", []),
    ({"policy": GRAPH}, "policy", []),
    ({"policy": "DPKLUCB"}, "shape", ["policy"]),
    ({"segments": [1] * MANY}, "shape", ["segments.0"]),
    ({"min_share": 0.9}, "option", ["min_share"]),
    ({"sticky": True}, "option", []),
    ({"privacy_unit": "user", "max_contributions": 1}, "keyless", []),  # this store has no key
    ({"window": -1.0}, "shape", ["window"]),
    ({"window": 1e300}, "shape", ["window"]),
    ({"attribution_window": 1e20}, "shape", ["attribution_window"]),
    ({"attribution_window": 0.0}, "shape", ["attribution_window"]),
    ({"rewards": {"low": 1, "high": 0}}, "option", ["low"]),
    ({"guardrail": {"name": "harm", "limit": 5}}, "option", ["limit"]),
    ({"scope": "nobody"}, "no_such_scope", []),
    ({"name": ".."}, "option", ["name"]),
    ({"name": "a/b"}, "option", ["name"]),
    ({"name": "x" * 300}, "shape", ["name"]),
    ({"name": "new\nline"}, "option", []),
]
"""Campaigns that cannot be, the code of their refusal, and what it names."""


@pytest.fixture(scope="module")
def here() -> Iterator[Here]:
    with served() as pair:
        yield pair


def refused(here: Here, path: str, body: Any) -> httpx.Response:
    """A refusal after which all is as before. It names few places, whatever was wrong."""
    store, client = here
    before = store["trial"].summary(), list(store)
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = client.post(f"/v1/campaigns{path}", content=content, headers=JSON)
    assert answer.status_code == 422, (path, content[:100], answer.text)
    assert answer.headers["content-type"] == "application/problem+json"
    assert CANARY not in answer.text
    said = answer.json()
    assert len(said["detail"]) > 20
    assert len(said["errors"]) <= 3
    assert (store["trial"].summary(), list(store)) == before
    return answer


def test_a_wrong_request_changes_nothing_and_is_not_repeated(here: Here) -> None:
    for verb, body in (*BODIES, *product(("ask", "tell"), NO_JSON)):
        refused(here, f"/trial/{verb}", body)
    broken = [b'[{"id": "1", "reward": %s' % reward for reward in (b"0", b"0.7314")]
    assert len({refused(here, "/trial/tell", body).text for body in broken}) == 1


def test_a_campaign_that_cannot_be_is_refused_by_what_is_wrong_with_it(here: Here) -> None:
    for more, code, where in OTHERS:
        said = refused(here, "", {"name": "other", "policy": POLICY, **more}).json()
        assert (said["code"], [each["where"] for each in said["errors"]]) == (code, where), more


def test_features_that_a_context_lacks_are_named_and_no_others() -> None:
    policy = {"name": "DPLinTS", "arms": 2, "features": ["age", "visits"], "epsilon": "1"}
    with served(policy=policy) as here:
        said = refused(here, "/trial/ask", {"context": {"age": 0.5, CANARY: 0.25}}).json()
        assert said["errors"] == [{"where": "context.visits", "what": "Missing"}]
        with pytest.raises(ValueError, match=r"Named in `errors`: context\.visits"):
            remote(here[1])["trial"].ask(context={"age": 0.5})


def test_of_wrong_items_the_first_is_named(here: Here) -> None:
    """An error for each of them would keep other requests waiting for seconds."""
    for path, body, where in (
        ("/trial/tell", [1] * MANY, "0"),
        ("/trial/tell", [{"id": ID, "reward": 1}, *[{}] * MANY], "1.id"),
        ("/trial/expire", {"ids": [1] * 9_000}, "ids.0"),
    ):
        found = {each["where"] for each in refused(here, path, body).json()["errors"]}
        assert all(each.startswith(where) for each in found), path


def test_arms_that_are_kept_beside_decisions_fill_no_disk() -> None:
    """A small body may name many arms for many decisions."""
    with served(policy={**POLICY, "arms": 400}) as here:
        said = refused(here, "/trial/ask", {"count": 100_000, "eligible": [*range(400)]}).json()
        assert said["code"] == "eligible"
        ask(here[1], 10, eligible=[1, 0] * 5_000)
        assert {each.eligible for each in here[0]["trial"].decisions()} == {(1, 0)}


def test_rewards_are_refused_in_one_way_whatever_they_are(here: Here) -> None:
    """Which of several checks a reward fails is not said, nor which of several rewards does."""
    said = set[str]()
    ids = [each["id"] for each in ask(here[1], 2)]
    for wrong in (1.5, -0.25, [0.5, 0.5], [], 10**400, True, "0.731"):
        for rewards in ([wrong, 0.5], [0.5, wrong], [wrong, wrong]):
            body = [{"id": id, "reward": it} for id, it in zip(ids, rewards, strict=True)]
            said.add(refused(here, "/trial/tell", body).text)
    for outcomes in ([0.5, 1.5], ["0.731"], [True]):
        record = {"arm": "blue", "outcomes": outcomes, "key": "k"}
        said.add(refused(here, "/trial/record", record).text)
    assert len(said) == 1
    problem = json.loads(said.pop())
    assert (problem["code"], problem["errors"]) == ("reward_out_of_range", [])


def test_a_field_that_is_not_known_is_named_if_it_is_like_a_name(here: Here) -> None:
    """What was sent in its place, or as its name, is not repeated."""
    what = "A field is not known here"
    for name in ("reason", "privacyUnit", CANARY, "a" * 31, "reward\n"):
        where = name if name == "reason" else "body"
        said = refused(here, "/trial/close", {"why": "over", name: f"done at {CANARY}"}).json()
        assert (said["code"], said["errors"]) == ("shape", [{"where": where, "what": what}])
    body = [{"id": ID, "reward": 1, "comment": "fine"}]
    said = refused(here, "/trial/tell", body).json()
    assert said["errors"] == [{"where": "0.comment", "what": what}]
    rail = {"name": "refunds", "limit": 0.2, "confidense": 0.99}
    made = {"name": "x", "policy": {"name": "KLUCB", "arms": 2}, "guardrail": rail}
    scope = {"name": "x", "epsilon": "1", "key": "k"}
    for path, sent, where in (
        ("campaigns", made, "guardrail.confidense"),
        ("scopes", scope, "key"),
    ):
        said = here[1].post(f"/v1/{path}", json=sent).json()
        assert said.get("errors") == [{"where": where, "what": what}]


# Requests that are too much, from elsewhere, cut off, or not for whoever makes them


def test_bodies_and_heads_have_an_end(here: Here) -> None:
    _, client = here
    where = "/v1/campaigns/trial/tell"
    assert client.post(where, content=b" " * (LARGEST_BODY + 1), headers=JSON).status_code == 413
    endless = {**JSON, "content-length": "2".zfill(5_000)}
    assert client.post(where, content=b"[]", headers=endless).status_code == 413
    assert client.post(where, content=b"[]", headers={}).status_code == 415
    later = {**JSON, "connection": "upgrade", "upgrade": "h2c"}
    assert "without an Upgrade header" in client.post(where, content=b"[]", headers=later).text
    assert client.get("/healthz", headers=later).status_code == 200
    kept = {**JSON, "upgrade": "h2c"}  # by a proxy
    assert client.post(where, content=b"[]", headers=kept).status_code == 200
    for headers in {f"x-{at}": "a" for at in range(100)}, {"x": "a" * 40_000}:
        answer = client.get("/healthz", headers=headers)
        assert answer.status_code == 431
        assert "at most 100 headers, and 32,768 bytes" in answer.json()["detail"]
    assert client.get("/healthz?x=" + "a" * 40_000).status_code == 431
    assert client.get("/healthz", headers={"x": "a" * 30_000}).status_code == 200
    assert tell(client, *[(ID, 1)] * 10_000) == ["unknown"] * 10_000, "as many as may be"


def test_few_large_bodies_are_read_at_a_time() -> None:
    """No key is asked for before. What is small, or has not come as a whole, keeps out of that."""
    read, large = list[int](), LARGE_BODY + 1

    async def asked() -> None:
        over = asyncio.Event()

        async def app(scope: Any, receive: Any, send: Any) -> None:
            read.append(len((await receive())["body"]))
            await over.wait()

        async def sent(size: int, *, is_whole: bool = True) -> None:
            messages = [{"type": "http.request", "body": b" " * size, "more_body": not is_whole}]

            async def receive() -> Any:
                return messages.pop() if messages else await over.wait()

            headers = {"content-type": "application/json", "content-length": f"{size}"}
            raw = [(name.encode(), value.encode()) for name, value in headers.items()]
            scope = {"type": "http", "path": "/", "query_string": b"", "headers": raw}
            await limits(scope, receive, None)

        limits = Limits(app, None)
        waiting = [asyncio.create_task(sent(large, is_whole=False)) for _ in range(MOST_LARGE)]
        tasks = [asyncio.create_task(sent(size)) for size in [large] * 9 + [2]]
        for _ in range(50):
            await asyncio.sleep(0)
        assert sorted(read) == [2] + [large] * MOST_LARGE
        for each in waiting:
            each.cancel()
        over.set()
        await asyncio.gather(*tasks)
        assert len(read) == 10

    asyncio.run(asked())


ELSEWHERE: list[dict[str, str]] = [
    {"origin": "http://evil.example", "sec-fetch-site": "cross-site"},
    {"origin": "http://localhost:3000", "sec-fetch-site": "same-site"},
    {"origin": "http://localhost:3000"},
    {"origin": "null"},
]


def test_without_keys_no_page_of_another_site_changes_anything(here: Here) -> None:
    """A form without fields has an empty body, and a browser sends it to anybody."""
    store, client = here
    before = store["trial"].events()
    for says, verb in product(ELSEWHERE, ("drop", "finish")):
        form = {"content-type": "application/x-www-form-urlencoded", **says}
        answer = client.post(f"/v1/campaigns/trial/{verb}", content=b"", headers=form)
        assert answer.status_code == 403, answer.text
        assert "another site" in answer.json()["detail"]
    assert store["trial"].events() == before
    own = {"origin": "http://localhost", "sec-fetch-site": "same-origin"}
    assert client.post("/v1/campaigns/trial/drop", headers=own).status_code == 200
    assert client.get("/v1/campaigns", headers={"host": "evil.example"}).status_code == 421


def test_a_request_that_was_cut_off_does_nothing() -> None:
    """Who sends half of a body and leaves has asked for nothing."""
    parts: list[Any] = [{"type": "http.request", "body": b'{"count"', "more_body": True}]
    headers, sent = [(b"host", b"localhost"), (b"content-type", b"application/json")], list[Any]()
    scope: dict[str, Any] = {"type": "http", "method": "POST", "path": "/v1/campaigns/trial/drop"}
    scope |= {"headers": headers, "query_string": b""}

    async def receive() -> Any:
        return parts.pop() if parts else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    with served() as (store, _):
        anyio.run(app_of(store), scope, receive, send)
        assert store["trial"].events() == []
        assert all(message.get("status", 422) == 422 for message in sent)


# Faults


@pytest.mark.parametrize("kind", [dpb.StoreError, dpb.WitnessError, dpb.EditedRowsError])
def test_a_database_that_is_away_is_said_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, kind: type[Exception]
) -> None:
    """Why, the log says, and no reply."""

    def away(uid: str) -> Any:
        raise kind("The database could not be written (gone).")

    with served() as (store, client):
        (decision,) = ask(client)
        body = [{"id": decision["id"], "reward": 0.7312549}]
        with monkeypatch.context() as patch:
            patch.setattr(store.database, "transaction", away)
            answer = client.post("/v1/campaigns/trial/tell", json=body)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert f"{kind.__name__}: The database could not be written (gone)." in caplog.text
        assert "gone" not in answer.text
        assert "7312549" not in caplog.text
        assert tell(client, (decision["id"], 1)) == ["recorded"]


def test_a_fault_shows_nothing_of_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(uid: str) -> Any:
        raise ZeroDivisionError(CANARY)

    with served() as (store, client):
        monkeypatch.setattr(store.database, "reading", broken)
        answer = client.get("/v1/campaigns/trial")
        assert answer.status_code == 500
        assert CANARY not in answer.text


def test_every_route_documents_its_problems(here: Here) -> None:
    """As what they are: problem documents, and nothing of the framework's own."""
    said = here[1].get("/openapi.json").json()
    for path, verbs in said["paths"].items():
        for verb, operation in verbs.items():
            answers = operation["responses"]
            assert "422" not in answers, f"{verb} {path}"
            if path.startswith("/v1/"):
                assert set(answers["default"]["content"]) == {"application/problem+json"}, path
