"""Arms drawn by chance, decisions with their probabilities, traffic, and the privacy statement."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.noise import SecureNoise, SimulatedNoise
from dpbandits.policies import DPKLUCB, DPSE, UCB1, NoiseAwareTS, ThompsonBeta
from tests.session.small import loaded

POLICY = DPKLUCB(arms=["a", "b", "c"], epsilon=1, first=40)


def session(policy: Any = POLICY, seed: int = 1, **options: Any) -> dpb.Session:
    return dpb.Session(policy, noise=SimulatedNoise(seed), seed=seed, **options)


def play(s: dpb.Session, rounds: int, rng: np.random.Generator) -> list[dpb.Decision]:
    made = []
    for _ in range(rounds):
        made.append(s.ask())
        assert isinstance(made[-1].action, int)
        s.tell(made[-1], float(rng.random() < (0.8, 0.5, 0.2)[made[-1].action]))
    return made


def longest_run(actions: list[Any]) -> int:
    longest = run = 1
    for before, after in pairwise(actions):
        run = run + 1 if before == after else 1
        longest = max(longest, run)
    return longest


def test_shuffled_first_blocks_come_in_one_random_order() -> None:
    """Every order of the 120 rounds has each arm 40 times, and no arm a time of its own."""
    planned, shuffled = session().ask(120), session(assignment="shuffled").ask(120)
    for asked in (planned, shuffled):
        assert Counter(d.label for d in asked) == {"a": 40, "b": 40, "c": 40}
    assert longest_run([d.action for d in planned]) == 40
    assert longest_run([d.action for d in shuffled]) < 15
    assert [d.action for d in session(assignment="shuffled").ask(120)] == [
        d.action for d in shuffled
    ]
    other = session(seed=2, assignment="shuffled").ask(120)
    assert [d.action for d in other] != [d.action for d in shuffled]


@pytest.mark.long
def test_places_in_a_shuffled_order_are_uniform() -> None:
    """Arm a's number of places among the first 60 of 120: mean 20, variance 20·(80/120)·(60/119).

    400 seeds; the mean misses by 4.9 standard deviations with probability 10⁻⁶.
    """
    counts = [
        sum(d.action == 0 for d in session(seed=seed, assignment="shuffled").ask(60))
        for seed in range(400)
    ]
    deviation = (20 * (80 / 120) * (60 / 119) / 400) ** 0.5
    assert abs(np.mean(counts) - 20) < 4.9 * deviation


def test_every_arm_keeps_its_least_share_and_the_test_of_traffic_finds_nothing() -> None:
    s, rng = session(min_share=0.1), np.random.default_rng(3)
    made = play(s, 3_000, rng)
    shares = Counter(d.label for d in made[300:])
    assert min(shares.values()) > 0.07 * 2_700
    assert shares["a"] > 0.6 * 2_700
    found = s.sample_ratio()
    assert not found.alarm(0.01)
    assert list(found.traffic.counts) == [sum(d.action == k for d in made) for k in range(3)]
    assert sum(found.traffic.expected) == pytest.approx(3_000)
    again = loaded(s.to_json())
    assert again.sample_ratio() == found
    assert [again.ask() for _ in range(50)] == [s.ask() for _ in range(50)]


def test_decisions_have_the_probability_they_had() -> None:
    """Weighted by it, each arm's decisions are as many as there are rounds, on the average."""
    s, rng = session(min_share=0.2), np.random.default_rng(4)
    play(s, 2_000, rng)
    rows = list(s.decisions())
    assert len(rows) == len(s.decisions()) == 2_000
    assert {round(row.propensity or 0, 9) for row in rows} == {0.2, 0.6}
    for arm in range(3):
        weighted = [1 / (row.propensity or 1) if row.action == arm else 0.0 for row in rows]
        deviation = np.std(weighted) / 2_000**0.5
        assert abs(np.mean(weighted) - 1) < 4.9 * deviation
    frame = s.decisions().to_polars()
    assert frame.columns == ["id", "action", "label", "propensity", "learn", "waiting"]
    assert frame["label"].to_list() == [row.label for row in rows]


@pytest.mark.parametrize(
    ("policy", "later"),
    [
        (dpb.LazyDPTS(arms=3, epsilon=4), {None}),
        (NoiseAwareTS(arms=3, epsilon=4), {None, 0.05, 0.9}),  # it draws, and goes by counts
        (POLICY, {0.05, 0.9}),
    ],
)
def test_a_propensity_is_never_given_a_draw_that_nobody_knows(policy: Any, later: Any) -> None:
    """Beside draws from a posterior they were .9 or .05, whichever arm that draw had been for. The
    law of first blocks that are shuffled depends on no such draw.
    """
    s = session(policy, min_share=0.05, assignment="shuffled")
    first = {row.propensity is None for row in decided(s, 3)}
    assert first == {False}
    play(s, 400, np.random.default_rng(6))
    rows = decided(s, 100)
    found = {row.propensity and round(row.propensity, 9) for row in rows}
    assert found <= later
    assert (None in found) is (None in later)
    assert not s.sample_ratio().alarm(1e-6)
    even = decided(session(policy, min_share=1 / 3), 30)  # what the policy plays is no matter
    assert {round(row.propensity or 0, 9) for row in even} == {round(1 / 3, 9)}


