"""Campaigns with holdout people and a ramp: the policy learns from its own people alone."""

from __future__ import annotations

from typing import Any

import pytest

import dpbandits as dpb
from tests.service.conftest import KEY, Open
from tests.service.sides.held import ALL, BEFORE, HALF, PEOPLE, POLICY, SIDES, at, held, on

LOUD = dpb.DPKLUCB(arms=["a", "b"], epsilon=4)
"""Reads holdout people soon."""


@pytest.mark.long  # the storage suite guards it, too
def test_the_policy_decides_as_if_it_had_never_seen_the_others(make: Open) -> None:
    """Decision for decision and release for release, with the same seeds."""
    store = make(clock=at(HALF))
    campaign, alone = (
        held(store),
        store.create("alone", POLICY, noise=dpb.SimulatedNoise(1), seed=1),
    )
    for user in range(120):
        found = campaign.ask(user=user)
        reward = (user * 7 % 11) / 10
        side = campaign.side(user)
        assert found.campaign == f"trial/{side}"
        if side == "policy":
            wanted = alone.ask()
            assert found[1:4] + found[5:] == wanted[1:4] + wanted[5:]
            assert alone.tell(wanted, reward) == "recorded"
        else:
            assert found.label == "a"
            assert found.learn is (side == "holdout")
        assert campaign.tell(found.id, reward) == "recorded"
    own = make(clock=at(HALF))["trial"]["policy"]
    assert [each.answers for each in own.releases()] == [e.answers for e in alone.releases()]
    assert own.ledger == alone.ledger
    assert own.ledger


def test_people_move_with_the_dates_and_nothing_is_read_before(make: Open) -> None:
    clock = at(BEFORE)
    campaign = held(make(clock=clock), control="b", policy=LOUD, **{**PEOPLE, "holdout": ".6"})
    shares, met = [], list[int]()
    for day in (BEFORE, HALF, ALL):
        clock.now = day
        asked = [campaign.ask(user=user) for user in range(50)]
        campaign.tell_many([(each, 1) for each in asked])
        shares.append([sum(e.campaign == f"trial/{side}" for e in asked) for side in SIDES])
        met = on(campaign, "policy", 100) if day == HALF else met
        others = [each for each in asked if each.campaign != "trial/policy"]
        assert {(each.action, each.label) for each in others} == {(1, "b")}
    assert len({holdout for _, holdout, _ in shares}) == 1
    assert shares[0][0] == shares[2][2] == 0
    assert 0 < shares[1][0] < shares[2][0]
    # a cap of 2: the third time holdout people are not learned from; before the ramp nobody is
    assert campaign["holdout"].statement().count(f"recorded: {2 * shares[0][1]}") == 1
    control = campaign["control"].decisions().rows
    assert len(control) == shares[0][2] + shares[1][2]
    assert not any(each.learn for each in control)
    assert campaign["control"].ledger == []
    assert campaign["holdout"].ledger
    assert {line.coordinate for line in campaign["holdout"].ledger} == {1}
    # who met the policy only at the end has both places left
    late = next(each for each in on(campaign, "policy", 100) if each not in met)
    assert campaign.ask(user=late).learn


def test_the_promise_is_that_of_one_side_and_a_scope_pays_it_once(make: Open) -> None:
    store = make(clock=at(ALL))
    store.scope("people", epsilon=1)
    campaign = held(store, scope="people", holdout=".5")
    assert store.scope("people").left == 0
    asked = [each for user in range(60) for each in campaign.ask(4, user=user)]
    campaign.tell_many([(each, 1) for each in asked])
    again = make()["trial"]
    assert again.spent == again["holdout"].spent == again["policy"].spent == 1
    assert again.guarantee == again["policy"].guarantee == again["holdout"].guarantee
    assert again.segments == SIDES
    words = again.statement()
    assert "Which side a person is on is public" in words
    assert words.count("PRIVACY STATEMENT") == 2
    assert list(make()) == ["trial"]


def test_a_repeated_ask_gives_the_same_decisions_though_the_ramp_has_moved(make: Open) -> None:
    clock = at(BEFORE)
    campaign = held(make(clock=clock))
    clock.now = HALF
    (user,) = on(campaign, "policy")
    clock.now = BEFORE
    first = campaign.ask(3, user=user, key="visit")
    clock.now = HALF
    assert make(clock=clock)["trial"].ask(3, user=user, key="visit") == first
    new = campaign.ask(user=user, key="another")
    assert new.campaign == "trial/policy"
    clock.now = BEFORE  # a worker whose clock is late
    assert campaign.ask(user=user, key="another") == new
    assert campaign.summary().asked == 4
    clock.now = HALF
    with pytest.raises(ValueError, match="another"):
        campaign.ask(2, user=user, key="visit")
    for other in on(campaign, "policy", 2)[1:] + on(campaign, "control"):
        with pytest.raises(ValueError, match="another"):
            campaign.ask(3, user=other, key="visit")


def test_a_ramp_alone_and_a_holdout_alone(make: Open) -> None:
    store = make(clock=at(HALF))
    ramp = held(store, "ramp", holdout=None)
    assert ramp.segments == ("policy", "control")
    alone = held(store, "alone", ramp=None)
    assert alone.segments == ("policy", "holdout")
    assert {alone.side(user) for user in range(100)} == {"policy", "holdout"}
    assert "Holdout people" not in ramp.statement()


def test_without_the_stores_key_nobody_is_on_a_side(tmp_path: Any, opened: list[Any]) -> None:
    url, witness = f"sqlite:///{tmp_path}/t.db", tmp_path / "w"
    keyless = dpb.open_store(url, witness=witness)
    opened.append(keyless)
    with pytest.raises(ValueError, match="store with a key"):
        held(keyless)
    kept = dpb.open_store(url, witness=witness, key=KEY)
    opened.append(kept)
    held(kept)
    with pytest.raises(ValueError, match="store with a key"):
        keyless["trial"]
    with pytest.raises(dpb.StoreError, match="this is not it"):
        dpb.open_store(url, witness=witness, key=bytes(32))
