"""Segments: each learns for itself, and a person counts over all of them."""

import copy
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.local.client import Client
from dpbandits.session.people import Register
from tests.session.small import content, loaded, recorded, resealed

POLICY = dpb.DPKLUCB(arms=["a", "b"], epsilon=1, first=8)
KEY = b"0123456789abcdef"
PEOPLE: dict[str, Any] = {"privacy_unit": "user", "max_contributions": 1, "user_key": KEY}
DAY = timedelta(days=1)


def segmented(policy: Any = POLICY, *names: str, noise: Any = None, **options: Any) -> Any:
    return dpb.SegmentedSession(
        policy,
        noise=noise or dpb.SimulatedNoise(1),
        **{"seed": 1, "campaign": "trial", "segments": names or ["DE", "FR"]} | options,
    )


def records(s: Any) -> list[int]:
    return [recorded(s[name]) for name in s.segments]


def contents(s: Any) -> list[Any]:
    return [content(s[name]) for name in s.segments]


def test_a_decision_is_asked_for_and_told_in_its_own_segment() -> None:
    s = segmented()
    german, french = s.ask(segment="DE"), s.ask(segment="FR")
    s.tell(french, 1.0)
    assert s.pending == (german,)
    for wrong in (german._replace(campaign="other"), german.id, None):
        with pytest.raises(dpb.DecisionError, match="segments"):
            s.tell(wrong, 1.0)
    for undeclared in (None, "ES", 3):
        with pytest.raises(ValueError, match="'DE', 'FR'"):
            s.ask(segment=undeclared)
    s.void(german)
    assert s.pending == ()
    with pytest.raises(ValueError, match="at most 199 characters together, got 150 and 50"):
        segmented(POLICY, "s" * 50, campaign="c" * 150)
    longest = segmented(POLICY, "s" * 50, campaign="c" * 149)
    assert loaded(longest).segments == longest.segments


def test_a_batch_is_of_one_segment() -> None:
    s = segmented()
    assert s.record("a", (6, 2), segment="DE", key="week 1") == "recorded"
    for each in (s, loaded(s)):
        for record in (each["FR"].record, partial(each.record, segment="FR")):
            with pytest.raises(ValueError, match="another arm or segment"):
                record("a", (6, 2), key="week 1")
        assert each.record("a", (6, 2), segment="DE", key="week 1") == "already"
        assert records(each) == [6, 0]


# People


def test_two_threads_never_take_one_place_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a call of one segment is under way, another thread's call of any segment is refused."""
    s, refused = segmented(**PEOPLE), list[Any]()
    honest = Register.taken

    def taken(self: Register, who: str, period: int) -> int:
        with ThreadPoolExecutor(1) as pool, pytest.raises(dpb.SharedError) as error:
            pool.submit(s.ask, segment="FR", user="ann").result()
        refused.append(error)
        return honest(self, who, period)

    with monkeypatch.context() as patch:
        patch.setattr(Register, "taken", taken)
        assert s.ask(segment="DE", user="ann").learn
    assert len(refused) == 1
    assert not s.ask(segment="FR", user="ann").learn


def test_learned_users_are_counted_once_over_all_segments() -> None:
    s = segmented(window=DAY, clock=lambda: 1e6, **PEOPLE)
    s.ask(segment="DE", user="ann")
    s["DE"].retire_arm("a")
    page = s.participant_text()
    for said in ("Name of the trial: trial. ", "2 options: ", "people, such as DE, FR. Which"):
        assert said in page.replace("\n", " ")
    said = " ".join(s.statement().split())
    assert said.count("Users learned from in the window that is open: 1.") == 1
    said = " ".join(s["FR"].statement().split())
    assert "Users learned from in the window that is open, over all segments: 1." in said


# Many at once


