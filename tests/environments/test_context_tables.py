"""Environments with contexts."""

from typing import Any

import numpy as np
import pytest

import dpbandits as dpb

CONTEXTS = np.array([[0.6, 0.8], [0.8, 0.6], [0.0, 0.5]])


def test_rewards_come_with_each_visitors_own_chance() -> None:
    """100,000 draws; each share is within 5 standard errors (all six: a false alarm in 3·10⁵)."""
    chances = np.array([[0.1, 0.9], [0.3, 0.2], [0.5, 0.7]])
    table = dpb.ContextTable(CONTEXTS, chances)
    rng, draws = np.random.default_rng(1), 100_000
    rows = np.array([table.visit(rng) for _ in range(draws)])
    assert np.bincount(rows) / draws == pytest.approx([1 / 3] * 3, abs=5 * 0.5 / draws**0.5)
    for row in range(3):
        for arm in range(2):
            got = np.mean([table.reward(row, arm, rng) for _ in range(20_000)])
            assert got == pytest.approx(chances[row, arm], abs=5 * 0.5 / 20_000**0.5)
    assert table.best == pytest.approx((0.9 + 0.3 + 0.7) / 3)
    assert table.means == pytest.approx(chances.mean(axis=0))


def test_classes_are_arms_and_a_logistic_law_has_its_chances() -> None:
    table = dpb.ContextTable.of_classes(CONTEXTS, ["b", "a", "b"])
    assert table.chances.tolist() == [[0, 1], [1, 0], [0, 1]]
    law = dpb.ContextTable.logistic(CONTEXTS, [[1.0, 0.0], [0.0, 2.0]], [0.0, -1.0])
    assert law.chances[0] == pytest.approx([1 / (1 + np.exp(-0.6)), 1 / (1 + np.exp(-0.6))])
    assert repr(law) == "ContextTable(3 rows, 2 features, 2 arms)"


def test_a_log_is_played_once_in_its_order() -> None:
    log = dpb.ContextTable(CONTEXTS, np.eye(3)[:, :2], logged=True).fresh()
    rng = np.random.default_rng(1)
    assert [log.visit(rng) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(dpb.EnvironmentExhausted):
        log.visit(rng)
    assert log.fresh().visit(rng) == 0


def test_regret_of_every_policy_is_against_the_best_arm_for_each_visitor() -> None:
    table = dpb.ContextTable(CONTEXTS, [[0.1, 0.9], [0.6, 0.2], [0.5, 0.7]])
    policy = dpb.DPRateIMED(arms=2, epsilon=1)
    runs = dpb.simulate(policy, table, 300, runs=3, seed=1)
    earned = runs.counts @ table.means
    assert runs.regret(runs.checkpoints) == pytest.approx(table.best * runs.checkpoints - earned)
    assert np.isnan(dpb.upper_bound(dpb.DPKLUCB(arms=2, epsilon=1), table, 300))
    assert np.isnan(dpb.regret_order(policy, table, 300))
    assert dpb.lower_bound(policy, table, 300) > 0
    assert np.isnan(dpb.lower_bound(dpb.LinTS(arms=2, features=2), table, 300))
    alike = dpb.ContextTable(CONTEXTS, [[0.1, 0.3], [0.2, 0.4], [0.5, 0.7]])
    assert dpb.upper_bound(dpb.DPKLUCB(arms=2, epsilon=1), alike, 300) > 0
    ahead = dpb.ChangingMeans([[0.6, 0.5], [0.9, 0.1]], [0, 300], 600)  # by less at first
    assert np.isnan(dpb.upper_bound(dpb.DPKLUCB(arms=2, epsilon=1), ahead, 300))


@pytest.mark.parametrize("policy", [dpb.LinTS(arms=2, features=2), dpb.UCB1(arms=2)])
def test_regret_on_a_log_is_that_of_the_visitors_who_came(policy: Any) -> None:
    """It was measured against averages of the whole table, and came out below 0."""
    chances = np.array([[0.9, 0.1]] * 100 + [[0.1, 0.2]] * 100)
    log = dpb.ContextTable(np.full((200, 2), 0.5), chances, logged=True)
    runs = dpb.simulate(policy, log, 200, runs=3, seed=1)
    plays = runs.plays_at([100, 200])
    lost = np.cumsum([plays[:, 0] @ [0.0, 0.8], (plays[:, 1] - plays[:, 0]) @ [0.1, 0.0]], axis=0)
    assert runs.regret([100, 200]) == pytest.approx(lost.T)
