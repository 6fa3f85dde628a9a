"""Policies with full information: guarantees and weights."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.core.plan import PublicRng
from dpbandits.policies.experts import Totals


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