@pytest.mark.parametrize("options", [{}, {"attribution_window": DAY}], ids=["at once", "late"])
def test_several_tells_are_told_in_all_segments_or_in_none(options: Any) -> None:
    now = [0.0]
    clock: Any = {"clock": lambda: now[0]} if options else {}
    s = segmented(**options, **clock)
    german, french, more = s.ask(segment="DE"), s.ask(segment="FR"), s.ask(segment="DE")
    before = contents(s)
    for wrong, error, said in (
        ((french, 7.0), dpb.RewardError, "Pair 1 .counted from 0. of 3"),
        ((german._replace(campaign="x"), 1.0), dpb.DecisionError, "Pair 1 .*segments"),
        ((french._replace(action=1 - french.action), 1.0), dpb.DecisionError, "Pair 1 .*changed"),
    ):
        with pytest.raises(error, match=said):
            s.tell_many([(german, 1.0), wrong, (more, 0.0)])
        assert contents(s) == before
    with pytest.raises(TypeError, match="pairs"):
        s.tell_many([german, french])
    with pytest.raises(dpb.RewardError, match=r"^Expected"):  # there is one
        s.tell_many([(german, 7.0)])
    s.tell_many([(german, 1.0), (french, 0.0), (more, 1.0)])
    now[0] = 90_000.0
    with pytest.raises(dpb.DecisionError, match=r"time has passed|resolved already"):
        s.tell_many([(german, 1.0)])
    s.ask(segment="FR")
    now[0] += 90_000.0
    again = loaded(s, **clock)  # saving records what is due
    assert records(again) == records(s) == ([2, 2] if options else [2, 1])
    assert again.pending == s.pending


def test_a_time_that_passes_meanwhile_keeps_all_answers_or_none() -> None:
    """Where it passed between two segments, those of the first were kept and others refused."""
    for moment in range(8):
        left = [100]

        def clock(left: list[int] = left) -> float:
            left[0] -= 1
            return 0.0 if left[0] > 0 else 90_000.0

        s = segmented(attribution_window=DAY, clock=clock)
        german, french = s.ask(segment="DE"), s.ask(segment="FR")
        left[0] = moment
        with suppress(dpb.DecisionError):
            s.tell_many([(german, 1.0), (french, 0.0)])
        assert len({len(s[name]._tables.held) for name in s.segments}) == 1


# Every other verb


def test_a_change_of_arms_is_made_in_all_segments_or_in_none() -> None:
    s = segmented()
    s["FR"].add_arm("x")  # as a call that was cut off leaves it
    with pytest.raises(ValueError, match="'x' was added to some segments"):
        s.add_arm("y")
    assert [name for name, _ in s["DE"].arms] == ["a", "b"]
    assert s.add_arm("x") == 2
    for name in s.segments:
        assert [label for label, _ in s[name].arms] == ["a", "b", "x"]
    with pytest.raises(ValueError, match="is repeated"):
        s.add_arm("x")
    s["DE"].retire_arm("a")
    s["DE"].retire_arm("x")
    with pytest.raises(ValueError, match="last one"):
        s.retire_arm("b")
    assert ("b", "active") in s["FR"].arms
    s.drop_open()
    assert s.decisions().segments == ("DE", "FR")
    s.tell(s.ask(segment="DE"), 1.0)
    s["FR"].close(winner="a")
    before = content(s["DE"])
    for change in (lambda: s.add_arm("y"), lambda: s.pause_arm("b"), lambda: s.retire_arm("b")):
        with pytest.raises(dpb.ClosedError):
            change()
    with pytest.raises(ValueError, match="closed already"):
        s.close(winner="b")
    assert content(s["DE"]) == before


@pytest.mark.parametrize("what", ["beliefs", "harm", "lift"])
def test_beliefs_are_one_table_with_a_column_for_the_segment(what: str) -> None:
    s = segmented(guardrail=dpb.Guardrail("refunds", limit=0.5))
    for name in ("DE", "FR"):
        for _ in range(16):
            s.tell(s.ask(segment=name), (1.0, 0.0))
    found = getattr(s, what)()
    labels = ("b",) if what == "lift" else ("a", "b")  # its control arm has no row
    assert [(row.segment, row.label) for row in found] == [
        (segment, label) for segment in ("DE", "FR") for label in labels
    ]
    assert len(found) == 2 * len(labels)
    for name in ("DE", "FR"):
        own = getattr(s[name], what)()
        assert found[name] == own
        assert [tuple(row)[1:] for row in found if row.segment == name] == list(map(tuple, own))
        assert str(own) in str(found)
    with pytest.raises(KeyError, match="'DE', 'FR'"):
        found["ES"]


