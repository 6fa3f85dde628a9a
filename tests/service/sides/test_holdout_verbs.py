"""What is done to a campaign with holdout people: arms, people, fences, ends, on each side."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

import dpbandits as dpb
from tests.service.conftest import Open
from tests.service.sides.held import ALL, HALF, MEMORY_FIRST, PEOPLE, RAMP, SIDES, at, held, on

pytestmark = MEMORY_FIRST


def test_arms_come_and_go_on_the_policys_side_and_the_control_arm_stays(make: Open) -> None:
    campaign = held(make(clock=at(ALL)))
    assert campaign.add_arm("c") == 2
    campaign.pause_arm("b")
    campaign.resume_arm("b")
    campaign.retire_arm("b", by="me")
    for arm in ("a", 0):
        for verb in (campaign.retire_arm, campaign.pause_arm):
            with pytest.raises(ValueError, match="control arm"):
                verb(arm)
    assert dict(campaign["policy"].arms) == {"a": "active", "b": "retired", "c": "active"}
    assert dict(campaign["holdout"].arms) == {"a": "active", "b": "paused"}
    labels = {campaign.ask(user=user).label for user in range(60)}
    assert labels == {"a", "c"}


def test_a_person_is_forgotten_on_every_side(make: Open) -> None:
    campaign = held(make(clock=at(HALF)), **PEOPLE)
    for side, learned in (("policy", True), ("holdout", True), ("control", False)):
        (user,) = on(campaign, side)
        waiting = campaign.ask(user=user)
        assert waiting.learn is learned
        assert campaign.erase(user) == learned
        assert campaign.tell(waiting, 1) == ("gone" if learned else "recorded")
        assert not campaign.ask(user=user).learn


def test_what_is_given_up_and_ended_is_so_on_all_sides(make: Open) -> None:
    campaign = held(make(clock=at(HALF)), "trial")
    asked = [campaign.ask(user=user) for user in range(60)]
    campaign.tell_many([(each, 1) for each in asked[:30]])
    campaign.drop_open()
    campaign.fence()
    assert campaign.generation == 2
    assert {campaign.tell(each, 1) for each in asked} == {"gone"}
    more = [campaign.ask(user=user) for user in range(60)]
    assert set(campaign.tell_many([(each, 1) for each in more])) == {"recorded"}
    assert campaign.void(campaign.ask(user=1)) == ["recorded"]
    with pytest.raises(TypeError, match="stopping rule"):
        campaign.finish()
    campaign.close("enough")
    for side in SIDES:
        with pytest.raises(RuntimeError, match="over"):
            campaign.ask(user=on(campaign, side)[0])


def test_a_guardrail_and_an_attribution_window_hold_on_all_sides(make: Open) -> None:
    clock = at(HALF)
    options = {
        "guardrail": dpb.Guardrail("refunds", limit=0.2),
        "attribution_window": timedelta(hours=1),
        "policy": dpb.DPKLUCB(arms=["a", "b"], epsilon=8),
    }
    campaign = held(make(clock=clock), control="b", **options)
    for round in range(4):
        asked = [campaign.ask(user=f"{round} {user}") for user in range(80)]
        told = campaign.tell_many([(each, (float(each.label == "b"),) * 2) for each in asked])
        assert set(told) == {"recorded"}
        clock.now += 7_200
        campaign.settle()
    assert campaign["control"].summary().step == 0
    assert [each.what for each in campaign["policy"].alarms] == ["suspend"]
    assert {each.what for each in campaign["holdout"].alarms} == {"alarm"}
    assert campaign.ask(user=on(campaign, "holdout")[0]).label == "b"


class OwnPolicy(dpb.DPKLUCB):
    """Of the caller's own."""


def test_a_policy_of_ones_own_is_opened_and_fenced(make: Open) -> None:
    store = make(clock=at(ALL))
    store.create("own", OwnPolicy(arms=2, epsilon=1), holdout=".3", ramp=RAMP)
    own = make(clock=at(ALL)).open("own", policy=OwnPolicy)
    asked = [own.ask(user=user) for user in range(40)]
    assert {each.campaign for each in asked} == {"own/policy", "own/holdout"}
    own.fence()
    assert {own[side].generation for side in SIDES} == {2}
    assert set(own.tell_many([(each, 1) for each in asked])) == {"gone"}


def test_a_stopping_rule_and_an_elimination_have_holdout_people_too(make: Open) -> None:
    store = make(clock=at(ALL))
    rule = dpb.DPNAS(epsilon=1, alpha=0.3, beta=0.1, cap=1_000)
    mean = store.create("mean", rule, holdout=".5", noise=dpb.SimulatedNoise(1))
    asked = [mean.ask(user=user) for user in range(60)]
    mean.tell_many([(each, 1) for each in asked])
    mean.finish()
    assert [[each.what for each in mean[side].events()] for side in SIDES[:2]] == [["finish"], []]
    assert len(mean["holdout"].decisions().rows) + len(mean["policy"].decisions().rows) == 60
    best = store.create("best", dpb.DPSE(arms=2, epsilon=1, horizon=1_000), holdout=".5")
    assert {best.ask(user=user).campaign for user in range(30)} == {"best/policy", "best/holdout"}


def test_a_call_that_is_made_again_while_the_ramp_moves_gives_the_same(make: Open) -> None:
    """The other side answers between the look at the clock and the ask: as another worker would,
    whose clock is ahead.
    """
    clock = at(HALF)
    store = make(clock=clock)
    campaign = held(store)
    late = next(f"user {n}" for n in range(99) if campaign.side(f"user {n}") == "control")
    own = campaign["control"]._calls.host
    do, made = own.do, list[Any]()

    def overtaken(op: Any) -> Any:
        own.do, clock.now = do, ALL
        made.append(make(clock=clock)["trial"].ask(user=late, key="visit"))
        return do(op)

    own.do = overtaken
    again = campaign.ask(user=late, key="visit")
    assert [again.id] == [each.id for each in made]
    assert campaign["policy"].summary().asked == 1
    assert campaign["control"].summary().asked == 0
    with pytest.raises(ValueError, match="key"):
        campaign.ask(user="somebody else", key="visit")
