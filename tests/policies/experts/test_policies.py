"""Policies with full information: reference regrets, guarantees, weights, real visits, and what is
refused.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.core.plan import PublicRng
from dpbandits.datasets import msweb
from dpbandits.policies.experts import Totals
from dpbandits.simulation import play_events
from tests.places import DATA


@pytest.mark.long
@pytest.mark.parametrize(("preset", "reference"), [("published", 48.4), ("corrected", 95.2)])
def test_reference_regret(preset: Any, reference: float) -> None:
    """Within 3 % of the reference (a rounded mean of another program) plus five standard errors."""
    policy = dpb.RNMFTNL(actions=5, epsilon=0.1, preset=preset)
    s = dpb.simulate(
        policy, dpb.Bernoulli([0.75, 0.625, 0.5, 0.375, 0.25]), 10**6, runs=20_000, seed=7, at=[]
    ).summary()
    assert abs(s["mean"] - reference) < 0.03 * reference + 5 * s["error"]


def test_guarantees_say_what_holds() -> None:
    published = dpb.RNMFTNL(actions=4, epsilon="1/10", preset="published").guarantee
    assert published is not None
    assert (published.epsilon, published.claimed, published.zero_out) == (
        Fraction(1, 5),
        Fraction(1, 10),
        Fraction(1, 10),
    )
    assert "0.1 under zero-out" in str(published)
    for policy in (
        dpb.RNMFTNL(actions=4, epsilon="1/10"),
        dpb.NaiveFTNL(actions=4, epsilon="1/10"),
    ):
        assert policy.guarantee is not None
        assert policy.guarantee.epsilon == Fraction(1, 10)
    assert dpb.DecreasingHedge(actions=3).guarantee is None


@pytest.mark.long
def test_weights_earn_their_average() -> None:
    hedge = dpb.DecreasingHedge(actions=3, play="weights")
    weights = hedge.plan(Totals((2.0, 2.0, 2.0), 2), PublicRng(0, 0)).action
    assert weights == pytest.approx((1 / 3,) * 3)
    runs = dpb.simulate(hedge, dpb.Bernoulli([0.9, 0.5, 0.1]), 500, runs=3, seed=1)
    assert runs.plays.dtype == np.float64
    assert runs.plays.sum(axis=1) == pytest.approx([500] * 3)
    drawn = dpb.simulate(
        dpb.DecreasingHedge(actions=3),
        dpb.Bernoulli([0.9, 0.5, 0.1]),
        500,
        runs=3000,
        seed=1,
        at=[],
    )
    spread = dpb.simulate(hedge, dpb.Bernoulli([0.9, 0.5, 0.1]), 500, runs=3000, seed=2, at=[])
    error = math.hypot(drawn.summary()["error"], spread.summary()["error"])
    # the same mean, at a false-alarm rate of 1e-6
    assert abs(drawn.summary()["mean"] - spread.summary()["mean"]) < 4.9 * error
    session = dpb.Session(hedge, noise=dpb.SimulatedNoise(1))
    assert session.ask().action == pytest.approx((1 / 3,) * 3)


DATA = DATA / "msweb"


@pytest.mark.skipif(not DATA.exists(), reason="needs the MSWeb visits in ../shared/data")
def test_which_area_to_feature() -> None:
    """MSWeb, each person once: private and non-private leaders find the most visited of 294
    areas.
    """
    visitors = msweb(DATA)
    for policy, rounds in (
        (dpb.RNMFTNL(actions=294, epsilon=1), 30_000),
        (dpb.FollowTheLeader(actions=294), 3000),
    ):
        marks = np.array([rounds])
        path = play_events(
            policy,
            visitors,
            rounds,
            marks,
            noise=dpb.SimulatedNoise(1),
            seed=2,
            rng=np.random.default_rng(3),
        )
        assert path.plays[0].argmax() == 0
        assert path.plays[0, 0] > 0.8 * rounds
