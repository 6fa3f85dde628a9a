"""A database that was put back, of a campaign whose arms came and went."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpbandits as dpb
from tests.service.timelines import Lite, create, turns


@pytest.mark.parametrize("named", [True, False])
def test_a_policy_begins_anew_with_the_arms_that_joined(tmp_path: Path, named: bool) -> None:
    """Its first rows know fewer arms: the campaign took no call any more."""
    lite = Lite(tmp_path)
    policy = dpb.HybridUCB(arms=["a", "b"] if named else 2, epsilon=1)
    with lite.open() as store:
        campaign = create(store, policy)
        campaign.add_arm("new" if named else None)
        campaign.add_arm("newer" if named else None)
        campaign.retire_arm("b" if named else 1)
        turns(campaign, 12)
        copy = lite.copy(lite.file.with_name("copy.db"))
        turns(campaign, 40)
    lite.put_back(copy)
    campaign = lite.open()["c"]
    assert campaign.generation == 2
    arms = ("a", "b", "new", "newer") if named else (0, 1, 2, 3)
    status = ("active", "retired", "active", "active")
    assert campaign.arms == tuple(zip(arms, status, strict=True))
    asked = turns(campaign, 40)
    assert {each.action for each in asked} == {0, 2, 3}
    campaign.add_arm("newest" if named else None)
    turns(campaign, 10)
    assert lite.open()["c"].summary().asked == 62