def decided(s: dpb.Session, count: int) -> list[Any]:
    for _ in range(count):
        s.ask()
    return list(s.decisions())[-count:]


@pytest.mark.parametrize(
    "policy",
    [POLICY, UCB1(arms=3), DPSE(arms=3, epsilon=1, horizon=500), NoiseAwareTS(arms=3, epsilon=1)],
)
def test_decisions_are_those_that_were_made(policy: Any) -> None:
    """Asked in several ways, told late, saved in between."""
    s, rng = session(policy), np.random.default_rng(5)
    made = list(play(s, 150, rng))
    made += s.ask(30)
    if policy.chooses:
        made.append(s.ask(eligible=[1, 2]))
        s.retire_arm(0)
    made += [s.ask(), *s.ask(5)]
    for each in (s, loaded(s.to_json())):
        rows = list(each.decisions())
        assert [(row.id, row.action, row.label) for row in rows] == [
            (d.id, d.action, d.label) for d in made
        ]
        assert [row.id for row in rows if row.waiting] == [d.id for d in s.pending]
        unknown = [row for row in rows if row.propensity is None]
        assert bool(unknown) is isinstance(policy, NoiseAwareTS)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"assignment": "random"}, "'random'"),
        ({"min_share": 0.4}, "min_share=0.4"),
        ({"min_share": -0.1}, "min_share=-0.1"),
        ({"min_share": "x"}, "min_share='x'"),
        ({"policy": DPSE(arms=3, epsilon=1, horizon=9), "min_share": 0.1}, "cannot choose"),
        ({"policy": ThompsonBeta(arms=3), "assignment": "shuffled"}, "cannot choose"),
    ],
)
def test_options_that_are_none(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        session(**options)


def test_decisions_do_not_name_the_seed_where_it_foretells_them() -> None:
    s = session(seed=123456789, assignment="shuffled")
    assert f"{123456789:x}" not in s.ask().campaign


def test_the_statement_says_what_is_promised_and_what_was_read() -> None:
    s = session(
        privacy_unit="user",
        max_contributions=3,
        rewards=dpb.Range(0, 250, clip=True),
        campaign="Trial",
    )
    for user in range(500):
        s.tell(s.ask(user=user), 125.0)
    s.retire_arm("c")
    text = s.statement()
    for said in (
        "session Trial",
        "DPKLUCB",
        "ε = 1 per user (all rewards replaced, at most 3",
        "all rewards of one user",
        "values from 0 to 250",
        "1/1,024",
        "a, b, c (retired)",
        "Decisions made: 500",
        f"{s.releases} readings",
        "simulated",
        dpb.__version__,
    ):
        assert said in " ".join(text.split()), said
    assert max(map(len, text.splitlines())) <= 88
    secure = dpb.Session(POLICY, noise=SecureNoise()).statement()
    assert "WARNING" not in secure
    assert "NONE" in session(UCB1(arms=2)).statement()


def test_the_statement_says_how_long_answers_are_waited_for_and_how_they_are_held() -> None:
    policy = DPKLUCB(arms=2, epsilon=1, grid=1)
    text = session(policy, attribution_window=timedelta(weeks=6)).statement()
    words = " ".join(text.split())
    assert "Answers are waited for 42 days" in words
    assert "held as one of its two ends" in words
    assert "had one reward been another." in words
    assert "waited" not in session(policy).statement()


def test_no_arm_is_added_beyond_the_least_shares() -> None:
    s = session(min_share=0.3)
    with pytest.raises(ValueError, match="at most 3 arms"):
        s.add_arm("d")
    assert (len(s.arms), s.policy.arms, s.events) == (3, 3, ())


def test_a_table_of_decisions_stays_as_it_was_and_has_nothing_of_the_session_s_own() -> None:
    session = dpb.Session(dpb.DPKLUCB(arms=2, epsilon=1), noise=dpb.SimulatedNoise(1))
    first, *_ = session.ask(3)
    table = session.decisions()
    session.tell(first, 1)
    assert [row.waiting for row in table] == [True] * 3
    assert [row.waiting for row in session.decisions()] == [False, True, True]
    assert isinstance(table.waiting, frozenset)
