"""The lower bound on listed super arms: a convex program against closed forms, and a plain
program.
"""

import math
from collections.abc import Sequence
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import dpbandits as dpb
from dpbandits.policies import super_arm_bounds
from dpbandits.policies.formulas.indices import d_eps, kl
from dpbandits.policies.super_arm_bounds import lower_constant
from dpbandits.theory import (
    lai_robbins,
    matroid_lower_bound,
    private_lower_bound,
    super_arm_lower_bound,
)

EPSILONS = (None, 0.3, 2.0)


def distance(x: float, y: float, epsilon: float | None) -> float:
    return kl(x, y) if epsilon is None else d_eps(x, y, epsilon)


SIZES = ((6, 1), (6, 2), (12, 4), (10, 5), (16, 4))
MATROIDS = [
    *(dpb.UniformMatroid(arms=arms, rank=rank) for arms, rank in SIZES),
    dpb.GraphicMatroid(list(combinations(range(5), 2))),
]


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("matroid", MATROIDS, ids=range(len(MATROIDS)))
def test_all_bases_have_the_closed_form_of_their_matroid(
    matroid: dpb.Matroid, epsilon: float | None
) -> None:
    """Most alternatives are on many arms, and at the best plays those on one alone are binding."""
    arms = matroid.arms
    environment = dpb.Bernoulli(np.random.default_rng(arms).uniform(0.1, 0.9, arms).tolist())
    bases = [each for each in combinations(range(arms), matroid.rank) if matroid.contains(each)]
    least = matroid_lower_bound(matroid, environment, 10**9, epsilon)
    if matroid.rank == 1:
        free = lai_robbins(environment, 10**9)
        alone = free if epsilon is None else private_lower_bound(environment, 10**9, epsilon)
        assert least == pytest.approx(alone)
    found = super_arm_lower_bound(dpb.ExplicitSet(bases), environment, 10**9, epsilon)
    assert least * (1 - 1e-3) <= found <= least * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("gap", [0.4, 1e-2, 1e-4, 1e-6])
def test_disjoint_sets_cost_the_sum_of_each(gap: float, epsilon: float | None) -> None:
    """Δ/(K d(μ, μ + Δ/K)). A set that is almost best has the most plays: their orders differ by the
    square of the gap.
    """
    sets = dpb.ExplicitSet([(0, 1), (2, 3), (4, 5, 6)])
    means = (0.5, 0.5, 0.5 - gap / 2, 0.5 - gap / 2, 0.2, 0.2, 0.2)
    near = gap / (2 * distance(0.5 - gap / 2, 0.5, epsilon))
    far = 0.4 / (3 * distance(0.2, 1 / 3, epsilon))
    assert lower_constant(sets, means, epsilon) == pytest.approx(near + far, rel=1e-3)


def test_what_does_not_converge_is_not_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(super_arm_bounds, "PROGRAMS", 2)
    lower_constant.cache_clear()
    sets = dpb.ExplicitSet([(0, 1), (1, 2), (0, 2), (3, 4)])
    assert math.isnan(lower_constant(sets, (0.2, 0.3, 0.35, 0.5, 0.5), None))
    lower_constant.cache_clear()


def on_a_grid(
    sets: Sequence[tuple[int, ...]], means: np.ndarray, epsilon: float | None, parts: int
) -> float:
    """The value of one linear program, with a constraint for each way to divide a gap."""
    holds = np.array([[arm in chosen for arm in range(len(means))] for chosen in sets], float)
    gaps = (holds @ means).max() - holds @ means
    best = sets[int(np.argmin(gaps))]
    rows = []
    for chosen, gap in zip(sets, gaps.tolist(), strict=True):
        if gap <= 0:
            continue
        others = [arm for arm in chosen if arm not in best]
        for cuts in combinations_with_replacement(range(parts + 1), len(others) - 1):
            raised = np.diff([0, *cuts, parts]) * gap / parts + means[others]
            if (raised < 1).all():
                row = np.zeros(len(means))
                row[others] = [
                    distance(means[arm], high, epsilon)
                    for arm, high in zip(others, raised.tolist(), strict=True)
                ]
                rows.append(row)
    return float(linprog(gaps, A_ub=-np.array(rows) @ holds.T, b_ub=-np.ones(len(rows))).fun)


def at_random(size: int, low: float, high: float, best: float) -> tuple[Any, np.ndarray]:
    """Sets that share arms, and their means: the last one is the best."""
    rng = np.random.default_rng(size)
    means = np.concatenate([rng.uniform(low, high, 8), [best] * size])
    wrong = [tuple(sorted(rng.choice(8, size, replace=False).tolist())) for _ in range(12)]
    return dpb.ExplicitSet([*dict.fromkeys(wrong), tuple(range(8, 8 + size))]), means


EDGES = [("s", "a"), ("s", "b"), ("a", "b"), ("a", "c"), ("b", "c"), ("b", "t"), ("c", "t")]
LISTED = {
    "pairs": at_random(2, 0.1, 0.5, 0.6),
    "triples": at_random(3, 0.1, 0.5, 0.6),
    # paths of two to four edges share edges with the best one and with each other
    "paths": (
        dpb.Paths(EDGES, "s", "t", costs=False),
        np.array([0.5, 0.45, 0.3, 0.35, 0.25, 0.4, 0.2]),
    ),
    # the nearest alternatives raise some arms to 1, where what plays show of them has a kink
    "means near one": at_random(2, 0.6, 0.97, 0.99),
}
PLAIN = [(name, eps) for name in LISTED if "one" not in name for eps in EPSILONS]


@pytest.mark.parametrize(("name", "epsilon"), [*PLAIN, *product(["means near one"], [0.05, 0.3])])
def test_sets_have_the_value_of_a_plain_program(name: str, epsilon: float | None) -> None:
    """It has no cutting planes, and is too low by some of a thousandth."""
    problem, means = LISTED[name]
    sets = super_arm_bounds.super_arms(problem)
    assert sets is not None
    plain = on_a_grid(sets, means, epsilon, 4_000 if "one" in name else 40)
    assert lower_constant(problem, tuple(means.tolist()), epsilon) == pytest.approx(plain, rel=2e-3)


def test_public_arms_cost_their_number_of_sets() -> None:
    """Below what any policy of ours loses, above one wrong set's cost, rising with privacy."""
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
    matroid = dpb.UniformMatroid(arms=4, rank=2)
    assert math.isnan(dpb.lower_bound(dpb.OMM(problem=matroid), coins, 100))
    assert math.isnan(dpb.lower_bound(dpb.OMM(problem=matroid), uniform, 100))
    local = dpb.CUCBLDP2(problem=problem, epsilon=1)
    assert math.isnan(dpb.lower_bound(local, dpb.Bernoulli([0.5, 0.4, 0.3, 0.3]), 100))
    many = dpb.UserDecisionSet(arms=40, size=5, oracle=lambda weights: np.argsort(-weights)[:5])
    assert math.isnan(lower_constant(many, (0.5,) * 40, None))
    assert lower_constant(problem, (0.5,) * 4, None) == 0.0
    never_best = dpb.ExplicitSet([(0, 1), (2,)])
    assert lower_constant(never_best, (0.9, 0.9, 0.5), None) == 0.0


@pytest.mark.long
def test_twenty_thousand_sets_with_an_arm_of_their_own_are_the_sum_of_their_families() -> None:
    """Families of five sets share nothing else, so the value is the sum of theirs."""
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
