"""Asks that run ahead of tells: the next first block, the next arm by its index, and blocks that
close by their own count.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.core.plan import Hold, PublicRng
from dpbandits.noise import SimulatedNoise
from dpbandits.policies import (
    DPIMED,
    DPKLUCB,
    LDPKLUCB,
    UCB1,
    AdaPUCB,
    AnytimeLazyUCB,
    DPRateIMED,
    LazyDPTS,
    NoiseAwareTS,
)
from tests.session.small import loaded

MEANS = (0.7, 0.5, 0.3)
INDEX = [
    DPKLUCB(arms=3, epsilon=1, first=4),
    DPRateIMED(arms=3, epsilon=1, first=4),
    DPIMED(arms=3, epsilon=1, first=4),
    AnytimeLazyUCB(arms=3, epsilon=1),
    AdaPUCB(arms=3, epsilon=1),
    LDPKLUCB(arms=3, epsilon=1),
    UCB1(arms=3),
]
DRAWN = [LazyDPTS(arms=3, epsilon=1), NoiseAwareTS(arms=3, epsilon=1, first=4)]


def session(policy: Any, seed: int = 1) -> dpb.Session:
    return dpb.Session(policy, noise=SimulatedNoise(seed), seed=seed)


def told(s: dpb.Session, decision: dpb.Decision, rng: np.random.Generator) -> None:
    assert isinstance(decision.action, int)
    reward = float(rng.random() < MEANS[decision.action])
    randomizer = s.policy.randomizer()
    s.tell(decision, reward if randomizer is None else randomizer.report(reward, SimulatedNoise(3)))


def played(policy: Any, rounds: int, delay: int, seed: int = 1) -> tuple[dpb.Session, list[int]]:
    """Every answer comes so many rounds late."""
    s, rng = session(policy, seed), np.random.default_rng(seed)
    waiting, actions = list[dpb.Decision](), list[int]()
    for _ in range(rounds):
        waiting.append(s.ask())
        assert isinstance(waiting[-1].action, int)
        actions.append(waiting[-1].action)
        if len(waiting) > delay:
            told(s, waiting.pop(0), rng)
    return s, actions


@pytest.mark.parametrize("policy", [*INDEX, *DRAWN], ids=lambda policy: policy.name)
def test_before_the_first_answer_every_arm_is_asked_for_as_often(policy: Any) -> None:
    asked = Counter(decision.action for decision in session(policy).ask(300))
    assert asked == {0: 100, 1: 100, 2: 100}


@pytest.mark.parametrize("policy", INDEX, ids=lambda policy: policy.name)
def test_with_nothing_asked_ahead_what_is_asked_is_the_plan(policy: Any) -> None:
    """At every turn of a game without delay."""
    s, rng = session(policy), np.random.default_rng(0)
    for _ in range(300):
        plan, rng_of_plan = s.plan, PublicRng(0, 0)
        ahead = s.policy.ahead(s.state, s._wheel.turn.progress.told, rng_of_plan)
        assert isinstance(plan, Hold)
        assert isinstance(ahead, Hold)
        assert ahead.action == plan.action
        told(s, s.ask(), rng)


@pytest.mark.parametrize("policy", [*INDEX, *DRAWN], ids=lambda policy: policy.name)
def test_late_answers_close_blocks_and_the_ledger_adds_up(policy: Any) -> None:
    s, _ = played(policy, 600, 50)
    assert s._vault.records == 550
    assert min(s.state.rounds) > 0
    read = Counter[int]()
    for line in s.ledger:
        read[line.coordinate] += line.stop - line.start
    counts = s._vault.public_state()["counts"]
    entered = [s.state.pulls[arm] + s._wheel.turn.progress.told.get(arm, 0) for arm in range(3)]
    assert [read[arm] + counts[arm] for arm in range(3)] == entered


@pytest.mark.parametrize("policy", [DPKLUCB(arms=3, epsilon=1, first=4), *DRAWN])
def test_no_block_waits_beyond_its_size(policy: Any) -> None:
    """Whatever is planned, an arm's block is read when it has as many answers as it takes."""
    s, rng = session(policy), np.random.default_rng(2)
    waiting = list(s.ask(200))
    rng.shuffle(waiting)  # type: ignore[arg-type]
    for decision in waiting:
        told(s, decision, rng)
        counts = s._vault.public_state()["counts"]
        for arm in range(3):
            room = s.policy.room(s.state, arm)
            assert room is not None
            assert counts[arm] - s.state.open[arm] < room
    assert min(s.state.rounds) > 4


def test_waiting_answers_count_as_rounds() -> None:
    """The best arm's index falls as its rounds are asked for, so the others come in between."""
    s, rng = session(DPKLUCB(arms=3, epsilon=1, first=8)), np.random.default_rng(1)
    for _ in range(24):
        told(s, s.ask(), rng)
    asked = Counter(decision.action for decision in s.ask(5_000))
    assert min(asked.values()) > 5
    assert max(asked.values()) > 2_000


def test_a_lost_or_void_decision_is_asked_for_again() -> None:
    """Else its block would wait for ever."""
    s = session(DPKLUCB(arms=2, epsilon=1, first=4))
    first = s.ask(4)
    s.void(first[0])
    for decision in first[1:]:
        s.tell(decision, 1.0)
    assert s.releases == 0
    again = s.ask()
    assert again.action == 0
    s.tell(again, 1.0)
    assert s.state.rounds == (4, 0)


@pytest.mark.parametrize("policy", [*INDEX, *DRAWN], ids=lambda policy: policy.name)
def test_a_saved_session_goes_on_as_it_would_have(policy: Any) -> None:
    """Saved while answers are awaited, at any time."""
    whole, broken = session(policy), session(policy)
    rngs = np.random.default_rng(1), np.random.default_rng(1)
    waiting: tuple[list[Any], list[Any]] = ([], [])
    for round in range(200):
        for s, queue, rng in zip((whole, broken), waiting, rngs, strict=True):
            queue.append(s.ask())
            if len(queue) > 30:
                told(s, queue.pop(0), rng)
        assert waiting[0][-1] == waiting[1][-1], round
        if round % 7 == 0:
            broken = loaded(broken.to_json())
    assert whole.state == broken.state
    assert whole.ledger == broken.ledger


def test_many_asks_at_once_are_those_of_one_by_one() -> None:
    for policy in (*INDEX, *DRAWN):
        one, many = session(policy), session(policy)
        assert [one.ask() for _ in range(100)] == many.ask(100)
