"""Preset "sharp" explores few elements of a basis at a time, beside the best that are known, and so
does the compiled player.
"""

from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.core.plan import Hold, PublicRng
from dpbandits.mechanisms.joint import JointAnswer
from dpbandits.policies.formulas.joint import explored_at_once, hoped_for
from dpbandits.policies.joint import JointStatistics, folded

RNG = PublicRng(0, 0)
UNIFORM = dpb.UniformMatroid(arms=20, rank=6)
PARTITION = dpb.PartitionMatroid(categories=np.arange(24) % 8, capacities=[1] * 8)
LINEAR = dpb.LinearMatroid(np.random.default_rng(3).integers(0, 3, (24, 7)))


def known(policy: Any, means: list[float], rounds: int = 60) -> JointStatistics:
    """A state in which the first arms have one release each, with these means."""
    answers = [(arm, JointAnswer(m * rounds, rounds, 6)) for arm, m in enumerate(means)]
    return folded(policy.init(), answers, float(policy.budget), rounds * 5)


def test_how_many_are_explored() -> None:
    assert [explored_at_once(size) for size in (1, 4, 8, 9, 17)] == [4, 4, 4, 5, 9]


def test_new_elements_come_few_at_a_time_beside_the_best_that_are_known() -> None:
    """More where what is known is poor: below what may be hoped for it has no place."""
    policy = dpb.DPJointMAT(problem=UNIFORM, epsilon=1)
    first = policy.plan(policy.init(), RNG)
    assert first == Hold(tuple(range(6)), policy.batch(6), tuple(range(6)))  # nothing is known
    state = known(policy, [0.1, 0.9, 0.2, 0.8, 0.1, 0.1])
    assert policy.plan(state, RNG) == Hold((1, 3, 6, 7, 8, 9), policy.batch(4), (6, 7, 8, 9))
    poor = known(policy, [0.1, 0.11, 0.1, 0.11, 0.1, 0.9])
    new = (6, 7, 8, 9, 10)
    assert policy.plan(poor, RNG) == Hold((5, *new), policy.batch(5), new)
    assert 0.11 < hoped_for(*policy.shared(poor)[1:]) < 0.9


@pytest.mark.parametrize("problem", [UNIFORM, PARTITION, LINEAR], ids=["top", "areas", "linear"])
def test_the_least_known_are_released_and_stay_in_the_basis(problem: Any) -> None:
    """A greedy basis keeps an element when others get lighter."""
    policy, rng = dpb.DPJointMAT(problem=problem, epsilon=1), np.random.default_rng(8)
    few, fewer = explored_at_once(problem.size), 0
    for _ in range(40):
        state = known(policy, rng.uniform(0.2, 0.8, policy.arms).tolist())
        again = rng.choice(policy.arms, 7, replace=False).tolist()
        state = folded(state, [(arm, JointAnswer(60.0, 120, 3)) for arm in again], 1.0, 900)
        shared = policy.shared(state)
        upper = policy.bounds(state, range(policy.arms), shared, 1.0)
        basis = policy.best(upper)
        before = policy.undecided(basis, upper, policy.bounds(state, basis, shared, -1.0))
        plan = policy.plan(state, RNG)
        assert isinstance(plan, Hold)
        assert len(plan.release) == min(len(before), few)
        assert set(plan.release) <= set(before) & set(plan.action)
        left = set(before) - set(plan.release)
        assert not left or max(state.precisions[arm] for arm in plan.release) <= min(
            state.precisions[arm] for arm in left
        )
        fewer += bool(left)
    assert fewer > 20


@pytest.mark.long  # it compiles
@pytest.mark.parametrize("problem", [UNIFORM, PARTITION, LINEAR], ids=["top", "areas", "linear"])
def test_without_chance_the_compiled_player_decides_alike(problem: Any) -> None:
    """Every element has one reward of its own, and noise is 0 but for a chance below 10⁻⁹."""
    values = (np.random.default_rng(5).permutation(problem.arms) * 32 + 100) / 1024
    world = dpb.Categorical(values, np.eye(problem.arms))
    policy = dpb.DPJointMAT(problem=problem, epsilon=100_000, first=900_000.0, grid=1024)
    fast, plain = (
        dpb.simulate(policy, world, 5_000, runs=1, seed=4, at=[500, 5_000], compiled=compiled)
        for compiled in (True, False)
    )
    assert fast.counts.tolist() == plain.counts.tolist()
    assert fast.releases.tolist() == plain.releases.tolist()
