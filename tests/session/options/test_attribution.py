"""Answers that count only once their time has passed: until then, and afterwards, nothing public
tells who answered.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.noise import SimulatedNoise
from dpbandits.policies import CUCBDP, DPKLUCB, LDPKLUCB, AnytimeLazyUCB, DPJointMAT, TreeFTRL
from tests.session.small import loaded, resealed

DAY = timedelta(days=1)
TOP = dpb.UniformMatroid(arms=4, rank=2)
POLICIES = [
    DPKLUCB(arms=2, epsilon=1, first=4),
    AnytimeLazyUCB(arms=2, epsilon=1),
    CUCBDP(problem=TOP, epsilon=1, horizon=100),
    DPJointMAT(problem=TOP, epsilon=4, first=1.0),
    TreeFTRL(actions=3, epsilon=1, horizon=100),
]


class Days:
    """A clock that is turned by hand."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1)

    def __call__(self) -> datetime:
        return self.now


def session(policy: Any = POLICIES[0], **options: Any) -> tuple[dpb.Session, Days]:
    clock = Days()
    made = dpb.Session(
        policy, noise=SimulatedNoise(1), seed=1, attribution_window=DAY, clock=clock, **options
    )
    return made, clock


def rewards(s: dpb.Session, decision: dpb.Decision, value: float) -> Any:
    if s.policy.about.feedback == "bandit":
        return value
    return [value] * len(decision.observe or range(s.policy.arms))


def seen(s: dpb.Session) -> Any:
    """All that is public."""
    saved = json.loads(s.to_json(unsealed=True))
    public = {k: v for k, v in saved["public"].items() if k != "generation"}
    shown = (repr(s), s.pending, s.resolved, s.unread, s.lost, s.releases, s.ledger, s.statement())
    return public, shown, str(s.beliefs()), list(s.decisions()), s.sample_ratio()


def played(policy: Any, tell: Callable[[dpb.Session, dpb.Decision, int], None]) -> list[Any]:
    """Twelve decisions a day for four days; what is public after every step."""
    s, clock = session(policy)
    views = []
    for day in range(4):
        for hour in range(12):
            clock.now = datetime(2026, 3, 1 + day, hour)
            tell(s, s.ask(), hour)
            views.append(seen(s))
    return views


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_nobody_can_tell_an_answer_of_the_default_from_none(policy: Any) -> None:
    def told(s: dpb.Session, decision: dpb.Decision, hour: int) -> None:
        s.tell(decision, rewards(s, decision, 0.0))

    def absent(s: dpb.Session, decision: dpb.Decision, hour: int) -> None:
        pass

    def expired(s: dpb.Session, decision: dpb.Decision, hour: int) -> None:
        s.expire(decision)

    def twice(s: dpb.Session, decision: dpb.Decision, hour: int) -> None:
        s.tell(decision, rewards(s, decision, 0.0))
        s.tell_many([(decision, rewards(s, decision, 1.0))])

    views = [played(policy, tell) for tell in (told, absent, expired, twice)]
    assert views[0] == views[1] == views[2] == views[3]
    assert views[0][-1][1][5] > 0, "nothing was released: the test misses what it is about"


def test_until_its_time_has_passed_an_answer_changes_nothing_public() -> None:
    views = []
    for value in (None, 0.0, 0.3, 1.0):
        s, clock = session()
        for decision in s.ask(8):
            if value is not None:
                s.tell(decision, value)
        clock.now += DAY - timedelta(seconds=1)
        s.settle()
        views.append(seen(s))
    assert views[0] == views[1] == views[2] == views[3]
    assert len(views[0][1][1]) == 8


def test_answers_are_folded_in_the_order_of_asking_once_their_time_has_passed() -> None:
    s, clock = session(DPKLUCB(arms=1, epsilon=10**6, first=4), default=0.25)
    asked = s.ask(6)
    for decision in reversed(asked[2:]):
        s.tell(decision, 1.0)
    clock.now += DAY
    s.settle()
    assert s.pending == ()
    assert s._vault.records == 6
    # the first block: two defaults, and two that were told
    assert s.ledger[0].stop == 4
    assert s.beliefs()[0].mean == pytest.approx((2 * 0.25 + 4) / 6, abs=1e-3)
    with pytest.raises(dpb.DecisionError):
        s.tell(asked[0], 1.0)


