"""Two spellings of a person's id are one person, and an id in which nothing is to be seen is
refused, wherever a store takes one.
"""

from __future__ import annotations

from typing import Any

import pytest

import dpbandits as dpb
from tests.service.conftest import Open
from tests.service.http.web import client_of
from tests.service.timelines import create

NAMES = "Zo\u00eb", "Zoe\u0308"
"""One id, with the dots within the letter and after it."""

PEOPLE = {"privacy_unit": "user", "max_contributions": 2}
BLANK = "", " \u00a0", "\u200b"


def test_two_spellings_are_one_person(make: Open) -> None:
    store = make()
    for number, more in enumerate(({}, {"segments": ["DE", "FR"]}, {"holdout": ".5"})):
        one_person(create(store, name=f"c {number}", **PEOPLE, **more), more)


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
        campaign = create(store, **PEOPLE, **more)
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
