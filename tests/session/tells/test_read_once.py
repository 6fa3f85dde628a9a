"""What comes is read once, and only if it brings no code of its own: a decision that was changed is
refused whatever it says of itself, and a pair is told as it was checked.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any
from unittest import mock

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.local.messages import decision_from_json, report_from_json
from dpbandits.noise.protocol import Noise
from tests.session.interruption.interrupted import left_behind


class Agreeable(int):
    """Equal to everything."""

    __hash__ = int.__hash__

    def __eq__(self, other: object) -> bool:
        return True


class Loud:
    def __eq__(self, other: object) -> bool:
        raise KeyError("0.7314")

    __hash__ = None  # type: ignore[assignment]


class Shifting:
    """A whole number that is another one the second time."""

    def __init__(self, *values: Any) -> None:
        self.values = list(values)

    def next(self) -> Any:
        value = self.values.pop(0) if len(self.values) > 1 else self.values[0]
        if isinstance(value, Exception):
            raise value
        return value

    __int__ = __index__ = __float__ = next


Integral.register(Shifting)

CHANGED = {
    "an array of names": {"campaign": np.array(["a", "b"])},
    "an empty array": {"campaign": np.array([])},
    "a structured array": {"action": np.zeros(2, "i4,i4")},
    "loud action": {"action": Loud()},
    "loud round": {"round": Loud()},
    "loud campaign": {"campaign": Loud()},
    "agreeable action": {"action": Agreeable(2)},
    "any action": {"action": mock.ANY},
    "any round": {"round": mock.ANY},
    "any arms": {"observe": mock.ANY},
    "any campaign": {"campaign": mock.ANY},
    "agreeable arms": {"observe": (Agreeable(0),)},
}


def session() -> dpb.Session:
    return dpb.Session(dpb.UCB1(arms=3), noise=dpb.SimulatedNoise(1), seed=1)


@pytest.mark.parametrize("case", CHANGED)
@pytest.mark.parametrize("many", [False, True])
def test_a_changed_decision_is_refused_whatever_it_says(case: str, many: bool) -> None:
    s = session()
    decision = s.ask()
    changed = decision._replace(**CHANGED[case])
    with pytest.raises(dpb.DecisionError) as caught:
        s.tell_many([(changed, 0.5)]) if many else s.tell(changed, 0.5)
    assert "7314" not in repr(caught.value)
    assert s.pending == (decision,)
    assert s._vault.records == 0


def test_a_copy_of_a_decision_is_as_good() -> None:
    s = session()
    for again in (lambda d: dpb.Decision(*d), lambda d: d._replace(round=np.int64(d.round))):
        s.tell(again(s.ask()), 0.5)
    assert s._vault.records == 2


def test_pairs_are_told_as_they_were_checked() -> None:
    s = session()
    first, second, third = s.ask(3)
    s.tell_many([(Shifting(first.id, second.id), 1.0)])
    assert s.pending == (second, third)
    s.tell_many([(second, Shifting(0.5, ValueError("0.7314"))), (third, 0.0)])
    assert s.pending == ()


def test_what_makes_the_pairs_may_ask_for_decisions() -> None:
    """Also where an interrupted call has left its place behind."""
    s = session()
    left_behind(s)
    s.tell_many((s.ask(), 0.5) for _ in range(3))
    assert s._vault.records == 3


@pytest.mark.parametrize("depth", [40, 600, 950])
def test_messages_nested_deeply_are_messages_in_error(depth: int) -> None:
    nested = "[" * depth + "1" + "]" * depth
    head = '{"version": 1, "campaign": "a", "id": 1, '
    with pytest.raises(dpb.MessageError):
        report_from_json(head + f'"steps": {nested}, "randomizer": "x", "noise": "secure"}}')
    with pytest.raises(dpb.MessageError):
        decision_from_json(head + f'"action": {nested}, "observe": null}}')


def test_a_noise_source_without_all_methods_cannot_be_made() -> None:
    class Half(Noise):
        kind = "simulated"

        def laplace(self, value: int, **_: Any) -> int:
            return value

    with pytest.raises(TypeError, match="select"):
        Half()  # type: ignore[abstract]
