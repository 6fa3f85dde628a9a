"""Sessions for people's data that promise little, or decide nothing, say so once."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (dpb.DPKLUCB(arms=2, epsilon=11), "ε = 11 promises little: someone who thought an answer"),
        (dpb.DPKLUCB(arms=1, epsilon=1), "one arm"),
        (dpb.KLUCB(arms=2), "KLUCB is not private"),
    ],
)
def test_a_session_warns_of_itself(policy: Any, words: str) -> None:
    with pytest.warns(dpb.PrivacyWarning, match=words):
        s = dpb.Session(policy, noise=dpb.SecureNoise())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = s.to_json(key=bytes(16))
        dpb.Session.from_json(text, key=bytes(16))  # it was said
        dpb.Session(policy, noise=dpb.SimulatedNoise(1))  # no people's data
    with dpb.open_store("memory:") as store:
        with pytest.warns(dpb.PrivacyWarning, match=words):
            campaign = store.create("trial", policy)
        campaign.ask()


def test_usual_sessions_do_not_warn() -> None:
    people: dict[str, Any] = {"privacy_unit": "user", "max_contributions": 20}
    for policy, options in (
        (dpb.DPKLUCB(arms=2, epsilon=10), {}),
        (dpb.DPKLUCB(arms=2, epsilon=1), people),
        (dpb.DPNAS(alpha=0.9, beta=0.5, cap=40, epsilon=1, low=-1, high=1), {}),
    ):
        dpb.Session(policy, noise=dpb.SecureNoise(), **options)
    with pytest.warns(dpb.PrivacyWarning, match="ε = 12"):
        dpb.Session(dpb.DPKLUCB(arms=2, epsilon=12), noise=dpb.SecureNoise(), **people)


def test_copies_of_a_policy_keep_the_names_of_its_arms() -> None:
    policy = dpb.DPKLUCB(arms=["blue", "green"], epsilon=1)
    other = replace(policy, alpha=1.25)
    assert other.labels == ("blue", "green")
    assert other == dpb.DPKLUCB(arms=["blue", "green"], epsilon=1, alpha=1.25)
    assert replace(policy, arms=3).labels is None
    assert replace(policy, arms=["red", "green"]).labels == ("red", "green")
    copy = pickle.loads(pickle.dumps(other))
    assert (copy, copy.labels, copy.arms) == (other, other.labels, 2)
    assert repr(other).startswith("DPKLUCB(arms=2,")
    s = dpb.Session(other, noise=dpb.SimulatedNoise(1))
    assert dpb.Session.from_json(s.to_json(key=bytes(16)), key=bytes(16)).policy == other
    runs = dpb.simulate(other, dpb.Bernoulli([0.5, 0.4]), 500, runs=2, seed=1)
    plain = dpb.DPKLUCB(arms=2, epsilon=1, alpha=1.25)
    same = dpb.simulate(plain, dpb.Bernoulli([0.5, 0.4]), 500, runs=2, seed=1)
    assert (runs.plays == same.plays).all()


def test_runs_can_be_pickled() -> None:
    how: dict[str, Any] = {"runs": 3, "seed": 1}
    for policy, environment, more in (
        (dpb.DPKLUCB(arms=2, epsilon=1), dpb.Bernoulli([0.5, 0.4]), {}),
        (dpb.DPKLUCB(arms=2, epsilon=1), dpb.Table(np.eye(2).repeat(100, axis=0)), {"delay": 3}),
        (dpb.DPKLUCB(arms=2, epsilon=1), dpb.Bernoulli([0.5, 0.4]), {"shuffle": True}),
    ):
        runs = dpb.simulate(policy, environment, 200, **how, **more)
        copy = pickle.loads(pickle.dumps(runs))
        assert (copy.counts == runs.counts).all()
        assert (copy.plays_at([7, 60]) == runs.plays_at([7, 60])).all()
        whole = dpb.simulate(policy, environment, 200, **how, **more, at=[7, 60])
        assert (copy.plays_at([7, 60]) == whole.plays_at([7, 60])).all()


def test_a_log_that_ended_has_no_later_regret() -> None:
    log = dpb.LoggedReplay([0, 1] * 50, [1, 0] * 50, arms=2)
    runs = dpb.simulate(dpb.DPKLUCB(arms=2, epsilon=1), log, 100, runs=2, seed=1)
    played = int(runs.lengths.max())
    assert played < 100
    regret = runs.regret([1, played, played + 1, 100])
    assert np.isfinite(regret[:, :2]).all()
    assert np.isnan(regret[:, 2:]).all()
    assert np.isfinite(runs.regret()).all()
    assert f"after {played} of 100 rounds" in str(runs.summary())
