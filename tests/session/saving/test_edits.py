"""Saved sessions that somebody edited: refused by their seal; with a seal made anew, by what
contradicts itself; with a key, always.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.mechanisms import Answer, LazyForgetful
from dpbandits.noise import SimulatedNoise
from tests.session.small import loaded, resealed

KEY = b"a key of at least sixteen bytes"


def saved(key: bytes | None = None) -> dict[str, Any]:
    """A session of people's data with a read block, an open one and decisions pending."""
    s = dpb.Session(dpb.DPKLUCB(arms=2, epsilon=1, first=4), noise=dpb.SecureNoise(), seed=1)
    for _ in range(6):
        s.tell(s.ask(), 1.0)
    s.ask(2)
    data: dict[str, Any] = json.loads(s.to_json(key=key))
    return data


Edit = Callable[[dict[str, Any]], None]


def put(*path: Any) -> Edit:
    """Puts the last of `path` where the others lead."""

    def edit(data: dict[str, Any]) -> None:
        at: Any = data
        for step in path[:-2]:
            at = at[step]
        at[path[-2]] = path[-1]

    return edit


def both(*edits: Edit) -> Edit:
    def edit(data: dict[str, Any]) -> None:
        for one in edits:
            one(data)

    return edit


LEDGER = ("public", "vault", "ledger")
REFUSED: dict[str, dict[str, Edit]] = {
    "a line of vault.ledger has another cost than this policy's": {
        "epsilon times 1,000": put("policy", "epsilon", "1000"),
        "epsilon in the ledger": put(*LEDGER, "lines", 0, 3, "1000"),
    },
    "its public and its private part name different kinds of noise": {
        "simulated noise, privately": put("private", "noise", SimulatedNoise(1).state()),
        "noise drawn ahead or not, privately": put("private", "noise", "pool", False),
        "noise drawn ahead or not, publicly": put("public", "noise", "pool", False),
        "the same as a number": put("public", "noise", "pool", 1),
    },
    "its decisions, its records and what was lost do not add up": {
        "a told decision pending again": put("public", "pending", [[6, 3, 1, None, True]]),
        "a reward lost": put("public", "lost", 1),
        "a turn undone": put("public", "step", 0),
        "asked": put("public", "asked", 9),
    },
    "open blocks and its ledger do not add up to the records": {
        "a read block open again": put("public", "vault", "counts", [4, 2]),
        "more records": put("public", "vault", "records", 7),
    },
    "vault.ledger has not as many releases as its lines say": {
        "a read block open again, clock and all": both(
            put("public", "vault", "counts", [4, 2]),
            put(*LEDGER, "clocks", []),
            put(*LEDGER, "lines", []),
        ),
    },
    "the lines of vault.ledger and what was dropped do not add up": {
        "a line of the ledger removed": both(
            put(*LEDGER, "lines", []), put(*LEDGER, "releases", 0)
        ),
    },
    "says that blocks were dropped, which DPKLUCB never does": {
        "the whole ledger dropped": both(
            put(*LEDGER, "lines", []),
            put(*LEDGER, "dropped", [[0, 4]]),
            put(*LEDGER, "releases", 0),
        ),
    },
    "vault.ledger has a coordinate that this policy does not have": {
        "a ledger of arms there are not": both(
            put(*LEDGER, "lines", 0, 0, 50), put(*LEDGER, "clocks", [[50, 4]])
        ),
    },
    "vault.ledger says that an arm was read more often than there were turns": {
        "all turns undone": both(put("public", "step", 0), put("public", "vault", "turns", 0)),
    },
    "public.state has other rounds behind its totals": {
        "rounds that nobody read": put("public", "state", 1, [5, 0]),
        "a reading that the state forgot": put("public", "state", 1, [0, 0]),
    },
    "UCB1 does not take alpha, epsilon, first, preset": {
        "another policy": put("policy", "class", "UCB1"),
    },
    "Expected one of the policies .*, give its class": {
        "a module": put("policy", "module", "elsewhere"),
    },
    "private.sums is not a list of 3 entries": {"arms": put("policy", "arms", 3)},
    "private.sums holds what no sum of so many rewards can be": {
        "grid": put("policy", "grid", 1),
        "a sum beyond its count": put("private", "sums", [0, 5000]),
    },
}
"""What contradicts itself, by the words that refuse it."""

EDITS = {name: edit for edits in REFUSED.values() for name, edit in edits.items()}
UNSEEN: dict[str, Edit] = {
    "a sum within its count": put("private", "sums", [0, 1]),
    "another decision pending": put(
        "public", "pending", [[5, 1, 1, None, True], [8, 1, 1, None, True]]
    ),
    "simulated noise everywhere": both(
        put("private", "noise", SimulatedNoise(1).state()),
        put("public", "noise", {"kind": "simulated"}),
    ),
    "the public coins": put("public", "seed", 2),
    "the campaign": put("public", "campaign", "another"),
}
"""What contradicts nothing: only a key finds it."""


