"""No problem document repeats what came, whichever field of whichever verb it came in."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

import dpbandits as dpb
from dpbandits.service.http.problems import TOO_MUCH, unrepeated
from tests.service.http.web import POLICY, client_of

NEW: dict[str, Any] = {"name": "new", "policy": {**POLICY, "grid": 16, "alpha": 1.5}, "key": "k"}
MORE: dict[str, Any] = {
    "rewards": {"low": 0, "high": 1, "clip": True, "minimise": False},
    "default": 0.0,
    "max_pending": 10,
    "privacy_unit": "user",
    "max_contributions": 2,
    "window": 5.0,
    "attribution_window": 5.0,
    "unsealed": True,
    "assignment": "planned",
    "min_share": 0.1,
    "seed": 1,
    "segments": ["DE"],
    "holdout": ".1",
    "ramp": [["2026-01-01", ".1"]],
    "control": "blue",
    "guardrail": {"name": "refunds", "limit": 0.5, "confidence": 0.95, "default": 0.0},
    "scope": "all",
    "simulated_noise": 1,
}
"""Each goes with the others or not: they are sent one by one."""

ARM = {"arm": "blue", "key": "k"}
VERBS: dict[str, list[Any]] = {
    "ask": [
        {"count": 1, "eligible": ["blue", "green"], "user": "anna", "segment": "DE", "key": "k"},
        {"eligible": ["blue", "green"]},
        {"eligible": ["blue"], "user": "anna"},
        {"segment": "DE", "user": "anna"},
    ],
    "tell": [[{"id": "a", "reward": 1}], [{"id": "a", "report": "b"}]],
    "expire": [{"ids": ["a"]}],
    "void": [{"ids": ["a"]}],
    **{verb: [ARM] for verb in ("arms", "retire", "pause", "resume")},
    "drop": [{"key": "d"}],
    "finish": [{"key": "f"}],
    "erase": [{"user": "anna", "key": "e"}],
    "close": [{"why": "winner declared: blue", "key": "c"}],
}
CAMPAIGNS: dict[str, dict[str, Any]] = {
    "plain": {},
    "people": {"privacy_unit": "user", "max_contributions": 2},
    "segments": {"segments": ["DE", "FR"]},
    "sides": {"holdout": ".2"},
}
CANARY = "kanarie"
CANARIES = [
    CANARY,
    f"{CANARY}\n",
    f"{CANARY}{'x' * 300}",
    f"""a'b"{CANARY}""",
    f"x  {CANARY} to be, {CANARY}",
    f"{CANARY}, {CANARY}",
]
"""As it is; what cannot be printed; what is cut off; with quotes; with words of our errors; and
what an error takes apart.
"""


def requests() -> Iterator[tuple[str, Any]]:
    """Every body that is sent, with where to."""
    yield "/v1/scopes", {"name": "all", "epsilon": "1"}
    yield "/v1/campaigns", NEW
    for name, value in MORE.items():
        yield "/v1/campaigns", {**NEW, name: value}
    yield "/v1/campaigns", {**NEW, "holdout": ".1", "control": "blue"}
    for campaign in CAMPAIGNS:
        for verb, bodies in VERBS.items():
            yield from ((f"/v1/campaigns/{campaign}/{verb}", body) for body in bodies)


def planted(body: Any, canary: str) -> Iterator[Any]:
    """This body with a canary in each place: for each value, and for each name of a field."""
    if isinstance(body, (dict, list)):
        for at in list(body) if isinstance(body, dict) else range(len(body)):
            for value in planted(body[at], canary):
                other = copy.copy(body)
                other[at] = value
                yield other
            if isinstance(body, dict):
                yield {(canary if name == at else name): value for name, value in body.items()}
    yield canary


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with dpb.open_store("memory:", key=bytes(32), noise=dpb.SimulatedNoise(1)) as store:
        client = client_of(store)
        for name, options in CAMPAIGNS.items():
            made = client.post("/v1/campaigns", json={"name": name, "policy": POLICY, **options})
            assert made.status_code == 201
        yield client


@pytest.mark.parametrize("canary", CANARIES)
def test_what_came_in_any_field_is_not_repeated(client: httpx.Client, canary: str) -> None:
    refused = 0
    for path, body in requests():
        for sent in planted(body, canary):
            answer = client.post(path, json=sent)
            assert answer.status_code < 500, (path, sent)
            if answer.status_code < 400 or "is over (" in answer.text:
                continue  # why it is over is public, and was taken before
            refused += 1
            assert CANARY not in answer.text, (path, sent)
            assert len(answer.json()["detail"]) > 20, (path, sent)
    assert refused > 300


@pytest.mark.parametrize("canary", CANARIES)
def test_what_came_in_an_address_is_not_repeated(client: httpx.Client, canary: str) -> None:
    for look in ("ledger", "releases", "beliefs", "decisions", "recent"):
        for name in ("segment", "after", "limit", "newest", "confidence"):
            query = {"segment": "DE", name: canary}
            answer = client.get(f"/v1/campaigns/segments/{look}", params=query)
            assert answer.status_code in (200, 422), answer.text
            assert answer.status_code == 200 or CANARY not in answer.text


def test_every_field_is_tried(client: httpx.Client) -> None:
    """Else a new field would be tried by nobody."""
    said = client.get("/openapi.json").json()
    shapes = said["components"]["schemas"]
    known = {name for shape in shapes.values() for name in shape.get("properties", {})}
    tried = {name for _, body in requests() for name in names_in(body)}
    assert known - tried == {"type", "title", "status", "detail", "errors"} & known
    paths = {path.rsplit("/", 1)[1] for path, verbs in said["paths"].items() if "post" in verbs}
    assert paths - {"campaigns", "scopes"} <= VERBS.keys()


def names_in(body: Any) -> Iterator[str]:
    if isinstance(body, dict):
        yield from body
    for each in body.values() if isinstance(body, dict) else body if type(body) is list else ():
        yield from names_in(each)


@pytest.mark.parametrize(
    ("words", "sent", "left"),
    [
        ("Expected grid=-5 to be at least 1.", {"grid": -5}, "Expected grid=… to be at"),
        ("Expected a share, got [0.5, 2]. None.", {}, "Expected a share, got …. None."),
        ("Expected a share, got 0.5.", {}, "Expected a share, got …."),
        ("Expected a share, got an object of type X.", {}, "got an object of type X."),
        ("Expected 'round' or 'user', not 'wage'.", {"a": "wage"}, "'round' or 'user', not …."),
        ("UCB1 does not take x; it takes arms.", {"x": 1, "arms": 2}, "take …; it takes arms."),
        ("What came, 'abcd... is long.", ["abcdef"], "What came, … is long."),
        ("Expected 3; write arms=3, without quotes.", {}, "write arms=…, without"),
        ("'t' would take 7.5 more. None.", {}, "would take … more. None."),
    ],
)
def test_an_error_says_still_what_was_expected(words: str, sent: Any, left: str) -> None:
    assert left in unrepeated(words, sent)


@pytest.mark.parametrize(
    "sent",
    [{f"field{i}": 1 for i in range(60_000)}, ["," * 10**6], [f"text {i}" for i in range(60_000)]],
)
def test_what_holds_too_much_is_not_gone_through(sent: Any) -> None:
    """Other requests would wait for it: every text was looked for in the error by itself."""
    assert unrepeated("Expected something else.", sent) == TOO_MUCH


def test_an_error_that_lists_too_much_is_not_gone_through() -> None:
    assert unrepeated(f"UCB1 does not take {'x, ' * 1_000}.", {"x": 1}) == TOO_MUCH
