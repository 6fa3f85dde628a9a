"""A policy's people against holdout people: the difference holds at all times."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

import dpbandits as dpb
from dpbandits.session.beliefs import Belief, Beliefs, beliefs
from dpbandits.session.beliefs import Uplift, uplift_of
from tests.campaign.campaigns import campaign

ALARM, CAMPAIGNS = 1e-6, 60
NOTHING = Beliefs((Belief("a", 0, None, None, None, None),), 0.95, None, None)


def rows(*found: tuple[int, float, float, float]) -> Beliefs:
    made = tuple(
        Belief(str(at), people, mean, low, high, None)
        for at, (people, mean, low, high) in enumerate(found)
    )
    return Beliefs(made, 0.95, None, None)


def test_all_arms_count_by_their_people() -> None:
    policy = rows((30, 0.6, 0.5, 0.7), (10, 0.2, 0.0, 0.5))
    found = uplift_of(policy, rows((20, 0.25, 0.2, 0.3)), 0.9)
    assert found.policy[1:] == pytest.approx((40, 0.5, 0.375, 0.65))
    assert found.holdout[1:] == pytest.approx((20, 0.25, 0.2, 0.3))
    assert (found.mean, found.low, found.high) == pytest.approx((0.25, 0.075, 0.45))
    assert "higher at .9 confidence" in str(found)
    assert "lower at .9 confidence" in uplift_of(rows((20, 0.1, 0.0, 0.1)), policy, 0.9).advice
    assert "no difference" in uplift_of(policy, policy, 0.9).advice


def test_until_both_were_released_there_is_no_difference() -> None:
    for sides in ((NOTHING, rows((20, 0.25, 0.2, 0.3))), (rows((20, 0.2, 0.1, 0.3)), NOTHING)):
        found = uplift_of(*sides, confidence=0.95)
        assert (found.mean, found.low, found.high) == (None, None, None)
        assert found.policy.people + found.holdout.people == 20
        assert "nothing was released yet" in str(found)


def compared(seed: int, policy: dpb.Policy) -> tuple[Uplift, float]:
    """A campaign's uplift, and the true one: the mean of the arms that its people got, less that of
    the control.
    """
    means = np.random.default_rng([seed, 8]).random(3)
    own, others = campaign(policy, means, 600, seed), campaign(CONTROL, means[:1], 200, seed + 1000)
    both = 0.975
    found = uplift_of(beliefs(own, both), beliefs(others, both), 0.95)
    people = [arm.newest.rounds if arm.newest else 0 for arm in own.arms]
    return found, float(np.average(means, weights=people) - means[0])


CONTROL = dpb.DPKLUCB(arms=1, epsilon=1, first=16, alpha=2)


@pytest.mark.parametrize(
    "policy", [dpb.DPKLUCB(arms=3, epsilon=1, first=16), dpb.DPRateIMED(arms=3, epsilon=1)]
)
def test_the_difference_is_inside_its_interval(policy: dpb.Policy) -> None:
    """60 campaigns with rewards of 0 and 1; misses that 95 % intervals exceed with probability
    10⁻⁶.
    """
    missed = 0
    for seed in range(CAMPAIGNS):
        found, true = compared(seed, policy)
        assert found.low is not None
        assert found.high is not None
        missed += not found.low <= true <= found.high
    assert missed <= binom.isf(ALARM, CAMPAIGNS, 0.05)
