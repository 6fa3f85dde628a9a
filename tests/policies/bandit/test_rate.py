"""DPRateIMED: the leader among many arms, its arguments, and the growth of its batches."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.policies.base import IndexPolicy
from dpbandits.policies.formulas.schedules import slowing_batch
from dpbandits.policies.statistics import Statistics

ARMS = 60


def statistics(rng: np.random.Generator, arms: int) -> Statistics:
    """Released values of any size; many of them alike, and some at the ends or beyond."""
    rounds = rng.choice([1, 3, 32, 48, 10**4, 10**9], arms)
    kind = int(rng.integers(4))
    means = [
        rng.random(arms),
        np.round(rng.random(arms), 1),
        rng.normal(0.5, 3.0, arms),
        -rng.random(arms),
    ][kind]
    totals, counts = tuple((means * rounds).tolist()), tuple(rounds.tolist())
    draws = tuple(rng.integers(1, 9, arms).tolist())
    return Statistics(totals, counts, draws, counts, (0,) * arms, sum(counts))


@pytest.mark.parametrize("preset", dpb.DPRateIMED.presets)
@pytest.mark.parametrize("epsilon", ["1/1000", "1/10", 1, 20, 2000])
def test_the_leader_among_many_has_the_largest_score(epsilon: Any, preset: str) -> None:
    rng = np.random.default_rng(5)
    policy = dpb.DPRateIMED(arms=ARMS, epsilon=epsilon, preset=preset)
    for _ in range(100):
        s = statistics(rng, ARMS)
        assert policy.leader(s, s.t + 1) == IndexPolicy.leader(policy, s, s.t + 1)
        means = np.clip(np.array(s.totals) / np.array(s.rounds), 0.0, 1.0)
        bounds = policy.ceilings(s, means)
        assert np.all(bounds >= policy.scores(s, s.t + 1))


def test_few_scores_are_computed() -> None:
    """Of a thousand arms the bounds leave a handful: they are close to the scores."""
    rng = np.random.default_rng(1)
    policy, rounds = dpb.DPRateIMED(arms=1000, epsilon=1), (48,) * 1000
    totals = tuple((rng.normal(0.5, 0.1, 1000) * 48).tolist())
    s = Statistics(totals, rounds, (2,) * 1000, rounds, (0,) * 1000, 48_000)
    scores = policy.scores(s, 48_001)
    bounds = policy.ceilings(s, np.clip(np.array(totals) / 48, 0.0, 1.0))
    assert np.count_nonzero(bounds >= max(scores)) < 20


@pytest.mark.parametrize(("alpha", "first"), [(1.5, 64), (2.0, 32), (2.0, 1), (1.01, 7)])
def test_batches_grow_an_arm_by_less_and_less(alpha: float, first: int) -> None:
    """By alpha at first; the growth tends to 1, and there are O((ln n)^1.5) batches."""
    sizes = [slowing_batch(0, first, alpha)]
    while sizes[-1] < 10**12:
        sizes.append(sizes[-1] + slowing_batch(sizes[-1], first, alpha))
    assert sizes[0] == first
    assert sizes[1] == first + math.ceil((alpha - 1.0) * first)
    growth = np.array(sizes[1:], float) / np.array(sizes[:-1], float)
    large = growth[np.array(sizes[:-1]) > 1000 / (alpha - 1.0)]
    assert np.all(np.diff(large) < 0.01 * (alpha - 1.0))
    assert large[-1] < 1.0 + 0.25 * (alpha - 1.0)
    assert len(sizes) < first + 10 + 3.0 * (math.log(10**12) ** 1.5) / (alpha - 1.0)


def test_presets_give_way_to_arguments() -> None:
    policy = dpb.DPRateIMED(arms=3, epsilon=0.1, preset="safe", first=5, alpha=3, level=1)
    assert (policy.first, policy.alpha, policy.level) == (5, 3, 1)
    assert dpb.DPRateIMED(arms=3, epsilon="1/3").first == 96
    for name, (level, first, alpha, counted) in dpb.DPRateIMED.presets.items():
        policy = dpb.DPRateIMED(arms=3, epsilon=1, preset=name)
        assert (policy.level, policy.first, policy.alpha) == (level, first, alpha)
        assert policy.counted == counted
        assert policy.level >= 1


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"preset": "bold"}, "one of 'mean', 'balanced', 'safe'"),
        ({"level": 0.9}, "at least 1"),
        ({"level": math.nan}, "level"),
        ({"alpha": 1}, "alpha"),
        ({"first": 0}, "first"),
        ({"counted": 0}, "counted"),
    ],
)
def test_wrong_arguments_are_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        dpb.DPRateIMED(arms=2, epsilon=1, **wrong)
