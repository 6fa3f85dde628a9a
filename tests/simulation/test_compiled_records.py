"""Compiled players on the rows of a table against the plain host: what is fixed is the same, what
is drawn has the same law. And the winner of an epoch, of which most sums are never drawn.
"""

from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2_contingency

import dpbandits as dpb
from dpbandits.simulation.compiled import experts
from tests.simulation.hosts import ALARM, require_one_law

PEOPLE = np.random.default_rng(5).beta(1, 2, (150, 4)) * [1, 0.9, 0.8, 0.2]
PEOPLE[:, 1] = 1 - PEOPLE[:, 0]  # what one likes the other does not
MARKS = [1, 17, 150]


@pytest.mark.long  # it compiles
@pytest.mark.parametrize(
    "policy", [dpb.FollowTheLeader(actions=4), dpb.DecreasingHedge(actions=4, play="weights")]
)
@pytest.mark.parametrize("shuffle", [False, True])
def test_fixed_rewards_are_played_alike(policy: Any, shuffle: bool) -> None:
    table = dpb.Table(PEOPLE)
    fast, slow = (
        dpb.simulate(policy, table, 150, runs=2, at=MARKS, compiled=compiled, shuffle=shuffle)
        for compiled in (True, False)
    )
    assert np.allclose(fast.plays_at(MARKS), slow.plays_at(MARKS), rtol=0, atol=1e-9)
    assert np.allclose(fast.rewards_at(MARKS), slow.rewards_at(MARKS), rtol=0, atol=1e-9)
    if not policy.weighted:
        assert np.array_equal(fast.plays_at(MARKS), slow.plays_at(MARKS))
    assert fast.releases.tolist() == slow.releases.tolist()
    assert fast.events.tolist() == slow.events.tolist()


@pytest.mark.parametrize("resample", [False, True])
@pytest.mark.parametrize(
    "policy",
    [
        dpb.FollowTheLeader(actions=4),
        dpb.DecreasingHedge(actions=4),
        dpb.DecreasingHedge(actions=4, play="weights"),
        dpb.TreeFTRL(actions=4, epsilon=40, horizon=150),
        dpb.TreeFTRL(actions=4, epsilon=40, horizon=150, play="weights"),
        dpb.TreeFTRL(actions=4, epsilon=40, horizon=150, preset="published"),
        dpb.RootFTRL(actions=4, rho=40, horizon=150, play="weights"),
    ],
    ids=repr,
)
def test_rows_are_played_by_one_law(policy: Any, resample: bool) -> None:
    environment = dpb.Table(PEOPLE, resample=resample)
    require_one_law(policy, environment, (12, 200), (120, 100), among=28)


def test_coins_are_thrown_by_the_plain_host() -> None:
    """Of rewards that a coin rounds there is no row on the grid."""
    table = dpb.Table(PEOPLE)
    assert table.rows_on(dpb.Grid(steps=1, rounding="bernoulli")) is None
    assert dpb.Bernoulli([0.5, 0.5]).rows_on(dpb.Grid(steps=1)) is None


@pytest.mark.parametrize(
    ("noise", "law"),
    [
        (experts.LAPLACE, "laplace"),
        (experts.GUMBEL, "exponential"),
        (experts.EXPONENTIAL, "permute-and-flip"),
    ],
)
@pytest.mark.parametrize("levels", [2, 3])
def test_winners_have_the_law_of_all_sums(noise: int, law: Any, levels: int) -> None:
    """In epochs in which no sum, few sums and most sums can be left out."""
    means = np.concatenate([np.linspace(0.96, 0.94, 8), np.linspace(0.7, 0.1, 30)])
    means = means[np.random.default_rng(3).permutation(len(means))]
    if levels == 2:
        environment: Any = dpb.Bernoulli(means)
    else:
        thirds = np.stack([1 - means, np.full(len(means), 0.5), means], axis=1) / 1.5
        environment = dpb.Categorical([0, 0.5, 1], thirds)
    steps, arms, runs, epsilon = 4, len(means), 1500, 1
    values, probabilities = environment.lattice(dpb.Grid(steps=steps))
    fast, slow = np.random.default_rng(1), np.random.default_rng(2)
    source = dpb.SimulatedNoise(4)
    expected = steps * environment.means
    for rounds in (1, 60, 3000):
        won = [
            experts.noisy_winner(
                noise, 2 * steps / epsilon, rounds, values, probabilities, expected, fast
            )
            for _ in range(4 * runs)
        ]
        sums = (
            environment.block_many(np.arange(arms), rounds, dpb.Grid(steps=steps), slow)
            for _ in range(runs)
        )
        win = [source.select(s, sensitivity=steps, epsilon=epsilon, law=law) for s in sums]
        counts = np.stack([np.bincount(x, minlength=arms) for x in (won, win)])
        rare = counts.sum(axis=0) < 40
        merged = np.column_stack([counts[:, ~rare], counts[:, rare].sum(axis=1)])
        merged = merged[:, merged.sum(axis=0) > 0]
        assert merged.shape[1] > 1
        assert chi2_contingency(merged).pvalue > ALARM / 18
