"""Campaigns with holdout people: the policy learns from its own people alone."""

from __future__ import annotations

import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from tests.service.conftest import KEY, Open
from tests.service.http.web import client_of, remote
from tests.service.machine import Time

POLICY = dpb.DPKLUCB(arms=["a", "b"], epsilon=1, first=8)
PEOPLE = {"privacy_unit": "user", "max_contributions": 2}
SIDES = ("policy", "holdout")


def held(store: Any, name: str = "trial", **options: Any) -> Any:
    options = {"policy": POLICY, "holdout": ".3", **options}
    return store.create(name, noise=dpb.SimulatedNoise(1), seed=1, **options)


def on(campaign: Any, side: str, many: int = 1) -> list[int]:
    """So many people of a side."""
    return [user for user in range(1_000) if campaign.side(user) == side][:many]


def test_the_policy_decides_as_if_it_had_never_seen_the_others(make: Open) -> None:
    """Decision for decision and release for release, with the same seeds."""
    store = make()
    campaign = held(store)
    alone = store.create("alone", POLICY, noise=dpb.SimulatedNoise(1), seed=1)
    for user in range(120):
        found, reward, side = campaign.ask(user=user), (user * 7 % 11) / 10, campaign.side(user)
        assert found.campaign == f"trial/{side}"
        if side == "policy":
            wanted = alone.ask()
            same = {"id", "campaign"}
            assert found.model_dump(exclude=same) == wanted.model_dump(exclude=same)
            assert alone.tell(wanted, reward) == "recorded"
        else:
            assert found.label == "a"
        assert campaign.tell(found.id, reward) == "recorded"
    own = make()["trial"]["policy"]
    assert [each.answers for each in own.releases()] == [e.answers for e in alone.releases()]
    assert own.ledger == alone.ledger
    assert own.ledger


def test_the_guarantee_is_that_of_one_side_and_a_scope_pays_it_once(make: Open) -> None:
    store = make()
    store.scope("people", epsilon=1)
    campaign = held(store, scope="people", holdout=".5")
    assert store.scope("people").left == 0
    asked = [each for user in range(60) for each in campaign.ask(4, user=user)]
    campaign.tell_many([(each, 1) for each in asked])
    again = make()["trial"]
    assert again.spent == again["holdout"].spent == again["policy"].spent == 1
    assert again.guarantee == again["policy"].guarantee == again["holdout"].guarantee
    assert again.segments == SIDES
    assert again.statement().count("PRIVACY STATEMENT") == 2
    assert list(make()) == ["trial"]


def test_what_is_done_to_arms_people_and_the_campaign() -> None:
    store = dpb.open_store("memory:", key=KEY)
    campaign = held(store, **PEOPLE)
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
    for side in SIDES:
        (user,) = on(campaign, side)
        pending = campaign.ask(user=user)
        assert campaign.erase(user) == 1
        assert campaign.tell(pending, 1) == "gone"
        assert not campaign.ask(user=user).learn
        with pytest.raises(ValueError, match="not chosen"):
            campaign[side].ask(user=user)
        with pytest.raises(ValueError, match="whole campaign"):
            campaign[side].pause_arm("c")
    asked = [campaign.ask(user=user) for user in range(60)]
    campaign.fence()
    assert {campaign[side].generation for side in SIDES} == {2}
    assert {campaign.tell(each, 1) for each in asked} == {"gone"}
    with pytest.raises(TypeError, match="stopping rule"):
        campaign.finish()
    campaign.close("enough")
    for side in SIDES:
        with pytest.raises(dpb.ClosedError):
            campaign.ask(user=on(campaign, side)[0])


@pytest.mark.parametrize(
    ("policy", "options", "words"),
    [
        (POLICY, {"holdout": 0.1, "segments": ["DE"]}, "not both"),
        (POLICY, {"control": "a"}, "give holdout="),
        (POLICY, {"holdout": 0.1, "control": "c"}, "one of the arms"),
        (POLICY, {"holdout": 1}, "below 1"),
        (POLICY, {"holdout": 0.1, "sticky": True, "period": timedelta(days=1)}, "first visits"),
        (dpb.KLUCB(arms=2), {"holdout": 0.1}, "epsilon"),
        (dpb.LDPUCB(arms=2, epsilon=1), {"holdout": 0.1}, "central model"),
        (dpb.RNMFTNL(actions=2, epsilon=1), {"holdout": 0.1}, "play one arm"),
    ],
)
def test_what_no_campaign_can_be_made_of(policy: Any, options: Any, words: str) -> None:
    store = dpb.open_store("memory:", key=KEY)
    with pytest.raises(ValueError, match=words):
        store.create("trial", policy, **options)
    assert list(store) == []


