"""Arms that share coins: compiled players against the plain host, and that identical arms do matter
to a policy that reads several of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.checks.law import smallest_p
from dpbandits.simulation.compiled.listed import add_coins
from dpbandits.simulation.simulate import choose_player
from tests.simulation.hosts import ALARM, require_one_law

PATHS = dpb.ExplicitSet(super_arms=[(0, 1, 2), (0, 3, 4), (5, 6)])
COINS = dpb.SharedCoins([0.3, 0.5, 0.9], [0, 1, 1, 0, 1, 2, 2])

POLICIES = [
    dpb.CUCB(problem=PATHS),
    dpb.LazyCUCB(problem=PATHS, epsilon=60),
    dpb.CUCBDP(problem=PATHS, epsilon=60, horizon=300),
    dpb.CUCBDPMax(problem=PATHS, epsilon=60, horizon=300),
    dpb.CUCBLDP1(problem=PATHS, epsilon=20),
    dpb.CUCBLDP2(problem=PATHS, epsilon=8),
    dpb.CUCBLDP2(problem=PATHS, epsilon=8, radius="joint", preset="sharp"),
    dpb.DPKLCUCB(problem=PATHS, epsilon=30, first=3),
]


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_coins_are_played_by_one_law(policy: Any) -> None:
    require_one_law(policy, COINS, (12, 100), (150, 60), among=2 * len(POLICIES))


@pytest.mark.parametrize("rounds", [1, 400])
def test_arms_of_one_coin_get_the_same(rounds: int) -> None:
    rng, many, told = np.random.default_rng(2), 2000, np.array([3, 0, 2, 1])
    rows = np.stack([COINS.coins.astype(float), COINS.means, np.full(7, 4.0)])
    drawn = np.zeros((many, 7), np.int64)
    for sums in drawn:
        add_coins(rows, rounds, told, 4, sums, rng)
    assert np.array_equal(drawn[:, 0], drawn[:, 3])
    assert np.array_equal(drawn[:, 1], drawn[:, 2])
    assert not drawn[:, 4:].any()
    plain = 4 * np.random.default_rng(3).binomial(rounds, [0.3, 0.5], (many, 2))
    assert smallest_p(plain, drawn[:, :2]) > ALARM / 2
    hosts = np.random.default_rng(4)
    grid = dpb.Grid(steps=4)
    blocks = np.stack([COINS.block_many(told[[0, 3]], rounds, grid, hosts) for _ in range(many)])
    assert smallest_p(plain, blocks) > ALARM / 2
    once = np.stack([COINS.draw_many(told, hosts) for _ in range(50)])
    assert np.array_equal(once[:, 0], once[:, 1])
    assert not np.array_equal(once[:, 0], once[:, 2])


def test_only_what_loops_know_is_compiled() -> None:
    top = dpb.TopK(arms=7, k=2)
    for policy in (dpb.DPJointCUCB(problem=PATHS, epsilon=4), dpb.CUCB(problem=top)):
        assert not choose_player(policy, COINS, 9, 1, compiled=True)[1]
    assert choose_player(dpb.UCB1(arms=7), COINS, 9, 1, compiled=True)[1]  # one arm a round
