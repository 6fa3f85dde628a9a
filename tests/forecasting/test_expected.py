"""What a campaign is expected to have lost to privacy: the numbers of `simulate`."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.forecasting.forecast import ExpectedLoss, expected_loss
from dpbandits.session.arms import Assignment
from dpbandits.session.beliefs import Belief


@dataclass(frozen=True, kw_only=True)
class Own(dpb.DPKLUCB):
    """A policy that nobody has written a fast player for."""


def rows(*means: float | None) -> list[Belief]:
    return [Belief(str(at), 100, mean, None, None, None) for at, mean in enumerate(means)]


def found(
    policy: dpb.Policy, means: list[Belief], people: int, ruler: dpb.Range | None = None
) -> ExpectedLoss:
    loss = expected_loss(policy, means, people, ruler)
    assert loss is not None
    return loss


def test_the_numbers_are_those_of_simulate() -> None:
    policy, world = dpb.DPKLUCB(arms=3, epsilon=1), dpb.Bernoulli([0.7, 0.5, 0.4])
    said = found(policy, rows(0.7, 0.5, 0.4), 3000)
    ours = dpb.simulate(policy, world, 3000, runs=400, seed=0).regret()
    plain = dpb.simulate(dpb.KLUCB(arms=3), world, 3000, runs=400, seed=1).regret()
    assert said.loss == pytest.approx(ours.mean())
    assert said.privacy == pytest.approx(ours.mean() - plain.mean())
    assert said.error == pytest.approx(np.sqrt((ours.var(ddof=1) + plain.var(ddof=1)) / 400))
    assert (said.people, said.runs) == (3000, 400)
    assert "the first 3,000 rounds whose outcomes were recorded would be" in str(said)


@pytest.mark.long
@pytest.mark.parametrize("least", [Assignment(False, 0.1), Assignment(False, 0.0, ((2, 0.3),))])
def test_with_least_shares_the_numbers_are_those_of_sessions(least: Assignment) -> None:
    """Both mean losses, of 60 sessions and of all runs, differ by at most 5.2 standard errors (a
    normal law exceeds it with 2e-7, four of them together with 8e-7).
    """
    policy, means = dpb.DPKLUCB(arms=3, epsilon=1), np.array([0.7, 0.5, 0.4])
    said = expected_loss(policy, rows(*10 * means), 150, dpb.Range(0, 10), least)
    assert said is not None
    shares: Any = dict(least.shares) or least.min_share
    losses = np.zeros((2, 60))
    for at, each in enumerate([policy, dpb.KLUCB(arms=3)]):
        for seed in range(losses.shape[1]):
            rng = np.random.default_rng([seed, at])
            session = dpb.Session(each, noise=dpb.SimulatedNoise(seed), seed=seed, min_share=shares)
            for _ in range(said.people):
                decision = session.ask()
                session.tell(decision, float(rng.random() < means[decision.action]))
                losses[at, seed] += 10 * (means.max() - means[decision.action])
    ours, plain = losses.mean(axis=1)
    error = losses.std(axis=1, ddof=1) / losses.shape[1] ** 0.5
    of_runs = error * (losses.shape[1] / said.runs) ** 0.5  # nearly
    bounds = 5.2 * np.hypot(error, of_runs)
    assert said.runs == 333
    assert abs(said.loss - ours) <= bounds[0]
    assert abs(said.loss - said.privacy - plain) <= bounds[1]
    assert said.error == pytest.approx(float(np.hypot(*of_runs)), rel=0.5)


def test_losses_are_in_the_users_units() -> None:
    """Noisy means are clipped, and nobody comes after the horizon."""
    policy = dpb.DPKLUCB(arms=2, epsilon=1)
    unit = found(policy, rows(0.7, 0.4), 2000)
    euros = found(policy, rows(140, 80), 2000, dpb.Range(0, 200))
    minutes = found(policy, rows(18, 36), 2000, dpb.Range(0, 60, minimise=True))
    assert euros.loss == pytest.approx(200 * unit.loss)
    assert minutes.privacy == pytest.approx(60 * unit.privacy)
    assert found(policy, rows(1.02, 0.4), 2000) == found(policy, rows(1.0, 0.4), 2000)
    assert found(dpb.DPUCB(arms=2, epsilon=1, horizon=500), rows(0.6, 0.5), 900).people == 500


@pytest.mark.long
def test_more_people_are_fewer_runs() -> None:
    policy = dpb.DPKLUCB(arms=2, epsilon=1)
    million = found(policy, rows(0.6, 0.5), 10**6)
    assert million.runs == 10
    assert found(policy, rows(0.6, 0.5), 10**15) == million
    many = found(dpb.DPKLUCB(arms=100, epsilon=1), rows(*[0.5] * 100), 10**7)
    assert (many.people, many.runs) == (10**5, 10)


@pytest.mark.parametrize(
    ("policy", "means", "people"),
    [
        (dpb.DPKLUCB(arms=2, epsilon=1), rows(0.5, None), 1000),  # nothing is known of an arm
        (dpb.DPKLUCB(arms=2, epsilon=1), [], 1000),
        (dpb.DPKLUCB(arms=2, epsilon=1), rows(0.5, 0.4), 1),
        (dpb.UCB1(arms=2), rows(0.5, 0.4), 1000),  # no privacy, so nothing is lost to it
        (Own(arms=2, epsilon=1), rows(0.5, 0.4), 1000),  # would take too long for a page
    ],
)
def test_where_nothing_can_be_said(policy: dpb.Policy, means: list[Belief], people: int) -> None:
    assert expected_loss(policy, means, people, None) is None


def test_what_cannot_be_played_with_least_shares() -> None:
    policy = dpb.DPUCB(arms=2, epsilon=1, horizon=1000)
    assert expected_loss(policy, rows(0.5, 0.4), 1000, None, Assignment(False, 0.1)) is None
