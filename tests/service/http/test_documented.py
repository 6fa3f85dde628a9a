"""Requests made up from the server's own document, and near misses: nothing counts twice."""

import json
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dpbandits as dpb
from tests.service.http.web import POLICY, client_of

HUGE = 2**63
OF_IDS = 100
"""By its longest text a shape of the document is known to be a decision's name."""

SQL = "'; DROP TABLE dpbandits_head; --"
ODD_TEXTS = ("", "\ud800", "a\0b", "a\nb", "x" * 300, SQL, "<b>", "NaN", "1/3")
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-HUGE, 2 * HUGE) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
POLICIES: list[dict[str, Any]] = [
    {"name": "DPKLUCB", "arms": ["a", "b"], "epsilon": "1"},
    {"name": "DPRateIMED", "arms": 2, "epsilon": 0.5, "grid": 1},
    {"name": "DPNAS", "alpha": 0.5, "beta": 0.1, "cap": 100, "epsilon": "1/2"},
    {"name": "UCB1", "arms": 3},
]
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


class Route:
    """One route of the document. body: its shape; None where it takes none. replies: their media
    types.
    """

    def __init__(self, path: str, method: str, said: dict[str, Any]) -> None:
        self.path, self.method = path, method.upper()
        carried = said.get("requestBody", {}).get("content", {})
        self.body = carried.get("application/json", {}).get("schema")
        self.query = [each["name"] for each in said.get("parameters", []) if each["in"] == "query"]
        self.replies = {kind for each in said["responses"].values() for kind in each["content"]}


class Sent(NamedTuple):
    """A request. content: JSON, as far as JSON goes: Python writes NaN, too."""

    path: str
    content: str | None
    query: dict[str, str]


class Inventor:
    """Makes requests up. ids: of decisions."""

    def __init__(self, document: dict[str, Any], ids: list[str]) -> None:
        self._shapes = document["components"]["schemas"]
        self._names, self._ids = st.sampled_from([*CAMPAIGNS, *["plain"] * 4]), st.sampled_from(ids)
        odd = st.sampled_from(ODD_TEXTS) | st.text(max_size=8)
        self._texts = st.sampled_from(WORDS) | self._ids | odd

    def requests(self, route: Route) -> st.SearchStrategy[Sent]:
        """Requests of a route; most are of its shape."""
        text = self._texts.map(lambda text: text.encode(errors="replace").decode())
        query = dict.fromkeys(route.query, text | st.integers(-1, 20).map(str))
        body = st.none() if route.body is None else self._near(route.body).map(json.dumps)
        name = now_and_then(self._texts, self._names, 10)
        quoted = name.map(lambda name: quote(name.encode(errors="surrogatepass"), safe=""))
        path = quoted.map(lambda name: route.path.replace("{name}", name))
        return st.builds(Sent, path, body, st.fixed_dictionaries({}, optional=query))

    def _near(self, shape: dict[str, Any]) -> st.SearchStrategy[Any]:
        return now_and_then(JUNK, self._good(shape))

    def _good(self, shape: dict[str, Any]) -> st.SearchStrategy[Any]:
        if "$ref" in shape:
            return self._good(self._shapes[shape["$ref"].rsplit("/", 1)[1]])
        if "anyOf" in shape:
            return st.one_of([self._near(each) for each in shape["anyOf"]])
        if "type" not in shape:
            return self._texts | st.integers(-3, 40)
        if shape.get("title") == "Policy":
            return self._policies()
        if shape.get("maxLength") == OF_IDS and "minLength" not in shape:
            return self._ids | self._ids | self._texts
        kinds = {
            "null": st.none(),
            "boolean": st.booleans(),
            "string": self._texts,
            "integer": st.integers(shape.get("minimum", -3), 40) | st.sampled_from([HUGE, -HUGE]),
            "number": st.floats(0, 1) | st.sampled_from([0, 1, -1, 1e300, float("nan")]),
        }
        if shape["type"] in kinds:
            return kinds[shape["type"]]
        if shape["type"] == "array":
            return st.lists(self._near(shape["items"]), max_size=6)
        fields = {name: self._near(each) for name, each in shape.get("properties", {}).items()}
        needed = {name: fields.pop(name) for name in shape.get("required", ())}
        near = st.fixed_dictionaries(needed, optional=fields)
        if shape.get("title") != "TellItem":
            return near
        reward = st.floats(0, 1) | fields["reward"]  # or few would have what is needed of the two
        return near | st.fixed_dictionaries({**needed, "reward": reward})

    def _policies(self) -> st.SearchStrategy[dict[str, Any]]:
        """A policy, or one with an argument that is another."""
        names = st.sampled_from(["name", "arms", "epsilon", "grid", "alpha"]) | st.text(max_size=4)
        other = st.dictionaries(names, JUNK | self._texts, max_size=1)
        few = other.filter(lambda said: not isinstance(said.get("arms"), (int, float)))
        return st.builds(lambda policy, more: {**policy, **more}, st.sampled_from(POLICIES), few)


