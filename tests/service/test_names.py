"""Names of decisions that a lost timeline gave out are given to nobody else: a copy from between
two releases is not noticed, so nothing but the names keeps its answers apart.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.service.sealing import DecisionNames, OpenedName, fresh_nonce
from tests.service.conftest import Open
from tests.service.http.web import client_of
from tests.service.machine import Time
from tests.service.timelines import Lite, create, inside, turns

PEOPLE = {"privacy_unit": "user", "max_contributions": 1}


@pytest.fixture
def lite(tmp_path: Path) -> Lite:
    return Lite(tmp_path)


def lost_asks(lite: Lite, ask: Any, **options: Any) -> list[Any]:
    """Decisions that were asked for after the copy was made which is put back now."""
    with lite.open() as store:
        campaign = create(store, **options)
        ask(campaign, "early")
        copy = lite.copy(lite.file.with_name("copy.db"))
        late = [ask(campaign, f"late{n}") for n in range(3)]
    lite.put_back(copy)
    return late


def test_a_late_answer_counts_for_nobody_else(lite: Lite) -> None:
    """Whether its number was given to another person or not; and that person's own answer counts.
    Each is learned from once.
    """
    late = lost_asks(lite, lambda c, who: c.ask(user=who), **PEOPLE)
    with lite.open() as store:
        campaign = store["c"]
        assert campaign.generation == 1  # nothing was shown, so nothing is noticed
        assert campaign.tell_many([(d, 1) for d in late]) == ["unknown"] * 3
        new = [campaign.ask(user=who) for who in ("new0", "new1", "late0")]
        assert [d.round for d in new] == [d.round for d in late]
        assert [d.learn for d in new] == [True] * 3
        assert not {d.id for d in new} & {d.id for d in late}
        assert campaign.tell_many([(d, 1) for d in late]) == ["unknown"] * 3
        assert campaign.void(late[0]) == campaign.expire(late[1]) == ["unknown"]
        assert campaign.tell_many([(d, 0) for d in new]) == ["recorded"] * 3
        assert campaign.tell_many([(d, 1) for d in late]) == ["unknown"] * 3
        assert campaign.tell_many([(d, 1) for d in new]) == ["already"] * 3
        assert campaign.summary().told == 3


def test_a_process_that_waited_gives_other_names(lite: Lite) -> None:
    """Its campaign in memory is as the copy was, so it finds nothing that moved."""
    with lite.open() as store, lite.open() as waiting:
        first = create(store)
        first.ask()
        second = waiting["c"]
        second.ask()
        first.summary()
        copy = lite.copy(lite.file.with_name("copy.db"))
        lost = second.ask(2)
    lite.put_back(copy)
    new = first.ask(2)
    assert [d.round for d in new] == [d.round for d in lost]
    assert first.tell_many([(d, 1) for d in lost]) == ["unknown"] * 2
    assert first.tell_many([(d, 1) for d in new]) == ["recorded"] * 2
    first._calls.host.database.close()


@pytest.mark.parametrize(
    ("options", "where"),
    [({**PEOPLE, "segments": ["DE", "FR"]}, {"segment": "DE"}), ({"holdout": "1/2"}, {})],
    ids=["segments", "sides"],
)
def test_of_segments_and_sides_too(lite: Lite, options: Any, where: Any) -> None:
    late = lost_asks(lite, lambda c, who: c.ask(user=who, **where), **options)
    with lite.open() as store:
        campaign = store["c"]
        new = [campaign.ask(user=f"late{n}", **where) for n in range(3)]
        assert [d.round for d in new] == [d.round for d in late]
        for names in (late, [d.id for d in late]):
            assert campaign.tell_many([(d, 1) for d in names]) == ["unknown"] * 3
        assert campaign.tell_many([(d.id, 1) for d in new]) == ["recorded"] * 3


def test_after_a_fence_what_the_copy_does_not_hold_is_unknown(lite: Lite) -> None:
    """What it holds is gone, also where the number was told."""
    with lite.open() as store:
        campaign = create(store)
        told, (waits,) = turns(campaign, 2), campaign.ask(1)
        copy = lite.copy(lite.file.with_name("copy.db"))
        lost = turns(campaign, 60)
    lite.put_back(copy)
    with lite.open() as store:
        campaign = store["c"]
        turns(campaign, 60)
        assert campaign.generation == 2
        assert campaign.tell_many([(d, 1) for d in [*told, waits]]) == ["gone"] * 3
        assert {*campaign.tell_many([(d, 1) for d in lost])} == {"unknown"}


def test_where_answers_wait_nothing_is_held_for_another(lite: Lite) -> None:
    clock = Time()
    options: dict[str, Any] = {"attribution_window": timedelta(minutes=1), "default": 0}
    with lite.open(clock=clock) as store:
        campaign = create(store, **options)
        campaign.ask(3)
        copy = lite.copy(lite.file.with_name("copy.db"))
        lost = campaign.ask(3)
    lite.put_back(copy)
    with lite.open(clock=clock) as store:
        campaign = store["c"]
        new = campaign.ask(3)
        before = inside(campaign, lambda part, rows: rows.held(part.uid, range(1, 20)))
        assert campaign.tell_many([(d, 1) for d in lost]) == ["unknown"] * 3
        assert inside(campaign, lambda part, rows: rows.held(part.uid, range(1, 20))) == before
        assert campaign.tell_many([(d, 1) for d in new]) == ["recorded"] * 3


def test_a_number_has_another_name_in_every_transaction() -> None:
    ids, nonces = DecisionNames.fresh(), [fresh_nonce() for _ in range(200)]
    assert len({*nonces}) == 200
    assert min(nonces) < 0 < max(nonces)
    names = [name for nonce in nonces for name in ids.names(nonce, 1, range(1, 6))]
    assert len({*names}) == 1000
    wanted = [OpenedName(nonce, 1, seq) for nonce in nonces for seq in range(1, 6)]
    assert ids.opened(names) == wanted
    assert ids.opened(["", None, 3, names[0].upper(), names[0][:-1] + "g"]) == [None] * 5


# Two spellings of a person's id are one person, and an id in which nothing is to be seen is
# refused, wherever a store takes one


NAMES = "Zo\u00eb", "Zoe\u0308"
"""One id, with the dots within the letter and after it."""

TWICE = {"privacy_unit": "user", "max_contributions": 2}
BLANK = "", " \u00a0", "\u200b"


def test_two_spellings_are_one_person(make: Open) -> None:
    store = make()
    for number, more in enumerate(({}, {"segments": ["DE", "FR"]}, {"holdout": ".5"})):
        one_person(create(store, name=f"c {number}", **TWICE, **more), more)


def one_person(campaign: Any, more: dict[str, Any]) -> None:
    where = [{"segment": "DE"}, {"segment": "FR"}] if "segments" in more else [{}, {}]
    composed, taken_apart = NAMES
    first = campaign.ask(user=composed, key="visit", **where[0])
    assert campaign.ask(user=taken_apart, key="visit", **where[0]) == first
    again, beyond = (campaign.ask(user=taken_apart, **where[1]) for _ in range(2))
    assert [each.learn for each in (first, again, beyond)] == [True, True, False]
    if "holdout" in more:
        assert campaign.side(composed) == campaign.side(taken_apart)
        assert len({each.campaign for each in (first, again, beyond)}) == 1
    assert campaign.erase(taken_apart, key="gone") == campaign.erase(composed, key="gone") == 2
    assert campaign.tell_many([(first, 1), (again, 1)]) == ["gone", "gone"]


def test_over_many_people_sides_do_not_depend_on_the_spelling() -> None:
    with dpb.open_store("memory:", key=bytes(32)) as store:
        campaign = create(store, holdout=".5")
        for number in range(100):
            assert len({campaign.side(f"{name} {number}") for name in NAMES}) == 1


@pytest.mark.parametrize("more", [{}, {"segments": ["DE", "FR"]}, {"holdout": ".5"}], ids=str)
def test_nobody_has_an_empty_id(more: Any) -> None:
    where = {"segment": "DE"} if "segments" in more else {}
    with dpb.open_store("memory:", key=bytes(32)) as store, client_of(store) as client:
        campaign = create(store, **TWICE, **more)
        for name in BLANK:
            calls = [lambda name=name: campaign.ask(user=name, **where)]
            calls.append(lambda name=name: campaign.erase(name))
            if "holdout" in more:
                calls.append(lambda name=name: campaign.side(name))
            for call in calls:
                with pytest.raises(ValueError, match="empty or has nothing to be seen"):
                    call()
            for verb, said in (("ask", where), ("erase", {})):
                body = {"user": name, **said}
                answer = client.post(f"/v1/campaigns/c/{verb}", json=body)
                assert answer.status_code == 422
                assert "Nothing was done" in answer.json()["detail"]
        assert campaign.summary().asked == 0
