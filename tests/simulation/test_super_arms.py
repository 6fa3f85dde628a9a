"""Compiled players of super arms against the plain host: one law of plays, regret, what is earned,
releases and events, on listed super arms, top-k where the best counts, graphs, arms that share
coins, and people whose rewards belong together.
"""

from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.checks.checks import smallest_p
from dpbandits.simulation.compiled.driver import add_random_rows
from dpbandits.simulation.compiled.listed import add_coins, best, set_player, sets_of
from dpbandits.simulation.simulate import choose_player
from tests.simulation.hosts import ALARM, require_one_law

LISTED = dpb.ExplicitSet([(0, 1), (1, 2, 3), (3,), (0, 2)])
COSTS = dpb.ExplicitSet([(0, 1), (1, 2, 3), (3,)], arms=5, costs=True)  # arm 4 is a loop
PATHS = dpb.ExplicitSet(super_arms=[(0, 1, 2), (0, 3, 4), (5, 6)])
COINS = dpb.SharedCoins([0.3, 0.5, 0.9], [0, 1, 1, 0, 1, 2, 2])
TOP = dpb.UniformMatroid(arms=4, rank=2)
TREES = dpb.SpanningTrees([(0, 1), (1, 2), (2, 0), (2, 3)])
TASTE = np.repeat([[1, 1, 0, 0.4], [0, 0, 1, 0.4], [1, 0.5, 1, 0.4]], [5, 3, 1], axis=0)
"""The first two arms please the same people."""

PEOPLE = dpb.Table(TASTE, resample=True)
GRAPH = dpb.GraphicMatroid([(0, 1), (1, 2), (2, 0), (2, 3), (3, 3), (2, 3), (4, 5)])
"""With a triangle, a self-loop, parallel edges and two parts."""

ON_SETS: list[Any] = [
    (dpb.CUCB, {}),
    (dpb.LazyCUCB, {"epsilon": 40}),
    (dpb.DPKLCUCB, {"epsilon": 25, "first": 3}),
    (dpb.CUCBLDP1, {"epsilon": 12}),
    (dpb.CUCBLDP2, {"epsilon": 4}),
    (dpb.CUCBLDP2, {"epsilon": 4, "ask": "undecided", "preset": "sharp"}),
    (dpb.CUCBLDP2, {"epsilon": 8, "radius": "joint"}),
    (dpb.CUCBLDP2, {"epsilon": 8, "radius": "joint", "preset": "sharp"}),
    (dpb.CUCBDP, {"epsilon": 50, "horizon": 300}),
    (dpb.CUCBDPMax, {"epsilon": 50, "horizon": 300}),
]
ON_MATROIDS: list[Any] = [
    (dpb.OMM, {}),
    (dpb.KLOSM, {}),
    (dpb.DPKLMAT, {"epsilon": 25, "first": 3}),
    (dpb.CTSGaussian, {}),
    (dpb.DPTSMAT, {"epsilon": 20}),
    (dpb.DPUCBMAT, {"epsilon": 20}),
]
WORLDS: dict[str, tuple[Any, Any, list[Any]]] = {
    "listed": (LISTED, dpb.Bernoulli([0.8, 0.6, 0.5, 0.3]), ON_SETS),
    "costs": (COSTS, dpb.Bernoulli([0.8, 0.6, 0.5, 0.3, 0.4]), ON_SETS),
    "maximum": (dpb.TopKMax(arms=4, k=2), dpb.Bernoulli([0.8, 0.6, 0.5, 0.3]), ON_SETS),
    "coins": (PATHS, COINS, ON_SETS),
    "graph": (GRAPH, dpb.Bernoulli(np.linspace(0.8, 0.2, 7)), ON_SETS[:6] + ON_MATROIDS[:3]),
    "people": (TOP, PEOPLE, ON_SETS[:5] + ON_SETS[8:9] + ON_MATROIDS),
    "trees of people": (TREES, PEOPLE, ON_MATROIDS[::4]),
}
"""Where super arms are played: on coins and by people arms belong together."""

PLAYED = [
    pytest.param(world, cls(problem=problem, **given), id=f"{world}-{cls.__name__}")
    for world, (problem, _, makers) in WORLDS.items()
    for cls, given in makers
    if problem.linear or given.get("radius") != "joint"
]


@pytest.mark.parametrize(("world", "policy"), PLAYED)
def test_super_arms_are_played_by_one_law(world: str, policy: Any) -> None:
    """Forests as they are where a graph is too large for a tableau."""
    player, environment = set_player if world == "graph" else None, WORLDS[world][1]
    sizes = (12, 100), (150, 60)
    require_one_law(policy, environment, *sizes, among=2 * len(PLAYED), player=player)


@pytest.mark.long
@pytest.mark.parametrize(
    "problem", [LISTED, COSTS, dpb.TopKMax(arms=6, k=3), GRAPH], ids=lambda p: type(p).__name__
)
def test_the_best_super_arm_is_the_oracles(problem: Any) -> None:
    rng, chosen = np.random.default_rng(2), np.zeros(problem.arms, np.int64)
    sets = sets_of(problem)
    assert sets is not None
    for _ in range(200):
        weights = np.round(rng.random(problem.arms) * 2 - 0.5, int(rng.integers(0, 3)))
        size = best(tuple(sets), weights, chosen)
        assert tuple(chosen[:size].tolist()) == problem.best(weights)


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


@pytest.mark.parametrize("rounds", [4, 400])
def test_sums_of_a_round_stay_together(rounds: int) -> None:
    rows = np.array([[1, 0, 1], [0, 1, 0], [0, 1, 0], [1, 0, 1], [1, 0, 0]])
    rng = np.random.default_rng(2)
    told, many = np.array([2, 0, 1]), 2000
    drawn = np.zeros((many, 3), np.int64)
    for sums in drawn:
        add_random_rows(rows, rounds, told, 3, sums, rng)
    assert np.all(drawn[:, 0] + drawn[:, 1] == rounds)
    assert np.all(drawn[:, 2] <= drawn[:, 0])
    plain = np.random.default_rng(3).multinomial(rounds, np.full(5, 0.2), many) @ rows
    assert smallest_p(plain, drawn) > ALARM / 2
    alone = np.zeros(3, np.int64)
    add_random_rows(rows, rounds, told, 1, alone, rng)
    assert alone[0] == alone[1] == 0


def test_only_what_loops_know_is_compiled() -> None:
    explicit = dpb.ExplicitMatroid(arms=4, bases=[(0, 1), (0, 2)])
    for policy, environment, compiled in (
        (dpb.DPJointCUCB(problem=PATHS, epsilon=4), COINS, False),
        (dpb.CUCB(problem=dpb.TopK(arms=7, k=2)), COINS, False),
        (dpb.UCB1(arms=7), COINS, True),  # one arm a round
        (dpb.CTSBeta(problem=TOP), PEOPLE, False),  # a coin rounds its rewards
        (dpb.OMM(problem=TOP), dpb.Table(TASTE), False),
        (dpb.OMM(problem=explicit), PEOPLE, False),
    ):
        assert choose_player(policy, environment, 9, 1, compiled=True)[1] is compiled