def test_it_is_a_mapping_of_sessions() -> None:
    s = segmented()
    s.tell(s.ask(segment="FR"), 1.0)
    s.pause_arm("a")
    assert {name: part.resolved for name, part in s.items()} == {"DE": 0, "FR": 1}
    assert [part.seed for part in s.values()] == [1, 2]
    assert [event.what for part in s.values() for event in part.events] == ["pause", "pause"]
    assert (s.campaign, s.policy, s.segments) == ("trial", POLICY, ("DE", "FR"))
    with pytest.raises(TypeError, match="release its blocks again"):
        copy.deepcopy(s)
    with pytest.raises(TypeError, match="plays on"):
        s.finish()
    with pytest.raises(ValueError, match="harm"):
        s.harm()


def test_devices_of_segments_answer_in_messages() -> None:
    s = segmented(dpb.LDPKLUCB(arms=2, epsilon=1))
    french = s.ask(segment="FR")
    device = Client(s["FR"].description(), most=1, noise=dpb.SimulatedNoise(1), simulated=True)
    message = device.answer(french.to_json(), 1.0)
    s.tell_message(message)
    assert records(s) == [0, 1]
    assert s.guarantee == s["DE"].guarantee
    with pytest.raises(dpb.MessageError, match="segments"):
        s.tell_message(message.replace("trial/FR", "trial/ES"))
    with pytest.raises(dpb.MessageError, match="for another"):
        s["DE"].tell_message(message)


def test_rules_of_all_segments_finish_or_none_does() -> None:
    s = segmented(dpb.DPNAS(alpha=0.5, beta=0.1, cap=10**6, epsilon=1))
    s.tell(s.ask(segment="DE"), 1.0)
    before = [part.state for part in s.values()]
    with pytest.raises(ValueError, match="'FR'"):
        s.finish()
    assert [part.state for part in s.values()] == before
    s.tell(s.ask(segment="FR"), 1.0)
    over = dpb.SegmentedSession.from_json(s.to_json(), noise=dpb.SimulatedNoise(1))
    over["FR"].close()
    with pytest.raises(dpb.ClosedError):
        over.finish()
    assert over["DE"].state == s["DE"].state
    s.finish()
    assert all(s.policy.estimate(part.state) is not None for part in s.values())


# Saved and continued


def test_pieces_of_different_saves_do_not_mix() -> None:
    """The people of one and the sessions of another: somebody would be learned from once more."""
    s = segmented(**PEOPLE)
    with pytest.raises(ValueError, match=r"SegmentedSession\.from_json\(text\)"):
        dpb.Session.from_json(s.to_json(key=KEY), key=KEY)
    with pytest.raises(ValueError, match=r"without segments: .* Session\.from_json\(text\)"):
        dpb.SegmentedSession.from_json(s["DE"].to_json(key=KEY), key=KEY)
    old = json.loads(s.to_json(key=KEY))
    s.ask(segment="FR", user="ann")
    new = json.loads(s.to_json(key=KEY))
    other = segmented(POLICY, campaign="other", **PEOPLE)
    foreign = json.loads(other.to_json(key=KEY))
    for wrong in (
        new | {"segments": [old["segments"][0], new["segments"][1]]},
        new | {"segments": new["segments"][1:]},
        new | {"segments": [new["segments"][0], foreign["segments"][1]]},
    ):
        for text in (json.dumps(wrong), resealed(wrong, b"another key of 16 bytes")):
            with pytest.raises(dpb.DamagedSessionError):
                dpb.SegmentedSession.from_json(text, key=KEY, user_key=KEY)
    again = dpb.SegmentedSession.from_json(json.dumps(new), key=KEY, user_key=KEY)
    assert not again.ask(segment="DE", user="ann").learn
