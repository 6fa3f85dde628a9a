"""Trials that are played in blocks agree with sessions, and a forecast says what came of them."""

import heapq
from datetime import timedelta
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import dpbandits as dpb
from dpbandits.forecasting.forecast import world_of
from dpbandits.forecasting.outcome import EQUAL
from dpbandits.forecasting.trials import (
    Conditions,
    Spread,
    answers_of,
    play_trial,
    turns_of,
)
from dpbandits.policies.forgetful import LazyBetas
from dpbandits.session.arms import Assignment
from dpbandits.terminal.cli import app

AT = np.array([100, 400])
MEANS = np.array([0.2, 0.6, 0.3])
POLICY = dpb.DPKLUCB(arms=3, epsilon=2, first=8, grid=1)


SHARED, FEW = Assignment(False, 0.1), Assignment(False, 0.01)


def in_a_session(how: Conditions, seed: int, policy: Any) -> Any:
    """Plays by the last round."""
    now, options = [0.0], dict[str, Any]()
    if how.assignment is not None:
        options["min_share"] = dict(how.assignment.shares) or how.assignment.min_share
    if how.period:
        options |= {"period": timedelta(seconds=how.period), "clock": lambda: now[0]}
    s = dpb.Session(policy, noise=dpb.SimulatedNoise(seed), seed=seed, **options)
    rng, plays = np.random.default_rng([seed, 9]), np.zeros(3)
    late, comes = list[Any](), answers_of(how._replace(silent=0.0), rng)
    for t in range(how.visitors):
        now[0] = float(t)
        decision: Any = s.ask()
        plays[decision.action] += 1
        added = 0.0 if how.drift is None else how.drift.added(np.array([t / how.visitors]), 3)[0]
        coin = rng.random()
        if rng.random() >= how.silent:
            reward = float(coin < (MEANS + added)[decision.action])
            heapq.heappush(late, (int(comes[t]), t, decision, reward))
        while late and late[0][0] <= t:
            s.tell(*heapq.heappop(late)[2:])
    return plays


LATE = dpb.UniformDelay(0, 60)
CONDITIONS = [
    Conditions(400),
    Conditions(400, SHARED),
    Conditions(400, silent=0.2),
    Conditions(400, SHARED, drift=dpb.Drift(0.3)),
    Conditions(200, SHARED, silent=0.2, drift=dpb.Drift(0.3), delay=LATE, period=50),
]


PLAYED = [(POLICY, how) for how in CONDITIONS]
PLAYED += [(dpb.DPKLUCB(arms=3, epsilon=0.5), Conditions(250, FEW, silent=0.5))]  # waits
PLAYED += [(dpb.AnytimeLazyUCB(arms=3, epsilon=0.5), Conditions(200))]  # some plans release nothing
PLAYED += [(dpb.UCB1(arms=3, grid=1), Conditions(150, SHARED))]  # reads each answer
PLAYED += [(dpb.LazyDPTS(arms=3, epsilon=2), how) for how in CONDITIONS[:2]]  # draws each arm


@pytest.mark.parametrize(("policy", "how"), PLAYED, ids=str)
def test_plays_are_those_of_sessions(policy: Any, how: Conditions) -> None:
    """Of 60 trials each: mean plays of each arm differ by at most 5.2 of their standard errors (a
    normal law exceeds it with 2e-7, three arms together with 6e-7).
    """
    runs, at = 60, np.array([100, how.visitors])
    trials = [play_trial(policy, MEANS, at, how, seed, 0.05) for seed in range(runs)]
    ours = np.array([trial.plays[-1] for trial in trials], np.float64)
    theirs = np.array([in_a_session(how, 10_000 + seed, policy) for seed in range(runs)])
    assert (ours.sum(axis=1) == how.visitors).all()
    error = np.sqrt((ours.var(axis=0, ddof=1) + theirs.var(axis=0, ddof=1)) / runs)
    assert (np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) <= 5.2 * error).all()