def now_and_then(
    rare: st.SearchStrategy[Any], usual: st.SearchStrategy[Any], once_in: int = 30
) -> Any:
    return st.integers(1, once_in).flatmap(lambda drawn: rare if drawn == 7 else usual)


class World:
    """A server with campaigns of all kinds, and what it said of each decision."""

    def __init__(self, store: Any) -> None:
        self.store, self.client = store, client_of(store)
        self.recorded, asked = Counter[str](), list[str]()
        self._answered = set[tuple[str, str | None]]()
        for name, how in CAMPAIGNS.items():
            made = self.client.post("/v1/campaigns", json={"name": name, **how})
            assert made.status_code == 201, made.text
            for _ in range(40 if name == "plain" else 5):
                body = HOW.get(name, {})
                answer = self.client.post(f"/v1/campaigns/{name}/ask", json=body)
                asked += [each["id"] for each in answer.json()["decisions"]]
        document = self.client.get("/openapi.json").json()
        self.inventor = Inventor(document, asked)
        paths = document["paths"].items()
        self.routes = [Route(path, *verb) for path, verbs in paths for verb in verbs.items()]

    def send(self, route: Route, sent: Sent) -> None:
        kind = {"content-type": "application/json"}
        content = {} if sent.content is None else {"content": sent.content, "headers": kind}
        answer = self.client.request(route.method, sent.path, params=sent.query, **content)
        assert answer.headers["content-type"].partition(";")[0] in route.replies, sent
        if answer.status_code < 400:
            call = sent.path, sent.content
            # a call that is made again under its key is answered again
            if sent.path.endswith(("/tell", "/expire", "/void")) and call not in self._answered:
                self._answered.add(call)
                found = [each for each in answer.json()["results"] if each["status"] == "recorded"]
                self.recorded.update(each["id"] for each in found)
            return
        assert answer.status_code < 500 or answer.status_code == 503, (sent, answer.text)
        assert answer.headers["content-type"] == "application/problem+json", sent
        said = answer.json()
        assert (said["status"], bool(said["title"] and said["detail"])) == (
            answer.status_code,
            True,
        )

    def parts(self) -> Iterator[Any]:
        for name in CAMPAIGNS:
            whole: Any = self.store[name]
            yield from [whole[each] for each in whole.segments] or [whole]


@pytest.fixture
def world() -> Iterator[World]:
    with dpb.open_store("memory:", key=bytes(32), noise=dpb.SimulatedNoise(1)) as store:
        yield World(store)


def send_many(world: World, route: Route, many: int) -> None:
    @settings(
        max_examples=many,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(world.inventor.requests(route))
    def each(sent: Sent) -> None:
        world.send(route, sent)

    each()


@pytest.mark.parametrize("many", [6, pytest.param(120, marks=pytest.mark.long)])
def test_every_route_answers_whatever_comes(world: World, many: int) -> None:
    """More requests where answers count, and fewer where only a name and a query are sent."""
    assert len(world.routes) > 30
    answering = ("/ask", "/tell", "/expire", "/void")
    # those first: others close campaigns
    for route in sorted(world.routes, key=lambda route: not route.path.endswith(answering)):
        own = max(3, many // 3) if route.body is None else many
        send_many(world, route, max(30, 2 * many) if route.path.endswith(answering) else own)
    assert len(world.recorded) >= min(many // 6, 5), "too few answers were taken"
    assert set(world.recorded.values()) == {1}, "an answer was recorded twice"
    for part in world.parts():
        lines = part.ledger
        for coordinate in {line.coordinate for line in lines}:
            own_lines = sorted((li.start, li.stop) for li in lines if li.coordinate == coordinate)
            assert all(before[1] <= after[0] for before, after in pairwise(own_lines))
        assert sum(line.stop - line.start for line in lines) <= part.summary().told
        assert part.spent <= 1
