"""At most one reward of a person in each release, of campaigns: restarts, segments and erasure."""

from __future__ import annotations

from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.campaign.people.spacing import FORGOTTEN
from tests.service.conftest import Open

APART: dict[str, Any] = {
    "privacy_unit": "user",
    "max_contributions": 3,
    "max_contributions_per_release": 1,
}


def created(store: Any, **options: Any) -> Any:
    policy = dpb.AdaCUCB(arms=["a", "b"], rho=1)
    return store.create("c", policy, noise=dpb.SimulatedNoise(1), seed=1, **APART, **options)


def visitors(campaign: Any, count: int, **where: Any) -> None:
    """They come once each."""
    start = campaign.summary().asked
    for number in range(count):
        decision = campaign.ask(user=f"visitor {start + number} {where}", **where)
        assert decision.learn
        campaign.tell(decision.id, number % 2)


def test_a_person_waits_for_the_release_through_restarts(make: Open) -> None:
    campaign = created(make())
    assert campaign.guarantee.rho == 1
    visitors(campaign, 30)
    learned = [make()["c"].ask(user="ann").learn for _ in range(3)]
    assert learned == [True, False, False]
    decision = make()["c"].ask(user="ben")
    assert make()["c"].void(decision.id) == ["recorded"]
    decision = make()["c"].ask(user="ben")
    assert decision.learn
    assert make()["c"].tell(decision.id, 1) == "recorded"
    assert not make()["c"].ask(user="ben").learn
    visitors(campaign, 100)
    assert make()["c"].ask(user="ben").learn


def test_segments_release_apart(make: Open) -> None:
    created(make(), segments=["DE", "FR"])
    learned = [make()["c"].ask(user="ann", segment=name).learn for name in ("DE", "FR", "DE", "FR")]
    assert learned == [True, True, False, False]


def test_what_was_shown_to_an_erased_person_is_not_kept(make: Open) -> None:
    campaign = created(make())
    visitors(campaign, 6)
    decision = campaign.ask(user="ann")
    campaign.tell(decision.id, 1)
    visitors(campaign, 3)
    who = campaign._turning._work.session._people.pseudonym("ann")

    def newest() -> Any:
        with make().backend.reading(campaign._turning.row.uid) as rows:
            return rows.newest([who])[who]

    assert newest()[0] == decision.round
    assert campaign.erase("ann") == 0
    assert newest() == (campaign.summary().asked, FORGOTTEN)
    assert not campaign.ask(user="ann").learn


def test_it_is_refused_where_it_says_nothing(make: Open) -> None:
    with pytest.raises(ValueError, match="max_contributions_per_release=1 is for policies"):
        make().create("d", dpb.DPKLUCB(arms=2, epsilon=1), **APART)
    assert "d" not in make()
