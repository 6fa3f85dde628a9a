"""Rewards that are recorded or refused, in any order, early or late: all or nothing, and once."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any
from unittest import mock

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.mechanisms.rewards import checked_rewards
from tests.session.small import content, loaded, recorded, session


@pytest.mark.parametrize(
    "reward", [math.nan, math.inf, -math.inf, -1e-9, 1.0000001, "high", None, [1], 10**400]
)
def test_a_bad_reward_is_refused_and_nothing_is_recorded(reward: Any) -> None:
    s = session()
    d = s.ask()
    before = content(s)
    with pytest.raises(dpb.RewardError, match="Nothing was recorded") as error:
        s.tell(d, reward)
    assert content(s) == before
    # the value is not shown
    assert not any(digit in str(error.value).replace("[0, 1]", "") for digit in "0123456789")
    s.tell(d, 1.0)  # the decision can still be told


def test_a_decision_is_resolved_once() -> None:
    s = session()
    d = s.ask()
    s.tell(d.id, 1.0)
    for wrong in (d, d.id):
        for call in (lambda w=wrong: s.tell(w, 0.0), lambda w=wrong: s.expire(w)):
            with pytest.raises(dpb.DecisionError, match="resolved already"):
                call()
    before = content(s)
    for unknown in (99, 0, -1, "x", None, [1]):
        for call in (lambda u=unknown: s.tell(u, 0.0), lambda u=unknown: s.expire(u)):
            with pytest.raises(dpb.DecisionError, match="Expected a decision this session made"):
                call()
    assert content(s) == before
    s.tell(np.int64(s.ask().id), 1.0)  # an id read back from a table


def test_another_sessions_decision_is_refused() -> None:
    one, other = (
        dpb.Session(dpb.DPKLUCB(arms=2, epsilon=1), noise=dpb.SimulatedNoise(1)) for _ in range(2)
    )
    theirs, mine = other.ask(), one.ask()
    assert theirs[:4] == mine[:4]
    for wrong in (
        lambda: one.tell(theirs, 1.0),
        lambda: one.expire(theirs),
        lambda: one.tell_many([(theirs, 1.0)]),
    ):
        with pytest.raises(dpb.DecisionError, match="another session's"):
            wrong()
    one.tell(mine, 1.0)
    named = session(campaign="spring trial")
    assert named.ask().campaign == "spring trial"
    assert loaded(named).ask().campaign == "spring trial"


class Agreeable(int):
    """Equal to everything."""

    __hash__ = int.__hash__

    def __eq__(self, other: object) -> bool:
        return True


class Loud:
    def __eq__(self, other: object) -> bool:
        raise KeyError("0.7314")

    __hash__ = None  # type: ignore[assignment]


CHANGED: dict[str, dict[str, Any]] = {
    "another action": {"action": 2},
    "another round": {"round": 99},
    "arms to observe": {"observe": (0,)},
    "an array of names": {"campaign": np.array(["a", "b"])},
    "an empty array": {"campaign": np.array([])},
    "a structured array": {"action": np.zeros(2, "i4,i4")},
    "loud action": {"action": Loud()},
    "loud round": {"round": Loud()},
    "loud campaign": {"campaign": Loud()},
    "agreeable action": {"action": Agreeable(2)},
    "any action": {"action": mock.ANY},
    "any round": {"round": mock.ANY},
    "any arms": {"observe": mock.ANY},
    "any campaign": {"campaign": mock.ANY},
    "agreeable arms": {"observe": (Agreeable(0),)},
}


def test_a_changed_decision_is_refused_whatever_it_says() -> None:
    s = dpb.Session(dpb.UCB1(arms=3), noise=dpb.SimulatedNoise(1), seed=1)
    decision = s.ask()
    for change in CHANGED.values():
        changed = decision._replace(**change)
        for call in (lambda c=changed: s.tell(c, 0.5), lambda c=changed: s.tell_many([(c, 0.5)])):
            with pytest.raises(dpb.DecisionError) as caught:
                call()
            assert "7314" not in repr(caught.value)
    assert (s.pending, recorded(s)) == ((decision,), 0)
    s.tell(decision._replace(round=np.int64(decision.round)), 0.5)
    s.tell(dpb.Decision(*s.ask()), 0.5)  # a copy is as good
    assert recorded(s) == 2


def test_the_arms_to_observe_are_part_of_a_decision() -> None:
    """In another order the rewards would be other arms'."""
    policy = dpb.LazyCUCB(problem=dpb.TopK(arms=4, k=2), epsilon=1)
    s = dpb.Session(policy, noise=dpb.SimulatedNoise(1), seed=1)
    d = s.ask()
    for tell in (
        lambda: s.tell(d._replace(observe=(1, 0)), [1.0, 0.0]),
        lambda: s.expire(d._replace(observe=(1,))),
    ):
        with pytest.raises(dpb.DecisionError, match="another action, round or arms to observe"):
            tell()
    s.tell(d, [1.0, 0.0])


