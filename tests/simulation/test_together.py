"""Compiled players on people whose rewards belong together, against the plain host: one law of
plays, regret, releases and events. And of the whole table's sums, of which nothing else would tell.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.checks.law import smallest_p
from dpbandits.simulation.compiled.driver import add_random_rows
from dpbandits.simulation.simulate import choose_player
from tests.simulation.hosts import ALARM, require_one_law

TASTE = np.repeat([[1, 1, 0, 0.4], [0, 0, 1, 0.4], [1, 0.5, 1, 0.4]], [5, 3, 1], axis=0)
"""The first two arms please the same people."""

TREES = dpb.SpanningTrees([(0, 1), (1, 2), (2, 0), (2, 3)])
TOP = dpb.UniformMatroid(arms=4, rank=2)

POLICIES = [
    dpb.OMM(problem=TREES),
    dpb.CTSGaussian(problem=TOP),
    dpb.DPUCBMAT(problem=TOP, epsilon=20),
    dpb.DPTSMAT(problem=TREES, epsilon=20),
    dpb.DPKLMAT(problem=TOP, epsilon=20, first=3),
    dpb.CUCB(problem=dpb.TopK(arms=4, k=2)),
    dpb.LazyCUCB(problem=TOP, epsilon=40),
    dpb.CUCBLDP2(problem=TOP, epsilon=4),
    dpb.CUCBDP(problem=TOP, epsilon=40, horizon=300),
]


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_rows_are_played_by_one_law(policy: Any) -> None:
    environment = dpb.Table(TASTE, resample=True)
    require_one_law(policy, environment, (12, 150), (150, 80), among=30)


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
    other = np.random.default_rng(3)
    plain = other.multinomial(rounds, np.full(5, 0.2), many) @ rows
    assert smallest_p(plain, drawn) > ALARM / 2
    alone = np.zeros(3, np.int64)
    add_random_rows(rows, rounds, told, 1, alone, rng)
    assert alone[0] == alone[1] == 0


def test_what_has_no_rows_is_played_the_plain_way() -> None:
    for policy, environment in (
        (dpb.CTSBeta(problem=TOP), dpb.Table(TASTE, resample=True)),  # a coin rounds its rewards
        (dpb.OMM(problem=TOP), dpb.Table(TASTE)),
        (
            dpb.OMM(problem=dpb.ExplicitMatroid(arms=4, bases=[(0, 1), (0, 2)])),
            dpb.Table(TASTE, resample=True),
        ),
    ):
        assert not choose_player(policy, environment, 9, 1, compiled=True)[1]
