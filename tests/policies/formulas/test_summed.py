"""Preset "sharp" where super arms are no bases: less room for each arm of a sum."""

import math

import pytest

import dpbandits as dpb
from dpbandits.mechanisms.joint import JointAnswer
from dpbandits.policies.formulas.joint import (
    WIDEST,
    normal_bound,
    shrinking_level,
    spread_for_arm,
    summed_bound,
    summed_level,
)
from dpbandits.policies.joint import folded

PAIRS = dpb.ExplicitSet([(0, 1), (2, 3)])
NINE = dpb.ExplicitSet([range(9), range(9, 18)])


def test_the_level_of_a_sum_by_hand() -> None:
    """x = ln(t/n); below 4 it is x/max(1, √(size/4), size/6), then it climbs, never beyond x."""
    for x, size, expected in (
        (2.0, 30, 2.0 / 5.0),
        (7.0, 30, (7.0 + 9.0) / 5.0),
        (14.0, 30, 14.0),
        (2.0, 9, 2.0 / 1.5),
        (2.0, 6, 2.0 / math.sqrt(1.5)),
        (2.0, 4, 2.0),
        (2.0, 1, 2.0),
        (0.2, 24, 0.25),
    ):
        n = 10**6
        found = summed_level(0.5, round(n * math.exp(x)), n, size)
        assert found == pytest.approx(0.5 * expected, rel=1e-5)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_an_arm_that_is_hardly_read_is_taken_for_one_of_its_own(side: float) -> None:
    """Precision 25, x = ln(t/n): the narrow prior says more than the wide one at x − 4."""
    n, mean = 10**6, 0.7
    known, prior = (mean * 25, 25.0, n), (mean, 4e-4)
    near, wide = 1 / (25 + 2500), 1 / (25 + 12)
    for x in (7.0, 5.0, 3.9, 2.0):
        narrow = 0.5 * (x + max(0.0, x - 4) ** 2) / math.sqrt(9 / 4)
        expected = mean + side * math.sqrt(2 * narrow * near)
        if x > 4:
            expected = mean + side * math.sqrt(2 * 0.5 * (x - 4) * wide)
        found = summed_bound(*known, 0.5, round(n * math.exp(x)), 9, *prior, side)
        assert found == pytest.approx(expected, rel=1e-5)
    known, wide = (mean * 1600, 1600.0, 100), 1 / (400 + 12)  # 100 coins have a precision of 400
    found = summed_bound(*known, 0.5, round(100 * math.exp(7.0)), 9, *prior, side)
    assert found == pytest.approx(mean + side * math.sqrt(2 * 0.5 * 3.0 * wide), rel=1e-5)


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("mean", [0.0, 0.4, 1.0])
def test_being_hardly_read_never_makes_a_bound_say_more(mean: float, side: float) -> None:
    before = -math.inf
    for t in (round(100 * 1.1**i) for i in range(200)):
        found = side * summed_bound(mean * 25, 25.0, 100, 0.5, t, 20, 0.3, 4e-3, side)
        told = normal_bound(
            mean * 25,
            25.0,
            summed_level(0.5, t, 100, 20),
            0.3,
            spread_for_arm(mean * 25, 25.0, 0.3, 4e-3),
            side,
        )
        assert found >= max(before, side * told)
        before = found


@pytest.mark.parametrize("problem", [PAIRS, NINE, dpb.UniformMatroid(arms=18, rank=9)])
def test_bounds_have_it_where_super_arms_are_no_bases(
    problem: dpb.ExplicitSet | dpb.Matroid,
) -> None:
    policy = dpb.DPJointCUCB(problem=problem, epsilon=1, level=2)
    for rounds in (10, 100, 1900):
        state = folded(policy.init(), [(0, JointAnswer(rounds / 2, rounds, 1))], 1.0, 2000)
        shared = policy.shared(state)
        weighted, precision = state.weighted[0], state.precisions[0]
        for side in (1.0, -1.0):
            expected = normal_bound(
                weighted, precision, shrinking_level(2, 2001, rounds), *shared[1:], side
            )
            if not isinstance(problem, dpb.Matroid):
                known = weighted, precision, rounds
                expected = summed_bound(*known, 2, 2001, problem.size, *shared[1:], side)
            assert policy.bounds(state, [0], shared, side) == [expected]


def test_a_prior_of_ones_own_by_hand() -> None:
    """Mean .47, variance .04, centre .02: .45 is 1.5 deviations where both variances sum to .09."""
    assert spread_for_arm(0.62 * 25, 25.0, 0.02, 4e-4) == WIDEST
    assert spread_for_arm(0.47 * 25, 25.0, 0.02, 4e-4) == pytest.approx(0.09 - 0.04)
    assert spread_for_arm(0.32 * 25, 25.0, 0.02, 4e-4) == 4e-4, "near: as all others"
    assert spread_for_arm(0.47 * 25, 25.0, 0.02, 0.07) == 0.07, "never narrower"


@pytest.mark.parametrize(("extra", "low"), [(40, 0.02), (20, 0.08)])
def test_a_short_good_super_arm_is_not_lost_among_poor_arms(extra: int, low: float) -> None:
    """Precise means of many poor arms drew all arms to them in twelve, and three, of 20 runs."""
    lists = [(0, 1, 2, 3), (0, 1, 2, 4), range(5, 5 + extra)]
    world = dpb.Bernoulli([0.6] * 4 + [0.45] + [low] * extra)
    policy = dpb.DPJointCUCB(problem=dpb.ExplicitSet(lists), epsilon=1)
    lost = dpb.simulate(policy, world, rounds=20_000, runs=20, seed=3, at=[]).regret()
    always = 20_000 * (2.4 - extra * low)
    assert int((lost > 0.5 * always).sum()) == 0


@pytest.mark.parametrize(
    ("epsilon", "poor", "good", "rounds"),
    [
        (10, (4, 0.2), (2, 0.6), 20_000),
        (2, (4, 0.2), (2, 0.6), 20_000),
        (10, (8, 0.2), (4, 0.6), 20_000),
        (10, (4, 0.05), (1, 0.3), 200_000),
    ],
)
def test_a_short_good_super_arm_comes_back_after_a_poor_start(
    epsilon: int, poor: tuple[int, float], good: tuple[int, float], rounds: int
) -> None:
    """First blocks may look alike: 17, 4, 7 and 44 of the 48 runs stayed with the poor one."""
    (many, low), (few, high) = poor, good
    problem = dpb.ExplicitSet([range(many), range(many, many + few)])
    world = dpb.Bernoulli([low] * many + [high] * few)
    policy = dpb.DPJointCUCB(problem=problem, epsilon=epsilon)
    lost = dpb.simulate(policy, world, rounds=rounds, runs=48, seed=1, at=[]).regret()
    assert int((lost > 0.5 * rounds * (few * high - many * low)).sum()) == 0


@pytest.mark.parametrize(
    ("arms", "sharp"), [(1, 14.0), (4, 14.0), (9, 12.0), (16, 9.5), (100, 3.8)]
)
def test_first_batches_are_shorter_for_sums_of_many(arms: int, sharp: float) -> None:
    problem = dpb.ExplicitSet([range(arms), range(arms, 2 * arms)])
    assert dpb.DPJointCUCB(problem=problem, epsilon=1).first == pytest.approx(sharp)
    assert dpb.DPJointCUCB(problem=problem, epsilon=1, preset="level").first == 16
    basis = dpb.UniformMatroid(arms=2 * arms, rank=arms)
    assert dpb.DPJointCUCB(problem=basis, epsilon=1).first == (14 if arms <= 4 else 12)
