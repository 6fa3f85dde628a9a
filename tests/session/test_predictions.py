"""Estimates by context: coverage where the linear law holds, units, effects, values, refusals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.session.predictions import Predictions
from dpbandits.simulation.compiled.contextual import ContextPlayer

PRIVATE: dict[str, Any] = {
    "cells": {"epsilon": 1},
    "cells, small budget": {"epsilon": "1/4"},
    "shaped": {"rho": "1/2", "release": "shaped"},
}


def linear_place(seed: int) -> tuple[dpb.ContextTable, Any]:
    """A table whose means are linear in the contexts, and the weights of its arms."""
    rng = np.random.default_rng(seed)
    contexts = dpb.UnitContexts(rng.normal(size=(500, 5)))(rng.normal(size=(1000, 5)))
    weights = rng.normal(size=(3, 6)) * 0.2
    weights[:, -1] = math.sqrt(0.5) + rng.normal(size=3) * 0.05
    means = contexts @ weights.T
    inside = np.all((means >= 0) & (means <= 1), axis=1)
    return dpb.ContextTable(contexts[inside], means[inside]), weights


def holds(found: Any, truth: Any) -> float:
    return float(np.mean((found.low <= truth) & (truth <= found.high)))


@pytest.mark.parametrize("how", PRIVATE)
def test_intervals_cover_where_the_law_is_linear(how: str) -> None:
    """Of 12 runs of 4,000 rounds, means and effects for 200 contexts each, and the values of 22
    other policies: the worst, the even one, and 20 random ones. Intervals of an eighth of the width
    cover too little, so the count can fail.
    """
    covered, narrow = np.zeros((12, 4)), np.zeros(12)
    for run in range(12):
        place, weights = linear_place(run)
        policy = dpb.DPLinTS(arms=3, features=6, **PRIVATE[how])
        state = ContextPlayer(policy, place, 4000, run)(np.array([4000]), 0).state
        found, contexts = Predictions.of(policy, state), place.contexts[:200]
        truth = contexts @ weights.T
        means, effect = found.means(contexts), found.effect(0, 2, contexts)
        covered[run, :2] = holds(means, truth), holds(effect, truth[:, 0] - truth[:, 2])
        rng = np.random.default_rng([run, 1])
        shares = [np.eye(3)[truth.argmin(axis=1)], np.full((200, 3), 1 / 3)]
        shares += [np.eye(3)[rng.integers(3, size=200)] for _ in range(20)]
        values = [found.value(each, contexts) for each in shares]
        worth = [(each * truth).sum(axis=1).mean() for each in shares]
        pairs = zip(values, worth, strict=True)
        covered[run, 2] = np.mean([holds(each, value) for each, value in pairs])
        average = (truth[:, 0] - truth[:, 2]).mean()
        covered[run, 3] = holds(found.effect(0, 2, contexts, average=True), average)
        half = (means.high - means.low) / 16
        narrow[run] = np.mean(np.abs(means.mean - truth) <= half)
        always = Predictions.of(policy, state, always=True).means(contexts)
        assert holds(always, truth) == 1.0
    assert covered[:, :2].mean(axis=0).min() >= 0.95
    # one statement a run: were 5 % wrong, 7 of 12 or more would be with probability 5e-7
    assert (covered[:, 2:] < 0.5).sum(axis=0).max() < 7
    assert narrow.mean() < 0.95


def told(policy: Any, rounds: int = 600, **options: Any) -> dpb.Session:
    session = dpb.Session(policy, noise=dpb.SimulatedNoise(1), seed=1, **options)
    rng = np.random.default_rng(1)
    low, high = (10.0, 20.0) if "rewards" in options else (0.0, 1.0)
    for x in rng.uniform(-0.5, 0.5, (rounds, 2)):
        d = session.ask(context=x)
        session.tell(d, low + (high - low) * float(rng.random() < 0.5 + x[0] * (-1) ** d.action))
    return session


CONTEXTS = [[0.3, 0.1], [-0.4, 0.2], [0.0, 0.5]]


def test_estimates_are_the_released_law() -> None:
    session = told(dpb.DPLinTS(arms=["a", "b"], features=2, rho=2, release="shaped", first=30))
    found = session.predictions()
    law = session.policy.law_of(session.state)  # type: ignore[attr-defined]
    fitted = np.array(CONTEXTS) @ law.theta.T
    assert np.allclose(found.means(CONTEXTS).mean, np.clip(fitted, 0, 1))
    assert fitted.min() < 0.0  # which no mean is
    effect = found.effect("a", "b", CONTEXTS)
    assert np.allclose(effect.mean, np.clip(fitted[:, 0] - fitted[:, 1], -1, 1))
    other = found.effect("b", "a", CONTEXTS)
    assert np.allclose([other.low, other.high], [-effect.high, -effect.low])
    one = found.value([0, 0, 0], CONTEXTS)
    assert one.mean == pytest.approx(np.clip(fitted[:, 0].mean(), 0, 1))
    mixed = found.value([[0.5, 0.5]] * 3, CONTEXTS)
    assert mixed.mean == pytest.approx(np.clip(fitted.mean(), 0, 1))
    wide = session.predictions(0.999, always=True)
    assert np.all(wide.means(CONTEXTS).low <= found.means(CONTEXTS).low)
    assert np.all(wide.means(CONTEXTS).high >= found.means(CONTEXTS).high)
    assert session.spent == 2


@pytest.mark.parametrize("minimise", [False, True])
def test_estimates_are_in_the_users_units(minimise: bool) -> None:
    made: dict[str, Any] = {"arms": 2, "features": 2, "rho": 2, "release": "shaped", "first": 30}
    session = told(dpb.DPLinTS(**made), rewards=dpb.Range(10, 20, minimise=minimise))
    found = session.predictions()
    plain = Predictions.of(session.policy, session.state)  # type: ignore[arg-type]
    sign, start = (-10.0, 20.0) if minimise else (10.0, 10.0)
    means, effect = found.means(CONTEXTS), found.effect(0, 1, CONTEXTS)
    assert np.allclose(means.mean, start + sign * plain.means(CONTEXTS).mean)
    assert np.all(means.low <= means.high)
    assert np.all((means.low >= 10) & (means.high <= 20))
    assert np.all(effect.low <= effect.high)
    turned = plain.effect(0, 1, CONTEXTS)
    assert np.allclose(effect.mean, sign * turned.mean)
    assert np.allclose(effect.low, sign * (turned.high if minimise else turned.low))


def test_an_arm_without_a_release_is_not_estimated() -> None:
    session = told(dpb.DPLinTS(arms=2, features=2, rho=2, release="shaped"), rounds=5)
    found = session.predictions()
    means = found.means(CONTEXTS)
    assert np.all(np.isnan(means.mean))
    assert np.all(means.low == 0)
    assert np.all(means.high == 1)
    assert np.isnan(found.value([0, 1, 0], CONTEXTS).mean)
    assert found.effect(0, 1, CONTEXTS).low.tolist() == [-1.0] * 3


def test_what_does_not_fit_is_refused() -> None:
    session = told(dpb.DPLinTS(arms=2, features=2, rho=2, release="shaped"), rounds=5)
    found = session.predictions()
    for call, said in (
        (lambda: session.predictions(1.0), "between 0 and 1"),
        (lambda: found.means([[0.1, 0.2, 0.3]]), "2 numbers"),
        (lambda: found.means([[2.0, 0.0]]), "norm"),
        (lambda: found.effect(0, 0, CONTEXTS), "two different arms"),
        (lambda: found.effect("c", 0, CONTEXTS), "or its name"),
        (lambda: found.value([0, 2, 1], CONTEXTS), "sum to 1"),
        (lambda: found.value([[0.5, 0.4]] * 3, CONTEXTS), "sum to 1"),
    ):
        with pytest.raises(ValueError, match=said):
            call()
    published = told(dpb.AdaCOFUL(arms=2, features=2, rho=2, first=50), rounds=120)
    assert np.all(np.isfinite(published.predictions().means(CONTEXTS).mean))
    with pytest.raises(ValueError, match="always=False"):
        published.predictions(always=True)
