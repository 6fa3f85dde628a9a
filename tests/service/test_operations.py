"""What every operation of the table promises, whichever it is and whatever came before it."""

import json
import re
from datetime import timedelta
from itertools import combinations, count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpbandits as dpb
from dpbandits.service.operations import OPERATIONS, OperationModel, Settle, Tell, made
from dpbandits.service.views import VIEWS
from tests.service.conftest import KEY
from tests.service.counted import Counted
from tests.service.http.web import client_of
from tests.service.machine import Time
from tests.service.timelines import readings, stored

WINDOWED = {"attribution_window": timedelta(seconds=60), "default": 0}
PEOPLE = {"privacy_unit": "user", "max_contributions": 2}
RAIL = {"guardrail": dpb.Guardrail("refunds", limit=0.2)}
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "windowed": WINDOWED,
    "segments": {"segments": ["DE", "FR"]},
    "windowed people in segments": {"segments": ["DE", "FR"], **WINDOWED, **PEOPLE},
    "holdout": {"holdout": "1/4"},
    "guardrail": RAIL,
    "windowed guardrail and holdout": {**WINDOWED, **RAIL, "holdout": "1/4"},
    "contexts": {},
    "contexts of windowed people": {**WINDOWED, **PEOPLE},
}

REWARDS = [0.7312549, 0.2187453, 0.5468173]
PRIVATE = {f"{sum(some) % 1:.7f}"[2:] for many in (1, 2, 3) for some in combinations(REWARDS, many)}
"""Digits of rewards and of their sums, which are never shown. Noise has seven of them in a row by
chance in one of 1,000 runs of all settings.
"""

people = st.sampled_from([f"{name}@example.org" for name in ("ann", "ben", "carl", "dora")])
arms = st.sampled_from(["a", "b", "c", "d", 0, 2, 9, None])
segments = st.sampled_from([None, "DE", "FR", "ES"])
ids = st.lists(st.integers(-2, 12), max_size=4)
texts = st.sampled_from(["enough", "", "\n"])

FIELDS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "ask": {
        "count": st.integers(0, 30),
        "eligible": st.none() | st.lists(st.sampled_from(["a", "b", "red"]), max_size=2),
        "user": st.none() | people,
        "segment": segments,
        "context": st.sampled_from(["right"] * 4 + ["none", "short", "long"]),
    },
    "tell": {
        "tells": st.lists(
            st.tuples(st.integers(-2, 12), st.sampled_from(REWARDS * 2 + [7])), max_size=6
        )
    },
    "record": {
        "arm": arms,
        "outcomes": st.none() | st.lists(st.sampled_from([*REWARDS * 2, 7]), max_size=6),
        "people": st.sampled_from([None, None, 3]),
        "successes": st.sampled_from([None, None, 2, 4]),
        "segment": segments,
    },
    "pending": {"after": st.integers(-1, 5), "limit": st.integers(0, 5), "segment": segments},
    "expire": {"ids": ids},
    "void": {"ids": ids},
    "arms": {"arm": arms},
    "retire": {"arm": arms},
    "pause": {"arm": arms},
    "restart": {"arm": arms},
    "resume": {"arm": arms},
    "drop": {},
    "finish": {},
    "close": {"why": texts, "winner": arms, "read": st.booleans()},
    "erase": {"user": people | st.just(1.5)},
    "settle": {},
}
"""What each operation is called with, some of it refused. Decisions by their place: the last ones
asked, or one that there is not."""

ORDER = ["ask"] * 6 + ["tell"] * 5 + [name for name in FIELDS if name != "close"] + ["close"]
LOGGED = {"arms", "retire", "pause", "resume", "restart", "drop", "finish", "erase"}
"""What the public log has a line of, whenever it is done."""

calls = st.sampled_from(ORDER).flatmap(
    lambda name: st.tuples(st.just(name), st.fixed_dictionaries(FIELDS[name]))
)


