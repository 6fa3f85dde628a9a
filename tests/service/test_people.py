"""People who come back: their places, the arms that they keep, and how they are called."""

from datetime import timedelta
from itertools import product
from typing import Any
from uuid import UUID, uuid4

import pytest

import dpbandits as dpb
from dpbandits.service.operations import Ask
from tests.service.conftest import Open
from tests.service.http.web import client_of, remote
from tests.service.machine import Time
from tests.service.timelines import Lite, create

TWICE: dict[str, Any] = {"privacy_unit": "user", "max_contributions": 2}
STICKY = {**TWICE, "sticky": True}
PARTS = [{}, {"segments": ["DE", "FR"]}, {"holdout": ".3"}]
EACH_PARTS = pytest.mark.parametrize("parts", PARTS, ids=str)


def where(parts: Any, at: int = 0) -> dict[str, Any]:
    return {"segment": parts["segments"][at % 2]} if "segments" in parts else {}


# Places


@pytest.mark.parametrize("apart", [False, True])
def test_a_clock_that_is_behind_opens_no_window_again(make: Open, apart: bool) -> None:
    """Of one worker whose clock steps back, and of two whose clocks differ."""
    clocks = [Time(), Time()]
    first = make(clock=clocks[0])
    clocks[0].now = 1_000_001.0
    how = {**TWICE, "max_contributions": 1, "window": timedelta(seconds=100)}
    campaign = create(first, **how, segments=["DE", "FR"])
    campaign.ask(segment="DE", user="zoe")
    clocks[0].now = clocks[1].now = 999_999.0
    if apart:
        clocks[0].now, campaign = 1_000_001.0, make(clock=clocks[1])["c"]
    asked = [campaign.ask(segment=of, user="ann") for _ in range(5) for of in ("DE", "FR")]
    assert sum(decision.learn for decision in asked) == 1


@pytest.mark.parametrize("parts", PARTS[:2], ids=str)
def test_the_statement_counts_users_and_those_of_the_window(make: Open, parts: Any) -> None:
    clock = Time()
    campaign = create(make(clock=clock), **STICKY, window=timedelta(days=7), **parts)
    for user in range(5):
        campaign.ask(user=user, **where(parts))
    clock.now += 7 * 86_400
    for user in range(3, 5):
        campaign.ask(user=user, **where(parts))
    said = " ".join(campaign.statement().split())
    over = ", over all parts of the campaign" if parts else ""
    assert f"Users with learned rounds, answered or not, void ones included{over}: 5." in said
    assert f"Users learned from in the window that is open{over}: 2." in said


def test_whose_only_round_is_void_has_no_learned_round(store: Any) -> None:
    alone = dpb.Session(dpb.DPKLUCB(arms=2, epsilon=1), noise=dpb.SimulatedNoise(1), **TWICE)
    for each in (alone, create(store, **TWICE)):
        asked = [each.ask(user=user) for user in range(3)]
        each.void(asked[0])
        assert "answered or not: 2." in " ".join(each.statement().split())
        each.ask(user=0)
        assert "answered or not: 3." in " ".join(each.statement().split())


# The arms that they keep: sealed, of one length, deleted with the person


def test_a_person_who_is_erased_or_whose_arm_is_gone_gets_another(store: Any) -> None:
    campaign = create(store, **STICKY)
    (first,) = campaign.ask(1, user="ann", eligible=[1])
    campaign.ask(user="bob", eligible=[2])
    campaign.void(first)  # their place is free again, and the arm stays theirs
    assert campaign.ask(user="ann", eligible=[0, 1]).action == 1
    campaign.erase("ann")
    for user, arm in (("ann", 0), ("bob", 2)):
        made = campaign.ask(user=user)
        assert (made.action, made.learn) == (arm, user == "bob")
    campaign.retire_arm(2)
    assert {campaign.ask(user="bob").action for _ in range(3)} < {0, 1}


def test_the_file_does_not_tell_who_keeps_which_arm(lite: Lite) -> None:
    with lite.open() as store:
        campaign = create(store, **STICKY)
        for user in range(6):
            campaign.tell(campaign.ask(user=user, eligible=[user // 2]), user % 2)
        campaign.erase(0)
    people = lite.run("SELECT pseudonym, kept FROM dpbandits_contribution ORDER BY rowid")
    assert len({body for _, body in people}) == 6
    assert len({len(body) for _, body in people}) == 1
    (a, of_a), (b, of_b) = people[1:3]
    for who, body in ((a, of_b), (b, of_a)):
        lite.run("UPDATE dpbandits_contribution SET kept=? WHERE pseudonym=?", body, who)
    refused = list[int]()
    campaign = lite.open()["c"]
    for user in range(6):
        try:
            campaign.ask(user=user)
        except dpb.StoreError:
            refused.append(user)
    assert len(refused) == 2


# How they are called


def test_ids_of_any_kind_are_taken(store: Any) -> None:
    user, campaign = uuid4(), create(store, **TWICE)
    far = remote(client_of(store))["c"]
    assert [campaign.ask(user=user).learn, far.ask(user=user).learn] == [True, True]
    assert not campaign.ask(user=str(user)).learn, "the same person"
    assert campaign.tell(UUID(campaign.pending()[0].id), 1) == "recorded"
    assert campaign.erase(user) == 1
    sale = create(store, name="sale", holdout=".5")
    assert sale.side(user) == sale.side(str(user))
    layout = sale._calls.host.layout
    assert repr(layout.side_key) not in repr(layout)


NAMES = "Zo\u00eb", "Zoe\u0308"
"""One id, with the dots within the letter and after it."""


@EACH_PARTS
def test_two_spellings_are_one_person(store: Any, parts: Any) -> None:
    campaign = create(store, **TWICE, **parts)
    composed, taken_apart = NAMES
    first = campaign.ask(user=composed, key="visit", **where(parts))
    assert campaign.ask(user=taken_apart, key="visit", **where(parts)) == first
    with pytest.raises(ValueError, match="another person"):
        campaign.ask(user="ben", key="visit", **where(parts))
    again, beyond = (campaign.ask(user=taken_apart, **where(parts, 1)) for _ in range(2))
    assert [each.learn for each in (first, again, beyond)] == [True, True, False]
    if "holdout" in parts:
        for number in range(100):
            assert len({campaign.side(f"{name} {number}") for name in NAMES}) == 1
    assert campaign.erase(taken_apart, key="gone") == campaign.erase(composed, key="gone") == 2
    assert campaign.tell_many([(first, 1), (again, 1)]) == ["gone", "gone"]


@EACH_PARTS
def test_nobody_has_an_empty_id(store: Any, parts: Any) -> None:
    campaign = create(store, **TWICE, **parts)
    calls = [lambda name: campaign.do(Ask(user=name, **where(parts))), campaign.erase]
    calls += [campaign.side] * ("holdout" in parts)
    for name, call in product(("", " \u00a0", "\u200b"), calls):
        with pytest.raises(ValueError, match="empty"):
            call(name)
    assert campaign.summary().asked == 0
