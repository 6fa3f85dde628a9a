"""Segments: each learns for itself, and a person counts over all of them."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.noise import SimulatedNoise
from dpbandits.session.saving.seal import sealed
from tests.session.small import loaded

POLICY = dpb.DPKLUCB(arms=["a", "b"], epsilon=1, first=8)
KEY = b"0123456789abcdef"


def segmented(**options: Any) -> dpb.SegmentedSession:
    made: Any = dpb.Session(
        POLICY, noise=SimulatedNoise(1), seed=1, segments=["DE", "FR"], campaign="trial", **options
    )
    assert isinstance(made, dpb.SegmentedSession)
    return made


def play(s: dpb.SegmentedSession, rounds: int) -> None:
    """Germans like a, the French b."""
    for round in range(rounds):
        segment = ("DE", "FR")[round % 2]
        decision = s.ask(segment=segment)
        s.tell(decision, float((decision.label == "a") is (segment == "DE")))


def test_each_segment_learns_for_itself_at_the_price_of_one() -> None:
    s = segmented()
    play(s, 1_000)
    means = {name: [row.mean or 0.0 for row in found] for name, found in s.beliefs().parts.items()}
    assert means["DE"][0] > means["DE"][1]
    assert means["FR"][0] < means["FR"][1]
    assert s.spent == 1
    assert s.guarantee == s["DE"].guarantee
    assert set(s.ledger) == {"DE", "FR"}
    assert s.statement().count("PRIVACY STATEMENT") == 2


def test_a_decision_is_told_in_its_own_segment() -> None:
    s = segmented()
    german, french = s.ask(segment="DE"), s.ask(segment="FR")
    s.tell(french, 1.0)
    assert s.pending == (german,)
    for wrong in (german._replace(campaign="other"), german.id, None):
        with pytest.raises(dpb.DecisionError, match="segments"):
            s.tell(wrong, 1.0)  # type: ignore[arg-type]
    s.void(german)
    assert s.pending == ()


def test_a_person_counts_over_all_segments() -> None:
    s = segmented(privacy_unit="user", max_contributions=2, user_key=KEY)
    asked = [s.ask(segment=name, user="ann") for name in ("DE", "FR", "DE", "FR")]
    assert [decision.learn for decision in asked] == [True, True, False, False]
    again = loaded(s.to_json(), user_key=KEY)
    assert not again.ask(segment="FR", user="ann").learn
    assert [again.ask(segment=n, user="ben").learn for n in ("DE", "FR", "DE")] == [
        True,
        True,
        False,
    ]


def test_arms_come_and_go_in_all_segments_and_all_is_saved() -> None:
    s = segmented()
    play(s, 100)
    assert s.add_arm("c") == 2
    s.retire_arm("a")
    again = dpb.SegmentedSession.from_json(s.to_json(key=KEY), key=KEY)
    assert again.segments == ("DE", "FR")
    for name in again.segments:
        assert again[name].arms == s[name].arms
        assert again[name].state == s[name].state
        assert {d.label for d in again.ask(20, segment=name)} <= {"b", "c"}


@pytest.mark.parametrize("wrong", [[], ["DE", "DE"], "DE", [1], [""], 7])
def test_segments_that_are_none(wrong: Any) -> None:
    with pytest.raises(ValueError, match="segments="):
        dpb.Session(POLICY, noise=SimulatedNoise(1), segments=wrong)


def test_a_segment_that_was_not_declared() -> None:
    s = segmented()
    for wrong in (None, "ES", 3):
        with pytest.raises(ValueError, match="'DE', 'FR'"):
            s.ask(segment=wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="this session has none"):
        dpb.Session(POLICY, noise=SimulatedNoise(1)).ask(segment="DE")
    for text in ("", "[]", '{"format": "x"}', s["DE"].to_json()):
        with pytest.raises(ValueError, match="Expected a document"):
            dpb.SegmentedSession.from_json(text)


def test_two_threads_never_take_one_place_together() -> None:
    """While a call of one segment is under way, another thread's call of any segment is refused."""
    s = segmented(privacy_unit="user", max_contributions=1)
    people, refused = s["DE"]._people, []
    assert people is s["FR"]._people
    assert people is not None
    honest = people.take

    def slow(who: str, period: int) -> bool:
        def other() -> None:
            try:
                s.ask(segment="FR", user="ann")
            except dpb.SharedError as error:
                refused.append(error)

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        return honest(who, period)

    people.take = slow  # type: ignore[method-assign]
    assert s.ask(segment="DE", user="ann").learn
    people.take = honest  # type: ignore[method-assign]
    assert len(refused) == 1
    assert not s.ask(segment="FR", user="ann").learn


