"""Sessions of policies that decide by contexts: what is kept of them, arms, people, options, the
exact privacy loss of a whole transcript, and estimates by context.
"""

from __future__ import annotations

import json
import math
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpbandits as dpb
from dpbandits.core.contexts import FINE
from dpbandits.mechanisms.cells import ROW, Shape, ShapedBatches, ShapedBlock, largest_reach
from dpbandits.noise.protocol import Noise
from dpbandits.policies.contextual import LinearLaw, shaping_matrices
from dpbandits.session import contexts
from dpbandits.session.contexts import Predictions
from dpbandits.simulation.compiled.contextual import play_contextual
from tests.session.replay import largest_loss
from tests.session.small import document

RNG = np.random.default_rng(7)
PLACES = np.trunc(RNG.uniform(-0.6, 0.6, (400, 2)) * FINE) / FINE
KEY = b"k" * 32


def policy(**changes: Any) -> dpb.DPLinTS:
    given: dict[str, Any] = {"arms": 2, "features": 2, "epsilon": 1, "first": 6}
    given["public_contexts"] = PLACES[:100]
    return dpb.DPLinTS(**given | changes)


def session(made: Any = None, noise: Noise | None = None, **options: Any) -> dpb.Session:
    return dpb.Session(made or policy(), noise=noise or dpb.SimulatedNoise(1), seed=5, **options)


def test_a_context_goes_once_its_reward_is_recorded() -> None:
    """It stays with the pending decision, and in the arm's newest contexts, by name."""
    s = session(policy(first=1000))
    marked = [0.123456, -0.333333]
    kept = [float(np.trunc(v * FINE) / FINE) for v in marked]
    decision = s.ask(context=marked)
    public = document(s)["public"]
    assert public["plays"][0][-1] == kept
    s.tell(decision, 1.0)
    after = document(s)["public"]
    assert after["plays"] == [] == after["pending"]
    assert after["contexts"]["recent"][decision.action] == [kept]
    public["contexts"] = after["contexts"] = after["generation"] = None
    voided = s.ask(context=marked)
    s.void(voided)
    assert str(kept[0]) not in json.dumps({**document(s)["public"], "contexts": None})
    assert len(document(s)["public"]["contexts"]["recent"][voided.action]) < 2


def test_first_visitors_are_not_learned_from_and_make_the_codebooks() -> None:
    made = policy(public_contexts=None)
    s = session(made)
    rng = np.random.default_rng(4)
    for i in range(made.pilot_visitors):
        decision = s.ask(context=PLACES[i % len(PLACES)])
        assert not decision.learn
        s.tell(decision, float(rng.integers(2)))
    assert s.releases == 0
    assert s.unread == made.pilot_visitors
    assert all(not fit.book for fit in s.state.fits)
    decision = s.ask(context=PLACES[0])
    assert decision.learn
    assert all(len(fit.book) >= 2 for fit in s.state.fits)
    assert document(s)["public"]["contexts"]["pilot"] == []
    shares = [row.propensity for row in s.decisions()]
    assert shares == [0.5] * made.pilot_visitors + [None]


@pytest.mark.parametrize("made", [policy(first=1000), dpb.LinTS(arms=2, features=2)])
def test_a_new_arm_does_not_begin_the_public_draws_anew(made: Any) -> None:
    s, places = session(made), list[Any]()
    for x in PLACES[:6]:
        for _ in range(3):
            s.ask(context=x)
            position = s._current.folded().rng
            assert position is not None
            places.append((s._state.step, position["state"]["state"], *position["normals"]))
        s.add_arm()
    assert len(places) == len({*places}) > 0
    assert len(s.state.fits) == len(s.arms)
    steps = {step for step, *_ in places}
    assert len(steps) > 1
    again = dpb.Session.from_json(s.to_json(), noise=dpb.SimulatedNoise(1))
    assert again._current.folded().rng == s._current.folded().rng


def test_contexts_are_refused_where_they_are_not_expected_and_asked_for_where_they_are() -> None:
    s, other = session(), session()
    for wrong in (None, [0.1], [0.1, float("nan")], [1.0, 1.0]):
        with pytest.raises(ValueError, match="No decision was made"):
            s.ask(context=wrong)
    with pytest.raises(ValueError, match="30 contexts, one for each decision, got 29"):
        s.ask(30, context=PLACES[:29])
    assert s.ask(30, context=PLACES[:30]) == [other.ask(context=x) for x in PLACES[:30]]
    with pytest.raises(ValueError, match="decides by contexts, and Bernoulli has none"):
        dpb.simulate(policy(), dpb.Bernoulli([0.5, 0.4]), 10)
    with pytest.warns(UserWarning, match="clicked_before may carry recorded outcomes"):
        dpb.DPLinTS(arms=2, features=["age", "clicked_before"], epsilon=1)


