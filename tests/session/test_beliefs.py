"""Beliefs: a row an arm, from released values only; what is kept of releases; advice that can be
checked; and a policy's people against holdout people.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.mechanisms import Answer
from dpbandits.policies.contract import Release
from dpbandits.session.beliefs import (
    Belief,
    Beliefs,
    ReleaseHistory,
    beliefs,
    level,
    together,
    uplift_of,
)
from tests.session.campaigns import campaign

POLICY = dpb.DPKLUCB(arms=3, epsilon=1)


def released(*arms: tuple[float, int, int]) -> ReleaseHistory:
    """Each arm's total, rounds and draws, in one release; rounds 0: nothing of this arm."""
    history = ReleaseHistory.of(dpb.DPKLUCB(arms=len(arms), epsilon=1))
    known = [(at, Answer(*arm)) for at, arm in enumerate(arms) if arm[1]]
    return history.after(Release(tuple(at for at, _ in known), tuple(a for _, a in known), 9, ()))


def test_an_arm_nobody_knows_may_be_the_best() -> None:
    """Under a uniform prior it beats a known mean with probability 1 − mean."""
    known, _ = beliefs(released((0.3 * 10**6, 10**6, 3), (0.0, 0, 0)))
    assert known.chance_best == pytest.approx(0.3, abs=1e-3)
    apart = ((600.0, 1000, 3), (300.0, 1000, 3))
    assert beliefs(released(*apart)).best == "0"
    found = beliefs(released(*apart, (0.0, 0, 0)))
    assert (found.best, found.more) == (None, None)
    found = beliefs(released(*apart, (590.0, 1000, 3)), among=[0, 1])
    assert (found.best, found[2].chance_best, found[2].mean) == ("0", None, 0.59), "it is retired"


def test_arms_added_share_what_is_left() -> None:
    """The shares of all arms there will ever be add up to the failure probability."""
    history = ReleaseHistory.of(POLICY)
    for at in range(3, 400):
        history = history.with_arm(str(at))
    shares = [2 * 16 * np.exp(-level(history, arm, 0.05, 16)) for arm in range(400)]
    assert 0.05 * 0.99 < sum(shares) < 0.05


def test_chances_agree_with_drawn_posteriors() -> None:
    """Against 10⁵ draws from normal posteriors: within five standard errors, and a thousandth."""
    sizes, means = np.array([4000, 3000, 2000]), np.array([0.5, 0.49, 0.47])
    arms = [(m * n, int(n), 1) for m, n in zip(means, sizes, strict=True)]
    found = np.array([row.chance_best for row in beliefs(released(*arms))])
    spread = np.sqrt(means * (1 - means) / sizes + 2.0 / sizes**2)
    best = np.random.default_rng(4).normal(means, spread, (100_000, 3)).argmax(axis=1)
    drawn = np.bincount(best, minlength=3) / 100_000
    assert np.abs(found - drawn).max() < 5 * 0.5 / np.sqrt(100_000) + 1e-3


def test_of_arms_that_are_played_together_none_is_the_best() -> None:
    """It was advised how many more people it takes to name the best of films of all genres."""
    history = released((50.0, 100, 2), (20.0, 100, 2), (0.0, 0, 0))
    found, compared = beliefs(history, together=True), beliefs(history)
    assert (found.best, found.more, found.together) == (None, None, True)
    assert [row[:5] for row in found] == [row[:5] for row in compared]
    assert {row.chance_best for row in found} == {None}
    assert "none of them is named the best" in found.advice
    assert "best?" in str(compared)
    assert "best?" not in str(found)
    assert "chance" not in str(found)


def test_where_releases_estimate_no_means_that_is_said() -> None:
    """No rounds were counted, as if nothing had been released yet."""
    session = dpb.Session(dpb.RNMFTNL(actions=2, epsilon=1), noise=dpb.SimulatedNoise(1))
    assert "estimated from what was released" in str(session.beliefs())


# What is kept: few rows, plain data that survive JSON, and nothing damaged


