"""Campaigns with parts: segments, each of which learns for itself, and the sides of a holdout, of
which the policy's learns from its own people alone. A person counts over all of them.
"""

from datetime import timedelta
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.forecasting.forecast import ExpectedLoss
from dpbandits.service import creation, operations, views
from dpbandits.session.arms import Assignment
from dpbandits.session.statement import NEWEST
from tests.service.conftest import KEY, Open
from tests.service.http.web import client_of, remote
from tests.service.machine import Time
from tests.service.timelines import Lite

POLICY = dpb.DPKLUCB(arms=["a", "b"], epsilon=1, first=8)
PEOPLE: dict[str, Any] = {"privacy_unit": "user", "max_contributions": 2}
SIDES, SEGMENTS = ("policy", "holdout"), ["DE", "FR"]
PARTS = [{"segments": SEGMENTS}, {"holdout": ".5"}]


def held(store: Any, **options: Any) -> Any:
    how = {"policy": POLICY, "holdout": ".3", **options}
    return store.create("trial", noise=dpb.SimulatedNoise(1), seed=1, **how)


def on(campaign: Any, side: str, many: int = 1) -> list[int]:
    """So many people of a side."""
    return [user for user in range(1_000) if campaign.side(user) == side][:many]


# What there cannot be


def test_segments_that_are_none_and_those_that_were_not_declared(store: Any) -> None:
    many = [f"{at}" for at in range(1_001)]
    for wrong in ([], ["DE", "DE"], "DE", [1], [""], 7, ["x" * 100, "y" * 196], many):
        with pytest.raises(ValueError, match=r"segment"):
            store.create("trial", POLICY, segments=wrong)
    assert list(store) == []
    campaign = store.create("trial", POLICY, segments=SEGMENTS)
    for wrong in (None, "ES", 3):
        with pytest.raises(ValueError, match="'DE', 'FR'"):
            campaign.ask(segment=wrong)
    own, other = campaign["FR"], {"segment": "DE"}
    for call in (own.ask, own.pending, lambda **part: own.record("a", (3, 1), key="x", **part)):
        with pytest.raises(ValueError, match="no segment= of the segment 'FR', got 'DE'"):
            call(**other)
    assert own.ask(segment="FR").campaign == "trial/FR"
    assert (campaign.summary().asked, campaign["DE"].summary().asked) == (1, 0)
    for options in ({}, {"segments": SEGMENTS}):
        with pytest.raises(dpb.NameTakenError):
            store.create("trial", POLICY, **options)


def test_holdouts_that_there_cannot_be(store: Any) -> None:
    wrong: list[tuple[Any, dict[str, Any], str]] = [
        (POLICY, {"segments": ["DE"]}, "not both"),
        (POLICY, {"holdout": None, "control": "a"}, "give holdout="),
        (POLICY, {"control": "c"}, "one of the arms"),
        (POLICY, {"holdout": 1}, "below 1"),
        (POLICY, {"sticky": True, "period": timedelta(days=1)}, "first visits"),
        (dpb.KLUCB(arms=2), {}, "epsilon"),
        (dpb.LDPUCB(arms=2, epsilon=1), {}, "central model"),
        (dpb.RNMFTNL(actions=2, epsilon=1), {}, "play one arm"),
    ]
    for policy, options, words in wrong:
        with pytest.raises(ValueError, match=words):
            store.create("trial", policy, **{"holdout": 0.1, **options})
    assert list(store) == []