@pytest.mark.parametrize("share", [1 + 2e-16, 1.5, -0.5, math.nan])
def test_what_a_law_draws_by_can_be_saved(monkeypatch: Any, share: float) -> None:
    monkeypatch.setattr(LinearLaw, "choose", lambda *_: (0, share))
    s = session()
    if 0.0 < share < 1.1:
        s.ask(context=[0.1, 0.2])
    else:
        with pytest.raises(ValueError, match="propensity"):
            s.ask(context=[0.1, 0.2])
    dpb.Session.from_json(s.to_json(), noise=dpb.SimulatedNoise(2))


def test_an_error_while_records_are_added_up_keeps_no_frame_that_has_them(monkeypatch: Any) -> None:
    s = session(policy(first=1000))
    for x in PLACES[:130]:  # there are sums already, and records beside them
        s.tell(s.ask(context=x), 0.731)

    add: Any = contexts.with_records

    def failing(*given: Any) -> Any:
        add(*given)
        raise MemoryError

    monkeypatch.setattr(contexts, "with_records", failing)
    with pytest.raises(MemoryError) as caught:
        s._view.folded()
    frames = [entry.name for entry in caught.traceback]
    assert frames[-2:] == ["folded", "frameless"]  # which forgets what it was given
    monkeypatch.undo()
    assert sum(each.count for each in s._view.folded().books.blocks.values()) == 130


@pytest.mark.parametrize("rows", [np.zeros((40, 3)), np.full((40, 3), 1e-9)])
def test_contexts_that_are_all_zero_make_a_codebook(rows: Any) -> None:
    policy = dpb.DPLinTS(arms=2, features=3, epsilon=1, public_contexts=rows)
    session = dpb.Session(policy, noise=dpb.SimulatedNoise(1))
    for _ in range(200):
        session.tell(session.ask(context=[0, 0, 0]), 1.0)
    assert session.releases > 0
    assert "NaN" not in session.to_json()
    assert all(np.isfinite(fit.book).all() for fit in session.state.fits)


# Noise that is shaped after a block's contexts


FALSE_ALARM = 1e-6
FLAT = np.trunc(RNG.uniform(-0.6, 0.6, (400, 2)) * [1.0, 0.2] * FINE) / FINE


def shaped(**changes: Any) -> dpb.DPLinTS:
    given: dict[str, Any] = {"arms": 2, "features": 2, "rho": "1/2", "release": "shaped"}
    return dpb.DPLinTS(**given | {"first": 9} | changes)


def test_the_reach_is_above_every_norm_and_hardly_more() -> None:
    """Against whole numbers of any size."""
    rng = np.random.default_rng(1)
    for p in (1, 3, 40, 1000):
        rows = rng.normal(size=(3 * p, p)) / np.sqrt(4 * p)
        longest = ROW * rows[:p] / np.linalg.norm(rows[:p], axis=1)[:, None]
        book = (shaping_matrices(rows) if p < 1000 else longest).astype(np.int64)
        assert np.abs(np.linalg.norm(book, axis=1)).max() <= ROW
        whole = (rng.normal(size=p) / np.sqrt(2 * p) * FINE).astype(np.int64)
        reach = largest_reach(book, whole[None])
        for matrix, each in zip(book.reshape(-1, p, p), reach.tolist(), strict=True):
            exact = sum(
                sum(a * x for a, x in zip(row, whole.tolist(), strict=True)) ** 2
                for row in matrix.tolist()
            )
            bound = Shape(matrix, each).sensitivity
            assert exact <= bound**2
            assert bound**2 <= exact * (1 + 1e-4) + 2**12 * p