class Played:
    """A campaign, the decisions it made, and all that it ever said."""

    def __init__(self, kind: str) -> None:
        self.options, self.by_context = SETTINGS[kind], kind.startswith("contexts")
        self.has_harm = "guardrail" in kind
        self.clock, self.noise, self.said = Time(), Counted(), list[str]()
        self.store = dpb.open_store("memory:", key=KEY, noise=self.noise, clock=self.clock)
        own: dict[str, Any] = {"arms": ["a", "b", "c"], "epsilon": 1, "first": 2}
        policy: Any = dpb.DPKLUCB(**own)
        if self.by_context:
            places = [[0.1, 0.2], [-0.3, 0.1], [0.2, -0.5], [0.6, 0.6]]
            policy = dpb.DPLinTS(**own, features=2, public_contexts=places)
        self.asked, self.words = list[str](), (f"word {number}" for number in count())
        how = {"max_pending": 40, "seed": 1, "key": next(self.words), **self.options}
        self.campaign = self.store.create("trial", policy, **how)

    def begin(self) -> None:
        """Decisions, and answers to some, which the few calls of an example hardly come to."""
        ask = {"count": 8, "eligible": None, "user": None, "segment": None, "context": "right"}
        tells = [(at, REWARDS[at % 3]) for at in range(1, 8, 2)]
        for name, fields in {"ask": ask, "tell": {"tells": tells}}.items():
            assert self.tried(self.op(name, fields, None))[0]

    def op(self, name: str, fields: dict[str, Any], key: str | None) -> OperationModel:
        if "ids" in fields:
            fields = {"ids": [self.named(at) for at in fields["ids"]]}
        if "tells" in fields:
            pairs = [(self.named(at), reward) for at, reward in fields["tells"]]
            harm = (lambda reward: [reward, reward]) if self.has_harm else lambda reward: reward
            fields = {"tells": [{"id": id, "reward": harm(reward)} for id, reward in pairs]}
        if name == "record":  # which takes no call without a key
            key = key or next(self.words)
        if "context" in fields:
            fitting = self.fitting(fields) if fields["context"] == "right" else {}
            context = self.context(fields["context"], fields["count"])
            fields = {**fields, "context": context, **fitting}
        return made(OPERATIONS[name], key=key, **fields)

    def fitting(self, fields: dict[str, Any]) -> dict[str, Any]:
        """For whom this campaign can be asked, and in which segment."""
        has_people = not self.options.keys().isdisjoint(("privacy_unit", "holdout"))
        return {
            "user": (fields["user"] or "ann@example.org") if has_people else None,
            "segment": (fields["segment"] or "DE") if "segments" in self.options else None,
        }

    def context(self, which: str, count: int) -> Any:
        one = {"right": [0.3, -0.2], "short": [0.3], "long": [3.0, 0.0], "none": None}[which]
        is_given = one is not None and self.by_context == (which == "right" or count % 2 == 0)
        return [one] * count if is_given else None

    def named(self, at: int) -> str:
        return self.asked[-1 - at] if 0 <= at < len(self.asked) else "0" * 32

    def tried(self, op: OperationModel) -> tuple[bool, str]:
        """Whether a call is done, and its reply or what refuses it."""
        try:
            answer = self.campaign.do(op)
        except (ValueError, TypeError, RuntimeError, LookupError) as error:
            reply = f"{type(error).__name__}: {error!r} {error.__cause__!r}"
            return False, self.note(reply)
        if op.name == "ask":
            self.asked += [each.id for each in answer if each.id not in self.asked]
        return True, self.note(op.replied(answer).model_dump_json())

    def note(self, reply: str) -> str:
        self.said.append(reply)
        return reply


def events_in(rows: list[str]) -> int:
    return sum(row.startswith('INSERT INTO "dpbandits_event"') for row in rows)


def without_held(rows: list[str]) -> list[str]:
    return [row.split(",X'")[0] if "_held" in row else row for row in rows]


def test_every_operation_is_tried() -> None:
    assert set(FIELDS) == set(OPERATIONS)
    assert all(
        {field.alias or name for name, field in kind.model_fields.items()} == {*FIELDS[name], "key"}
        for name, kind in OPERATIONS.items()
    )


@pytest.mark.parametrize("kind", SETTINGS)
@settings(max_examples=8, deadline=None)
@given(
    played=st.lists(st.tuples(calls, st.booleans(), st.sampled_from([0, 1, 61])), max_size=25),
    settles=st.booleans(),
)
def test_operations_keep_their_promises(kind: str, played: list[Any], settles: bool) -> None:
    """One that is refused changes nothing and draws no noise; one that is made again is done once,
    with one reply; what is due is read by one draw; nothing that is said shows a reward or a sum;
    and no row says in clear who a person is, or the key of a call.
    """
    here = Played(kind)
    with here.store:
        here.begin()
        for (name, fields), is_keyed, seconds in played:
            here.clock.now += seconds
            if settles:
                here.campaign.do(Settle())  # what is due is made by itself
            try:
                op = here.op(name, fields, next(here.words) if is_keyed else None)
            except ValueError as error:
                here.note(repr(error))
                continue
            here.note(repr(op))
            before, drawn = stored(here.store), here.noise.drawn
            is_done, reply = here.tried(op)
            assert here.by_context or readings(here.campaign) == here.noise.drawn
            if not settles:
                continue
            if not is_done:
                assert (stored(here.store), here.noise.drawn) == (before, drawn)
                assert here.tried(op) == (False, reply)
                continue
            after, drawn = stored(here.store), here.noise.drawn
            if name in LOGGED:
                assert events_in(after) > events_in(before), name
            if is_keyed:
                here.campaign.do(Settle())
                after, drawn = stored(here.store), here.noise.drawn
                assert here.tried(op) == (True, reply)
                if "windowed" in kind and name in ("tell", "expire"):  # it is held, with no reply
                    now = stored(here.store), here.noise.drawn
                    assert without_held(now[0]) == without_held(after), "it is sealed anew"
                    assert (len(now[0]), now[1]) == (len(after), drawn)
                    continue
                assert (stored(here.store), here.noise.drawn) == (after, drawn)
                if name != "close":
                    other = made(OPERATIONS["close"], why="else", key=op.key)
                    assert not here.tried(other)[0]
                    assert (stored(here.store), here.noise.drawn) == (after, drawn)
            elif isinstance(op, Tell):
                again = {each["status"] for each in json.loads(here.tried(op)[1])["results"]}
                assert again <= {"already", "recorded", "gone", "unknown"}
        client = client_of(here.store)
        for view in VIEWS:
            here.note(client.get(f"/v1/campaigns/trial/{view}").text)
        here.note(client.get("/metrics").text)
        rows = "".join(stored(here.store))
        assert "word " not in rows
        assert "example.org" not in rows
    for said in here.said:
        text = re.sub(r"[0-9a-f]{32,}", "", said)  # random digits hold any others now and then
        assert not any(digits in text for digits in PRIVATE), text
