"""Sessions whose records are read together, saved and continued; edited ones are refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.core.plan import EVERY
from tests.session.small import loaded, resealed
from tests.session.test_joint import Silent, play, session


def test_a_saved_session_goes_on_and_counts_what_came_late() -> None:
    of, other = session(), session()
    for each in (of, other):
        ahead = each.ask(count=12)
        for decision in ahead[:9]:
            each.tell(decision, [1.0, 0.5])
    text = of.to_json()
    back = dpb.Session.from_json(text, noise=Silent(2))
    play(back, 30)
    play(other, 30)
    assert back.state == other.state
    assert [tuple(line) for line in back.ledger] == [tuple(line) for line in other.ledger]


def test_a_session_saved_while_plans_are_open_goes_on_as_it_would_have() -> None:
    whole, broken = session(), session()
    rngs = np.random.default_rng(1), np.random.default_rng(1)
    queues: tuple[list[dpb.Decision], list[dpb.Decision]] = ([], [])
    for round in range(150):
        for of, queue, rng in zip((whole, broken), queues, rngs, strict=True):
            queue.append(of.ask())
            while len(queue) > 20 * rng.random():
                told = queue.pop(int(rng.integers(len(queue))))
                of.void(told) if rng.random() < 0.1 else of.tell(told, rng.random(2).round())
        assert queues[0] == queues[1], round
        if round % 5 == 0:
            broken = dpb.Session.from_json(broken.to_json(), noise=Silent(2))
    assert (whole.state, whole.ledger) == (broken.state, broken.ledger)
    assert whole.releases > 5


EIGHT = dpb.DPJointMAT(problem=dpb.UniformMatroid(arms=8, rank=3), epsilon=4, first=2)


def blocks_of(of: dpb.Session) -> dict[int, int]:
    """By decision that waits the open block that its reward will enter; 0: none."""
    wheel = of._wheel
    open_ = wheel.turn.plans
    return {id: p.block if p.block in open_ else 0 for id, p in wheel.pending.items()}


def test_decisions_that_wait_keep_their_block() -> None:
    """One block closes before an older one is answered: what is asked then is the new plan's, and
    was the older one's, too, once the session was opened again.
    """
    of, made = dpb.Session(EIGHT, noise=dpb.SimulatedNoise(1), seed=1), dict[int, dpb.Decision]()
    for step in (0, -1, 0, 0, 0, -4, -3, 0, 0, -2, -6, -5, 0):
        if step:
            of.tell(made[-step], [1.0] * 3)
        else:
            decision = of.ask()
            made[decision.id] = decision
    assert blocks_of(of) == {7: 7}
    assert len(of._wheel.turn.plans) == 2
    data = json.loads(of.to_json())
    assert blocks_of(loaded(json.dumps(data))) == {7: 7}
    older = data["public"]["plans"][0]
    assert (older[0], older[6]) == (6, [[6, 6]])
    older[6] = [[6, 8]]  # as it was written before
    assert blocks_of(loaded(resealed(data))) == {7: 7}


@pytest.mark.parametrize("seed", range(20))
def test_decisions_that_wait_keep_their_block_whenever_it_is_saved(seed: int) -> None:
    of = dpb.Session(EIGHT, noise=dpb.SimulatedNoise(seed), seed=1)
    rng = np.random.default_rng(seed)
    waiting, several = list[dpb.Decision](), 0
    for _ in range(60):
        if not waiting or (rng.random() < 0.5 and len(waiting) < 4):
            waiting.append(of.ask())
        else:
            of.tell(waiting.pop(int(rng.integers(len(waiting)))), [1.0] * 3)
        assert blocks_of(loaded(of.to_json())) == blocks_of(of)
        several += len(of._wheel.turn.plans) > 1
    assert several > 10


@pytest.mark.parametrize(
    ("path", "value", "match"),
    [
        (("plans", 0, 0), 0, "block in public.plans"),
        (("plans", 0, 1), [0, 9], "none of this policy's"),
        (("plans", 0, 3), [7], "no arm"),
        (("plans", 0, 4), 99, "told of an open plan"),
        (("vault", "blocks"), [-1, 9], "what is open|list of 2"),
        (("vault", "blocks"), [9, -1], "not in order"),
        (("plans", 0, 6), [[5, 4]], "decision of an open plan"),
        (("told_in_plan", 0, 0), 99, "block in public.told_in_plan"),
    ],
    ids=str,
)
def test_edited_plans_are_refused(path: tuple[Any, ...], value: Any, match: str) -> None:
    of = session(first=8.0)
    ahead = of.ask(count=12)
    for decision in ahead[:2]:
        of.tell(decision, [1.0, 1.0])
    data = json.loads(of.to_json())
    at = data["public"]
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    with pytest.raises(ValueError, match=match):
        dpb.Session.from_json(resealed(data))


def test_edited_counts_are_refused() -> None:
    of = session()
    play(of, 9)
    data = json.loads(of.to_json())
    data["public"]["vault"]["counts"][-1] += 50
    with pytest.raises(ValueError, match="do not add up"):
        dpb.Session.from_json(resealed(data))


def test_a_reading_that_is_said_to_be_dropped_is_refused() -> None:
    of = session()
    play(of, 9)
    data = json.loads(of.to_json())
    ledger = data["public"]["vault"]["ledger"]
    told = sum(line[2] - line[1] for line in ledger["lines"])
    ledger["lines"], ledger["releases"], ledger["dropped"] = [], 0, [[EVERY, told]]
    with pytest.raises(ValueError, match="how often was released"):
        dpb.Session.from_json(resealed(data))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("state", 0), []),
        (("state", 0, 0), 1e300),
        (("state", 1, 0), 0),
        (("state", 2), []),
        (("state", 2, 0), [0, 0, 0]),
        (("state", 3, 0), 0.0),
        (("state", 3, 0), -1.0),
        (("state", 4, 0), 1e300),
    ],
    ids=str,
)
def test_edited_states_are_refused(path: tuple[Any, ...], value: Any) -> None:
    """They loaded, and failed as they were played: a division by zero, an index out of range."""
    of = session()
    play(of, 9)
    data = json.loads(of.to_json())
    at = data["public"]
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    with pytest.raises(ValueError, match=r"does not fit|know of each arm alike|how often"):
        dpb.Session.from_json(resealed(data))


def test_a_plan_for_more_arms_than_the_noise_is_for_is_refused() -> None:
    """It loaded, and no release was ever made."""
    of = session(first=8.0)
    of.tell(of.ask(), [1.0, 1.0])
    data = json.loads(of.to_json())
    data["policy"]["problem"]["rank" if "rank" in data["policy"]["problem"] else "k"] = 1
    with pytest.raises(ValueError, match=r"more arms together|does not fit"):
        dpb.Session.from_json(resealed(data))