# Many at once


def test_tell_many_is_all_or_nothing_and_says_which_pair_is_wrong() -> None:
    s = session()
    ds = s.ask(count=4)
    before = content(s)
    for pairs, place in (
        ([(ds[0], 1.0), (ds[1], math.nan)], 1),
        ([(ds[0], 1.0), (ds[1], 1.0), (ds[0], 1.0)], 2),
        ([(ds[0], 1.0), (77, 1.0)], 1),
        ([(9, 1.0)], 0),
    ):
        said = rf"Pair {place} \(counted from 0\) of {len(pairs)}:"
        with pytest.raises((dpb.RewardError, dpb.DecisionError), match=said):
            s.tell_many(pairs)
        assert content(s) == before
    with pytest.raises(TypeError, match=r"tell_many\(zip\(decisions, rewards\)\)"):
        s.tell_many(ds)  # type: ignore[arg-type]
    s.tell_many([(d, 1.0) for d in reversed(ds)])
    assert s.pending == ()


class Shifting:
    """A whole number that is another one the second time."""

    def __init__(self, *values: Any) -> None:
        self.values = list(values)

    def next(self) -> Any:
        value = self.values.pop(0) if len(self.values) > 1 else self.values[0]
        if isinstance(value, Exception):
            raise value
        return value

    __int__ = __index__ = __float__ = next


Integral.register(Shifting)


def test_what_comes_is_read_once() -> None:
    s = session()
    first, second, third = s.ask(3)
    s.tell_many([(Shifting(first.id, second.id), 1.0)])  # type: ignore[list-item]
    assert s.pending == (second, third)
    s.tell_many([(second, Shifting(0.5, ValueError("0.7314"))), (third, 0.0)])
    assert s.pending == ()
    s.tell_many((s.ask(), 0.5) for _ in range(3))  # what makes the pairs may ask for decisions
    assert recorded(s) == 6
    buffer = np.full(4, 0.5)
    checked = checked_rewards(buffer, 4)
    buffer[:] = 1e12  # another thread fills it
    assert checked.max() == 0.5


# Late, missing and in the local model


def test_a_local_session_takes_sound_reports_only() -> None:
    policy = dpb.LDPUCB(arms=2, epsilon=1)
    s = dpb.Session(policy, noise=dpb.SecureNoise())
    d = s.ask()
    with pytest.raises(TypeError, match="Nothing was recorded"):
        s.tell(d, 1.0)
    with pytest.raises(dpb.RewardError, match="simulated"):
        s.tell(d, policy.randomizer().report(1.0, dpb.SimulatedNoise(1)))
    with pytest.raises(dpb.RewardError, match=r"epsilon=1, .*another randomizer"):
        s.tell(d, dpb.LDPUCB(arms=2, epsilon=2).randomizer().report(1.0, dpb.SecureNoise()))
    report = policy.randomizer().report(1.0, dpb.SecureNoise())
    central = session()
    with pytest.raises(dpb.RewardError):
        central.tell(central.ask(), report)
    s.tell(d, report)
    assert s.guarantee.trust == "local"  # type: ignore[union-attr]
    assert s.spent == 1
    other = dpb.Session(dpb.LDPKLUCB(arms=2, epsilon=1), noise=dpb.SimulatedNoise(1), seed=1)
    report = other.policy.randomizer().report(1.0, dpb.SimulatedNoise(1))  # type: ignore[union-attr]
    d = other.ask()
    for steps in (10**9, -1, 512, "1024", math.nan, 1024.0, True):
        with pytest.raises(dpb.RewardError, match="damaged"):
            other.tell(d, dpb.Report(steps, report.randomizer, report.noise))  # type: ignore[arg-type]
    other.tell(d, report)


def test_pending_decisions_have_a_limit() -> None:
    s = session(max_pending=5)
    first = s.ask(4)
    with pytest.raises(RuntimeError, match=r"max_pending=5 .*4 do, and 2 more .*None was made"):
        s.ask(2)
    s.ask()
    with pytest.raises(RuntimeError, match="and 1 more"):
        s.ask()
    assert [d.id for d in s.pending] == [1, 2, 3, 4, 5]
    s.expire(first[0])
    assert s.ask().id == 6
    assert session().max_pending == 100_000
