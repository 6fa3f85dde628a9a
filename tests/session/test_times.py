"""A clock that was ahead, and periods: shares that stand still, and bets on pairs of arms. That
nothing public tells who answered is in `test_options_together.py`.
"""

from __future__ import annotations

import heapq
import itertools
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from benchmarks.naming_players import Setting, in_periods, waits_of
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import dpbandits as dpb
from dpbandits.environments.changing import Drift
from dpbandits.mechanisms.base import AnswerLaw
from dpbandits.session.evidence import BETS, PairEvidence, ReleasedRow
from tests.session.small import Days, Exact, begun, read


def test_a_clock_that_was_ahead_is_an_alarm_until_it_has_caught_up() -> None:
    clock = Days()
    s = begun(dpb.DPKLUCB(arms=2, epsilon=1), attribution_window=timedelta(days=1), clock=clock)
    s.ask()
    clock.now += 30 * 24 * 3_600
    s.ask()
    clock.now -= 30 * 24 * 3_600 - 3_600
    (alarm,) = s.alarms
    assert (alarm.what, alarm.arm) == ("clock", None)
    assert "The clock is 30 days behind" in " ".join(s.statement().split())
    clock.now += 30 * 24 * 3_600 - 3_640
    assert s.alarms == ()


# Periods: shares that stand still, and bets on pairs of arms


WEEK = timedelta(seconds=100)
RATE = dpb.DPRateIMED(arms=["a", "b"], epsilon=1)
EPSILON = 1.0
REACH = np.linspace(-40.0, 40.0, 4_001)


def periodic(policy: Any = RATE, noise: Any = None, **options: Any) -> tuple[Any, Days]:
    clock = Days()
    given: dict[str, Any] = {"min_share": 0.1, "period": WEEK, "clock": clock, **options}
    return dpb.Session(policy, noise=noise or dpb.SimulatedNoise(1), seed=2, **given), clock


def ones(s: Any, clock: Days, people: int, late: int = 0) -> None:
    """People who come one a second. late: after so many further ones they answer."""
    left = list[Any]()
    for _ in range(people):
        left.append(s.ask())
        if len(left) > late:
            s.tell(left.pop(0), 1.0)
        clock.now += 1


# The bets, exactly


def mean_of_bets(
    means: np.ndarray[Any, Any], shares: list[list[float]], said: list[float], centre: float
) -> np.ndarray[Any, Any]:
    """The mean of each bet that the first arm is better than the second one, over every way in
    which arms and rewards of 0 and 1 may come.

    Args:
        means: by person and arm. shares: by which they are drawn. said: by which they are said to.
    """
    pairs, people = PairEvidence(AnswerLaw("laplace", EPSILON), 0.0), len(means)
    found = np.zeros(len(BETS))
    for drawn in itertools.product(range(len(said)), repeat=people):
        for rewards in itertools.product((0, 1), repeat=people):
            chance, rows = 1.0, [[0, 0] for _ in said]
            for person, (arm, reward) in enumerate(zip(drawn, rewards, strict=True)):
                mean = float(means[person, arm])
                chance *= shares[person][arm] * (mean if reward else 1.0 - mean)
                rows[arm][0] += reward
                rows[arm][1] += 1
            leads, trails = (ReleasedRow(1, float(total), n, ()) for total, n in rows[:2])
            found += chance * np.exp(pairs.grown(leads, trails, (said[0], said[1]), centre))
    return found


SHARES = st.sampled_from([[0.5, 0.5], [0.05, 0.95], [0.1, 0.3, 0.6]])


@settings(max_examples=25, deadline=None)
@given(SHARES, st.lists(st.tuples(*[st.floats(0, 1)] * 3), min_size=1, max_size=3), st.floats(0, 1))
def test_no_common_change_moves_the_mean_of_a_bet(
    shares: list[float], means: list[tuple[float, ...]], centre: float
) -> None:
    """It is one, exactly, if two arms are equal at each moment, and less if the other is better."""
    path, law = np.array(means)[:, : len(shares)], [shares] * len(means)
    path[:, 1] = path[:, 0]
    assert mean_of_bets(path, law, shares, centre) == pytest.approx(1.0, abs=1e-9)
    path[:, 1] = np.minimum(1.0, path[:, 0] + 0.1)
    assert (mean_of_bets(path, law, shares, centre) <= 1.0 + 1e-9).all()


