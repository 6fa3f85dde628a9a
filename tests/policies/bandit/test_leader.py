"""The leader among many arms, found by bounds on their indices, is that of all indices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.policies.base import IndexPolicy, Statistics, largest_below
from dpbandits.policies.cumulative import MANY, above_indices
from dpbandits.policies.formulas import indices


def statistics(rng: np.random.Generator, arms: int) -> Statistics:
    """Released values of any size; many of them alike, and some at the ends."""
    rounds = rng.choice([1, 3, 32, 48, 10**4, 10**9], arms)
    kind = int(rng.integers(3))
    means = [rng.random(arms), np.round(rng.random(arms), 1), rng.normal(0.5, 3.0, arms)][kind]
    totals, counts = tuple((means * rounds).tolist()), tuple(rounds.tolist())
    return Statistics(totals, counts, (1,) * arms, counts, (0,) * arms, sum(counts))


@pytest.mark.parametrize("preset", ["default", "robust"])
@pytest.mark.parametrize("epsilon", ["1/1000", "1/10", 1, 20, 2000])
def test_the_leader_has_the_largest_index(epsilon: Any, preset: str) -> None:
    rng = np.random.default_rng(5)
    policy = dpb.DPKLUCB(arms=MANY, epsilon=epsilon, preset=preset)
    for _ in range(100):
        s = statistics(rng, MANY)
        for t in (MANY + 1, s.t + 1, 2**62):
            assert policy.leader(s, t) == IndexPolicy.leader(policy, s, t)
            eps, level = float(policy.epsilon), indices.kl_level(math.log(t), policy.c)
            bounds = above_indices(np.array(s.totals), np.array(s.rounds), level, eps)
            assert np.all(bounds >= policy.scores(s, t))


def test_few_indices_are_computed() -> None:
    """Of a thousand arms alike in rounds, the bounds leave a handful."""
    rng, asked = np.random.default_rng(1), list[int]()
    rounds = np.full(1000, 48)
    totals, eps, level = rng.normal(0.5, 0.1, 1000) * rounds, 1.0, math.log(10**5)

    def index(arm: int) -> float:
        asked.append(arm)
        return indices.dp_klucb(float(totals[arm]) / 48, 48, level, eps)

    largest_below(above_indices(totals, rounds, level, eps), index)
    assert len(asked) < 20