def test_pieces_of_different_saves_do_not_mix() -> None:
    """The people of one and the sessions of another: somebody would be learned from once more."""
    s = segmented(privacy_unit="user", max_contributions=1, user_key=KEY)
    old = json.loads(s.to_json(key=KEY))
    s.ask(segment="FR", user="ann")
    new = json.loads(s.to_json(key=KEY))
    mixed = new | {"segments": [old["segments"][0], new["segments"][1]]}
    fewer = new | {"segments": new["segments"][1:]}
    for wrong in (mixed, fewer):
        with pytest.raises(dpb.DamagedSessionError):
            dpb.SegmentedSession.from_json(json.dumps(wrong), key=KEY, user_key=KEY)
    again = dpb.SegmentedSession.from_json(json.dumps(new), key=KEY, user_key=KEY)
    assert not again.ask(segment="DE", user="ann").learn


def test_a_void_decision_gives_back_its_own_place() -> None:
    """Segments count their decisions alike: the same id is another person's in another segment."""
    s = segmented(privacy_unit="user", max_contributions=1)
    german, french = s.ask(segment="DE", user="ann"), s.ask(segment="FR", user="ben")
    assert german.id == french.id
    s.void(german)
    assert s.ask(segment="FR", user="ann").learn
    assert not s.ask(segment="DE", user="ben").learn


def test_what_is_due_is_recorded_as_the_segments_are_saved() -> None:
    """Saving folds what is due; that is no other thread's work."""
    now = [0.0]
    s = segmented(attribution_window=timedelta(days=1), clock=lambda: now[0])
    s.ask(segment="FR")
    now[0] = 90_000.0
    again = loaded(s.to_json(unsealed=True), clock=lambda: now[0])
    assert again.pending == s.pending == ()


def test_a_change_of_arms_is_made_in_all_segments_or_in_none() -> None:
    s = segmented()
    s["FR"].add_arm("x")  # as a call that was cut off leaves it
    with pytest.raises(ValueError, match="'x' was added to some segments"):
        s.add_arm("y")
    assert [name for name, _ in s["DE"].arms] == ["a", "b"]
    assert s.add_arm("x") == 2
    for name in s.segments:
        assert [label for label, _ in s[name].arms] == ["a", "b", "x"]
    with pytest.raises(ValueError, match="twice"):
        s.add_arm("x")
    s["DE"].retire_arm("a")
    s["DE"].retire_arm("x")
    with pytest.raises(ValueError, match="last one"):
        s.retire_arm("b")
    assert ("b", "active") in s["FR"].arms
    s.drop_open()
    assert set(s.decisions().segments) == set(s.arms) == {"DE", "FR"}


def unnamed(*segments: str, **options: Any) -> Any:
    made: Any = dpb.Session(POLICY, noise=SimulatedNoise(1), segments=segments, **options)
    return made


@pytest.mark.parametrize("options", [{}, {"seed": 1}, {"seed": 1, "min_share": 0.1}])
def test_segments_of_a_campaign_without_a_name_can_be_loaded(options: Any) -> None:
    """From the second one on they were called by the first one's name, too, and refused."""
    s = unnamed("DE", "FR", "IT", **options)
    s.tell(s.ask(segment="IT"), 1.0)
    again = loaded(s.to_json())
    for name in s.segments:
        base = s["DE"].campaign.removesuffix("/DE")
        assert again[name].campaign == s[name].campaign == f"{base}/{name}"
        assert again[name].state == s[name].state
    for name in ("FR", "IT"):  # as they were written then
        s[name].campaign = f"{base}/DE/{name}"
    assert loaded(s.to_json()).segments == s.segments
    s["IT"].campaign = "other/IT"
    with pytest.raises(dpb.DamagedSessionError, match="segments"):
        loaded(s.to_json())


def test_names_that_would_be_too_long_together_are_refused_before_anything_is_told() -> None:
    """They were taken, saved, and could not be loaded."""
    s = unnamed("s" * 50, campaign="c" * 149)
    assert loaded(s.to_json()).segments == s.segments
    with pytest.raises(ValueError, match="at most 199 characters together, got 150 and 50"):
        unnamed("s" * 50, campaign="c" * 150)


def test_segments_draw_from_one_source_after_they_are_loaded() -> None:
    """Each had a copy of it, and the same noise as the others."""
    s = unnamed("DE", "FR", seed=1)
    again = loaded(s.to_json())
    for each in (s, again):
        for name in ("DE", "FR"):
            for _ in range(16):
                each.tell(each.ask(segment=name), 0.5)
        totals = [each[name].state.totals for name in ("DE", "FR")]
        assert totals[0] != totals[1]
    assert [again[name].state for name in ("DE", "FR")] == [s[name].state for name in ("DE", "FR")]


def test_a_document_of_segments_is_read_strictly() -> None:
    s = segmented()
    data = json.loads(s.to_json())
    format_ = data["format"]
    deep = "[" * 200 + "]" * 200
    for text in (
        sealed({"format": format_, "version": 1}, None),
        sealed({"format": format_, "version": 1, "segments": [["DE"]]}, None),
        json.dumps(data).replace('{"format"', '{"version": 2, "format"'),
        json.dumps(data).replace('{"format"', f'{{"x": {deep}, "format"'),
    ):
        with pytest.raises(ValueError, match=r"Expected a document|damaged"):
            dpb.SegmentedSession.from_json(text)
