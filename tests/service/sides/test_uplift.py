"""The uplift of a stored campaign, in the user's units."""

from __future__ import annotations

import pytest

import dpbandits as dpb
from tests.service.conftest import Open
from tests.service.sides.held import ALL, MEMORY_FIRST, at, held

pytestmark = MEMORY_FIRST


def test_the_policys_people_are_compared_with_holdout_people(make: Open) -> None:
    """Rewards are costs from 0 to 10: "b" costs 1 and the control arm 9."""
    store = make(clock=at(ALL))
    policy = dpb.DPKLUCB(arms=["a", "b"], epsilon=20, first=4)
    costs = dpb.Range(0, 10, minimise=True)
    campaign = held(store, policy=policy, holdout=".5", rewards=costs)
    first = campaign.uplift()
    assert (first.mean, first.policy.people, first.holdout.people) == (None, 0, 0)
    for start in (0, 60):
        asked = [campaign.ask(user=user) for user in range(start, start + 60)]
        campaign.tell_many([(each, 1 if each.label == "b" else 9) for each in asked])
    found = make(clock=at(ALL))["trial"].uplift(confidence=0.9)
    assert found.holdout.mean == pytest.approx(9, abs=0.5)
    own = campaign["policy"].beliefs(0.95)
    assert found.policy.people == sum(row.people for row in own)
    assert found.policy.low == pytest.approx(
        sum(row.people * (row.low or 0) for row in own) / found.policy.people
    )
    assert found.low < found.mean < found.high
    assert found.mean < 0  # what is saved
    assert found.holdout[1:] == (campaign["holdout"].beliefs(0.95)["a"][1:5])
    for wrong in (0, 1, "high"):
        with pytest.raises(ValueError, match="confidence"):
            campaign.uplift(wrong)
    with pytest.raises(ValueError, match="holdout="):
        held(store, "ramp", holdout=None).uplift()
