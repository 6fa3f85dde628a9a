"""Compiled players on listed super arms and on top-k where the best counts, against the plain host:
one law of plays, regret, what is earned, releases and events.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.simulation.compiled.listed import best, set_player, sets_of
from tests.simulation.hosts import require_one_law

LISTED = dpb.ExplicitSet([(0, 1), (1, 2, 3), (3,), (0, 2)])
COSTS = dpb.ExplicitSet([(0, 1), (1, 2, 3), (3,)], arms=5, costs=True)  # arm 4 is a loop
PROBLEMS = [LISTED, COSTS, dpb.TopKMax(arms=4, k=2)]
POLICIES: list[Any] = [
    (dpb.CUCB, {}),
    (dpb.LazyCUCB, {"epsilon": 40}),
    (dpb.DPKLCUCB, {"epsilon": 20, "first": 3}),
    (dpb.CUCBLDP1, {"epsilon": 8}),
    (dpb.CUCBLDP2, {"epsilon": 4}),
    (dpb.CUCBLDP2, {"epsilon": 4, "ask": "undecided", "preset": "sharp"}),
    (dpb.CUCBLDP2, {"epsilon": 8, "radius": "joint"}),
    (dpb.CUCBLDP2, {"epsilon": 8, "radius": "joint", "preset": "sharp"}),
    (dpb.CUCBDP, {"epsilon": 40, "horizon": 300}),
    (dpb.CUCBDPMax, {"epsilon": 40, "horizon": 300}),
]


@pytest.mark.long
@pytest.mark.parametrize("problem", PROBLEMS, ids=["listed", "costs", "top"])
@pytest.mark.parametrize(("cls", "given"), POLICIES, ids=lambda x: getattr(x, "__name__", ""))
def test_super_arms_are_played_by_one_law(cls: Any, given: Any, problem: Any) -> None:
    if given.get("radius") == "joint" and not problem.linear:
        pytest.skip("a joint radius is of sums")
    policy = cls(problem=problem, **given)
    environment = dpb.Bernoulli([0.8, 0.6, 0.5, 0.3, 0.4][: problem.arms])
    among = 2 * len(PROBLEMS) * len(POLICIES)
    require_one_law(policy, environment, (12, 100), (200, 60), among=among)


GRAPH = dpb.GraphicMatroid([(0, 1), (1, 2), (2, 0), (2, 3), (3, 3), (2, 3), (4, 5)])
"""With a triangle, a self-loop, parallel edges and two parts."""


@pytest.mark.long
@pytest.mark.parametrize(
    "policy",
    [
        dpb.OMM(problem=GRAPH),
        dpb.KLOSM(problem=GRAPH),
        dpb.DPKLMAT(problem=GRAPH, epsilon=30, first=3),
        dpb.DPKLCUCB(problem=GRAPH, epsilon=30, first=3),
        dpb.CUCB(problem=GRAPH),
        dpb.LazyCUCB(problem=GRAPH, epsilon=60),
        dpb.CUCBLDP2(problem=GRAPH, epsilon=4),
        dpb.CUCBLDP2(problem=GRAPH, epsilon=4, ask="undecided", preset="sharp"),
    ],
    ids=lambda policy: policy.name,
)
def test_forests_are_played_by_one_law(policy: Any) -> None:
    """As they are where a graph is too large for a tableau."""
    environment = dpb.Bernoulli(np.linspace(0.8, 0.2, GRAPH.arms))
    require_one_law(policy, environment, (12, 100), (200, 60), among=16, player=set_player)


@pytest.mark.parametrize(
    "problem", [LISTED, COSTS, dpb.TopKMax(arms=6, k=3), GRAPH], ids=lambda p: type(p).__name__
)
@pytest.mark.long
def test_the_best_super_arm_is_the_oracles(problem: Any) -> None:
    rng, chosen = np.random.default_rng(2), np.zeros(problem.arms, np.int64)
    sets = sets_of(problem)
    assert sets is not None
    for _ in range(200):
        weights = np.round(rng.random(problem.arms) * 2 - 0.5, int(rng.integers(0, 3)))
        size = best(tuple(sets), weights, chosen)
        assert tuple(chosen[:size].tolist()) == problem.best(weights)


@pytest.mark.long
def test_what_a_run_earned_is_what_its_super_arms_are_worth() -> None:
    """On sure rewards the best pair is found, and every value is 0 or 1."""
    policy = dpb.CUCB(problem=dpb.TopKMax(arms=3, k=2))
    runs = dpb.simulate(policy, dpb.Bernoulli([1.0, 0.0, 0.0]), 1000, runs=2, at=[10])
    alone = dpb.simulate(
        policy, dpb.Bernoulli([1.0, 0.0, 0.0]), 1000, runs=2, at=[10], compiled=False
    )
    assert np.array_equal(runs.regret(at=[10, 1000]), alone.regret(at=[10, 1000]))
