"""Compiled players on listed super arms and on top-k where the best counts, against the plain host:
one law of plays, regret, what is earned, releases and events.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.checks.law import figures_of, smallest_p
from dpbandits.simulation.compiled.listed import best
from dpbandits.simulation.compiled.set_players import set_player, sets_of
from dpbandits.simulation.plain import Path
from dpbandits.simulation.simulate import choose_player, play_plain

ALARM = 1e-6
"""False-alarm rate of each statistical test here."""

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
    (dpb.CUCBDP, {"epsilon": 40, "horizon": 300}),
    (dpb.CUCBDPMax, {"epsilon": 40, "horizon": 300}),
]


def told(path: Path, gaps: Any) -> Any:
    earned = [] if path.earned is None else np.round(path.earned, 6)
    return np.concatenate([figures_of(path, gaps, True), earned])


@pytest.mark.long
@pytest.mark.parametrize("problem", PROBLEMS, ids=["listed", "costs", "top"])
@pytest.mark.parametrize(("cls", "given"), POLICIES, ids=lambda x: getattr(x, "__name__", ""))
def test_super_arms_are_played_by_one_law(cls: Any, given: Any, problem: Any) -> None:
    policy = cls(problem=problem, **given)
    environment = dpb.Bernoulli([0.8, 0.6, 0.5, 0.3, 0.4][: problem.arms])
    for rounds, runs in ((12, 100), (200, 60)):
        marks = np.array([5, rounds])
        player, compiled = choose_player(policy, environment, rounds, 31, compiled=True)
        assert compiled
        plain = partial(play_plain, policy, environment, rounds, 32, marks)
        fast = np.stack([told(player(marks, run), environment.gaps) for run in range(4 * runs)])
        slow = np.stack([told(plain(run), environment.gaps) for run in range(runs)])
        assert fast.shape[1] == slow.shape[1]
        assert smallest_p(slow, fast) > ALARM / (2 * len(PROBLEMS) * len(POLICIES))


@pytest.mark.long
@pytest.mark.parametrize("problem", [LISTED, COSTS], ids=["listed", "costs"])
@pytest.mark.parametrize("preset", ["valid", "sharp"])
def test_a_joint_radius_is_played_by_one_law(problem: Any, preset: str) -> None:
    policy = dpb.CUCBLDP2(problem=problem, epsilon=8, radius="joint", preset=preset)
    environment = dpb.Bernoulli([0.8, 0.6, 0.5, 0.3, 0.4][: problem.arms])
    for rounds, runs in ((12, 100), (300, 60)):
        marks = np.array([5, rounds])
        player, compiled = choose_player(policy, environment, rounds, 31, compiled=True)
        assert compiled
        plain = partial(play_plain, policy, environment, rounds, 32, marks)
        fast = np.stack([told(player(marks, run), environment.gaps) for run in range(4 * runs)])
        slow = np.stack([told(plain(run), environment.gaps) for run in range(runs)])
        assert smallest_p(slow, fast) > ALARM / 8


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
    for rounds, runs in ((12, 100), (200, 60)):
        marks = np.array([rounds])
        player = set_player(policy, environment, rounds, 31)
        assert player is not None
        plain = partial(play_plain, policy, environment, rounds, 32, marks)
        fast = np.stack([told(player(marks, run), environment.gaps) for run in range(4 * runs)])
        slow = np.stack([told(plain(run), environment.gaps) for run in range(runs)])
        assert smallest_p(slow, fast) > ALARM / 16


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
