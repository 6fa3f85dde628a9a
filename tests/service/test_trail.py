"""Beliefs over releases, rebuilt from stored answers, end with what is believed."""

from datetime import timedelta
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.checks import examples
from dpbandits.policies import POLICIES
from dpbandits.service import views
from dpbandits.service.campaign import Campaign
from tests.service.http.web import client_of
from tests.service.machine import Time
from tests.service.timelines import Lite, copy_file

RNG = np.random.default_rng(7)


def played(campaign: Campaign, rounds: int) -> None:
    """Ask and tell, one by one; users' devices stay silent."""
    policy = campaign.policy
    for _ in range(rounds):
        if policy.randomizer() is not None:
            campaign.ask(1)
            continue
        try:
            decision = campaign.ask()
        except RuntimeError:  # it is over
            return
        width = {"bandit": None, "full": policy.arms}.get(policy.about.feedback, 0)
        if width == 0:
            width = len(decision.observe or decision.action)
        campaign.tell(decision, (RNG.random(width) < 0.5) * 1.0)


def ends_with_beliefs(campaign: Campaign) -> bool:
    shown = [tuple(dict(row).values())[:5] for row in campaign.history()[-1].arms]
    return shown == [row[:5] for row in campaign.beliefs()]


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(POLICIES))
def test_every_policy_has_a_page(store: Any, name: str) -> None:
    campaign = store.create("trial", examples(name)[0])
    played(campaign, 40)
    answer = client_of(store).get("/v1/campaigns/trial/history")
    assert answer.status_code == 200, answer.text
    assert not campaign.history() or ends_with_beliefs(campaign)


def test_release_by_release_is_as_at_once(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "MOMENTS", 20)
    made: list[Any] = []
    for often in (False, True):
        campaign = store.create(f"{often}", dpb.HybridUCB(arms=2, epsilon=1), seed=1)
        for at in range(45):
            campaign.tell(campaign.ask(), at % 2)
            if often and at % 7 == 0:
                campaign.history()
        assert ends_with_beliefs(campaign)
        made.append([(moment.step, moment.arms) for moment in campaign.history()])
    assert made[0] == made[1]
    assert 10 < len(made[0]) <= 20
    assert made[0][-1][0] == 45


@pytest.mark.parametrize("policy", [dpb.DPKLUCB, dpb.HybridUCB])
def test_with_an_arm_that_was_added_and_after_a_fence(store: Any, policy: Any) -> None:
    campaign = store.create("trial", policy(arms=["a", "b"], epsilon=1), seed=1)
    played(campaign, 80)
    assert ends_with_beliefs(campaign)
    campaign.add_arm("c")
    played(campaign, 100)
    assert ends_with_beliefs(campaign)
    assert [row.label for row in campaign.history()[-1].arms] == ["a", "b", "c"]
    assert campaign.history()[-1].arms[2].people > 0
    campaign.fence()
    played(campaign, 150)
    assert campaign.generation == 2
    assert ends_with_beliefs(campaign)
    assert client_of(store).get("/v1/campaigns/trial/history").status_code == 200


def test_recent_decisions_by_arm(store: Any) -> None:
    campaign = store.create("trial", dpb.DPKLUCB(arms=["a", "b"], epsilon=1), seed=1)
    assert [row.decisions for row in campaign.recent().arms] == [0, 0]
    labels = [decision.label for decision in campaign.ask(30)]
    found = campaign.recent(10)
    assert (found.after, found.until) == (20, 30)
    assert [row.decisions for row in found.arms] == [labels[20:].count(arm) for arm in ("a", "b")]


def test_a_database_that_lost_answers_alone_is_read_anew(lite: Lite) -> None:
    """Its head does not say that somebody answered, where answers are waited for."""
    clock, policy = Time(), dpb.DPKLUCB(arms=2, epsilon=1, first=2)
    how: dict[str, Any] = {"attribution_window": timedelta(seconds=100), "seed": 1}
    how |= {"assignment": "planned", "noise": dpb.SimulatedNoise(1)}
    plain = dpb.Session(policy, clock=clock, **how)
    campaign = lite.open(clock=clock).create("trial", policy, **how)
    first, second = campaign.ask(2)
    plain.tell(plain.ask(2)[0], 1)
    campaign.tell(first, 1)
    copy = lite.copy()
    campaign.tell(second, 1)
    copy_file(copy, lite.file)  # put back while the store is open
    clock.now += 101
    campaign.settle()
    plain.settle()
    assert plain.releases == 1
    assert str(campaign.beliefs()) == str(plain.beliefs())