def test_noise_has_the_covariance_that_the_fit_reckons_with() -> None:
    """4,000 releases: each entry of the empirical covariance within a normal bound."""
    rng, p, runs = np.random.default_rng(2), 3, 4000
    contexts = np.trunc(rng.normal(size=(60, p)) * [0.4, 0.2, 0.05] * FINE) / FINE
    book = shaping_matrices(contexts).astype(np.int64)
    whole = (contexts * FINE).astype(np.int64)
    reach = largest_reach(book, whole)
    mechanism = ShapedBatches(rho="1/8", grid=dpb.Grid(steps=16))
    for at in (0, 3):
        shape = Shape(book.reshape(-1, p, p)[at], int(reach[at]))
        block = ShapedBlock((0,), (7 * whole.sum(axis=0),), (60,), (shape,))
        noise = dpb.SimulatedNoise(3)
        rows = [mechanism.answer([None], block, noise)[1][0][0] for _ in range(runs)]
        errors = np.array(rows) - 7 / 16 * contexts.sum(axis=0)
        covariance = shape.covariance(1 / 8)
        root = np.linalg.inv(np.linalg.cholesky(covariance))
        found = root @ (errors.T @ errors / runs) @ root.T
        # a product of two standard normal numbers has a variance of at most 2
        width = 1.1 * np.sqrt(2 / runs * 2 * np.log(2 * p * p * 2 / FALSE_ALARM))
        assert np.abs(found - np.eye(p)).max() < width


# The exact privacy loss of a whole transcript


def shaped_loss() -> Any:
    """Of a record among 60, in units of rho."""

    def play(records: list[float], noise: Noise) -> Any:
        s, seen = session(shaped(), noise), list[Any]()
        for x, reward in zip(FLAT, records, strict=False):
            seen.append(s.ask(context=x))
            s.tell(seen[-1], reward)
        return seen, s.state, s.ledger

    records = [float(r) for r in np.random.default_rng(21).integers(0, 2, 60)]
    return largest_loss(play, records, most=0.5) * 2


@pytest.mark.parametrize("kept", [1500, 4])
def test_the_transcript_costs_rho_and_the_farthest_context_nearly_all_of_it(
    kept: int, monkeypatch: Any
) -> None:
    """With matrices of the block's own contexts, and with matrices fixed when it opened."""
    monkeypatch.setattr("dpbandits.policies.contextual.PrivateLinear.kept_contexts", kept)
    assert 1 - 1e-5 < shaped_loss() <= 1


# Estimates by context


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


@pytest.mark.long
@pytest.mark.parametrize("how", PRIVATE)
def test_intervals_cover_where_the_law_is_linear(how: str) -> None:
    """Of 8 runs: means, effects, values. An eighth of the width would cover too little."""
    covered, narrow = np.zeros((8, 4)), np.zeros(8)
    for run in range(8):
        place, weights = linear_place(run)
        policy = dpb.DPLinTS(arms=3, features=6, **PRIVATE[how])
        state = play_contextual(policy, place, 4000, run, np.array([4000]), 0).state
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
    # one statement a run: were 5 % wrong, 6 of 8 or more would be with probability 5e-7
    assert (covered[:, 2:] < 0.5).sum(axis=0).max() < 6
    assert narrow.mean() < 0.95


@pytest.mark.long
def test_values_are_covered_where_errors_of_all_contexts_lean_to_one_side() -> None:
    """Five misses of five would have a probability of 3e-7, were 5 % wrong."""
    missed = 0
    for run in range(5):
        rng = np.random.default_rng([run, 4])
        measured = rng.standard_normal((1500, 29))
        contexts = dpb.UnitContexts(measured)(measured)
        weights = rng.standard_normal((30, 20))
        weights[-1] = 0.0
        weights *= 0.3 / np.abs(contexts @ weights).max()
        means = 0.4 + contexts @ weights
        policy = dpb.DPLinTS(arms=20, features=30, epsilon=1)
        place = dpb.ContextTable(contexts, means)
        state: Any = play_contextual(policy, place, 50_000, run, np.array([50_000]), 0).state
        even = Predictions.of(policy, state).value(np.full(means.shape, 1 / 20), contexts)
        missed += not even.low <= means.mean() <= even.high
    assert missed < 5


def told(policy: Any, rounds: int = 600, **options: Any) -> dpb.Session:
    session = dpb.Session(policy, noise=dpb.SimulatedNoise(1), seed=1, **options)
    rng = np.random.default_rng(1)
    low, high = (10.0, 20.0) if "rewards" in options else (0.0, 1.0)
    for x in rng.uniform(-0.5, 0.5, (rounds, 2)):
        d = session.ask(context=x)
        session.tell(d, low + (high - low) * float(rng.random() < 0.5 + x[0] * (-1) ** d.action))
    return session


