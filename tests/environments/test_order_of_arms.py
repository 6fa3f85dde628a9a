"""Runs that number the arms anew: the order in which data lists them changes no number. False-alarm
rate 1e-6 where statistical.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

import dpbandits as dpb
from dpbandits.datasets import clinical
from dpbandits.environments.base import Environment
from dpbandits.environments.laws import Reordered, random_order

RATES = clinical("smoking").environment.means
ROWS = np.random.default_rng(3).random((60, 4)).round(2)
LOG, OUTCOMES = np.random.default_rng(4).integers(4, size=400), np.random.default_rng(5).random(400)


def environments(order: Any) -> list[Environment]:
    """One of each kind, its arms listed in this order."""
    back = np.argsort(order)
    return [
        dpb.Bernoulli(RATES[order]),
        dpb.Table(ROWS[:, order]),
        dpb.Table(ROWS[:, order], resample=True),
        dpb.LoggedReplay(back[LOG], OUTCOMES, arms=4),
    ]


POLICIES = [
    dpb.DPSE(arms=4, epsilon=1, horizon=60),
    dpb.DPKLUCB(arms=4, epsilon=8, grid=64),
    dpb.UCB1(arms=4, grid=64),
]


@pytest.mark.parametrize("kind", range(4))
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
@pytest.mark.parametrize("compiled", [True, False])
def test_the_order_of_the_data_changes_no_number(
    policy: dpb.Policy, kind: int, compiled: bool
) -> None:
    """Arms of a run are drawn by their means, so every listing of them gives the same runs."""
    here, reversed_ = environments([0, 1, 2, 3])[kind], environments([3, 2, 1, 0])[kind]
    a, b = (
        dpb.simulate(policy, e, 60, runs=8, seed=5, shuffle=True, compiled=compiled)
        for e in (here, reversed_)
    )
    assert np.array_equal(a.counts, b.counts[..., ::-1])
    assert a.regret() == pytest.approx(b.regret(), abs=1e-9)
    assert len({tuple(row) for row in a.plays.tolist()}) > 1


def test_every_order_is_as_likely() -> None:
    orders = [
        tuple(random_order(dpb.Bernoulli([0.3, 0.9, 0.5]), np.random.default_rng([1, run, 1])))
        for run in range(6000)
    ]
    found = [orders.count(order) for order in set(orders)]
    assert len(found) == 6
    assert chisquare(found).pvalue > 1e-6


def test_reordered_arms_keep_their_rewards() -> None:
    """Whatever is asked of arms is answered as of the arms at these places of the order."""
    order, arms = np.array([2, 0, 3, 1]), np.array([3, 0])
    rng, grid = np.random.default_rng, dpb.Grid(steps=64)
    coins = dpb.SharedCoins([0.3, 0.6], [0, 1, 1, 0])
    for environment in (*environments([0, 1, 2, 3]), coins):
        moved = Reordered(environment, order)
        assert moved.means.tolist() == environment.means[order].tolist()
        for name in ("length", "fixed", "logged", "apart", "changing"):
            assert getattr(moved, name) == getattr(environment, name)
        law, own = moved.lattice(grid), environment.lattice(grid)
        if own is None:
            assert law is None
        else:
            assert law is not None
            assert np.array_equal(law.probabilities, own.probabilities[order])
        asks: list[Callable[[Any, Any], Any]] = [
            lambda of, arms: of.draw(int(arms[0]), rng(1)),
            lambda of, arms: of.block(int(arms[0]), 40, grid, rng(2)),
            lambda of, arms: of.draw_many(arms, rng(3)),
            lambda of, arms: of.block_many(arms, 40, grid, rng(4)),
        ]
        for ask in asks[: 1 if environment.logged else 4]:
            found = ask(moved.fresh(), arms)
            assert np.array_equal(found, ask(environment.fresh(), order[arms]))
