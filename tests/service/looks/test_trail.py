"""What was believed over releases, rebuilt from stored answers, ends with what is believed: for
every policy, after arms were added, and after a fence.
"""

from __future__ import annotations

import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.checks import examples
from dpbandits.policies import POLICIES
from dpbandits.service.campaign import Campaign
from dpbandits.service.views import MOMENTS
from tests.service.http.web import client_of
from tests.service.timelines import Lite

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
    history = campaign.history()
    return [tuple(dict(row).values())[:5] for row in history[-1].arms] == [
        row[:5] for row in campaign.beliefs()
    ]


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(POLICIES))
def test_every_policy_has_a_page(name: str) -> None:
    with dpb.open_store("memory:", noise=dpb.SimulatedNoise(1)) as store:
        campaign = store.create("trial", examples(name)[0])
        played(campaign, 40)
        answer = client_of(store).get("/v1/campaigns/trial/history")
        assert answer.status_code == 200, answer.text
        assert not campaign.history() or ends_with_beliefs(campaign)


def test_release_by_release_is_as_at_once() -> None:
    made: list[Any] = []
    for often in (False, True):
        with dpb.open_store("memory:", noise=dpb.SimulatedNoise(1)) as store:
            campaign = store.create("trial", dpb.HybridUCB(arms=2, epsilon=1), seed=1)
            for at in range(130):
                campaign.tell(campaign.ask(), at % 2)
                if often and at % 17 == 0:
                    campaign.history()
            assert ends_with_beliefs(campaign)
            kept = campaign.history()
            made.append([(moment.step, moment.arms) for moment in kept])
    assert made[0] == made[1]
    assert MOMENTS / 2 < len(made[0]) <= MOMENTS
    assert made[0][-1][0] == 130


def test_arms_that_were_added_are_in_it() -> None:
    with dpb.open_store("memory:", noise=dpb.SimulatedNoise(1)) as store:
        arms: Any = ["a", "b"]
        campaign = store.create("trial", dpb.DPKLUCB(arms=arms, epsilon=1), seed=1)
        played(campaign, 100)
        assert ends_with_beliefs(campaign)
        campaign.add_arm("c")
        played(campaign, 200)
        assert ends_with_beliefs(campaign)
        assert [row.label for row in campaign.history()[-1].arms] == ["a", "b", "c"]
        assert campaign.history()[-1].arms[2].people > 0


@pytest.mark.parametrize("policy", [dpb.DPKLUCB, dpb.HybridUCB])
def test_after_a_fence(policy: Any) -> None:
    with dpb.open_store("memory:", noise=dpb.SimulatedNoise(1)) as store:
        campaign = store.create("trial", policy(arms=2, epsilon=1), seed=1)
        played(campaign, 200)
        campaign.history()
        campaign.fence()
        played(campaign, 300)
        assert campaign.generation == 2
        assert ends_with_beliefs(campaign)
        assert client_of(store).get("/v1/campaigns/trial/history").status_code == 200


def test_recent_decisions_by_arm() -> None:
    with dpb.open_store("memory:", noise=dpb.SimulatedNoise(1)) as store:
        arms: Any = ["a", "b"]
        campaign = store.create("trial", dpb.DPKLUCB(arms=arms, epsilon=1), seed=1)
        assert [row.decisions for row in campaign.recent().arms] == [0, 0]
        labels = [decision.label for decision in campaign.ask(30)]
        found = campaign.recent(10)
        assert (found.after, found.until) == (20, 30)
        assert [row.decisions for row in found.arms] == [labels[20:].count(arm) for arm in arms]


# Where answers are waited for, whether somebody answered is as private as the answer: it is in no
# public table, and every process knows of it all the same


WINDOW = 100
POLICY = dpb.DPKLUCB(arms=2, epsilon=1, first=2)


class Now:
    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


OPTIONS: dict[str, Any] = {
    "attribution_window": timedelta(seconds=WINDOW),
    "assignment": "planned",
    "seed": 1,
}


def create(store: Any) -> Any:
    return store.create("trial", POLICY, noise=dpb.SimulatedNoise(1), **OPTIONS)


def session_of(now: Now) -> dpb.Session:
    """A session of which the same may be asked."""
    return dpb.Session(POLICY, noise=dpb.SimulatedNoise(1), clock=now, **OPTIONS)


def test_a_database_that_lost_answers_alone_is_read_anew(tmp_path: Path) -> None:
    """Its head is what it was, for it does not say that somebody answered."""
    now, lite = Now(), Lite(tmp_path)
    store, plain = lite.open(clock=now), session_of(now)
    campaign = create(store)
    first, second = campaign.ask(2)
    plain.tell(plain.ask(2)[0], 1)
    campaign.tell(first, 1)
    copy = sqlite3.connect(lite.copy(tmp_path / "copy.db"))
    campaign.tell(second, 1)
    live = sqlite3.connect(lite.file)
    copy.backup(live)  # put back while the store is open
    live.close()
    copy.close()
    now.seconds += WINDOW + 1
    campaign.settle()
    plain.settle()
    assert plain.releases == 1
    assert str(campaign.beliefs()) == str(plain.beliefs())
