"""The bound of proofs/prefix_exponential.md on exact laws of two actions. Nothing is random."""

import math

import numpy as np
import pytest
from benchmarks.matroid.growth import harmonic, rank_factor

from dpbandits.core.inputs import Floats
from dpbandits.policies import PrefixExponential
from dpbandits.policies.experts import prefix_theorem

ROUNDS = 400


def one_choice(good: float, bad: float, eta: float) -> Floats:
    """g(n), n = 0 … ROUNDS, of two independent Bernoulli actions, from the law of S_* − S."""
    step = np.array([(1 - good) * bad, good * bad + (1 - good) * (1 - bad), good * (1 - bad)])
    law, found = np.ones(1), []
    for n in range(ROUNDS + 1):
        lead = np.arange(-n, n + 1)
        found.append((good - bad) * float(law @ np.exp(-np.logaddexp(0.0, eta * lead))))
        law = np.convolve(law, step)
    return np.array(found)


@pytest.mark.parametrize("eta", [0.02, 0.3, 4.0])
@pytest.mark.parametrize(("good", "bad"), [(0.9, 0.1), (0.6, 0.5), (0.52, 0.5)])
def test_the_theorem_bounds_the_exact_regret(good: float, bad: float, eta: float) -> None:
    regret = one_choice(good, bad, eta)
    assert 4 * regret[1:].sum() + 1 <= prefix_theorem([good, bad], ROUNDS, 2 * eta)


@pytest.mark.parametrize("epsilon", [0.05, 1, 20])
def test_bound_does_not_grow_for_ever(epsilon: float) -> None:
    means = [0.5] + [0.5 - 0.001 * 2**i for i in range(8)]
    policy = PrefixExponential(actions=len(means), epsilon=epsilon)
    bounds = [policy.regret_bound(means, 10**k) for k in (3, 6, 12, 15)]
    assert bounds == sorted(bounds)
    log_k = math.log(len(means))
    assert bounds[-1] <= 84 * log_k * (1000 + 1 / epsilon)
    assert bounds[0] <= 9 * math.sqrt(1000 * log_k) + 24 * log_k / epsilon + 1
    assert prefix_theorem([0.5, 0.5], 10, 1.0) == 0.0


# The rank's factor on uniform matroids: proofs/uniform_matroid.md


def test_by_hand() -> None:
    assert rank_factor([0.5]) == 1.0
    assert rank_factor([0.3, 0.3, 0.3]) == pytest.approx(1.0)  # equal gaps: no factor
    assert rank_factor([0.4, 0.2]) == pytest.approx((0.3 - 0.2) / 0.4 + 1.0)
    assert harmonic(3) == pytest.approx(11 / 6)


@pytest.mark.parametrize("size", [2, 5, 17])
def test_stays_below_its_bounds(size: int) -> None:
    rng = np.random.default_rng(size)
    for spread in (0.1, 3.0, 30.0):
        gaps = np.sort(np.exp(-spread * rng.random(size)))[::-1]
        most = min(harmonic(size), 1 + math.log(gaps[0] / gaps[-1]))
        assert 1.0 - 1e-12 <= rank_factor(gaps) <= most + 1e-12
    steep = 1e-3 ** np.arange(size)
    assert rank_factor(steep) == pytest.approx(harmonic(size), rel=2e-3)
