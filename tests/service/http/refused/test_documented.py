"""Whatever is sent to a route of the server's own document: an answer, or a problem document; and
nothing is counted twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings

import dpbandits as dpb
from tests.service.http.refused.documented import Inventor, Operation, Sent, operations_in
from tests.service.http.web import POLICY, client_of

CAMPAIGNS: dict[str, dict[str, Any]] = {
    "plain": {"policy": {**POLICY, "first": 2}, "default": 0},
    "people": {"policy": POLICY, "privacy_unit": "user", "max_contributions": 2},
    "segments": {"policy": POLICY, "segments": ["DE", "FR"]},
    "sides": {"policy": POLICY, "holdout": ".2"},
    "local": {"policy": {"name": "LDPUCB", "arms": 2, "epsilon": "1"}},
}
HOW: dict[str, dict[str, Any]] = {
    "people": {"user": "anna"},
    "segments": {"segment": "DE"},
    "sides": {"user": "anna"},
}
WORDS = ["blue", "green", "DE", "FR", "anna", "user", "round", "shuffled", "planned"]


class World:
    """A server with campaigns of all kinds, and what it said of each decision."""

    def __init__(self, store: Any) -> None:
        self.store, self.client = store, client_of(store)
        self.recorded, self.asked = Counter[str](), list[str]()
        for name, how in CAMPAIGNS.items():
            made = self.client.post("/v1/campaigns", json={"name": name, **how})
            assert made.status_code == 201, made.text
            for _ in range(40 if name == "plain" else 5):
                body = HOW.get(name, {})
                answer = self.client.post(f"/v1/campaigns/{name}/ask", json=body)
                self.asked += [each["id"] for each in answer.json()["decisions"]]
        document = self.client.get("/openapi.json").json()
        self.operations = operations_in(document)
        self.inventor = Inventor(document, [*CAMPAIGNS, *["plain"] * 4], WORDS, self.asked)

    def send(self, method: str, sent: Sent) -> None:
        kind = {"content-type": "application/json"}
        content = {} if sent.content is None else {"content": sent.content, "headers": kind}
        answer = self.client.request(method, sent.path, params=texts(sent.query), **content)
        if answer.status_code < 400:
            self.note(sent, answer)
            return
        assert answer.status_code < 500 or answer.status_code == 503, (sent, answer.text)
        assert answer.headers["content-type"] == "application/problem+json", sent
        said = answer.json()
        assert said["status"] == answer.status_code
        assert said["title"]
        assert said["detail"]

    def note(self, sent: Sent, answer: httpx.Response) -> None:
        """What became of decisions."""
        if sent.path.endswith(("/tell", "/expire", "/void")):
            found = [each for each in answer.json()["results"] if each["status"] == "recorded"]
            self.recorded.update(each["id"] for each in found)

    def parts(self) -> Iterator[Any]:
        for name in CAMPAIGNS:
            whole: Any = self.store[name]
            names = whole.segments
            yield from [whole[each] for each in names] or [whole]


def texts(query: dict[str, str]) -> dict[str, str]:
    """As an address can carry them."""
    return {name: text.encode(errors="replace").decode() for name, text in query.items()}


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with dpb.open_store("memory:", key=bytes(32), noise=dpb.SimulatedNoise(1)) as store:
        yield World(store)


def read_or_none(world: World, operation: Operation, many: int) -> None:
    """Send so many requests to a route, always the same ones."""

    @settings(
        max_examples=many,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(world.inventor.requests(operation))
    def each(sent: Sent) -> None:
        world.send(operation.method, sent)

    each()


@pytest.mark.parametrize("many", [6, pytest.param(300, marks=pytest.mark.long)])
def test_every_route_answers_whatever_comes(world: World, many: int) -> None:
    assert len(world.operations) > 30
    answering = ("/ask", "/tell", "/expire", "/void")
    for operation in world.operations:
        own = max(many, 60) if operation.path.endswith(answering) else many
        read_or_none(world, operation, own)
    assert len(world.recorded) >= min(many // 6, 10), "too few answers were taken"
    assert set(world.recorded.values()) == {1}, "an answer was recorded twice"
    for part in world.parts():
        lines = part.ledger
        for coordinate in {line.coordinate for line in lines}:
            own_lines = sorted((li.start, li.stop) for li in lines if li.coordinate == coordinate)
            assert all(before[1] <= after[0] for before, after in pairwise(own_lines))
        assert sum(line.stop - line.start for line in lines) <= part.summary().told
        assert part.spent <= 1