@pytest.mark.parametrize("more", [{}, *PARTS], ids=str)
def test_more_arms_are_refused(store: Any, more: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Than 10,000, and here 100, so that calls do not take long."""
    for module in (creation, operations):
        monkeypatch.setattr(module, "MOST_ARMS", 100)
    most = 100 // len(more.get("segments", [1]))
    with pytest.raises(ValueError, match=r"at most 100 arms.*Nothing was created"):
        store.create("c", dpb.DPKLUCB(arms=most + 1, epsilon=1), **more)
    assert list(store) == []
    campaign = store.create("c", dpb.DPKLUCB(arms=most - 1, epsilon=1), **more)
    assert campaign.add_arm(by="me", key="last") == most - 1
    with pytest.raises(ValueError, match=r"no more can be added.*Nothing was changed"):
        campaign.add_arm()
    assert campaign.add_arm(by="me", key="last") == most - 1, "the first reply, once more"
    assert f"add arm {most - 1} by me." in campaign.statement()


# Holdouts


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


def test_what_is_done_to_arms_people_and_the_campaign(store: Any) -> None:
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
    campaign.tell_many([(each, 1) for each in asked[:20]])
    with pytest.raises(ValueError, match="one of the arms"):
        campaign.close("enough", winner="d")
    campaign.fence()
    assert {campaign[side].generation for side in SIDES} == {2}
    assert {campaign.tell(each, 1) for each in asked[20:]} == {"gone"}
    with pytest.raises(TypeError, match="stopping rule"):
        campaign.finish()
    early = [campaign.ask(user=user, key=f"of {user}") for user in range(60, 66)]
    for _ in range(2):
        campaign.close("enough", winner="c", by="ada")  # which holdout people never saw
    said = " ".join(campaign["policy"].statement().split())
    assert "Who did what, as they said: retire arm b by me; closed by ada." in said
    for user in (*(on(campaign, side)[0] for side in SIDES), None, " "):
        assert campaign.ask(user=user).label == "c"
    assert [campaign.ask(user=user, key=f"of {user}") for user in range(60, 66)] == early


def test_a_statement_says_that_it_names_the_newest_changes_only(store: Any) -> None:
    campaign = store.create("c", POLICY)
    for _ in range(NEWEST // 2):
        campaign.pause_arm("b", by="me")
        campaign.resume_arm("b", by="me")
    said = " ".join(campaign.statement().split())
    assert f"Who did what, of the newest {NEWEST} changes, as they said: " in said
    assert said.count("by me") == NEWEST


def test_who_is_asked_for_has_to_be_said(store: Any, lite: Lite) -> None:
    campaign = held(store)
    with pytest.raises(ValueError, match="user="):
        campaign.ask()
    for eligible in (["a"], [0], np.array([0]), [np.int64(0)]):
        assert campaign.ask(user="anna", eligible=eligible).label == "a"
    assert campaign.summary().asked == 4
    with pytest.raises(ValueError, match="does not know its people"):
        campaign.erase("anna")
    with pytest.raises(ValueError, match="store with a key"):
        held(lite.open(key=None))


def test_a_guardrail_and_an_attribution_window_hold_on_both_sides() -> None:
    clock = Time()
    campaign = held(
        dpb.open_store("memory:", key=KEY, clock=clock),
        control="b",
        guardrail=dpb.Guardrail("refunds", limit=0.2),
        attribution_window=timedelta(hours=1),
        policy=dpb.DPKLUCB(arms=["a", "b"], epsilon=8),
    )
    for round in range(4):
        asked = [campaign.ask(user=f"{round} {user}") for user in range(40)]
        told = campaign.tell_many([(each, (float(each.label == "b"),) * 2) for each in asked])
        assert set(told) == {"recorded"}
        clock.now += 7_200
        campaign.settle()
    assert [each.what for each in campaign["policy"].alarms] == ["suspend"]
    assert {each.what for each in campaign["holdout"].alarms} == {"alarm"}


ONCE: dict[str, Any] = {"privacy_unit": "user", "max_contributions": 1}
ALL = Assignment(shuffled=True, min_share=0.1)
SINGLE = Assignment(True, 0.0, ((1, 0.1),))


@pytest.mark.parametrize(
    ("options", "last", "is_known", "least"),
    [
        ({}, None, True, None),
        (PEOPLE, None, True, None),
        ({"min_share": 0.1, "assignment": "shuffled"}, None, True, ALL),
        ({"min_share": {"b": 0.1}}, None, True, SINGLE),
        ({"min_share": 0.1, "period": timedelta(days=1)}, None, False, None),
        ({**PEOPLE, "sticky": True}, None, False, None),
        ({**ONCE, "sticky": True}, None, True, None),
        ({**ONCE, "window": timedelta(days=1), "sticky": True}, None, False, None),
        ({}, {"eligible": ["a"]}, False, None),
        ({}, "batch", False, None),
        ({"guardrail": dpb.Guardrail("refunds", 0.9)}, None, False, None),
        ({}, "pause", False, None),
        ({}, "drop", True, None),
    ],
)
def test_a_loss_is_that_of_the_policy_s_own_choices(
    store: Any, options: Any, last: Any, is_known: bool, least: Any, monkeypatch: Any
) -> None:
    said, simulated = ExpectedLoss(60, 1.0, 0.5, 0.1, 3), list[Any]()

    def noted(*of: Any) -> ExpectedLoss:
        simulated.append(of[4])
        return said._replace(people=of[2])

    monkeypatch.setattr(views, "expected_loss", noted)
    campaign = store.create("trial", POLICY, noise=dpb.SimulatedNoise(1), seed=1, **options)
    known = dict[str, Any]()
    for user in range(60):
        known = {"user": user} if "privacy_unit" in options else {}
        campaign.tell(campaign.ask(**known), (1.0, 0.0) if "guardrail" in options else 1.0)
    for _ in range(2):
        campaign.ask(**known)  # is not learned from: it gives no answer, or is beyond the cap
    if last == "batch":
        campaign.record("b", [1.0], key="1")
    elif last == "pause":
        campaign.pause_arm("b")
        campaign.resume_arm("b")
    elif last == "drop":
        campaign.drop_open()
    elif last is not None:
        campaign.ask(**last)
    campaign.close("enough", winner="a")
    campaign.ask(**known)  # gets the winner
    assert campaign.expected_loss() == (said if is_known else None)
    assert simulated == [least] * is_known


def test_the_policy_s_people_are_compared_with_holdout_people(
    make: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rewards are costs from 0 to 10: "b" costs 1 and the control arm 9."""

    def simulated(_: Any, rows: list[Any], people: int, rewards: Any, __: Any) -> ExpectedLoss:
        return ExpectedLoss(people, sum(row.mean for row in rows), rewards.high, 0.1, 3)

    monkeypatch.setattr(views, "expected_loss", simulated)
    costs, store = dpb.Range(0, 10, minimise=True), make()
    policy = dpb.DPKLUCB(arms=["a", "b"], epsilon=20, first=4)
    people = {"privacy_unit": "user", "max_contributions": 2}
    campaign = held(store, policy=policy, holdout=".5", rewards=costs, **people)
    first = campaign.uplift()
    assert (first.mean, first.policy.people, first.holdout.people) == (None, 0, 0)
    far = remote(client_of(store))["trial"]
    asked = [far.ask(user=user) for user in range(120)]
    far.tell_many([(each, 1 if each.label == "b" else 9) for each in asked])
    found = make()["trial"].uplift(confidence=0.9)
    assert found == far.uplift(0.9)
    assert "Outcomes of one person may count repeatedly" in str(found)
    assert far.lift().parts == campaign.lift().parts
    assert found.holdout.mean == pytest.approx(9, abs=0.5)
    assert found.policy.people == sum(row.people for row in campaign["policy"].beliefs(0.95))
    row = campaign["holdout"].beliefs(0.85)[0]  # an arm has a third of the failures, a side half
    assert found.holdout[1:] == pytest.approx(row[1:5])
    assert found.low < found.mean < min(found.high, 0)  # what is saved
    loss = campaign["policy"].expected_loss()
    assert (loss.people, loss.privacy) == (campaign["policy"].summary().asked, 10)
    assert far.expected_loss() == loss
    assert far["holdout"].expected_loss() is None
    for wrong in (0, 1, "high"):
        with pytest.raises(ValueError, match="confidence"):
            campaign.uplift(wrong)
    one_side = client_of(store).get("/v1/campaigns/trial/uplift?segment=policy")
    assert (one_side.status_code, one_side.json()["code"]) == (422, "whole_needed")
    assert found.advice.split(":")[0] not in campaign.statement()
    page = " ".join(far.participant_text().split())
    assert "A share of 0.5 of people, drawn by lot, gets one option all the time" in page
    campaign.close("enough")
    said = " ".join(far.statement().split())
    assert f"{campaign.uplift().advice} These intervals hold" in said
    assert said.endswith(found.caution)


@pytest.mark.parametrize("parts", PARTS, ids=str)
def test_a_page_for_participants_names_the_campaign_and_no_part(store: Any, parts: Any) -> None:
    """It named one where a line ended after the name."""
    for name in ("trial", "x" * 55, "x" * 76):
        page = " ".join(store.create(name, POLICY, **parts).participant_text().split())
        assert f"Name of the trial: {name}. " in page
        assert ("such as DE, FR. Which" in page) is ("segments" in parts)


# Copies that are put back


@pytest.mark.parametrize("parts", PARTS, ids=str)
def test_a_copy_put_back_fences_every_part_though_one_alone_was_read(
    lite: Lite, parts: Any
) -> None:
    """Ann is learned from no more, nor is anybody in the other part, which lost nothing."""
    with lite.open() as store:
        how = {**PEOPLE, "max_contributions": 1, "holdout": None, **parts}
        campaign = held(store, **how)
        names = SEGMENTS if "segments" in parts else SIDES
        read, other = names[::-1] if "segments" in parts else names
        people = [user for user in range(200) if "segments" in parts or campaign.side(user) == read]

        def where(name: str) -> dict[str, Any]:
            return {"segment": name} if "segments" in parts else {}

        waiting = campaign.ask(user=people[-1], **where(other))
        copy = lite.copy()
        for user in people[:40]:
            campaign.tell(campaign.ask(user=user, **where(read)), 1)
        assert campaign[read].summary().step > 0
        assert campaign[other].summary().step == 0
    lite.put_back(copy)
    again = lite.open()["trial"]
    assert not again.ask(user=people[0], **where(other)).learn
    assert [again[name].generation for name in names] == [2, 2]
    assert again.tell(waiting, 1) == "gone"
    assert not again.ask(user=people[0], **where(read)).learn
    assert again.tell(again.ask(user="new", **where(other)), 1) == "recorded"


@pytest.mark.parametrize("window", [None, timedelta(days=3)])
def test_sides_are_not_compared_over_periods_before_the_end(window: Any) -> None:
    """Where a rate rose, the side whose newest people were read came out ahead."""
    clock = Time()
    how: dict[str, Any] = {"min_share": 0.1, "period": timedelta(days=7), "holdout": ".3"}
    how["attribution_window"] = window
    policy = dpb.DPRateIMED(arms=["old", "new"], epsilon=2, grid=1)
    store = dpb.open_store("memory:", key=KEY, clock=clock)
    sale = store.create("sale", policy, seed=1, **how)
    for week in range(2):
        for visitor in range(60):
            sale.tell(sale.ask(user=f"{week} {visitor}"), float(week))
        clock.now += 7 * 86_400
    found = sale.uplift()
    assert (found.mean, found.low, found.high) == (None, None, None)
    assert "once the campaign is closed" in found.advice
    sale.tell(sale.ask(user="last"), 1.0)
    sale.close("enough")
    assert (sale.uplift().mean is None) is (window is not None)
    clock.now += 3 * 86_400
    sale.settle()
    assert sale.uplift().mean is not None
