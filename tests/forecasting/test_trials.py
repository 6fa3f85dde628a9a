"""Trials that are played in blocks agree with sessions, and a forecast says what came of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.forecasting.outcome import EQUAL
from dpbandits.forecasting.trials import Conditions, play_trial
from dpbandits.session.beliefs import best_compared

AT = np.array([100, 400])
MEANS = np.array([0.2, 0.6, 0.3])
POLICY = dpb.DPKLUCB(arms=3, epsilon=2, first=8, grid=1)


def in_a_session(how: Conditions, seed: int) -> tuple[Any, Any]:
    """Plays by the last round, and the arm that is named at the end."""
    options: dict[str, Any] = {"min_share": how.min_share} if how.min_share else {}
    s = dpb.Session(POLICY, noise=dpb.SimulatedNoise(seed), seed=seed, **options)
    rng, plays = np.random.default_rng([seed, 9]), np.zeros(3)
    for t in range(how.visitors):
        decision: Any = s.ask()
        plays[decision.action] += 1
        added = 0.0 if how.drift is None else how.drift.added(np.array([t / how.visitors]), 3)[0]
        coin = rng.random()
        if rng.random() < how.silent:
            s.void(decision)  # another person takes the place
        else:
            s.tell(decision, float(coin < (MEANS + added)[decision.action]))
    return plays, best_compared(s._state.history, range(3), 0.05)


CONDITIONS = [
    Conditions(400),
    Conditions(400, min_share=0.1),
    Conditions(400, silent=0.2),
    Conditions(400, min_share=0.1, drift=dpb.Drift(0.3)),
]


@pytest.mark.parametrize("how", CONDITIONS, ids=str)
def test_plays_are_those_of_sessions(how: Conditions) -> None:
    """Of 60 trials each: mean plays of each arm differ by at most 5.2 of their standard errors (a
    normal law exceeds it with 2e-7, three arms together with 6e-7).
    """
    runs = 60
    trials = [play_trial(POLICY, MEANS, AT, how, seed, 0.05) for seed in range(runs)]
    ours = np.array([trial.plays[-1] for trial in trials], np.float64)
    theirs = np.array([in_a_session(how, 10_000 + seed)[0] for seed in range(runs)])
    assert (ours.sum(axis=1) == how.visitors).all()
    error = np.sqrt((ours.var(axis=0, ddof=1) + theirs.var(axis=0, ddof=1)) / runs)
    assert (np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) <= 5.2 * error).all()


def test_kept_rounds_and_losses_add_up() -> None:
    for how in CONDITIONS:
        found = play_trial(POLICY, MEANS, AT, how, 3, 0.05)
        assert found.plays.sum(axis=1).tolist() == AT.tolist()
        assert (np.diff(found.plays, axis=0) >= 0).all()
        if how.drift is None:
            gaps = MEANS.max() - MEANS
            assert found.loss == pytest.approx(float(found.plays[-1] @ gaps))
        assert ((found.widths > 0) & (found.widths <= 1)).all()


def test_a_common_drift_leaves_the_loss() -> None:
    """What is added to all arms alike is lost by nobody: the loss is that of the plays, but for
    when they came.
    """
    how = Conditions(400, drift=dpb.Drift(0.15, "wave", periods=2))
    found = play_trial(POLICY, MEANS, AT, how, 3, 0.05)
    assert found.loss == pytest.approx(float(found.plays[-1] @ (MEANS.max() - MEANS)), abs=30.0)


def test_winners_are_named_sooner_with_least_shares() -> None:
    plain = dpb.forecast([0.2, 0.5], 3_000, 1, draws=40)
    shared = dpb.forecast([0.2, 0.5], 3_000, 1, draws=40, min_share=0.05)
    before, row = (each.row("DPRateIMED", 1.0) for each in (plain, shared))
    assert before.chance_named is not None
    assert row.chance_named is not None
    assert row.chance_named > 0.8 > before.chance_named
    assert row.named is not None
    assert before.width is not None
    assert row.width is not None
    assert row.width < before.width
    assert row.loss > before.loss
    assert row.privacy is None
    assert [each.policy for each in shared] == ["DPRateIMED", EQUAL]
    assert "min_share=0.05" in shared.about
    assert f"{100 * row.chance_named:.0f} %" in str(shared)


def test_silence_and_drift_are_played() -> None:
    drift = dpb.Drift(20, "step")
    asked: dict[str, Any] = {"rewards": dpb.Range(0, 100), "draws": 10, "silent": 0.3}
    found = dpb.forecast([20, 50], 1_000, 1, drift=drift, **asked)
    row = found.row("DPRateIMED", 1.0)
    assert 0 < row.loss < found.row(EQUAL).loss == pytest.approx(15_000)
    assert "step of 20" in found.about
    turned = dpb.forecast(
        [80, 50],
        1_000,
        1,
        drift=dpb.Drift(-20, "step"),
        **{**asked, "rewards": dpb.Range(0, 100, minimise=True)},
    )
    assert turned.row("DPRateIMED", 1.0).loss == pytest.approx(row.loss)


def test_equal_arms_are_not_named() -> None:
    found = dpb.forecast([0.4, 0.4], 1_000, 1, draws=10, min_share=0.1)
    assert all(row.named is None and row.chance_named == 0.0 for row in found)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"min_share": 0.6}, "min_share"),
    ({"min_share": {0: 0.3}}, "for all arms alike"),
    ({"silent": 1.0}, "silent"),
    ({"silent": "some"}, "silent"),
    ({"drift": 0.1}, "dpbandits.Drift"),
    ({"drift": dpb.Drift(0.6)}, "smaller drift"),
    ({"drift": dpb.Drift((0.1, 0.1, 0.1))}, "one an arm"),
    ({"silent": 0.1, "delay": 5}, "not both"),
    ({"silent": 0.1, "policies": "LDPKLUCB"}, "does not"),
    ({"min_share": 0.1, "policies": "DPUCB"}, "does not"),
]


@pytest.mark.parametrize(("options", "words"), WRONG)
def test_conditions_that_cannot_be(options: dict[str, Any], words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        dpb.forecast([0.2, 0.5], 100, 1, draws=2, **options)


# Environments


def test_a_drift_is_an_environment_whose_means_change() -> None:
    """Means cross at two thirds. The first arm throughout would lose 100, equal shares 250."""
    environment = dpb.Drift((-0.3, 0.3)).environment([0.6, 0.2], rounds=3_000)
    assert environment.means == pytest.approx([0.45, 0.35])
    assert environment.expected(0, 3_000, np.array([0, 1])) == pytest.approx([1_350, 1_050])
    assert float(environment.best_until(3_000)) == pytest.approx(1_450, abs=0.5)
    runs = dpb.simulate(dpb.DPKLUCB(arms=2, epsilon=1), environment, 3_000, runs=20, seed=1)
    regret = runs.regret()
    assert (regret > 0).all()
    assert regret.mean() < 250
    many = environment.fresh()
    ones = many.block(0, 1_000, dpb.Grid(steps=1), np.random.default_rng(1))
    assert abs(ones - 1_000 * 0.55) < 80  # five standard deviations
    with pytest.raises(dpb.Error, match="rounds were played"):
        many.block(0, 2_500, dpb.Grid(steps=1), np.random.default_rng(1))


def test_answers_that_are_lost_never_come() -> None:
    """Of 2,000 people about 30 % never answer: 475 to 725 are within six standard deviations."""
    policy = dpb.DPKLUCB(arms=2, epsilon=1)
    told = []
    dpb.simulate(policy, dpb.Bernoulli([0.5, 0.4]), 50, delay=dpb.LostAnswers(0.3), runs=2)
    rng, law = np.random.default_rng(1), dpb.LostAnswers(0.3, delay=dpb.UniformDelay(1, 3))
    told = [law.sample(rng) for _ in range(2_000)]
    assert 475 <= sum(delay > 10**9 for delay in told) <= 725
    assert {delay for delay in told if delay < 10**9} == {1, 2, 3}
