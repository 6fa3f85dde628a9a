"""Past a policy's horizon: what one part of a campaign takes no more keeps nothing from another."""

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import dpbandits as dpb
from dpbandits.session.storing import is_release_missing
from tests.service.counted import Counted
from tests.service.http.web import client_of, remote
from tests.service.machine import Time
from tests.service.timelines import inside, readings, stored, two_stores

MOST = 16
"""Records of a segment that the policy learns from; the next one has nothing more released."""

SEGMENTS = ("DE", "FR", "IT")
POLICY = dpb.DPUCB(arms=["a", "b"], epsilon=1, horizon=8)


class Two:
    """A campaign in two stores on one database: neither knows the other's memory."""

    def __init__(self, **options: Any) -> None:
        self.noise = Counted()
        self.stores = two_stores(self.noise, Time())
        self.stores[0].create("trial", POLICY, segments=SEGMENTS, seed=1, **options)
        self.one, self.other = (store["trial"] for store in self.stores)

    def has_ended(self, segment: str) -> bool:
        return bool(inside(self.other, lambda part, _: is_release_missing(part.session), segment))

    def facts(self) -> Any:
        return stored(self.stores[0]), self.noise.drawn


def called(campaign: Any, verb: str, batch: Any) -> Any:
    """The statuses that a call gives, or its error."""
    try:
        if verb == "tell":
            return campaign.tell_many(batch)
        return getattr(campaign, verb)(*[decision for decision, _ in batch])
    except ValueError as error:
        return error


ALL = [(at, place) for place in range(14, 24) for at in range(3)]
"""FR crosses its horizon, DE did before, and IT is far from it."""


@settings(max_examples=12, deadline=None)
@given(
    told=st.tuples(*[st.integers(MOST - 4, MOST + 3)] * 3),
    places=st.lists(st.tuples(st.sampled_from(range(3)), st.integers(10, 30)), max_size=40),
    wrong=st.sets(st.integers(0, 39), max_size=4),
    verb=st.sampled_from(["tell", "tell", "expire", "void"]),
)
@example(told=(MOST + 1, MOST - 1, 0), places=ALL, wrong=set(), verb="tell")
@example(told=(MOST + 1, MOST - 1, 0), places=ALL, wrong=set(), verb="expire")
def test_a_batch_over_segments_is_done_whole_or_not_at_all(
    told: tuple[int, ...], places: list[tuple[int, int]], wrong: set[int], verb: str
) -> None:
    two = Two()
    asked = [two.one.ask(31, segment=name) for name in SEGMENTS]
    for decisions, many in zip(asked, told, strict=True):
        two.one.tell_many([(decision, 1) for decision in decisions[:many]])
    batch = [(asked[of][place], 7 if at in wrong else 0.5) for at, (of, place) in enumerate(places)]
    waiting = [{d.id for d in each[many:]} for each, many in zip(asked, told, strict=True)]
    ended = [two.has_ended(name) for name in SEGMENTS]
    assert ended == [many > MOST for many in told]
    before = two.facts()
    said = called(two.one, verb, batch)
    if isinstance(said, Exception):
        assert verb == "tell"
        pending = set[str]().union(*waiting)
        assert any(reward == 7 and decision.id in pending for decision, reward in batch)
        assert two.facts() == before
        again = called(two.other, verb, batch)
        assert (type(again), str(again)) == (type(said), str(said))
    else:
        for at, name in enumerate(SEGMENTS):
            seen, statuses = set[str](), list[str]()
            for (decision, _), (of, _), status in zip(batch, places, said, strict=True):
                if of == at and decision.id in waiting[at] - seen:
                    statuses.append(status)
                    seen.add(decision.id)
                elif of == at:  # gone once, gone twice: it was not resolved
                    assert status == "already" or (status == "gone" and decision.id in seen)
            if ended[at] and verb != "void":  # which reads nothing
                assert set(statuses) <= {"gone"}
            elif verb != "expire" or not two.has_ended(name):
                assert set(statuses) <= {"recorded"}
            else:  # one by one, up to the horizon
                assert statuses == sorted(statuses, reverse=True)
                assert "recorded" in statuses
        after = two.facts()
        again = called(two.other, verb, batch)
        assert again == ["already" if status == "recorded" else status for status in said]
        assert two.facts() == after
    assert readings(two.one) == two.noise.drawn


def test_a_call_that_is_made_again_gets_its_first_reply(store: Any) -> None:
    """Also where the policy came to its horizon meanwhile, or with that very call."""
    campaign = store.create("trial", POLICY, seed=1)
    asked = campaign.ask(30, key="asked")
    added = campaign.add_arm("c", key="added")
    assert campaign.record("a", (9, 5), key="a") == "recorded"
    for each in (campaign, remote(client_of(store))["trial"]):
        for verb, *how in (("ask", 30), ("record", "a", (9, 5))):
            with pytest.raises(dpb.HorizonError):
                getattr(each, verb)(*how, key="another")
    assert campaign.ask(30, key="asked") == asked
    assert campaign.add_arm("c", key="added") == added
    assert campaign.record("a", (9, 5), key="a") == "recorded"


def test_a_campaign_past_its_horizon_is_closed_and_forgets_people() -> None:
    two = Two(privacy_unit="user", max_contributions=40)
    asked = two.one.ask(MOST + 2, segment="DE", user="ann")
    waiting = two.one.ask(4, segment="DE", user="ben") + two.one.ask(1, segment="DE", user="cleo")
    statuses = two.one.tell_many([(each, 1) for each in asked])
    assert statuses == ["recorded"] * (MOST + 2)
    assert two.has_ended("DE")
    (late,) = two.one.ask(1, segment="FR", user="ben")
    with pytest.raises(dpb.HorizonError):
        two.one.ask(segment="DE", user="ben")
    assert two.other.pending(segment="DE") == waiting
    assert two.one.void(waiting[0]) == ["recorded"]
    assert two.one.erase("ben") == 4
    assert two.other.pending(segment="DE") == waiting[4:]
    assert two.other.tell_many([(each, 1) for each in (late, *waiting)]) == ["gone"] * 6
    for _ in range(2):
        two.one.close("the horizon")
    assert two.one.erase("cleo") == 0
    assert readings(two.one) == two.noise.drawn
