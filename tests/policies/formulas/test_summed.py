"""Preset "sharp" where super arms are no bases: less room for each arm of a sum, and shorter first
batches.
"""

from __future__ import annotations

import math

import pytest

import dpbandits as dpb
from dpbandits.mechanisms.joint import JointAnswer
from dpbandits.policies.formulas.joint import shrinking_level, summed_level
from dpbandits.policies.super_arms.joint_statistics import folded

PAIRS = dpb.ExplicitSet([(0, 1), (2, 3)])
NINE = dpb.ExplicitSet([range(9), range(9, 18)])


def test_the_level_of_a_sum_by_hand() -> None:
    """x = ln(t/n); below 4 the level is x/max(1, √(size/4), size/8), then it
    climbs, and never beyond x.
    """
    for x, size, expected in (
        (2.0, 40, 2.0 / 5.0),
        (7.0, 40, (7.0 + 9.0) / 5.0),
        (14.0, 40, 14.0),
        (2.0, 9, 2.0 / 1.5),
        (2.0, 4, 2.0),
        (2.0, 1, 2.0),
        (0.2, 16, 0.5),
    ):
        n = 10**6
        found = summed_level(0.5, round(n * math.exp(x)), n, size)
        assert found == pytest.approx(0.5 * expected, rel=1e-5)


@pytest.mark.parametrize("size", [1, 2, 9, 57])
def test_it_lies_between_a_sums_and_a_single_arms(size: int) -> None:
    before = 0.0
    for t in (round(100 * 1.1**i) for i in range(300)):
        found, single = summed_level(0.5, t, 100, size), shrinking_level(0.5, t, 100)
        assert single / max(1, math.sqrt(size / 4), size / 8) <= found * (1 + 1e-12)
        assert before <= found <= single
        before = found
    assert found == single, "an arm that was hardly read gets all of it"


@pytest.mark.parametrize(
    ("problem", "size"), [(PAIRS, 2), (NINE, 9), (dpb.UniformMatroid(arms=18, rank=9), 1)]
)
def test_bounds_have_it_where_super_arms_are_no_bases(
    problem: dpb.ExplicitSet | dpb.Matroid, size: int
) -> None:
    policy = dpb.DPJointCUCB(problem=problem, epsilon=1, level=2)
    for rounds in (10, 100, 1900):
        state = folded(policy.init(), [(0, JointAnswer(rounds / 2, rounds, 1))], 1.0, 2000)
        shared = policy.shared(state)
        half = (policy.upper(state, 0, shared) - policy.lower(state, 0, shared)) / 2
        variance = 1 / (state.precisions[0] + 1 / shared.spread)
        assert half**2 / (2 * variance) == pytest.approx(summed_level(2, 2001, rounds, size))


@pytest.mark.parametrize(
    ("arms", "sharp"), [(1, 14.0), (4, 14.0), (9, 12.0), (16, 9.5), (100, 3.8)]
)
def test_first_batches_are_shorter_for_sums_of_many(arms: int, sharp: float) -> None:
    problem = dpb.ExplicitSet([range(arms), range(arms, 2 * arms)])
    assert dpb.DPJointCUCB(problem=problem, epsilon=1).first == pytest.approx(sharp)
    assert dpb.DPJointCUCB(problem=problem, epsilon=1, preset="level").first == 16
    basis = dpb.UniformMatroid(arms=2 * arms, rank=arms)
    assert dpb.DPJointCUCB(problem=basis, epsilon=1).first == (14 if arms <= 4 else 12)
