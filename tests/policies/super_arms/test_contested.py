"""Joint releases with any oracle: no super arm is held unread that might be a wrong one."""

from itertools import combinations

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.policies.super_arms import CARRIED, contested, leaving, outbid


@pytest.mark.parametrize("preset", ["sharp", "level", "proved"])
def test_no_run_stays_with_a_wrong_list(preset: str) -> None:
    """Two lists of ten, .3 apart in all: each arm alone is decided, all together are not."""
    problem = dpb.ExplicitSet([range(10), range(10, 20)])
    environment = dpb.Bernoulli([0.47] * 10 + [0.5] * 10)
    policy = dpb.DPJointCUCB(problem=problem, epsilon=1, preset=preset)
    runs = dpb.simulate(policy, environment, 10**6, runs=12, seed=1, at=[], workers=1)
    assert runs.regret().max() < 0.1 * 0.3 * 10**6


def lists(rng: np.random.Generator) -> dpb.ExplicitSet:
    every = [arms for size in (1, 2, 3, 4) for arms in combinations(range(7), size)]
    picked = rng.choice(len(every), size=int(rng.integers(2, 9)), replace=False)
    return dpb.ExplicitSet([every[i] for i in picked], arms=7)


def test_regret_is_at_most_four_widths_of_what_is_released() -> None:
    """Against every super arm, at the worst means within the bounds; a step of the proof. No arm is
    released beside those that would leave alone, once these carry a quarter of what is disputed.
    """
    rng, open_rounds = np.random.default_rng(3), 0
    for _ in range(2_000):
        problem, middle = lists(rng), rng.random(7)
        wide = rng.random(7) * rng.choice([0.03, 0.1, 0.4])
        upper, lower = middle + wide, middle - wide
        action = problem.best(upper)
        found = contested(problem.best, action, upper.tolist(), lower[list(action)].tolist())
        carried = 2 * wide[list(found)].sum() / CARRIED
        alone = leaving(problem.best, action, upper.tolist(), lower[list(action)].tolist())
        assert set(alone) <= set(found)
        together = np.where(np.isin(np.arange(7), action), lower, upper)
        open_ = sorted(set(action) - set(problem.best(together)))
        assert bool(found) == (problem.best(together) != action)
        if extra := sorted(set(found) - set(alone)):
            fewer = wide[list(found)].sum() - wide[extra].min()
            assert fewer < CARRIED * wide[open_ or list(action)].sum()
        open_rounds += bool(found) and not alone
        for other in problem.super_arms:
            more = upper[sorted(set(other) - set(action))].sum()
            less = lower[sorted(set(action) - set(other))].sum()
            assert more - less <= carried + 1e-9
    assert open_rounds > 20


def test_a_rival_with_all_arms_and_more_disputes_all() -> None:
    """No exact oracle answers so; an approximate one may."""

    def answer(weights: object) -> tuple[int, ...]:
        return (0, 1, 2)

    assert contested(answer, (0, 1), [1.0, 1.0, 1.0], [0.5, 0.4]) == (1,)


MATROIDS = [
    dpb.UniformMatroid(arms=8, rank=3),
    dpb.PartitionMatroid(blocks=[[0, 3, 5], [1, 2], [4, 6, 7]], capacities=[1, 1, 2]),
    dpb.LinearMatroid(np.random.default_rng(1).integers(0, 2, (8, 5))),
    dpb.GraphicMatroid([(0, 1), (1, 2), (0, 2), (2, 3), (3, 0), (1, 3), (0, 1), (3, 4)]),
]


@pytest.mark.parametrize("matroid", MATROIDS, ids=lambda matroid: type(matroid).__name__)
def test_who_is_outbid_leaves_when_lowered_alone(matroid: dpb.Matroid) -> None:
    """By the oracle's own word, with many ties, which go to the lower number."""
    rng, found = np.random.default_rng(2), set[int]()
    for _ in range(300):
        upper = (rng.integers(0, 4, matroid.arms) / 4).tolist()
        basis = matroid.best(upper)
        lower = [upper[arm] - float(rng.integers(0, 3)) / 4 for arm in basis]
        gone = outbid(matroid, basis, upper, lower)
        assert gone == leaving(matroid.best, basis, upper, lower)
        found.add(len(gone))
    assert len(found) > 2