def test_rows_stay_few_where_every_round_is_released() -> None:
    history = campaign(dpb.UCB1(arms=2), [0.6, 0.5], 1500, 1)
    tree = campaign(dpb.DPUCB(arms=2, epsilon=1, horizon=1500), [0.6, 0.5], 1500, 1)
    for arm in (*history.arms, *tree.arms):
        assert len(arm.kept) <= 12 + np.log(arm.answers) / np.log(1.1)
    releases = [row.release for row in tree.arms[0].kept]
    wanted = [1]
    while wanted[-1] < releases[-1]:
        wanted.append(max(wanted[-1] + 1, int(np.ceil(1.1 * wanted[-1]))))
    assert releases == wanted, "settled beforehand where noise is drawn anew"


def test_a_mean_lies_inside_its_interval_where_noise_is_drawn_anew() -> None:
    """With these seeds the newest mean, of whose row no interval is made, lies below."""
    for seed in (6, 15, 23):
        history = campaign(dpb.HybridUCB(arms=2, epsilon=1), [0.95, 0.05], 300, seed)
        row = beliefs(history).rows[0]
        assert row.low is not None
        assert row.low == row.mean < 0.5


# Uplift


def side(low: float, mean: float, high: float) -> Beliefs:
    return Beliefs((Belief("", 20, mean, low, high, None),), 0.95, None, None)


def test_sides_are_compared_by_their_ends() -> None:
    policy, holdout = side(0.375, 0.5, 0.65), side(0.2, 0.25, 0.3)
    found = uplift_of(policy, holdout, 0.9)
    assert (found.mean, found.low, found.high) == pytest.approx((0.25, 0.075, 0.45))
    assert "higher at .9 confidence" in str(found)
    assert "lower at .9 confidence" in uplift_of(holdout, policy, 0.9).advice
    assert "no difference" in uplift_of(policy, policy, 0.9).advice


def test_what_is_known_of_all_arms_is_added_up() -> None:
    """One interval has all of the failures, where an arm has a third; of a block that is left out
    nothing is known; where noise is drawn anew, the arms have theirs.
    """
    answers = Answer(1.0, 2, 1), Answer(120.0, 250, 1)
    tree = ReleaseHistory.of(dpb.HybridUCB(arms=2, epsilon=1))
    forgets = ReleaseHistory.of(dpb.AdaCUCB(arms=2, rho=1))
    only = forgets.after(Release((1,), answers[1:], 9, ()))
    one: Any = together(only, 0.95, None)
    assert one[1:5] == pytest.approx(beliefs(only, 0.85)[1][1:5])
    both = Release((0, 1), answers, 9, ())
    ends = 250 * one.low / 252, (250 * one.high + 2) / 252
    assert together(forgets.after(both), 0.95, None)[1:5] == pytest.approx((252, 121 / 252, *ends))
    few, many = np.array([row[1:5] for row in beliefs(tree.after(both), 0.95)])
    wanted = (2 * few[1:] + 250 * many[1:]) / 252
    assert together(tree.after(both), 0.95, None)[2:5] == pytest.approx(wanted)


def test_arms_together_have_one_interval_also_of_a_mean_that_moves() -> None:
    """Of 200 campaigns at .95, 30 with a miss at any release are a false alarm of 10⁻⁶ at most."""
    eight = together(released(*[(125.0, 250, 1)] * 8), 0.95, None)
    assert eight[1:3] == (2_000, 0.5)
    one, missed = beliefs(released((125.0, 250, 1))).rows[0], 0
    assert 0 < eight.high - eight.low < 0.5 * (one.high - one.low)
    rates, ends = np.linspace(0.1, 0.5, 2_000), np.unique((32 * 1.2 ** np.arange(23)).astype(int))
    for seed in range(200):
        rng, history = (
            np.random.default_rng(seed),
            ReleaseHistory.of(dpb.DPKLUCB(arms=1, epsilon=1)),
        )
        sums = np.cumsum(rng.random(2_000) < rates)[ends - 1] + np.cumsum(
            rng.laplace(size=len(ends))
        )
        misses = False
        for draws, (total, rounds) in enumerate(zip(sums.tolist(), ends.tolist(), strict=True), 1):
            history = history.after(Release((0,), (Answer(total, rounds, draws),), 9, ()))
            found = together(history, 0.95, None)
            misses |= not found.low <= rates[:rounds].mean() <= found.high
        missed += misses
    assert missed < 30