def test_what_is_held_is_saved_in_the_private_part_alone() -> None:
    for policy in POLICIES:
        s, clock = session(policy)
        decision = s.ask()
        s.tell(decision, rewards(s, decision, 126 / 1024))
        document = json.loads(s.to_json(unsealed=True))
        assert "126" not in json.dumps(document["public"]["pending"])
        assert document["private"]["held"] != []
        again = loaded(s.to_json(unsealed=True), clock=clock)
        clock.now += DAY
        for each in (s, again):
            each.settle()
            assert each.pending == ()
        assert again._vault.public_state() == s._vault.public_state()
        assert str(again._vault._sums()) == str(s._vault._sums())
        for wrong in (2_000, "x", [1, 2, 3, 4, 5, 6], None, -1):
            document["private"]["held"][0][1] = wrong
            with pytest.raises(dpb.DamagedSessionError) as error:
                dpb.Session.from_json(resealed(document), clock=clock)
            assert "126" not in str(error.value)


def test_a_wrong_answer_is_refused_at_once() -> None:
    s, _ = session()
    decision = s.ask()
    with pytest.raises(dpb.RewardError):
        s.tell(decision, 1.5)
    with pytest.raises(dpb.RewardError):
        s.tell_many([(decision, float("nan"))])
    s.tell(decision, 1.0)
    s.tell(decision, 0.0)
    assert s.pending == (decision,)


def test_reports_and_voided_decisions_wait_as_well() -> None:
    s, clock = session(LDPKLUCB(arms=2, epsilon=1))
    randomizer = s.policy.randomizer()
    assert randomizer is not None
    first, second, third = s.ask(3)
    s.tell(first, randomizer.report(1.0, SimulatedNoise(2)))
    s.tell(second, randomizer.report(1.0, SimulatedNoise(3)))
    s.void(second)
    clock.now += DAY
    s.settle()
    assert (s._vault.records, s.unread, s.pending) == (2, 1, ())
    assert s._vault.held == {}
    assert third.id == 3


@pytest.mark.parametrize("wrong", [7, timedelta(0), "7 days", -DAY])
def test_a_window_that_is_none(wrong: Any) -> None:
    with pytest.raises(ValueError, match="attribution_window="):
        dpb.Session(POLICIES[0], noise=SimulatedNoise(1), attribution_window=wrong)


def test_an_answer_neither_folds_nor_looks_at_the_clock_for_others() -> None:
    """Found by an attacker: what was due was recorded when somebody answered, and not before."""
    views = []
    for answers in (False, True):
        s, clock = session()
        s.ask()
        clock.now += timedelta(hours=20)
        second = s.ask()
        clock.now += timedelta(hours=5)  # the first one's time has passed
        if answers:
            s.tell(second, 1.0)
            s.expire(second)
        before = s.pending, s.resolved, repr(s), s._attribution.latest  # type: ignore[union-attr]
        s.drop_open()
        views.append((before, seen(s)))
    assert views[0] == views[1]


def test_what_is_void_is_held_no_more() -> None:
    """A document with an answer that nobody waits for could not be loaded again."""
    s, clock = session()
    decision = s.ask()
    s.tell(decision, 1.0)
    s.void(decision)
    assert loaded(s.to_json(unsealed=True), clock=clock).pending == ()


def test_a_session_that_records_answers_at_once_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: what counts as told is published, on purpose, and the views differ."""

    def at_once(self: Any, decision: dpb.Decision, reward: object) -> None:
        self._wheel.tell(decision.id, self._wheel.pending[decision.id], reward)

    def told(s: dpb.Session, decision: dpb.Decision, hour: int) -> None:
        s.tell(decision, rewards(s, decision, 0.0))

    monkeypatch.setattr(dpb.Session, "_hold", at_once)
    assert played(POLICIES[0], told) != played(POLICIES[0], lambda s, decision, hour: None)
