"""Asks that run ahead of tells: the next first block, the next arm by its index, and blocks that
close by their own count.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.core.plan import Hold
from tests.session.small import content, counts, loaded, read, recorded, reward_of

MEANS = (0.7, 0.5, 0.3)
INDEX = [
    dpb.DPKLUCB(arms=3, epsilon=1, first=4),
    dpb.DPRateIMED(arms=3, epsilon=1, first=4),
    dpb.DPIMED(arms=3, epsilon=1, first=4),
    dpb.AnytimeLazyUCB(arms=3, epsilon=1),
    dpb.AdaPUCB(arms=3, epsilon=1),
    dpb.LDPKLUCB(arms=3, epsilon=1),
    dpb.UCB1(arms=3),
]
ALL = [*INDEX, dpb.LazyDPTS(arms=3, epsilon=1)]


def session(policy: Any, seed: int = 1) -> dpb.Session:
    return dpb.Session(policy, noise=dpb.SimulatedNoise(seed), seed=seed)


def told(s: dpb.Session, decision: dpb.Decision, rng: np.random.Generator) -> None:
    assert isinstance(decision.action, int)
    s.tell(decision, reward_of(s, decision, float(rng.random() < MEANS[decision.action])))


@pytest.mark.parametrize("policy", ALL, ids=lambda policy: policy.name)
def test_before_the_first_answer_every_arm_is_asked_for_as_often(policy: Any) -> None:
    one, many = session(policy), session(policy)
    decisions = many.ask(300)
    assert Counter(d.action for d in decisions) == {0: 100, 1: 100, 2: 100}
    assert [one.ask() for _ in range(300)] == decisions
    assert content(one) == content(many)


@pytest.mark.parametrize("policy", INDEX, ids=lambda policy: policy.name)
def test_with_nothing_asked_ahead_what_is_asked_is_the_plan(policy: Any) -> None:
    s, rng = session(policy), np.random.default_rng(0)
    for _ in range(300):
        plan, decision = s.plan, s.ask()
        assert isinstance(plan, Hold)
        assert decision.action == plan.action
        told(s, decision, rng)


@pytest.mark.parametrize("policy", ALL, ids=lambda policy: policy.name)
def test_late_answers_close_blocks_and_a_saved_session_goes_on(policy: Any) -> None:
    """Answers come 50 rounds late, and one of two sessions is saved and loaded all the time."""
    whole, broken = session(policy), session(policy)
    rngs = np.random.default_rng(1), np.random.default_rng(1)
    waiting: tuple[list[Any], list[Any]] = ([], [])
    for round in range(400):
        for s, queue, rng in zip((whole, broken), waiting, rngs, strict=True):
            queue.append(s.ask())
            if len(queue) > 50:
                told(s, queue.pop(0), rng)
        assert waiting[0][-1] == waiting[1][-1], round
        if round % 7 == 0:
            broken = loaded(broken)
    assert (whole.state, whole.ledger) == (broken.state, broken.ledger)
    assert recorded(whole) == 350
    assert min(whole.state.rounds) > 0
    told_since = dict(whole._current.step_counts)
    entered = [read(whole).get(arm, 0) + counts(whole).get(arm, 0) for arm in range(3)]
    assert entered == [whole.state.pulls[arm] + told_since.get(arm, 0) for arm in range(3)]


@pytest.mark.parametrize("policy", [INDEX[0], ALL[-1]], ids=lambda policy: policy.name)
def test_no_block_waits_beyond_its_size(policy: Any) -> None:
    """Whatever is planned, an arm's block is read when it has as many answers as it takes."""
    s, rng = session(policy), np.random.default_rng(2)
    waiting = s.ask(200)
    rng.shuffle(waiting)  # type: ignore[arg-type]
    for decision in waiting:
        told(s, decision, rng)
        for arm, count in counts(s).items():
            room = s.policy.room(s.state, arm)
            assert room is not None
            assert count - s.state.open[arm] < room
    assert min(s.state.rounds) > 4


def test_waiting_answers_count_as_rounds() -> None:
    """The best arm's index falls as its rounds are requested, so the others come in between."""
    s, rng = session(dpb.DPKLUCB(arms=3, epsilon=1, first=8)), np.random.default_rng(1)
    for _ in range(24):
        told(s, s.ask(), rng)
    asked = Counter(decision.action for decision in s.ask(5_000))
    assert min(asked.values()) > 5
    assert max(asked.values()) > 2_000


def test_a_void_decision_is_asked_for_again() -> None:
    """Else its block would wait for ever."""
    s = session(dpb.DPKLUCB(arms=2, epsilon=1, first=4))
    first = s.ask(4)
    s.void(first[0])
    for decision in first[1:]:
        s.tell(decision, 1.0)
    assert s.releases == 0
    again = s.ask()
    assert again.action == 0
    s.tell(again, 1.0)
    assert s.state.rounds == (4, 0)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("policy", [INDEX[0], INDEX[1], ALL[-1]], ids=lambda policy: policy.name)
def test_many_asks_at_once_are_those_of_one_by_one(policy: Any, seed: int) -> None:
    """Also among some arms, and between answers."""
    one, many = session(policy), session(policy)
    rng = np.random.default_rng(seed)
    for _ in range(30):
        number = int(rng.integers(1, 9))
        eligible = [[0, 2], [1], None][rng.integers(3)]
        made = many.ask(number, eligible=eligible)
        assert [one.ask(eligible=eligible) for _ in range(number)] == made
        assert content(one) == content(many)
        waiting = many.pending
        for decision in [waiting[i] for i in rng.permutation(len(waiting))[: rng.integers(9)]]:
            for s in (one, many):
                s.tell(decision, decision.id % 2)
