"""Logs by rejection sampling. Statistical bounds are Hoeffding's at a
false-alarm rate of 1e-6, seeds fixed.
"""

import math

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.core.errors import EnvironmentExhausted

FALSE_ALARM = 1e-6


def hoeffding(n: int, of: int = 1) -> float:
    """Radius that `of` means of n values in [0, 1] leave with probability 1e-6."""
    return math.sqrt(math.log(2 * of / FALSE_ALARM) / (2 * n))


def test_replay_passes_over_what_the_policy_would_not_have_done() -> None:
    log, rng = (
        dpb.LoggedReplay([1, 0, 1, 0, 0], [0.1, 0.2, 0.3, 0.4, 0.5], arms=2).fresh(),
        np.random.default_rng(0),
    )
    assert math.isnan(log.acceptance)
    assert [log.draw(0, rng), log.draw(1, rng), log.draw(0, rng)] == [0.2, 0.3, 0.4]
    assert log.acceptance == 3 / 4
    with pytest.raises(EnvironmentExhausted, match="log of 5 entries is used up"):
        log.draw(1, rng)
    assert log.acceptance == 3 / 5
    assert log.fresh().draw(1, rng) == 0.1


def walk(log: dpb.LoggedReplay, arms: int, seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Sums and counts of accepted rewards by arm under uniform play, and the acceptance rate."""
    log, rng = log.fresh(), np.random.default_rng(seed)
    sums, counts = np.zeros(arms), np.zeros(arms)
    while True:
        arm = int(rng.integers(arms))
        try:
            sums[arm] += log.draw(arm, rng)
        except EnvironmentExhausted:
            return sums, counts, log.acceptance
        counts[arm] += 1


MORNING, EVENING = ([0.8, 0.2], [0.9, 0.9]), ([0.2, 0.8], [0.1, 0.1])
"""The first arm is shown mostly to those who like every arm: rewards of .74 in the log."""


@pytest.mark.parametrize(
    "times",
    [
        [([0.25] * 4, [0.1, 0.4, 0.6, 0.9])],
        [([0.5, 0.3, 0.2], [0.2, 0.5, 0.8])],
        [MORNING, EVENING],
    ],
    ids=["uniform", "uneven", "with the reward"],
)
def test_a_log_is_replayed_without_bias(times: list[tuple[list[float], list[float]]]) -> None:
    """And accepted as often as the smallest propensity says. times: propensities of arms and their
    means at each time of the day.
    """
    rng, n, arms = np.random.default_rng(7), 120_000, len(times[0][0])
    chances, means = np.array(times).swapaxes(0, 1)
    when = rng.integers(len(times), size=n)
    actions = (rng.random((n, 1)) > chances[when].cumsum(axis=1)[:, :-1]).sum(axis=1)
    rewards = rng.random(n) < means[when, actions]
    log = dpb.LoggedReplay(actions, rewards, arms=arms, propensities=chances[when, actions])
    assert log.expected_acceptance == pytest.approx(chances.min(), abs=hoeffding(n))
    sums, counts, acceptance = walk(log, arms, 8)
    assert abs(acceptance - log.expected_acceptance) < 2 * hoeffding(n)
    assert abs(counts / counts.sum() - 1 / arms).max() < hoeffding(int(counts.sum()), arms)
    radius = np.array([hoeffding(int(c), 2 * arms) for c in counts])
    assert (abs(sums / counts - means.mean(axis=0)) < radius).all()
    assert (abs(sums / counts - log.means) < 2 * radius).all()


def test_replay_runs_through_the_simulator() -> None:
    rng = np.random.default_rng(11)
    actions = rng.integers(3, size=3_000)
    log = dpb.LoggedReplay(actions, rng.random(3_000) < np.array([0.2, 0.5, 0.8])[actions], arms=3)
    runs = dpb.simulate(dpb.LazyDPTS(arms=3, epsilon=1), log, rounds=3_000, runs=2, seed=12)
    assert (runs.lengths == runs.plays.sum(axis=1)).all()
    assert (runs.lengths < 3_000).all()  # the log runs out first
    said = f"after {runs.lengths.min():,} to {runs.lengths.max():,} of 3,000 rounds, 2 runs"
    assert said in str(runs.summary())
    assert np.isnan(runs.regret([1, 3_000])).tolist() == [[False, True]] * 2
    assert runs.acceptance is not None
    assert abs(runs.acceptance - 1 / 3).max() < hoeffding(3_000, 2)
