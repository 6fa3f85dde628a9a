"""CUCB-LDP2's undecided arms: who is asked, by hand and against all subsets, with any oracle."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.core.plan import PublicRng
from dpbandits.policies.base import Statistics
from dpbandits.policies.super_arms import disputed

RNG = PublicRng(0, 0)
STAR = dpb.ExplicitSet([(0, 1, 2), (0, 1, 3), (0, 1, 4)])


def policy(problem: Any, **more: Any) -> dpb.CUCBLDP2:
    return dpb.CUCBLDP2(problem=problem, epsilon=4, ask="undecided", **more)


def state(means: tuple[float, ...], rounds: tuple[int, ...]) -> Statistics:
    totals = tuple(mean * n for mean, n in zip(means, rounds, strict=True))
    return Statistics(totals, rounds, rounds, rounds, (0,) * len(rounds), sum(rounds))


def test_an_arm_in_every_super_arm_is_not_asked_about() -> None:
    """Arms 0 and 1 are in all of them and least reported; between 2, 3 and 4 it is open."""
    s = state((0.5, 0.5, 0.5, 0.45, 0.4), (20, 20, 3_000, 3_000, 3_000))
    plan = policy(STAR).plan(s, RNG)
    assert (plan.action, plan.observe, plan.release) == ((0, 1, 2), (2,), (2,))  # type: ignore[union-attr]
    least = dpb.CUCBLDP2(problem=STAR, epsilon=4).plan(s, RNG)
    assert (least.action, least.observe) == ((0, 1, 2), (0,))  # type: ignore[union-attr]


@pytest.mark.parametrize("preset", ["valid", "sharp"])
def test_where_all_are_decided_the_least_reported_arm_is_asked(preset: str) -> None:
    many = 10**6
    s = state((0.5, 0.5, 0.9, 0.1, 0.1), (many, 900, many, many, many))
    assert policy(STAR, preset=preset).plan(s, RNG).observe == (1,)  # type: ignore[union-attr]


def test_an_index_not_above_zero_comes_first() -> None:
    s = state((0.9, 0.9, 0.9, -9.0, 0.9), (10**6,) * 5)
    plan = policy(STAR).plan(s, RNG)
    assert (plan.action, plan.observe) == ((0, 1, 3), (0,))  # type: ignore[union-attr]


MATROIDS = [
    dpb.UniformMatroid(arms=6, rank=3),
    dpb.PartitionMatroid(blocks=[[0, 1, 2], [3, 4, 5]], capacities=[1, 2]),
    dpb.GraphicMatroid([(0, 1), (1, 2), (2, 0), (2, 3), (3, 0), (1, 3)]),
]


@pytest.mark.parametrize("matroid", MATROIDS, ids=lambda m: type(m).__name__)
def test_on_a_matroid_bounds_may_be_lowered_alone_or_together(matroid: Any) -> None:
    """The table of exchanges names the arms that the same bases as a list name."""
    bases = [arms for arms in combinations(range(6), 3) if matroid.contains(arms)]
    written, rng = dpb.ExplicitSet(bases), np.random.default_rng(1)
    for _ in range(300):
        middle, wide = rng.random(6), rng.random(6) / 3
        upper, lower = (middle + wide).tolist(), (middle - wide).tolist()
        action = matroid.best(upper)
        rounds = rng.integers(1, 50, 6).tolist()
        alone = tuple(
            arm
            for arm in action
            if arm not in matroid.best([lower[e] if e == arm else upper[e] for e in range(6)])
        )
        for problem in (matroid, written):
            assert disputed(problem, problem.best, action, upper, lower, rounds) == alone


def test_what_is_decided_may_be_lowered_at_once() -> None:
    """Alone either arm of (0, 1) may be lowered, both may not: the better known one may."""
    problem = dpb.ExplicitSet([(0, 1), (2,)])
    upper, lower = [1.0, 1.0, 1.5], [0.6, 0.6, 0.0]
    assert disputed(problem, problem.best, (0, 1), upper, lower, [9, 5, 5]) == (1,)
    assert disputed(problem, problem.best, (0, 1), upper, lower, [5, 9, 5]) == (0,)
    assert disputed(problem, problem.best, (0, 1), upper, [0.8, 0.8, 0.0], [5, 9, 5]) == ()