def test_a_law_that_changes_with_time_is_told_the_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thompson sampling was told the rounds since its last release."""
    rounds, sample = list[int](), LazyBetas.sample

    def noted(law: LazyBetas, round: int, rng: Any) -> int:
        rounds.append(round)
        return sample(law, round, rng)

    monkeypatch.setattr(LazyBetas, "sample", noted)
    policy = dpb.LazyDPTS(arms=3, epsilon=1)
    play_trial(policy, MEANS, np.array([100]), Conditions(100), 1, 0.05)
    assert rounds == list(range(4, 101))


@pytest.mark.parametrize("mean", [0.0, 0.05, 0.5, 0.62, 0.97, 1.0])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.7, 1.0])
def test_rewards_have_the_mean_and_the_spread_that_are_given(mean: float, share: float) -> None:
    """On the grid the variance grows by a quarter of a squared step at most."""
    sd = share * (mean * (1 - mean)) ** 0.5
    low, high, chance = map(float, Spread.of(mean, sd))
    assert 0 <= low <= mean <= high <= 1
    assert low + chance * (high - low) == pytest.approx(mean, abs=1e-12)
    assert (high - low) ** 2 * chance * (1 - chance) == pytest.approx(sd**2, abs=1e-12)
    world = world_of(np.array([mean]), np.array([sd]))
    assert isinstance(world, dpb.Categorical)
    assert world.means[0] == pytest.approx(mean, abs=1e-12)
    variance = float(world.probabilities[0] @ (world.values - mean) ** 2)
    assert -1e-12 <= variance - sd**2 <= 0.25 / 1024**2 + 1e-12
    luck = (np.arange(100_000) + 0.5) / 100_000
    steps = Spread.of(mean, sd).steps(luck, 1024) / 1024
    assert steps.mean() == pytest.approx(mean, abs=1e-5)
    assert steps.var() == pytest.approx(variance, abs=1e-5)


@pytest.mark.parametrize(
    "more",
    [{}, {"delay": dpb.UniformDelay(0, 20)}, {"period": 60}],
    ids=["blocks", "late", "periods"],
)
def test_every_way_of_playing_knows_the_sums(more: dict[str, Any]) -> None:
    """Nearly without noise. Rewards that do not spread give their mean, where those of 0 and 1
    would be off by .03; of sure ones nothing is left out. Only a release is news.
    """
    sure = np.array([0.0, 1.0, 1.0])
    for means, sd, grid in ((MEANS, np.zeros(3), 1024), (sure, None, 1)):
        how = Conditions(300, SHARED, sd=sd, **more)
        policy = dpb.DPKLUCB(arms=3, epsilon=1000, first=8, grid=grid)
        turns = turns_of(policy, means[None, :], AT, how, 3)
        known = [turn.known for turn in turns if turn.known is not None]
        assert all(before.arms != after.arms for before, after in pairwise(known))
        for arm, mean in zip(known[-1].arms, means, strict=True):
            for row in arm.kept:
                assert row.total == pytest.approx(row.rounds * mean, abs=0.002 * row.rounds)


@pytest.mark.parametrize("policy", [POLICY, dpb.UCB1(arms=3, grid=1)], ids=lambda each: each.name)
def test_kept_rounds_and_losses_add_up(policy: Any) -> None:
    """What a drift adds to all arms alike is lost by nobody."""
    for how in (*CONDITIONS, Conditions(400, drift=dpb.Drift(0.15, "wave", periods=2))):
        at = [100, how.visitors]
        found = play_trial(policy, MEANS, np.array(at), how, 3, 0.05)
        assert found.plays.sum(axis=1).tolist() == at
        assert (np.diff(found.plays, axis=0) >= 0).all()
        assert found.loss == pytest.approx(float(found.plays[-1] @ (MEANS.max() - MEANS)))
        assert ((found.widths > 0) & (found.widths <= 1)).all()


@pytest.mark.parametrize("more", [{}, {"period": 100, "delay": LATE}], ids=["blocks", "periods"])
def test_arms_come_and_go(more: dict[str, Any]) -> None:
    """Losses are against the best arm in play: .6 for 200 people, then .3."""
    how = Conditions(400, SHARED, present=((0, 400), (0, 200), (100, 400)), **more)
    found = play_trial(POLICY, MEANS, np.array([100, 200, 400]), how, 3, 0.05)
    assert found.plays.sum(axis=1).tolist() == [100, 200, 400]
    assert found.plays[0, 2] == 0 < found.plays[1, 2] < found.plays[2, 2]
    assert found.plays[1, 1] == found.plays[2, 1]
    assert found.loss == pytest.approx(200 * 0.6 + 200 * 0.3 - float(found.plays[-1] @ MEANS))


def test_the_best_arm_in_play_is_named() -> None:
    """A better one has left. Shares are 50 people an arm, then 34, 33 and 33, then 150 each."""
    found = dpb.forecast(
        [0.1, 0.95, 0.8],
        600,
        8,
        arms=["old", "gone", "new"],
        present={"gone": (0, 300), "new": (200, 600)},
        min_share=0.1,
        draws=3,
    )
    plays = np.array([100 + 34 + 150, 100 + 33, 33 + 150])
    best = 300 * 0.95 + 300 * 0.8
    assert found.row(EQUAL).loss == pytest.approx(best - float(plays @ [0.1, 0.95, 0.8]))
    assert "'gone': (0, 300)" in found.about
    assert all((row.chance_named, row.leads) == (1.0, 1.0) for row in found)
    assert (found.rows[0].named or 0) > 300


@pytest.mark.long
def test_winners_are_named_sooner_with_least_shares() -> None:
    shared = dpb.forecast([0.2, 0.5], 3_000, 1, draws=40, min_share=0.05)
    row: Any = shared.row("DPRateIMED", 1)
    before: Any = dpb.forecast([0.2, 0.5], 3_000, 1, draws=40).row("DPRateIMED", 1)
    assert row.chance_named > 0.8 > before.chance_named
    assert row.named is not None
    assert row.width < before.width
    assert row.loss > before.loss
    assert [each.policy for each in shared] == ["DPRateIMED", "KLUCB", EQUAL]
    assert f"{100 * row.chance_named:.0f} %" in str(shared)


def test_what_privacy_costs_is_said_of_the_very_trial() -> None:
    """Losses are those of both policies under the same conditions, with everything at once."""
    asked: dict[str, Any] = {"draws": 3, "min_share": {"usual": 0.3, "new": 0.1, "other": 0.1}}
    asked |= {"silent": 0.2, "drift": dpb.Drift(0.1), "delay": dpb.UniformDelay(0, 50)}
    prior = dpb.Prior(base=0.2, best=1, arms=["usual", "new", "other"])
    for period in (None, 50):
        found = dpb.forecast(prior, 150, 1, period=period, **asked)
        private, plain = found.row("DPRateIMED", 1.0), found.row("KLUCB")
        assert private.privacy == pytest.approx(private.loss - plain.loss)
        assert plain.loss > 0
        assert private.chance_named is not None
        assert "arm usual gets 0.3 of rounds or more" in found.about
    drawn = dpb.forecast([0.2, 0.5], 300, 1, draws=3, min_share=0.1, policies="LazyDPTS")
    assert drawn.rows[0].privacy == pytest.approx(drawn.rows[0].loss - drawn.rows[1].loss)
    more: dict[str, Any] = {"min_share": 0.1, "silent": 0.2}  # ThompsonBeta plays no such session
    alone = dpb.forecast([0.2, 0.5], 100, 1, draws=2, policies="LazyDPTS", **more)
    assert [(row.policy, row.privacy) for row in alone] == [("LazyDPTS", None), (EQUAL, None)]
    named = dpb.forecast([0.2, 0.5], 300, 1, draws=3, min_share={"b": 0.5}, arms=["a", "b"])
    numbered = dpb.forecast([0.2, 0.5], 300, 1, draws=3, min_share={1: 0.5})
    assert named.rows == numbered.rows


def test_periods_are_played_from_the_command_line() -> None:
    line = ["forecast", "--rates", ".2,.6", "--visitors", "200", "--epsilon", "1", "--draws", "2"]
    shown = CliRunner().invoke(app, [*line, "--min-share", ".3", "--period", "100"])
    assert "KLUCB" in shown.output, shown.output


def test_silence_and_drift_are_played() -> None:
    drift = dpb.Drift(20, "step")
    asked: dict[str, Any] = {"rewards": dpb.Range(0, 100), "draws": 4, "silent": 0.3}
    found = dpb.forecast([20, 50], 1_000, 1, drift=drift, **asked)
    share = dpb.forecast([0.2, 0.5], 1_000, 1, draws=4, silent=0.3, drift=dpb.Drift(0.2, "step"))
    row = found.row("DPRateIMED", 1.0)
    assert 0 < row.loss < found.row(EQUAL).loss == pytest.approx(15_000)
    assert row.loss == pytest.approx(100 * share.row("DPRateIMED", 1.0).loss)
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


# Environments


def test_a_drift_is_an_environment_whose_means_change() -> None:
    """Means cross at two thirds."""
    environment = dpb.Drift((-0.3, 0.3)).environment([0.6, 0.2], rounds=3_000)
    assert environment.means == pytest.approx([0.45, 0.35])
    assert environment.expected(0, 3_000, np.array([0, 1])) == pytest.approx([1_350, 1_050])
    assert float(environment.best_until(3_000)) == pytest.approx(1_450, abs=0.5)
    long = dpb.Drift(0.1).environment([0.2], rounds=10**12)  # took memory for every round
    assert long.means == pytest.approx([0.25])


def test_what_has_no_privacy_knows_no_answer_before_it_comes() -> None:
    """It was named before anybody had answered, and a test in equal shares knew silent people."""
    now, late = (
        dpb.forecast([0.1, 0.9], 1_000, 1, draws=2, delay=delay).row(EQUAL).named or 0
        for delay in (1, 300)
    )
    assert 0 < 299 + now <= late <= 1.25 * (300 + now)
    nobody: dict[str, Any]
    for nobody in ({"delay": 20}, {"silent": 0.95}):
        found = dpb.forecast([0.1, 0.9], 20, 1, draws=2, **nobody).row("equal shares")
        assert (found.leads, found.width) == (0.0, 1.0)


def test_an_arm_that_equal_shares_never_show_has_not_the_highest_mean() -> None:
    """It had none, which counted as the highest."""
    found = dpb.forecast([0.9, 0.1], 60, 1, draws=2, present={1: (59, 60)})
    assert found.row("equal shares").leads == 1.0


def test_an_arm_is_named_among_those_in_play_at_that_time() -> None:
    """By all policies: not before another one has gone, nor where it is alone."""
    left = dpb.forecast([0.2, 0.3], 600, 1, draws=2, present={0: (0, 300)}, min_share=0.1)
    assert [(row.named, row.chance_named) for row in left] == [(None, 0.0)] * 3
    apart = dpb.forecast([0.1, 0.9, 0.9], 900, 8, draws=2, present={2: (0, 450)}, min_share=0.2)
    assert all(row.named is not None and row.named > 450 for row in apart)


def test_conditions_are_said() -> None:
    how: Any = {"min_share": 0.1, "silent": Fraction(1, 4), "drift": dpb.Drift(0.1), "delay": 5}
    about = dpb.forecast([0.5, 0.4], 60, 1, draws=2, period=30, **how).about
    assert "each arm gets 0.1 of rounds or more; 0.25 of people never answer; " in about
    assert "; trend of 0.1; answers come late: 5; periods of 30 visitors" in about