CONTEXTS = [[0.3, 0.1], [-0.4, 0.2], [0.0, 0.5]]


@pytest.mark.parametrize("kind", [dpb.DPLinTS, dpb.JointDPLinTS])
def test_public_contexts_may_have_the_names_of_features(kind: Any) -> None:
    made = partial(kind, arms=2, features=["p", "q"], epsilon=1)
    named = [{"q": q, "p": p} for p, q in CONTEXTS * 2]
    assert made(public_contexts=named) == made(public_contexts=CONTEXTS * 2)
    with pytest.raises(ValueError, match="name each feature once"):
        made(public_contexts=[{"p": 0.5}] * 6)


def test_estimates_are_the_released_law() -> None:
    policy = dpb.DPLinTS(arms=["a", "b"], features=["p", "q"], rho=2, release="shaped", first=30)
    session = told(policy)
    found = session.predictions()
    law = session.policy.law_of(session.state)  # type: ignore[attr-defined]
    fitted = np.array(CONTEXTS) @ law.theta.T
    assert np.allclose(found.means(CONTEXTS).mean, np.clip(fitted, 0, 1))
    assert fitted.min() < 0.0  # which no mean is
    named = [{"q": q, "p": p} for p, q in CONTEXTS]
    assert np.array_equal(found.means(named), found.means(CONTEXTS), equal_nan=True)
    assert np.array_equal(found.means(named[0]).mean, found.means(CONTEXTS[:1]).mean)
    for wrong in ({"p": 0.5}, [{"p": 0.5, "q": 0.1, "r": 0.1}]):
        with pytest.raises(ValueError, match="name each feature once"):
            found.means(wrong)
    effect = found.effect("a", "b", CONTEXTS)
    assert np.allclose(effect.mean, np.clip(fitted[:, 0] - fitted[:, 1], -1, 1))
    other = found.effect("b", "a", CONTEXTS)
    assert np.allclose([other.low, other.high], [-effect.high, -effect.low])
    one = found.value([0, 0, 0], CONTEXTS)
    assert found.value(np.array(["a"] * 3), CONTEXTS) == one
    assert one.mean == pytest.approx(np.clip(fitted[:, 0].mean(), 0, 1))
    turned = pd.DataFrame({"b": [0.0] * 3, "a": [1.0] * 3})  # by names, not by places
    assert found.value(turned, CONTEXTS) == found.value(turned == 1, CONTEXTS) == one
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


def test_without_a_release_nothing_is_known_and_what_does_not_fit_is_refused() -> None:
    session = told(dpb.DPLinTS(arms=2, features=2, rho=2, release="shaped"), rounds=5)
    found = session.predictions()
    means = found.means(CONTEXTS)
    assert np.all(np.isnan(means.mean))
    assert (set(means.low.flat), set(means.high.flat)) == ({0.0}, {1.0})
    assert found.effect(0, 1, CONTEXTS).low.tolist() == [-1.0] * 3
    for call, said in (
        (lambda: session.predictions(1.0), r"number in \(0, 1\)"),
        (lambda: found.means([[0.1, 0.2, 0.3]]), "2 numbers"),
        (lambda: found.means([[2.0, 0.0]]), "norm"),
        (lambda: found.effect(0, 0, CONTEXTS), "two different arms"),
        (lambda: found.effect("c", 0, CONTEXTS), "one of the arms"),
        (lambda: found.value([0, 2, 1], CONTEXTS), "sum to 1"),
        (lambda: found.value(["c", "c", "c"], CONTEXTS), "one of the arms"),
        (lambda: found.value([[0.5, 0.4]] * 3, CONTEXTS), "sum to 1"),
        (lambda: found.value([True] * 3, CONTEXTS), "sum to 1"),
    ):
        with pytest.raises(ValueError, match=said):
            call()
    for no_mean in (session.beliefs, lambda: session.restart_arm(0)):
        with pytest.raises(TypeError, match="Use `session"):
            no_mean()
    published = told(dpb.AdaCOFUL(arms=2, features=2, rho=2, first=50), rounds=120)
    assert np.all(np.isfinite(published.predictions().means(CONTEXTS).mean))
    with pytest.raises(ValueError, match="always=False"):
        published.predictions(always=True)
