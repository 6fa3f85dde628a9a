"""CUCB-LDP2's joint radius: the super arm it finds against all of them, and how often it fails."""

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.policies.formulas.joint import joint_level, report_square
from dpbandits.policies.super_arms import (
    certified_answer,
    every_set,
    exchanged,
    largest_rooted,
    rooted,
)

ALARM = 1e-6
GRID = [(i, j) for i in range(4) for j in range(i + 1, 4)]
PATHS = dpb.Paths(
    [("a", "b"), ("a", "c"), ("b", "c"), ("b", "d"), ("c", "d"), ("c", "e"), ("d", "e")], "a", "e"
)
MATCHINGS = dpb.Matchings([("a", 1), ("a", 2), ("b", 1), ("b", 2), ("b", 3), ("c", 2)])
COSTS = dpb.ExplicitSet([(0, 1), (1, 2, 3), (3,), (0, 2)], costs=True)
PROBLEMS: list[Any] = [
    dpb.UniformMatroid(arms=7, rank=3),
    dpb.GraphicMatroid(GRID),
    PATHS,
    MATCHINGS,
    COSTS,
]


def everything(problem: Any) -> list[tuple[int, ...]]:
    sizes = range(1, problem.size + 1)
    return [a for k in sizes for a in combinations(range(problem.arms), k) if problem.contains(a)]


def drawn(rng: np.random.Generator, arms: int) -> tuple[Any, Any]:
    return rng.random(arms), rng.random(arms) ** 4 * float(rng.choice([0.01, 0.3, 4.0]))


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: type(p).__name__)
def test_the_best_of_all_super_arms(problem: Any) -> None:
    """Exactly, where they are listed; by the other ways as nearly as their proofs say."""
    rng, actions = np.random.default_rng(4), everything(problem)
    assert every_set(problem) is not None
    exact, tries = 0, 200
    for _ in range(tries):
        means, squares = drawn(rng, problem.arms)
        most = max(rooted(problem, action, means, squares) for action in actions)
        found = largest_rooted(problem, problem.best, means, squares)
        assert rooted(problem, found, means, squares) == pytest.approx(most)
        plain = problem.best(means + np.sqrt(squares))
        near = certified_answer(problem, problem.best, means, squares)
        assert near in actions
        sure = rooted(problem, near, means, 4 * squares) >= most - 1e-9
        assert sure or near == plain
        exact += rooted(problem, near, means, squares) > most - 1e-9
        if isinstance(problem, dpb.Matroid):
            basis = exchanged(problem, plain, means, squares)
            value = rooted(problem, basis, means, squares)
            assert value >= rooted(problem, plain, means, squares) - 1e-9
            assert rooted(problem, basis, means, 4 * squares) >= most - 1e-6
    assert exact > 0.9 * tries


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
@pytest.mark.parametrize("level", [1.0, 3.0, 6.0])
def test_the_radius_of_a_sum_holds(epsilon: float, level: float) -> None:
    """Sums miss by √Σq with probability e^−u at most; wrongly refuted with probability 1e-6."""
    rng, runs, counts = np.random.default_rng(6), 100_000, (1, 4, 40)
    missed = np.zeros(runs)
    for n in counts:
        noise = rng.laplace(0, 1 / epsilon, (runs, n)).mean(axis=1)
        missed += rng.binomial(n, 0.3, runs) / n - 0.3 + noise
    wide = math.sqrt(sum(report_square(n, level, epsilon) for n in counts))
    slack = math.sqrt(math.log(4 * 6 / ALARM) / (2 * runs))
    assert max((missed > wide).mean(), (missed < -wide).mean()) <= math.exp(-level) + slack


def test_the_proved_level_grows_like_ln_t() -> None:
    """K ln ln t is all that counts, however chosen, cost beside it."""
    for size in (1, 4, 16):
        levels = [joint_level(10**power, size, 1.0) for power in (3, 30, 300)]
        assert levels[0] > math.log(10**3)
        growth = (levels[2] - levels[1]) / (270 * math.log(10))
        assert 1 < growth < 1 + 0.02 * size


def test_all_arms_are_seen_first_but_the_loops() -> None:
    problem = dpb.LinearMatroid([[1, 0], [0, 1], [1, 1], [0, 0]])
    policy = dpb.CUCBLDP2(problem=problem, epsilon=1, radius="joint")
    runs = dpb.simulate(policy, dpb.Bernoulli([0.5] * 4), 4, runs=5, seed=1, compiled=False)
    assert np.all(runs.plays[:, :3] >= 1)
    assert np.all(runs.plays[:, 3] == 0)


@pytest.mark.long
def test_a_joint_radius_loses_less_than_radii_summed_up() -> None:
    """At most half of the regret at one level, by five standard errors."""
    problem = dpb.ExplicitSet([tuple(range(i, i + 4)) for i in (0, 4, 8)])
    environment = dpb.Bernoulli([0.575] * 4 + [0.425] * 8)
    summed, joint = (
        dpb.simulate(
            dpb.CUCBLDP2(problem=problem, epsilon=4, preset="sharp", radius=radius),
            environment,
            20_000,
            runs=40,
            seed=2,
        ).regret()
        for radius in ("sum", "joint")
    )
    lead = 0.5 * summed.mean() - joint.mean()
    assert lead > 5 * math.hypot(0.5 * summed.std(), joint.std()) / math.sqrt(40)
