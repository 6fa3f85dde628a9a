"""Asks that run ahead of tells: the next first block, the next arm by its index, and blocks that
close by their own count.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from tests.session.small import content, counts, reward_of

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
