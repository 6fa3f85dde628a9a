"""A session with a guardrail, saved and continued; edited ones are refused."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

import dpbandits as dpb
from tests.session.options.test_guardrail import ARMS, play, session
from tests.session.small import loaded, resealed


@pytest.mark.parametrize("name", ["DPKLUCB", "DPRateIMED", "AdaPUCB"])
def test_a_saved_session_goes_on_as_it_would_have(name: str) -> None:
    whole = session(policy=getattr(dpb, name)(arms=ARMS, epsilon=1))
    broken = copy.deepcopy(whole)
    for part in range(6):
        for of in (whole, broken):
            play(of, 700, (0.0, 0.8, 0.0), part)
        broken = loaded(broken.to_json())
        assert broken.events == whole.events
        assert broken.state == whole.state
    assert [event.what for event in whole.events] == ["suspend"]
    broken.add_arm("white")
    play(broken, 300, (0.0, 0.8, 0.0, 0.0))
    assert [row.label for row in broken.harm()] == [*ARMS, "white"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("guardrail", "limit"), 3),
        (("guardrail",), None),
        (("harm", "turns"), 0),
        (("harm", "alarms"), [[7, 1, True]]),
        (("harm", "alarms"), [[0, 1, 2]]),
        (("harm", "history"), {}),
        (("harm",), None),
    ],
    ids=str,
)
def test_edited_documents_are_refused(path: tuple[str, ...], value: Any) -> None:
    of = session()
    play(of, 200, (0.0, 0.0, 0.0))
    data = json.loads(of.to_json())
    at = data["public"]
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    with pytest.raises(ValueError, match="damaged"):
        dpb.Session.from_json(resealed(data))
