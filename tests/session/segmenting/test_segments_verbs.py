"""A session with segments has the verbs of one: tells of all or none, tables with a segment's
column, and everything else that a plain session says.
"""

from __future__ import annotations

import copy
from datetime import timedelta
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.local.client import Client
from dpbandits.noise import SimulatedNoise

POLICY = dpb.DPKLUCB(arms=["a", "b"], epsilon=1, first=8)


def segmented(policy: Any = POLICY, **options: Any) -> Any:
    return dpb.Session(
        policy,
        noise=SimulatedNoise(1),
        seed=1,
        segments=["DE", "FR"],
        campaign="trial",
        **options,
    )


def records(s: Any) -> list[int]:
    return [s[name]._vault.records for name in s.segments]


def test_each_kind_of_document_names_who_loads_it() -> None:
    s, key = segmented(), b"k" * 16
    with pytest.raises(ValueError, match=r"SegmentedSession\.from_json\(text\)"):
        dpb.Session.from_json(s.to_json(key=key), key=key)
    with pytest.raises(ValueError, match=r"without segments .* Session\.from_json\(text\)"):
        dpb.SegmentedSession.from_json(s["DE"].to_json(key=key), key=key)


def test_several_tells_are_told_in_all_segments_or_in_none() -> None:
    """A wrong second pair said "Nothing was recorded", and the first one was."""
    s = segmented()
    german, french, more = s.ask(segment="DE"), s.ask(segment="FR"), s.ask(segment="DE")
    for wrong, error, said in (
        ((french, 7.0), dpb.RewardError, "Pair 1 .counted from 0. of 3"),
        ((german, 1.0), dpb.DecisionError, "Pair 1 .counted from 0. of 3: This decision"),
        ((german._replace(campaign="x"), 1.0), dpb.DecisionError, "Pair 1 .*segments"),
        ((french._replace(action=1 - french.action), 1.0), dpb.DecisionError, "Pair 1 .*changed"),
    ):
        with pytest.raises(error, match=said):
            s.tell_many([(german, 1.0), wrong, (more, 0.0)])
        assert records(s) == [0, 0]
        assert len(s.pending) == 3
    with pytest.raises(TypeError, match="pairs"):
        s.tell_many([german, french])
    s.tell_many([(german, 1.0), (french, 0.0), (more, 1.0)])
    assert records(s) == [2, 1]
    assert s.pending == ()


def test_several_tells_come_to_the_same_as_single_ones() -> None:
    """One source of noise for all segments: the order of the pairs is kept."""
    one, many = segmented(), segmented()
    for _ in range(10):
        asked = [many.ask(5, segment=name) for name in ("DE", "FR")]
        told = [(d, float(d.action == 0)) for both in zip(*asked, strict=True) for d in both]
        many.tell_many(iter(told))
        for name in ("DE", "FR"):
            one.ask(5, segment=name)
        for decision, reward in told:
            one.tell(decision, reward)
    assert one.releases == many.releases > 0
    assert one.state == many.state


def test_a_failure_midway_says_how_many_are_resolved() -> None:
    s = segmented()
    pairs = [(d, 1.0) for name in s.segments for d in s.ask(8, segment=name)]
    whole, s._parts["DE"]._vault._noise = s._parts["DE"]._vault._noise, None
    with pytest.raises(AttributeError) as raised:
        s.tell_many(pairs)
    assert "the first 8 of 16 pairs are resolved" in raised.value.__notes__[-1]
    s._parts["DE"]._vault._noise = whole
    s.tell_many(pairs[8:])
    assert records(s) == [8, 8]


def test_answers_that_are_held_are_held_in_all_segments_or_in_none() -> None:
    now = [0.0]
    s = segmented(attribution_window=timedelta(days=1), clock=lambda: now[0])
    german, french = s.ask(segment="DE"), s.ask(segment="FR")
    with pytest.raises(dpb.RewardError):
        s.tell_many([(german, 1.0), (french, 7.0)])
    assert not s["DE"]._vault.held
    s.tell_many([(german, 1.0), (french, 1.0)])
    now[0] = 90_000.0
    with pytest.raises(dpb.DecisionError, match="time has passed"):
        s.tell_many([(german, 1.0)])
    s.settle()
    assert records(s) == [1, 1]