def test_shares_that_move_within_a_period_would_move_it() -> None:
    """The control: rates rise, and the first arm is seen more often later."""
    path, moved = np.array([[0.1, 0.1], [0.9, 0.9]]), [[0.1, 0.9], [0.9, 0.1]]
    assert mean_of_bets(path, moved, [0.5, 0.5], 0.5).max() > 1.2


def test_noise_leaves_the_mean_of_a_bet_as_it_is() -> None:
    pairs = PairEvidence(AnswerLaw("laplace", EPSILON), 0.0)
    density = np.exp(-EPSILON * np.abs(REACH))
    density /= density.sum()
    without = pairs.grown(ReleasedRow(1, 9.0, 20, ()), ReleasedRow(1, 4.0, 9, ()), (0.7, 0.3), 0.4)
    for arm in (0, 1):
        found = np.zeros(len(BETS))
        for chance, noise in zip(density, REACH, strict=True):
            rows = [ReleasedRow(1, 9.0, 20, ()), ReleasedRow(1, 4.0, 9, ())]
            total = rows[arm].total + float(noise)
            rows[arm] = replace(rows[arm], total=total, draws=((1, 1),))
            found += chance * np.exp(pairs.grown(rows[0], rows[1], (0.7, 0.3), 0.4))
        # the largest bet has hardly a moment, and needs a longer reach
        assert found[1:] == pytest.approx(np.exp(without[1:]), rel=0.01)


# Sessions


@pytest.mark.parametrize(("means", "delay"), [((0.2, 0.25, 0.22), 0), ((0.3, 0.3), 60)])
def test_a_session_does_what_is_played_in_the_tables(means: tuple[float, ...], delay: int) -> None:
    """Exactly, noise included: all that is known, and the policy's state, after each period."""
    people, seed = 1_200, 4
    setting = Setting(means, people, Drift(0.3), min_share=0.05, periods=6, delay=delay)
    rng = np.random.default_rng(9)
    luck, waits = rng.random(people), waits_of(setting, rng)
    coins = [np.random.default_rng([seed, id + 1, 3]).random() for id in range(people)]
    turns = in_periods(setting, seed, np.array(coins), luck, waits)
    clock, late, path = Days(), list[Any](), setting.path()
    s = dpb.Session(
        setting.policy(),
        noise=dpb.SimulatedNoise(seed),
        seed=seed,
        min_share=0.05,
        period=timedelta(seconds=setting.length),
        clock=clock,
    )
    for t in range(people):
        clock.now = float(t)
        if t and t % setting.length == 0:
            s.settle()
            turn = next(turns)
            assert (s._state.history, s.state) == (turn.known, turn.state)
        decision = s.ask()
        reward = float(luck[t] < path[t, decision.action])
        heapq.heappush(late, (t + int(waits[t]), t, decision, reward))
        while late and late[0][0] <= t:
            s.tell(*heapq.heappop(late)[2:])
    assert s._state.history.within is not None
    assert s._state.history.within.bets


def test_every_record_is_released_once_by_the_end_of_its_period() -> None:
    """Also where the clock jumps back, or nobody came for long; shares stand still meanwhile."""
    s, clock = periodic(noise=Exact(1))
    for number in range(1, 5):
        laws = set()
        for _ in range(99):
            s.tell(s.ask(), 1.0)
            laws.add(s._current.period.laws[-1])
            clock.now += 1
        assert len(laws) == 1
        clock.now -= 60
        s.ask()
        assert sum(read(s).values()) < 99 * number
        clock.now += 161 if number == 3 else 61
        assert sum(read(s).values()) == 99 * number == sum(row.people for row in s.beliefs())
        assert s.spent == 1
        assert [row.mean for row in s.beliefs()] == [1.0, 1.0]
    assert s._state.period.number == 5
    assert s._state.period.laws[0].shares == (0.5, 0.5)
    releases = s.releases
    clock.now += 1_000
    s.settle()
    assert s.releases == releases  # nothing was open


