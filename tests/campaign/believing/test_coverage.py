"""Intervals hold at all times at once, on every policy whose answers have means.

2,000 campaigns of each: the rewards of a quarter are classic, of a quarter clicks, of a quarter
close to 1, of a quarter random. False-alarm rate 10⁻⁶ for intervals of exactly 95 %.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import dpbandits as dpb
from dpbandits.session.beliefs import GROWTH, MeanReader
from dpbandits.checks import examples
from dpbandits.policies import POLICIES
from dpbandits.policies.contract import Policy
from tests.campaign.campaigns import campaign, missed, without_noise_terms

ALARM, DELTA = 1e-6, 0.05
CAMPAIGNS = 2000
INSTANCES = {
    name: policy
    for name in POLICIES
    for policy in examples(name)[:1]
    if MeanReader.of(policy).law is not None
}
RESTLESS = {name for name, policy in INSTANCES.items() if policy.about.every_round}
"""They release every round, so few rounds take long."""

LONGER = {"DPSE": 3000}
"""Rounds of policies whose first release takes long."""

QUICK = ("DPKLUCB", "AdaCUCB", "DPJointMAT", "HybridUCB", "LDPKLUCB")


def instance(arms: int, seed: int) -> Any:
    classic, clicks, high = np.linspace(0.8, 0.3, arms), 0.03, 0.99
    drawn = np.random.default_rng([seed, 6]).random(arms)
    return (
        classic,
        clicks * np.linspace(1.2, 1.0, arms),
        high + np.linspace(0.009, 0.0, arms),
        drawn,
    )[seed % 4]


def misses(policy: Policy, campaigns: int, rounds: int, noisy: bool = True) -> int:
    """In how many campaigns an interval misses at some time."""
    law = MeanReader.of(policy).law
    assert law is not None
    growth = GROWTH if law.redraws else 1.0  # then every row is looked at
    found = 0
    for seed in range(campaigns):
        means = instance(policy.arms, seed)
        history = campaign(policy, means, rounds, seed, growth)
        found += missed(history if noisy else without_noise_terms(history), means, DELTA)
    return found


def most(campaigns: int) -> int:
    """Misses that 95 % intervals exceed with probability below the false-alarm rate."""
    return int(binom.isf(ALARM, campaigns, DELTA))


@pytest.mark.parametrize("name", QUICK)
def test_a_few_campaigns(name: str) -> None:
    rounds = 40 if name in RESTLESS else 600
    assert misses(INSTANCES[name], 60, rounds) <= most(60)


@pytest.mark.hours
@pytest.mark.parametrize("name", INSTANCES)
def test_every_policy_is_covered_at_all_times(name: str) -> None:
    rounds = 40 if name in RESTLESS else LONGER.get(name, 300)
    found = misses(INSTANCES[name], CAMPAIGNS, rounds)
    print(f"{name}: {found} of {CAMPAIGNS}")
    assert found <= most(CAMPAIGNS)


def test_without_its_noise_terms_the_formula_misses() -> None:
    """The test has power: noise that is forgotten is found."""
    policy = dpb.DPKLUCB(arms=3, epsilon="1/10", first=40)
    assert misses(policy, 60, 600, noisy=False) > most(60)
    assert misses(policy, 60, 600) <= most(60)
