"""How the policies play with noise far outside [0, 1], and what their bounds count."""

import math
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.checks.tape import random_tape
from dpbandits.policies import DPKLMAT, DPTSMAT, DPUCBMAT, OMM
from tests.policies.matroid.instances import PRIVATE, SEVEN, SEVEN_MEANS, on_tape


@pytest.mark.parametrize("cls", PRIVATE, ids=lambda c: c.__name__)
def test_negative_indices_still_give_bases(cls: type[Any]) -> None:
    """At a tiny budget released means lie far outside [0, 1], on both sides."""
    given = {"first": 5} if cls is DPKLMAT else {}
    policy = cls(problem=SEVEN, epsilon="1/1000", **given)
    path = on_tape(policy, random_tape(7, 400, 6), 400)
    assert min(path.state.totals) < -100
    assert path.plays[-1].sum() == 1200
    assert min(path.plays[-1][:6]) >= 1
    fast = dpb.simulate(policy, dpb.Bernoulli(SEVEN_MEANS), 400, runs=4)
    assert np.all(fast.plays.sum(axis=1) == 1200)
    assert np.all(fast.plays[:, :6] >= 1)


def test_bounds_are_about_pairs() -> None:
    """Of elements outside the best basis and the least better one in it; loops and ties aside."""
    means = SEVEN_MEANS.tolist()
    least = [0.6 - 0.2, 0.6 - 0.3, 0.6 - 0.4]
    order = sum(math.log(1000) / gap for gap in least)
    omm = OMM(problem=SEVEN)
    assert omm.regret_order(means, 1000) == pytest.approx(order)
    bound = omm.regret_bound(means, 10**6)
    assert order < bound < 16 * sum(math.log(10**6) / gap for gap in least)
    log = math.log(3000)
    private = sum(log / gap + 3 * log / (2 / 3) for gap in least)
    assert DPUCBMAT(problem=SEVEN, epsilon=2).regret_order(means, 1000) == pytest.approx(private)
    second = log * sum(1 / gap for gap in (0.8 - 0.4, 0.75 - 0.4, 0.6 - 0.4))
    sampled = DPTSMAT(problem=SEVEN, epsilon=2).regret_order(means, 1000)
    assert sampled == pytest.approx(private + second)  # Theorem 4's second sum
    assert math.isnan(DPKLMAT(problem=SEVEN, epsilon=2).regret_bound(means, 1000))
