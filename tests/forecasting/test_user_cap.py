"""A forecast for people who come back plays what a session with their cap plays."""

from typing import Any

import pytest

import dpbandits as dpb


@pytest.mark.parametrize("cls", [dpb.DPRateIMED, dpb.DPKLUCB])
def test_with_a_user_cap_it_plays_what_a_session_with_that_cap_plays(cls: Any) -> None:
    """Each of a user's rounds costs its share of ε; with all of it, the curve was too good."""
    found = dpb.forecast([0.6, 0.4], 2000, 2, policies=[cls], max_contributions=4, draws=8, seed=3)
    session = dpb.Session(
        cls(arms=2, epsilon=2),
        noise=dpb.SimulatedNoise(1),
        privacy_unit="user",
        max_contributions=4,
    )
    runs = dpb.simulate(session.policy, dpb.Bernoulli([0.6, 0.4]), 2000, runs=8, seed=3)
    row = found.row(cls.__name__, 2.0)
    assert row.loss == pytest.approx(float(runs.regret().mean()), rel=1e-12)
    assert row.worst == pytest.approx(float(runs.regret().max()), rel=1e-12)
    half = dpb.forecast([0.6, 0.4], 2000, "1/2", policies=[cls], draws=8, seed=3)
    assert half.row(cls.__name__, 0.5) == row._replace(epsilon=0.5)
    assert (row.epsilon, found.max_contributions) == (2.0, 4)
    assert "ε per user of at most 4 learned rounds (ε/4 each)" in found.title


def test_a_cap_of_one_is_as_if_everybody_came_once() -> None:
    once, plain = (
        dpb.forecast([0.6, 0.4], 500, 1, draws=4, max_contributions=cap) for cap in (1, None)
    )
    assert once.rows == plain.rows
    assert "per user" not in plain.title


@pytest.mark.parametrize("cap", [0, -1, 2.5, "3", True])
def test_a_cap_is_a_whole_number(cap: Any) -> None:
    with pytest.raises(ValueError, match="max_contributions"):
        dpb.forecast([0.6, 0.4], 100, 1, draws=2, max_contributions=cap)
