"""Tables played in their order: realised rewards, and regret against the best fixed arm in
hindsight.
"""

from functools import partial

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.environments.base import Environment
from dpbandits.simulation import play_plain, play_rounds

GROUPED = np.repeat(np.eye(3), 100, axis=0)
"""Days grouped by the winner: every column has the same mean."""

MIXED = np.random.default_rng(8).random((500, 3)).round(3)


def test_what_was_lost_to_the_order_is_seen() -> None:
    """Equal column means: pseudo-regret is 0; the first winner alone gives 100 of 300 rounds."""
    runs = dpb.simulate(
        dpb.DPKLUCB(arms=3, epsilon=1, grid=1), dpb.Table(GROUPED), 300, runs=5, seed=2
    )
    assert runs.kind == "hindsight"
    assert runs.regret(kind="pseudo").tolist() == [0.0] * 5
    assert runs.rewards is not None
    assert runs.regret().tolist() == (100 - runs.rewards_at([300])[:, 0]).tolist()
    assert (runs.regret() > 30).all()
    assert runs.quantiles(1.0) == runs.regret().max()


@pytest.mark.parametrize(
    "policy",
    [
        dpb.DPKLUCB(arms=3, epsilon=4, grid=64),
        dpb.AnytimeLazyUCB(arms=3, epsilon=4, grid=64),
        dpb.UCB1(arms=3, grid=64),
        dpb.RNMFTNL(actions=3, epsilon=4, grid=64),
        dpb.DPKLCUCB(problem=dpb.TopK(arms=3, k=2), epsilon=4, grid=64),
    ],
    ids=lambda policy: policy.name,
)
@pytest.mark.parametrize("shuffle", [False, True])
def test_jumping_and_walking_hosts_tell_the_same_regret(policy: dpb.Policy, shuffle: bool) -> None:
    """`simulate` jumps from release to release; round by round the same is played. Rewards are
    those of the arms that were played.
    """
    if shuffle and isinstance(policy, dpb.DPKLCUCB):
        return
    table, every = dpb.Table(MIXED), np.arange(1, 501)
    fast = dpb.simulate(policy, table, 500, runs=3, seed=4, at=every.tolist(), shuffle=shuffle)
    if not shuffle:
        slow = [play_plain(policy, table, 500, 4, every, run, host=play_rounds) for run in range(3)]
        assert np.array_equal(fast.counts, [path.plays for path in slow])
        assert fast.rewards == pytest.approx(np.array([path.rewards for path in slow]))
    earned = (np.diff(fast.counts, axis=1, prepend=0) * MIXED).sum(axis=2).cumsum(axis=1)
    assert fast.rewards == pytest.approx(earned)
    size = 2 if isinstance(policy, dpb.DPKLCUCB) else 1
    best = np.sort(MIXED.cumsum(axis=0))[:, -size:].sum(axis=1)
    assert fast.regret(at=every) == pytest.approx(best - earned, abs=1e-9)
    few = dpb.simulate(policy, table, 500, runs=3, seed=4, at=[7], shuffle=shuffle)
    assert few.regret(at=[30]) == pytest.approx(fast.regret(at=[30]), abs=1e-9)


def test_costs_are_counted_as_costs() -> None:
    """Routes {0} and {1, 2}: the long one counts a cost for each of its arms."""
    policy = dpb.CUCB(
        problem=dpb.ExplicitSet(super_arms=[[0], [1, 2]], arms=3, costs=True), grid=64
    )
    runs, costs = dpb.simulate(policy, dpb.Table(MIXED), 500, runs=2, seed=1), 1 - MIXED
    assert runs.rewards is not None
    paid = runs.plays.sum(axis=1) - runs.rewards[:, -1]
    cheapest = min(costs[:, 0].sum(), costs[:, 1:].sum())
    assert runs.regret() == pytest.approx(paid - cheapest, abs=1e-9)


@pytest.mark.parametrize(
    "environment",
    [dpb.Bernoulli([0.5, 0.4, 0.3]), dpb.Table(MIXED, resample=True)],
    ids=["law", "resampled"],
)
def test_independent_rounds_have_pseudo_regret(environment: Environment) -> None:
    runs = dpb.simulate(dpb.DPKLUCB(arms=3, epsilon=1), environment, 200, runs=2, compiled=False)
    assert runs.kind == "pseudo"
    assert (
        runs.regret().tolist()
        == runs.regret(kind="pseudo").tolist()
        == (runs.plays @ environment.gaps).tolist()
    )
    for wrong in (partial(runs.regret, kind="hindsight"), partial(runs.rewards_at, [100])):
        with pytest.raises(ValueError, match="Table played in its order"):
            wrong()
    with pytest.raises(ValueError, match="'pseudo' or 'hindsight'"):
        runs.regret(kind="other")  # type: ignore[arg-type]