@pytest.mark.parametrize("name", EDITS | UNSEEN)
def test_an_edit_breaks_the_seal(name: str) -> None:
    data = saved()
    loaded(json.dumps(data))
    (EDITS | UNSEEN)[name](data)
    with pytest.raises(ValueError, match="it was changed after it was saved"):
        dpb.Session.from_json(json.dumps(data))


@pytest.mark.parametrize(
    ("words", "name"), [(words, name) for words, edits in REFUSED.items() for name in edits]
)
def test_contradictions_are_found_without_the_seal(words: str, name: str) -> None:
    data = saved()
    EDITS[name](data)
    with pytest.raises(ValueError, match=words):
        dpb.Session.from_json(resealed(data))


@pytest.mark.parametrize("name", UNSEEN)
def test_what_contradicts_nothing_loads_without_the_seal(name: str) -> None:
    """So each of these is refused for its seal or its key, and for nothing else."""
    data = saved()
    UNSEEN[name](data)
    assert loaded(resealed(data)).spent == 1


@pytest.mark.parametrize("name", EDITS | UNSEEN)
def test_with_a_key_nobody_else_can_change_it(name: str) -> None:
    whole, data = saved(KEY), saved()
    assert dpb.Session.from_json(json.dumps(whole), key=KEY).spent == 1
    (EDITS | UNSEEN)[name](data)
    edited = data | {"private": whole["private"]}
    other = resealed(data, b"another key of sixteen bytes")
    for text in (json.dumps(edited | {"seal": whole["seal"]}), other):
        if json.loads(text) == whole:  # what was edited is encrypted
            continue
        with pytest.raises(ValueError, match="another key"):
            dpb.Session.from_json(text, key=KEY)
    for text in (resealed(data), resealed(edited)):
        with pytest.raises(ValueError, match="saved without a key"):
            dpb.Session.from_json(text, key=KEY)
    for text in (json.dumps(whole), resealed(whole), resealed(edited), other):
        with pytest.raises(ValueError, match="saved with a key"):
            dpb.Session.from_json(text, noise=dpb.SecureNoise())


@pytest.mark.parametrize("key", [b"short", "text that is long enough", 7])
def test_keys_are_bytes_and_not_shown(key: Any) -> None:
    with pytest.raises(ValueError, match="at least 16 bytes") as error:
        dpb.Session(dpb.UCB1(arms=1), noise=SimulatedNoise(1)).to_json(key=key)
    assert str(key) not in str(error.value)


def test_each_save_has_the_next_number() -> None:
    s = dpb.Session(dpb.UCB1(arms=1), noise=SimulatedNoise(1))
    numbers = [json.loads(s.to_json())["public"]["generation"] for _ in range(2)]
    again = loaded(s.to_json())
    assert [*numbers, again.generation, json.loads(again.to_json())["public"]["generation"]] == [
        1,
        2,
        3,
        4,
    ]


class NoNoise(LazyForgetful):
    def step(self, memory: None, total: int, count: int, noise: Any) -> Any:
        return None, Answer(total / self.grid.steps, count, 1)


@dataclass(frozen=True, kw_only=True)
class MyPolicy(dpb.DPKLUCB):
    pass


class DPKLUCBWithoutNoise(dpb.DPKLUCB):
    def mechanism(self) -> Any:
        return NoNoise(epsilon=self.budget)


def test_a_document_names_no_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """A class of the same name in an imported module used to take the policy's place."""
    module = ModuleType("lookalike")
    module.DPKLUCB = type("DPKLUCB", (DPKLUCBWithoutNoise,), {})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "lookalike", module)
    data = saved()
    data["policy"]["module"] = "lookalike"
    with pytest.raises(
        ValueError,
        match=r"If it is a policy of your own, give its class: Session.from_json\(text, policy=",
    ):
        dpb.Session.from_json(resealed(data))


def test_a_policy_of_ones_own_loads_with_its_class() -> None:
    s = dpb.Session(MyPolicy(arms=2, epsilon=1), noise=SimulatedNoise(1), seed=1)
    s.tell(s.ask(), 1.0)
    text = s.to_json()
    with pytest.raises(
        ValueError, match=r"Expected one of the policies .*got 'MyPolicy'.*policy=YourPolicy"
    ):
        dpb.Session.from_json(text)
    for given in (MyPolicy, MyPolicy(arms=2, epsilon=1)):
        assert loaded(text, policy=given).ask() == s._wheel.turn.only.decision(2, "1")  # type: ignore[union-attr]
    with pytest.raises(
        ValueError,
        match="Expected a session of UCB1, the policy that was given, got one of 'MyPolicy'",
    ):
        dpb.Session.from_json(text, policy=dpb.UCB1)
    with pytest.raises(ValueError, match=r"Expected a session of MyPolicy\(arms=3"):
        dpb.Session.from_json(text, policy=MyPolicy(arms=3, epsilon=1))