def test_what_was_drawn_by_other_shares_is_not_compared() -> None:
    """Nor outcomes that were recorded, nor dropped blocks; late answers of equal shares are."""
    s, clock = periodic()

    def bets_after(people: int, late: int = 0) -> Any:
        ones(s, clock, people, late)
        s.settle()
        return dict(s._state.history.within.bets)

    first = bets_after(100, late=40)
    assert set(first) == {(0, 1), (1, 0)}
    for decision in s.pending:  # all shares were the same then
        s.tell(decision, 1.0)
    assert bets_after(100) == first
    second = bets_after(100, late=40)
    assert second != first
    third = bets_after(100, late=40)
    assert third != second
    for spoil in (lambda: s.record("a", [1.0, 0.0], key="w"), s.drop_open):
        ones(s, clock, 50)
        spoil()
        assert bets_after(50) == third


def test_an_arm_whose_late_answers_are_not_read_is_not_compared() -> None:
    """It was retired with nothing open. All answers are ones, and those of the others count."""
    s, clock = periodic(dpb.DPRateIMED(arms=["a", "b", "c"], epsilon=1))
    ones(s, clock, 99)
    clock.now += 1
    s.settle()
    before = dict(s._state.history.within.bets)
    made, releases = iter([s.ask() for _ in range(300)]), s.releases
    while s.releases == releases:
        if (decision := next(made)).label == "b":
            s.tell(decision, 1.0)
    s.retire_arm("b")
    for decision in s.pending:
        s.tell(decision, 1.0)
    clock.now += WEEK.total_seconds()
    s.settle()
    after = s._state.history.within.bets
    assert {pair for pair, bets in after if bets != before[pair]} == {(0, 2), (2, 0)}


@pytest.mark.parametrize("window", [None, timedelta(seconds=30)])
def test_who_keeps_an_arm_is_learned_from_when_it_was_drawn(window: Any) -> None:
    """Only people of the first of two equal arms come back: no evidence for it."""
    people: dict[str, Any] = {"privacy_unit": "user", "max_contributions": 9, "sticky": True}
    s, clock = periodic(user_key=bytes(32), attribution_window=window, **people)
    for user in range(300):
        first = s.ask(user=user)
        visits = [first, *(s.ask(user=user) for _ in range(8 if first.label == "a" else 0))]
        assert {visit.label for visit in visits} == {first.label}
        assert [visit.learn for visit in visits] == [True, *[False] * (len(visits) - 1)]
        for visit in visits:
            s.tell(visit, 1.0)
        clock.now += 1
        assert not s._current.period.mixed
    clock.now += 200
    s.settle()
    within = s._state.history.within
    assert within.last != ((0.0, 0), (0.0, 0))
    assert sum(row.people for row in s.beliefs()) == 300
    assert s.beliefs().best is None


def test_a_period_in_which_nobody_was_drawn_for_an_arm_counts() -> None:
    """To skip it would not be settled beforehand, and a bet's mean would be above one."""
    s, clock = periodic(KL)
    for _ in range(3):
        ones(s, clock, 60)
        clock.now += WEEK.total_seconds()
    ones(s, clock, 1)
    before = dict(s._state.history.within.bets)
    clock.now += WEEK.total_seconds()
    s.beliefs()
    ones(s, clock, 1)
    after = dict(s._state.history.within.bets)
    assert set(before) == set(after) == {(0, 1), (1, 0)}
    assert all(before[pair] != after[pair] for pair in before)


def test_people_until_a_name_within_periods_are_foreseen() -> None:
    """After three periods; the median of fifteen sessions up to a factor of three."""
    found = list[float]()
    for seed in range(15):
        s, clock = periodic(noise=dpb.SimulatedNoise(seed))
        rng, said = np.random.default_rng(seed), None
        means = (0.2, 0.5) if seed % 2 else (0.5, 0.2)
        while s.beliefs().best is None:
            for _ in range(100):
                decision = s.ask()
                s.tell(decision, float(rng.random() < means[decision.action]))
                clock.now += 1
            if s.resolved == 300:
                said = s.beliefs().more
        found += [said / (s.resolved - 300)] if said else []
    assert len(found) > 10
    assert 1 / 3 < np.median(found) < 3


KL = dpb.DPKLUCB(arms=2, epsilon=1)
