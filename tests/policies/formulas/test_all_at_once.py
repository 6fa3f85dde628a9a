"""What is said of all arms at once is bit for bit what the compiled formulas say of each."""

import numpy as np
import pytest

from dpbandits.policies.formulas import joint
from dpbandits.policies.joint import (
    JointStatistics,
    expected_means,
    fitted_to,
    normal_bounds,
    summed_in_order,
)
from dpbandits.simulation.compiled import jit


def statistics(arms: int, seed: int) -> JointStatistics:
    """Some arms without a release, some read once, some often; means beyond [0, 1], too."""
    rng = np.random.default_rng(seed)
    released = rng.random(arms) < (0.8 if seed else 0.0)
    rounds = np.where(released, rng.integers(1, 10**5, arms), 0)
    precisions = np.where(released, 10.0 ** rng.uniform(-2, 7, arms), 0.0)
    weighted = precisions * rng.normal(rng.random(), 0.2, arms)
    drawn = ((0,),) * arms
    return JointStatistics(
        tuple((0.5 * rounds).tolist()),
        tuple(rounds.tolist()),
        drawn,
        tuple(precisions.tolist()),
        tuple(weighted.tolist()),
        int(rng.integers(rounds.max() + 1, 10**7)),
    )


@pytest.mark.parametrize("arms", [1, 2, 17, 100, 1000])
@pytest.mark.parametrize("seed", range(12))
def test_bit_for_bit_what_is_said_of_each(arms: int, seed: int) -> None:
    s = statistics(arms, seed)
    means = [w / p if p else 0.0 for w, p in zip(s.weighted, s.precisions, strict=True)]
    centre, spread = fitted_to(s)
    assert (centre, spread) == joint.fitted_prior(means, s.precisions)
    compiled = jit.fitted_prior(np.array(means), np.array(s.precisions))
    assert (centre, spread) == compiled
    released = [arm for arm in range(arms) if s.rounds[arm]]
    for side in (1.0, -1.0):
        bounds = normal_bounds(s, released, 0.5, centre, spread, side)
        for arm, bound in zip(released, bounds, strict=True):
            level = joint.shrinking_level(0.5, s.t + 1, s.rounds[arm])
            told = s.weighted[arm], s.precisions[arm]
            assert bound == joint.normal_bound(*told, level, centre, spread, side)
            level = jit.shrinking_level(0.5, s.t + 1, s.rounds[arm])
            assert bound == jit.normal_bound(*told, level, centre, spread, side)
    for arm, expected in enumerate(expected_means(s, centre, spread)):
        told = s.weighted[arm], s.precisions[arm]
        assert expected == joint.normal_bound(*told, 0.0, centre, spread, 0.0)


def test_a_sum_in_order_is_a_loops() -> None:
    """And not NumPy's, which would differ in the last digit."""
    rng, others = np.random.default_rng(1), 0
    for count in (1, 7, 8, 9, 100, 5000):
        numbers = rng.normal(size=count) * 10.0 ** rng.integers(-8, 8, count)
        total = 0.0
        for number in numbers.tolist():
            total += number
        assert summed_in_order(numbers) == total
        others += float(numbers.sum()) != total
    assert others