@pytest.mark.parametrize("what", ["beliefs", "harm"])
def test_beliefs_are_one_table_with_a_column_for_the_segment(what: str) -> None:
    """They were a dict, over whose names one iterated."""
    s = segmented(guardrail=dpb.Guardrail("refunds", limit=0.5))
    for name in ("DE", "FR"):
        for _ in range(16):
            s.tell(s.ask(segment=name), (1.0, 0.0))
    found = getattr(s, what)()
    assert [(row.segment, row.label) for row in found] == [
        ("DE", "a"),
        ("DE", "b"),
        ("FR", "a"),
        ("FR", "b"),
    ]
    assert len(found) == 4
    for name in ("DE", "FR"):
        own = getattr(s[name], what)()
        assert found[name] == own
        assert [tuple(row)[1:] for row in found if row.segment == name] == list(map(tuple, own))
        assert str(own) in str(found)
    for frame in (found.to_polars(), found.to_pandas()):
        assert list(frame.columns) == ["segment", *own.rows[0]._fields]
        assert list(frame["segment"]) == ["DE", "DE", "FR", "FR"]
    with pytest.raises(KeyError, match="'DE', 'FR'"):
        found["ES"]


def test_decisions_are_one_table_too() -> None:
    s = segmented()
    s.ask(3, segment="FR")
    s.ask(2, segment="DE")
    found = s.decisions()
    assert [(row.segment, row.id, row.waiting) for row in found] == [
        ("DE", 1, True),
        ("DE", 2, True),
        *(("FR", id, True) for id in (1, 2, 3)),
    ]
    assert found.to_polars().columns == ["segment", *dpb.Session.decisions(s["DE"])._columns()]


def test_no_verb_of_a_session_is_missing() -> None:
    """Many were an AttributeError."""
    s, plain = segmented(), dpb.Session(POLICY, noise=SimulatedNoise(1))
    public = [name for name in {*dir(plain), *vars(plain)} if not name.startswith("_")]
    assert [name for name in public if not hasattr(s, name)] == []
    s.tell(s.ask(segment="FR"), 1.0)
    s.pause_arm("a")
    assert (s.resolved, s.unread, s.lost, s.releases) == (1, 0, 0, 0)
    assert s.campaign == "trial"
    assert (s.policy, s.rewards, s.default, s.guardrail) == (POLICY, None, 0.0, None)
    assert s.seed == {"DE": 1, "FR": 2}
    assert [event.what for event in s.events["FR"]] == ["pause"]
    assert set(s.sample_ratio()) == set(s.state) == set(s.plan) == {"DE", "FR"}
    assert copy.deepcopy(s).state == s.state
    with pytest.raises(TypeError, match="plays on"):
        s.finish()
    with pytest.raises(ValueError, match="harm"):
        s.harm()


def test_devices_of_segments_answer_in_messages() -> None:
    s = segmented(dpb.LDPKLUCB(arms=2, epsilon=1))
    french = s.ask(segment="FR")
    device = Client(s.description()["FR"], most=1, noise=SimulatedNoise(1), simulated=True)
    message = device.answer(french.to_json(), 1.0)
    s.tell_message(message)
    assert records(s) == [0, 1]
    with pytest.raises(dpb.MessageError, match="segments"):
        s.tell_message(message.replace("trial/FR", "trial/ES"))


def test_rules_of_all_segments_finish_or_none_does() -> None:
    s = segmented(dpb.DPNAS(alpha=0.5, beta=0.1, cap=10**6, epsilon=1))
    s.tell(s.ask(segment="DE"), 1.0)
    before = s.state
    with pytest.raises(ValueError, match="'FR'"):
        s.finish()
    assert s.state == before
    s.tell(s.ask(segment="FR"), 1.0)
    s.finish()
    for name in s.segments:
        assert s.policy.estimate(s.state[name]) is not None
