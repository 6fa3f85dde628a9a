"""Combinatorial semi-bandits: small cases by hand, presets' privacy, the law of reports, bonuses
that hold.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.policies import CUCBDP, CUCBLDP1, CUCBLDP2, CUCBDPMax, LazyCUCB

TOP = dpb.TopK(arms=4, k=2)


def test_bonuses_by_hand() -> None:
    n, t, big = 400, 1000, 10**6
    log_t, log_h, both = math.log(t), math.log(big), math.log(2) + 3 * math.log(t)
    own, arms = math.sqrt(1.5 * log_t / n), np.array([float(n)])
    wanted = {
        CUCBLDP1(problem=TOP, epsilon=4): own + (2 / 4) * math.sqrt(8 * both / n),
        CUCBLDP2(problem=TOP, epsilon=4): own + (1 / 4) * math.sqrt(8 * both / n),
        CUCBLDP1(problem=TOP, epsilon=4, preset="published", horizon=big): 4
        * math.sqrt(2 * 4 * log_h / (16 * n)),
        CUCBLDP2(problem=TOP, epsilon=4, preset="published", horizon=big): 4
        * math.sqrt(2 * log_h / (16 * n)),
        CUCBLDP2(problem=TOP, epsilon=4, preset="sharp"): math.sqrt(
            2.5 * (1 / 4 + 2 / 16) * log_t / n + 5 * (log_t / (4 * n)) ** 2
        ),
        CUCBDP(problem=TOP, epsilon=4, horizon=big): own
        + (2 * 20 / 4) * math.sqrt(both) * math.sqrt(8 * both) / n,
        CUCBDPMax(problem=TOP, epsilon=4, horizon=big): own
        + (20 / 4) * math.sqrt(both) * math.sqrt(8 * both) / n,
        CUCBDP(problem=TOP, epsilon=4, horizon=big, preset="published"): math.sqrt(
            4 * math.log(4 * big) / n
        )
        + 12 * 2 * log_h**3 / (4 * n),
        LazyCUCB(problem=TOP, epsilon=4): math.sqrt(1.5 * math.log(4 * t) / n)
        + 3 * 2 * math.log(4 * t) / (4 * n),
    }
    for policy, value in wanted.items():
        draws = arms if isinstance(policy, (CUCBLDP1, CUCBLDP2)) else np.array([3.0])
        assert policy.bonus(arms, draws, t)[0] == pytest.approx(value), policy.name  # type: ignore[attr-defined]


def test_presets_have_the_privacy_they_have() -> None:
    """As published a node has Lap(2K ln T/ε): εL/(2 ln T) in all, above the claim at T = 2 and 4
    only.
    """
    for horizon in (2, 3, 4, 5, 6, 7, 8, 16, 10**4, 10**6):
        policy = CUCBDP(problem=TOP, epsilon=1, horizon=horizon, preset="published")
        guarantee = policy.guarantee
        assert guarantee is not None
        assert float(guarantee.cost) == pytest.approx(
            horizon.bit_length() / (2 * math.log(horizon)), rel=1e-5
        )
        assert policy.node_scale == pytest.approx(2 * 2 * math.log(horizon), rel=1e-5)
        assert guarantee.claimed == 1
        assert (guarantee.cost > 1) == (horizon in (2, 4))
    assert CUCBDP(problem=TOP, epsilon="1/3", horizon=100).guarantee.cost == Fraction(1, 3)  # type: ignore[union-attr]
