"""How the policies play: bases every round, the whole budget spent, noise far outside [0, 1], and
what is refused.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.checks.tape import random_tape
from dpbandits.policies import DPKLMAT, DPTSMAT, DPUCBMAT, OMM
from tests.policies.matroid.instances import EXACT, PRIVATE, SEVEN, SEVEN_MEANS, every, on_tape


@pytest.mark.parametrize("policy", every(SEVEN), ids=lambda p: p.name)
def test_loops_rank_and_ledger(policy: Any) -> None:
    """Both ways of playing: loops never, K elements every round, the whole budget spent, on lines
    of width K at ε/K each.
    """
    environment = dpb.Bernoulli(SEVEN_MEANS)
    fast = dpb.simulate(policy, environment, 800, runs=3)
    slow = on_tape(policy, random_tape(7, 800, 6), 800)
    for plays in (*fast.counts.reshape(-1, 7), *slow.plays):
        assert plays[6] == 0
    assert np.array_equal(slow.plays.sum(axis=1), 3 * np.arange(1, 801))
    assert np.array_equal(fast.counts.sum(axis=2), np.tile(3 * fast.checkpoints, (3, 1)))
    assert {e.width for e in slow.ledger} == {3}
    if policy.guarantee is None:
        assert {e.cost for e in slow.ledger} == {None}
    else:
        assert {e.cost for e in slow.ledger} == {Fraction(2, 3)}
        assert dpb.spent(slow.ledger) == policy.guarantee.cost == 2


@pytest.mark.parametrize("cls", PRIVATE, ids=lambda c: c.__name__)
def test_negative_indices_still_give_bases(cls: type[Any]) -> None:
    """At a tiny budget released means lie far outside [0, 1], on both sides."""
    given = {"first": 5} if cls is DPKLMAT else {}
    policy = cls(problem=SEVEN, epsilon="1/1000", **given)
    path = on_tape(policy, random_tape(7, 400, 6), 400)
    assert min(path.state.totals) < -100
    assert path.plays[-1].sum() == 1200
    assert min(path.plays[-1][:6]) >= 1
    fast = dpb.simulate(policy, dpb.Bernoulli(SEVEN_MEANS), 400, runs=4)
    assert np.all(fast.plays.sum(axis=1) == 1200)
    assert np.all(fast.plays[:, :6] >= 1)


@pytest.mark.parametrize("cls", [*EXACT, *PRIVATE], ids=lambda c: c.__name__)
def test_bad_input(cls: type[Any]) -> None:
    budget = {"epsilon": 1} if cls in PRIVATE else {}
    with pytest.raises(TypeError, match="semi-bandit"):
        cls(problem=dpb.TopKMax(arms=3, k=2), **budget)
    with pytest.raises(TypeError, match="problem="):
        cls(problem=[[1, 0], [0, 1]], **budget)
    with pytest.raises(ValueError, match="rank"):
        cls(problem=dpb.LinearMatroid([[0, 0], [0, 0]]), **budget)
    with pytest.raises(ValueError, match="arms"):
        dpb.simulate(cls(problem=SEVEN, **budget), dpb.Bernoulli([0.5, 0.5]), 10)
    if cls is DPKLMAT:
        for wrong in ({"first": 0}, {"first": 2.5}, {"alpha": 1}, {"epsilon": 0}):
            with pytest.raises(ValueError, match=next(iter(wrong))):
                cls(problem=SEVEN, **{"epsilon": 1} | wrong)


def test_bounds_are_about_pairs() -> None:
    """Σ over elements outside the best basis of the gap to the least better element in it; loops
    and ties count for nothing.
    """
    means = SEVEN_MEANS.tolist()
    least = [0.6 - 0.2, 0.6 - 0.3, 0.6 - 0.4]
    order = sum(math.log(1000) / gap for gap in least)
    omm = OMM(problem=SEVEN)
    assert omm.regret_order(means, 1000) == pytest.approx(order)
    bound = omm.regret_bound(means, 10**6)
    assert order < bound < 16 * sum(math.log(10**6) / gap for gap in least)
    log = math.log(3000)
    private = sum(log / gap + 3 * log / (2 / 3) for gap in least)
    assert DPUCBMAT(problem=SEVEN, epsilon=2).regret_order(means, 1000) == pytest.approx(private)
    second = log * sum(1 / gap for gap in (0.8 - 0.4, 0.75 - 0.4, 0.6 - 0.4))
    sampled = DPTSMAT(problem=SEVEN, epsilon=2).regret_order(means, 1000)
    assert sampled == pytest.approx(private + second)  # Theorem 4's second sum
    assert math.isnan(DPKLMAT(problem=SEVEN, epsilon=2).regret_bound(means, 1000))
