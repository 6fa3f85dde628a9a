"""A bound counted from runs holds if the runs are independent. What could tie them together: coins,
arrays, copies of a process.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpbandits import AnytimeLazyUCB, NaiveFTNL, PrefixExponential
from dpbandits.auditing import subjects as grouped_runs
from dpbandits.auditing.statistical import Players, statistical_level
from dpbandits.auditing.subjects import MechanismSubject, PolicySubject, shown_by
from dpbandits.auditing.tables import Neighbours, TwoTables
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import LazyForgetful
from dpbandits.noise import SimulatedNoise
from dpbandits.policies.contract import Policy
from tests.auditing.strange import HandNoisyMax

pytestmark = pytest.mark.long


@pytest.mark.parametrize(
    "policy",
    [PrefixExponential(actions=2, epsilon=1, grid=1), NaiveFTNL(actions=2, epsilon=1, grid=1)],
    ids=repr,
)
def test_grouped_runs_toss_their_own_public_coins(policy: Policy) -> None:
    """20,000 grouped runs against as many played one by one: every decision sequence within 6
    standard errors of their difference (fewer than 60 sequences: false alarm below 1e-6). With
    coins shared by a lot, frequencies were those of a handful of coins.
    """
    runs, table = 20_000, np.tile([1.0, 0.0], (8, 1))
    grouped = Counter(map(tuple, PolicySubject(policy).outcomes(table, runs, 3).tolist()))
    noise = SimulatedNoise(4)
    single = Counter(
        tuple(shown_by(policy, table, noise=noise, seed=10**6 + run)) for run in range(runs)
    )
    assert len(single) > 1
    for played in grouped.keys() | single.keys():
        a, b = grouped[played], single[played]
        assert abs(a - b) <= 6 * np.sqrt(a + b), (played, a, b)


def test_any_part_of_the_runs_is_like_any_other() -> None:
    """Groups come sorted by what they drew; events are learnt on one part and chosen on another."""
    outcomes = PolicySubject(AnytimeLazyUCB(arms=2, epsilon=1, grid=1)).outcomes(
        np.tile([1.0, 0.0], (8, 1)), 20_000, 5
    )
    halves = [part.mean(axis=0) for part in np.split(outcomes, 2)]
    assert np.abs(halves[0] - halves[1]).max() < 6 * np.sqrt(0.5 / 10_000)
    assert outcomes.std(axis=0).max() > 0.1


def test_code_that_mixes_runs_is_played_run_by_run() -> None:
    """`int(np.argmax(...))` over arrays of runs is one number for all of them, without an error."""
    table = np.zeros((1, 3))
    mixing, honest = (
        MechanismSubject(HandNoisyMax()),
        MechanismSubject(LazyForgetful(epsilon=Fraction(1), grid=Grid(steps=1))),
    )
    assert not mixing.is_run_by_run(table)
    assert honest.is_run_by_run(np.zeros((3, 1)))
    one, other = (
        np.bincount(mixing.outcomes(table, 3000, seed)[:, 0].astype(int), minlength=3)
        for seed in (1, 2)
    )
    assert (np.abs(one - other) < 6 * np.sqrt(one + other)).all()
    assert one.min() > 500


class Coin:
    """A subject that draws from numpy's own generator, whatever the seed."""

    name = "coin"

    def pairs(self) -> list[Neighbours]:
        return [TwoTables(np.zeros((1, 1)), np.ones((1, 1)), "one round")]

    def outcomes(self, table: Any, runs: int, seed: int) -> Any:
        return np.random.random((runs, 1))  # noqa: NPY002 - the global generator is the point


def test_copies_of_a_process_do_not_repeat_each_other() -> None:
    with Players(Coin(), 2) as players:
        lot = players.play(Coin().pairs()[0], 1000, 0)
    assert len(np.unique(np.concatenate([lot.a, lot.b]))) == 1000


def test_where_nothing_varies_nothing_was_seen() -> None:
    class Constant(Coin):
        def outcomes(self, table: Any, runs: int, seed: int) -> Any:
            return np.zeros((runs, 1))

    found = statistical_level(Constant(), Fraction(1), workers=1, runs=500)
    assert (found.outcome, found.lower_bound) == ("not applicable", 0.0)


def test_a_number_of_runs_gives_the_same_bound_every_time() -> None:
    subject = MechanismSubject(LazyForgetful(epsilon=Fraction(1), grid=Grid(steps=1)))
    both = [
        statistical_level(subject, Fraction(1), workers=1, runs=5000, seed=7).lower_bound
        for _ in range(2)
    ]
    assert both[0] == both[1] > 0


def test_runs_without_public_coins_are_played_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand runs of eight rounds have far fewer histories; runs that went on alone, for their
    seed was looked at, would be played one by one.
    """
    played, honest = [], grouped_runs.decisions
    monkeypatch.setattr(
        grouped_runs, "decisions", lambda *a, **k: played.append(1) or honest(*a, **k)
    )
    policy = AnytimeLazyUCB(arms=2, epsilon=4, grid=1)
    found = grouped_runs.grouped(policy, np.ones((8, 2)), 1000, seed=5)
    assert sum(count for _, count in found) == 1000
    assert len(played) < 400
