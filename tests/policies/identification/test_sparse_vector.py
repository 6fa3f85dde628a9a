"""Elimination by sparse vectors: the best arm stays, and what is out stays out."""

import pytest
from scipy.stats import binom

import dpbandits as dpb
from dpbandits.policies.formulas.indices import comparison_noise, comparison_radius
from dpbandits.simulation.stopping import identify

PRESETS = pytest.mark.parametrize("preset", ["pairs", "arms", "one"])
RUNS = 300


@PRESETS
def test_the_best_arm_stays_and_others_are_out_by_the_question_the_bound_names(preset: str) -> None:
    """With probability 1 − beta, so all but a few of 300 runs: false alarm 1e-6 of either count."""
    policy = dpb.SparseVectorSE(arms=3, epsilon=4, horizon=10**6, beta=0.1, preset=preset)
    share, number, gap = float(policy.mechanism().share(3)), 1, 0.4
    while gap * 2**number < 1 + 2 * (
        2 * comparison_radius(2**number, number, 3, 0.1) + comparison_noise(number, 3, 0.1, share)
    ):
        number += 1
    found = identify(policy, dpb.Bernoulli([0.4, 0.8, 0.4]), runs=RUNS, seed=2, cap=10**6)
    assert found.undecided == 0
    assert found.wrong * RUNS <= binom.isf(1e-6 / 3, RUNS, 0.1)
    late = int((found.samples > 3 * 2**number).sum())
    assert late <= binom.isf(1e-6 / 3, RUNS, 0.1)
