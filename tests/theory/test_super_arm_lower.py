"""The lower bound on listed super arms: a convex program against closed forms, and a direct
solver.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

import dpbandits as dpb
from dpbandits.policies.formulas.indices import d_eps, kl
from dpbandits.policies.super_arm_bounds import lower_constant
from dpbandits.theory import (
    lai_robbins,
    matroid_lower_bound,
    private_lower_bound,
    super_arm_lower_bound,
)

MEANS = (0.8, 0.7, 0.5, 0.45, 0.3, 0.2)
ENV = dpb.Bernoulli(MEANS)
EPSILONS = (None, 0.3, 2.0)


def distance(x: float, y: float, epsilon: float | None) -> float:
    return kl(x, y) if epsilon is None else d_eps(x, y, epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_lists_of_special_sets_have_their_closed_forms(epsilon: float | None) -> None:
    """All pairs are a matroid's bases, single arms a plain bandit, and disjoint paths of equal arms
    have Δ/(K d(μ, μ + Δ/K)) each.
    """
    pairs = dpb.ExplicitSet(list(combinations(range(6), 2)))
    matroid = matroid_lower_bound(dpb.UniformMatroid(arms=6, rank=2), ENV, 10**9, epsilon)
    assert super_arm_lower_bound(pairs, ENV, 10**9, epsilon) == pytest.approx(matroid, rel=1e-3)
    single = dpb.ExplicitSet([(arm,) for arm in range(6)])
    plain = lai_robbins(ENV, 10**9) if epsilon is None else private_lower_bound(ENV, 10**9, epsilon)
    assert super_arm_lower_bound(single, ENV, 10**9, epsilon) == pytest.approx(plain, rel=1e-3)
    paths = dpb.ExplicitSet([(0, 1, 2), (3, 4, 5)])
    each = 0.6 / (3 * distance(0.3, 0.5, epsilon))
    assert lower_constant(paths, (0.5,) * 3 + (0.3,) * 3, epsilon) == pytest.approx(each, rel=1e-3)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_two_wrong_sets_that_share_an_arm(epsilon: float | None) -> None:
    """A direct search over plays of both, with the cheapest alternatives on a fine grid, has the
    same least cost; the program's is not above it.
    """
    sets, means = dpb.ExplicitSet([(0, 1), (0, 2), (3, 4)]), (0.4, 0.3, 0.2, 0.5, 0.5)
    grid = np.linspace(0.4, 1.0, 601)

    def least(gap: float, other: float) -> np.ndarray:
        """Pairs of distances of alternatives that raise arm 0 and one other by the gap."""
        pairs = [(a, other + gap - (a - 0.4)) for a in grid if other <= other + gap - (a - 0.4) < 1]
        return np.array(
            [[distance(0.4, a, epsilon), distance(other, b, epsilon)] for a, b in pairs]
        )

    first, second = least(0.3, 0.3), least(0.4, 0.2)

    def slack(x: np.ndarray) -> np.ndarray:
        shared = x.sum()
        return np.array(
            [
                (first @ [shared, x[0]]).min() - 1.0,
                (second @ [shared, x[1]]).min() - 1.0,
            ]
        )

    found = min(
        minimize(
            lambda x: 0.3 * x[0] + 0.4 * x[1],
            start,
            constraints={"type": "ineq", "fun": slack},
            bounds=[(0.0, None)] * 2,
        ).fun
        for start in ([20.0, 5.0], [5.0, 20.0], [30.0, 30.0])
    )
    assert lower_constant(sets, means, epsilon) == pytest.approx(found, rel=3e-3)


def test_public_arms_cost_their_number_of_sets() -> None:
    """Below what any policy of ours loses, above what one wrong set alone costs, and rising with
    privacy; the policy's bound at T is at most the worst set's regret.
    """
    sets = [[0, 1, own] for own in range(2, 12)] + [[12, 13, 14]]
    problem, means = dpb.ExplicitSet(sets), [0.4] * 12 + [0.5] * 3
    environment = dpb.Bernoulli(means)
    free, private = (lower_constant(problem, tuple(means), eps) for eps in (None, 0.1))
    alone = 0.3 / (3 * kl(0.4, 0.5))
    assert alone < free < private
    policy = dpb.DPKLCUCB(problem=problem, epsilon=0.1, grid=1)
    assert dpb.lower_bound(policy, environment, 10**9) == pytest.approx(private * math.log(10**9))
    assert dpb.lower_bound(policy, environment, 10) == pytest.approx(3.0)


def test_unknown_bounds_are_nan() -> None:
    problem = dpb.ExplicitSet([(0, 1), (2, 3)])
    uniform = dpb.Uniform([0.5, 0.4, 0.5, 0.3], [0.9] * 4)
    coins = dpb.SharedCoins([0.5, 0.5, 0.4, 0.4], [0, 0, 1, 1])
    assert math.isnan(super_arm_lower_bound(problem, coins, 100))
    assert math.isnan(super_arm_lower_bound(problem, uniform, 100))
    local = dpb.CUCBLDP2(problem=problem, epsilon=1)
    assert math.isnan(dpb.lower_bound(local, dpb.Bernoulli([0.5, 0.4, 0.3, 0.3]), 100))
    many = dpb.UserDecisionSet(arms=40, size=5, oracle=lambda weights: np.argsort(-weights)[:5])
    assert math.isnan(lower_constant(many, (0.5,) * 40, None))
    assert lower_constant(problem, (0.5,) * 4, None) == 0.0


@pytest.mark.long
def test_twenty_thousand_sets_with_an_arm_of_their_own_are_the_sum_of_their_families() -> None:
    """Families of five sets that share an arm share nothing else, so the program's value is the sum
    of theirs, each of a program of five sets.
    """
    families, size = 4_000, 5
    shared = [0.4, 0.3, 0.35, 0.2]
    own = [np.linspace(low, 0.45, size) for low in (0.1, 0.2, 0.3, 0.4)]
    means, sets = [0.5, 0.5], [(0, 1)]
    for family in range(families):
        first = len(means)
        means += [shared[family % 4], *own[family % 4].tolist()]
        sets += [(first, first + 1 + each) for each in range(size)]
    small = [
        lower_constant(
            dpb.ExplicitSet([(0, 1), *((2, 3 + each) for each in range(size))]),
            (0.5, 0.5, shared[kind], *own[kind].tolist()),
            0.5,
        )
        for kind in range(4)
    ]
    found = lower_constant(dpb.ExplicitSet(sets), tuple(means), 0.5)
    assert found == pytest.approx(families / 4 * sum(small), rel=2e-3)
    assert len(sets) == 20_001