def test_asks_that_are_refused_and_taken() -> None:
    campaign = held(dpb.open_store("memory:", key=KEY))
    for options, words in (
        ({}, "user="),
        ({"user": "anna", "segment": "policy"}, "not chosen"),
        ({"user": "anna", "eligible": ["b"]}, "control arm"),
        ({"user": 1.5}, "user"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            campaign.ask(**options)
    assert campaign.summary().asked == 0
    for eligible in (["a"], [0], np.array([0]), [np.int64(0)]):
        assert campaign.ask(user="anna", eligible=eligible).label == "a"
    with pytest.raises(ValueError, match="does not know its people"):
        campaign.erase("anna")


def test_without_the_store_s_key_nobody_is_on_a_side(tmp_path: Path, opened: list[Any]) -> None:
    keyless = dpb.open_store(f"sqlite:///{tmp_path}/t.db", witness=tmp_path / "w")
    opened.append(keyless)
    with pytest.raises(ValueError, match="store with a key"):
        held(keyless)


def test_a_guardrail_and_an_attribution_window_hold_on_both_sides(make: Open) -> None:
    clock = Time()
    campaign = held(
        make(clock=clock),
        control="b",
        guardrail=dpb.Guardrail("refunds", limit=0.2),
        attribution_window=timedelta(hours=1),
        policy=dpb.DPKLUCB(arms=["a", "b"], epsilon=8),
    )
    for round in range(4):
        asked = [campaign.ask(user=f"{round} {user}") for user in range(80)]
        told = campaign.tell_many([(each, (float(each.label == "b"),) * 2) for each in asked])
        assert set(told) == {"recorded"}
        clock.now += 7_200
        campaign.settle()
    assert [each.what for each in campaign["policy"].alarms] == ["suspend"]
    assert {each.what for each in campaign["holdout"].alarms} == {"alarm"}


def test_the_policy_s_people_are_compared_with_holdout_people(make: Open) -> None:
    """Rewards are costs from 0 to 10: "b" costs 1 and the control arm 9."""
    costs = dpb.Range(0, 10, minimise=True)
    policy = dpb.DPKLUCB(arms=["a", "b"], epsilon=20, first=4)
    campaign = held(make(), policy=policy, holdout=".5", rewards=costs)
    first = campaign.uplift()
    assert (first.mean, first.policy.people, first.holdout.people) == (None, 0, 0)
    asked = [campaign.ask(user=user) for user in range(120)]
    campaign.tell_many([(each, 1 if each.label == "b" else 9) for each in asked])
    found = make()["trial"].uplift(confidence=0.9)
    assert found.holdout.mean == pytest.approx(9, abs=0.5)
    assert found.policy.people == sum(row.people for row in campaign["policy"].beliefs(0.95))
    assert found.low < found.mean < min(found.high, 0)  # what is saved
    for wrong in (0, 1, "high"):
        with pytest.raises(ValueError, match="confidence"):
            campaign.uplift(wrong)


def test_over_http() -> None:
    with dpb.open_store("memory:", key=KEY, noise=dpb.SimulatedNoise(1)) as store:
        campaign = held(store, control="b", policy=dpb.DPKLUCB(arms=["a", "b"], epsilon=8))
        client = client_of(store)
        far = remote(client)["trial"]
        asked = [far.ask(user=user) for user in range(300)]
        assert far.tell_many([(each, 1.0) for each in asked]) == ["recorded"] * 300
        assert {each.campaign for each in asked} == {"trial/policy", "trial/holdout"}
        assert far.uplift(0.9) == campaign.uplift(0.9)
        assert far.uplift().holdout.people > 0
        assert far["holdout"].ledger == campaign["holdout"].ledger
        assert far.statement() == campaign.statement()
        assert far.expected_loss() == campaign["policy"].expected_loss() is not None
        assert far["holdout"].expected_loss() is None
        for body in ({}, {"user": "a", "segment": "policy"}, {"user": "a", "eligible": ["a"]}):
            assert client.post("/v1/campaigns/trial/ask", json=body).status_code == 422


def test_who_met_the_policy_in_a_lost_timeline_is_not_read_again(
    tmp_path: Path, opened: list[Any]
) -> None:
    """In the copy no side was read; in the timeline that was lost the policy's people were."""

    def opener() -> Any:
        store = dpb.open_store(f"sqlite:///{tmp_path}/t.db", witness=tmp_path / "w", key=KEY)
        opened.append(store)
        return store

    store = opener()
    campaign = held(store, **{**PEOPLE, "max_contributions": 1})
    pending = campaign.ask(user=1)
    store.close()
    shutil.copy(tmp_path / "t.db", tmp_path / "copy.db")
    campaign = opener()["trial"]
    met = on(campaign, "policy", 40)
    campaign.tell_many([(campaign.ask(user=user), 1) for user in met])
    assert campaign["policy"].summary().step > 0
    assert campaign["holdout"].summary().step == 0
    opened[-1].close()
    shutil.copy(tmp_path / "copy.db", tmp_path / "t.db")
    again = opener()["trial"]
    assert not again.ask(user=met[0]).learn
    assert [again[side].generation for side in SIDES] == [2, 2]
    assert again.tell(pending, 1) == "gone"
    assert not again.ask(user=on(again, "holdout")[0]).learn  # nobody knows who was read
