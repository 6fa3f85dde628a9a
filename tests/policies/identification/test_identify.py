"""`identify`: what it returns and refuses, caps and ties, and policies of third parties."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.policies import DPSE, SuccessiveElimination
from dpbandits.simulation.stopping import CAP, identify
from tests.policies.identification.instances import INSTANCES


def test_what_identify_returns() -> None:
    env, policy = dpb.Bernoulli(INSTANCES["last"]), DPSE(arms=3, epsilon=1)
    found = identify(policy, env, delta=0.2, runs=60, seed=7, workers=2)
    again = identify(policy, env, delta=0.2, runs=30, seed=7)
    assert np.array_equal(found.samples[:30], again.samples)
    assert found.policy == DPSE(arms=3, epsilon=1, beta=0.2)
    assert found.arms.shape == found.samples.shape == (60,)
    assert found.correct == np.mean(found.arms == 2) == 1 - found.wrong
    assert str(found.guarantee) == "ε = 1 per round (replace-one), central trust, simulated noise"
    assert found.cap == CAP
    summary = found.summary()
    assert summary["median"] <= summary["q99"] <= summary["worst"] == found.samples.max()
    assert summary["undecided"] == 0
    assert "correct" in repr(found)
    assert "undecided" not in repr(found)
    assert identify(SuccessiveElimination(arms=3, beta=0.1), env).guarantee is None


def test_the_cap_and_ties() -> None:
    policy = DPSE(arms=3, epsilon=1, beta=0.1)
    first: Any = dpb.Session(policy, noise=dpb.SimulatedNoise(1)).plan
    cap = 3 * first.each - 1  # one round short of the first test
    found = identify(policy, dpb.Bernoulli(INSTANCES["easy"]), runs=20, cap=cap)
    assert found.undecided == 20
    assert (found.samples == cap).all()
    assert found.correct == found.wrong == 0
    assert f"20 undecided at the cap of {cap:,} rounds" in repr(found)
    tied = dpb.Bernoulli([0.6, 0.2, 0.6])
    with pytest.raises(ValueError, match=r"Arms \[0, 2\] are all best.*cap="):
        identify(policy, tied)
    found = identify(policy, tied, runs=300, cap=10**6)
    assert found.undecided > 200
    assert found.wrong <= 0.1
    assert found.correct + found.wrong + found.undecided / 300 == pytest.approx(1)


@dataclass(frozen=True, kw_only=True)
class Coarse(DPSE):
    """A third party's policy: its own class, so it is played the plain way."""


@dataclass(frozen=True, kw_only=True)
class Told(dpb.UCB1):
    """Names the arm it played most after 50 rounds; it has no failure probability of its own."""

    def best_arm(self, state: Any) -> tuple[int, int] | None:
        return (int(np.argmax(state.pulls)), 50) if state.t >= 50 else None


def test_other_peoples_policies() -> None:
    env = dpb.Bernoulli(INSTANCES["easy"])
    assert identify(Coarse(arms=3, epsilon=1), env, delta=0.1, runs=5, workers=2).correct == 1
    found = identify(Told(arms=3), env, runs=4)
    assert (found.samples == 50).all()
    assert (found.arms == 0).all()
    with pytest.raises(ValueError, match="no field delta or beta"):
        identify(Told(arms=3), env, delta=0.1)
    table = dpb.Table(np.tile([[0.9, 0.1, 0.2]], (20_000, 1)))
    found = identify(DPSE(arms=3, epsilon=1, beta=0.1), table, runs=3)
    assert found.correct == 1
    assert found.cap == 20_000
