"""Options and asks that a campaign with holdout people refuses, each in a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.service.database import Database
from dpbandits.service.store import CampaignStore
from dpbandits.service.witness import Witness
from tests.service.conftest import KEY

POLICY = dpb.DPKLUCB(arms=["a", "b"], epsilon=1)


def store() -> CampaignStore:
    return CampaignStore(Database("memory:"), Witness(None), key=KEY)


@pytest.mark.parametrize(
    ("policy", "options", "words"),
    [
        (POLICY, {"holdout": 0.1, "segments": ["DE"]}, "not both"),
        (POLICY, {"control": "a"}, "give holdout= or ramp="),
        (POLICY, {"holdout": 0.1, "control": "c"}, "one of the arms"),
        (POLICY, {"holdout": 1}, "below 1"),
        (POLICY, {"ramp": "tomorrow"}, "pairs of a date"),
        (dpb.KLUCB(arms=2), {"holdout": 0.1}, "epsilon"),
        (dpb.LDPUCB(arms=2, epsilon=1), {"holdout": 0.1}, "central model"),
        (dpb.RNMFTNL(actions=2, epsilon=1), {"ramp": [("2026-12-01", 1)]}, "play one arm"),
    ],
)
def test_what_no_campaign_can_be_made_of(
    policy: dpb.Policy, options: dict[str, Any], words: str
) -> None:
    found = store()
    with pytest.raises(ValueError, match=words):
        found.create("trial", policy, **options)
    assert list(found) == []


def test_a_ramp_needs_no_epsilon_for_nothing_is_released_of_the_others() -> None:
    campaign: Any = store().create("trial", dpb.KLUCB(arms=2), ramp=[("2999-12-01", 1)])
    assert not campaign.ask(user="anna").learn
    assert campaign.guarantee is None


def test_asks_that_do_not_say_for_whom_or_choose_a_side() -> None:
    campaign: Any = store().create("trial", POLICY, holdout=0.1)
    for options, words in (
        ({}, "user="),
        ({"user": "anna", "segment": "policy"}, "not chosen"),
        ({"user": "anna", "eligible": ["b"]}, "control arm 'a'"),
        ({"user": "anna", "eligible": "a"}, "list of arms"),
        ({"user": "anna", "key": ""}, "key"),
        ({"user": 1.5}, "own name"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            campaign.ask(**options)
    for side in ("policy", "holdout"):
        with pytest.raises(ValueError, match="not chosen"):
            campaign[side].ask(user="anna")
    assert campaign.summary().asked == 0
    assert campaign.ask(user="anna", eligible=["a"]).label == "a"
    assert campaign.ask(user="anna", eligible=[0]).label == "a"
    assert campaign.ask(user="anna", eligible=np.array([0])).label == "a"
    assert campaign.ask(user="anna", eligible=[np.int64(0)], key="again").label == "a"
    with pytest.raises(ValueError, match="does not know its people"):
        campaign.erase("anna")
