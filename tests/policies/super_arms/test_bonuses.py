"""Semi-bandits: bonuses by hand and against the laws of what they bound, presets' privacy."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.policies import CUCBDP, CUCBLDP1, CUCBLDP2, CUCBDPMax, LazyCUCB
from dpbandits.policies.super_arm_bounds import noisy_radius

TOP = dpb.TopK(arms=4, k=2)


def sides(n: int, eps: float, runs: int) -> Any:
    """Error of the mean of n reports about a fair coin, in `runs` runs."""
    rng = np.random.default_rng(n)
    noise = rng.exponential(1 / eps, (runs, n)) - rng.exponential(1 / eps, (runs, n))
    return rng.binomial(n, 0.5, runs) / n - 0.5 + noise.mean(axis=1)


@pytest.mark.parametrize("n", [1, 3, 40])
@pytest.mark.parametrize("eps", [0.5, 10.0])
def test_valid_bonuses_hold(n: int, eps: float) -> None:
    """Exceeded on one side with probability 2t⁻³ at most; false alarms below 1e-6."""
    t, runs, size = 6, 100_000, np.array([float(n)])
    bonus = noisy_radius(size, size, t, 1 / eps)[0]
    allowed = 2 * t**-3
    assert (sides(n, eps, runs) < -bonus).mean() < allowed + 5 * math.sqrt(allowed / runs)


def test_published_bonus_fails_at_large_epsilon() -> None:
    """cucb_ldp1: at ε = 10K, T = 100 and n = 40 in about 1 % of all cases; T⁻³ is 10⁻⁶."""
    policy = CUCBLDP2(problem=TOP, epsilon=10, preset="published", horizon=100)
    size = np.array([40.0])
    share = (sides(40, 10.0, 100_000) < -policy.bonus(size, size, 100)[0]).mean()
    assert 0.005 < share < 0.02


def test_published_bonus_at_one_report() -> None:
    """cucb_ldp1: ½e^{−4√(2 ln T)}, 4·10⁻¹⁰ at T = 10⁶, above T⁻² from T = 6000 on, at any ε."""
    one = np.ones(1)
    for epsilon in (1, 10):
        tail = {}
        for horizon in (5000, 6000, 10**4, 10**6, 10**9, 10**15):
            bonus = CUCBLDP2(
                problem=TOP, epsilon=epsilon, preset="published", horizon=horizon
            ).bonus(one, one, 1)[0]
            # of one report's noise, Laplace of scale 1/epsilon
            tail[horizon] = 0.5 * math.exp(-bonus * epsilon)
        assert tail[10**6] == pytest.approx(4e-10, rel=0.1)
        assert [horizon for horizon in tail if tail[horizon] <= horizon**-2.0] == [5000]


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
    """As published: εL/(2 ln T) in all, above the claim at T = 2 and 4 only."""
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
