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
from tests.session.small import (
    Exact,
    changed,
    content,
    document,
    loaded,
    recorded,
    reward_of,
)

DAY = timedelta(days=1)
TOP = dpb.UniformMatroid(arms=4, rank=2)
POLICIES = [
    dpb.DPKLUCB(arms=2, epsilon=1, first=4),
    dpb.AnytimeLazyUCB(arms=2, epsilon=1),
    dpb.CUCBDP(problem=TOP, epsilon=1, horizon=100),
    dpb.DPJointMAT(problem=TOP, epsilon=4, first=1.0),
    dpb.TreeFTRL(actions=3, epsilon=1, horizon=100),
]


class Days:
    """A clock that is turned by hand."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1)

    def __call__(self) -> datetime:
        return self.now


def session(policy: Any = POLICIES[0], **options: Any) -> tuple[dpb.Session, Days]:
    clock, noise = Days(), options.pop("noise", dpb.SimulatedNoise(1))
    made = dpb.Session(policy, noise=noise, seed=1, attribution_window=DAY, clock=clock, **options)
    return made, clock


def seen(s: dpb.Session) -> Any:
    """All that is public."""
    public = content(s)["public"]
    shown = (repr(s), s.pending, s.resolved, s.unread, s.releases, s.ledger, s.statement())
    return public, shown, str(s.beliefs()), list(s.decisions()), s.sample_ratio()


Tell = Callable[[dpb.Session, dpb.Decision], None]


def played(policy: Any, tell: Tell) -> list[Any]:
    """Twelve decisions a day for four days; what is public after every step."""
    s, clock = session(policy)
    views = []
    for day in range(4):
        for hour in range(12):
            clock.now = datetime(2026, 3, 1 + day, hour)
            tell(s, s.ask())
            views.append(seen(s))
    return views


def tells(s: dpb.Session, decision: dpb.Decision) -> None:
    s.tell(decision, reward_of(s, decision, 0.0))


def is_silent(s: dpb.Session, decision: dpb.Decision) -> None: ...


def expires(s: dpb.Session, decision: dpb.Decision) -> None:
    s.expire(decision)


def tells_twice(s: dpb.Session, decision: dpb.Decision) -> None:
    s.tell(decision, reward_of(s, decision, 0.0))
    s.tell_many([(decision, reward_of(s, decision, 1.0))])


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_nobody_can_tell_an_answer_of_the_default_from_none(policy: Any) -> None:
    views = [played(policy, tell) for tell in (tells, is_silent, expires, tells_twice)]
    assert views[0] == views[1] == views[2] == views[3]
    assert views[0][-1][1][4] > 0, "nothing was released: the test misses what it is about"


def test_a_session_that_records_answers_at_once_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: what counts as told is published, on purpose, and the views differ."""

    def at_once(self: Any, checked: Any) -> None:
        self._append(self._view, [self._event(*one) for one in checked])

    monkeypatch.setattr(dpb.Session, "_hold_outcomes", at_once)
    assert played(POLICIES[0], tells) != played(POLICIES[0], is_silent)


def test_an_answer_changes_nothing_public_and_records_nothing_of_others() -> None:
    """Not even what is due, or the latest time that the clock was seen at."""
    views = []
    for value in (None, 0.0, 0.3, 1.0):
        s, clock = session()
        early = s.ask()
        clock.now += timedelta(hours=20)
        for decision in s.ask(8):
            if value is not None:
                s.tell(decision, value)
        views.append(seen(s))
        clock.now += timedelta(hours=5)  # the first one's time has passed
        if value is not None:
            s.tell(s.pending[-1], value)
            s.expire(s.pending[-1])
            with pytest.raises(dpb.DecisionError, match="time has passed"):
                s.tell(early, value)
        views.append((s.pending, s.resolved, repr(s), s._tables.window.clock.latest))  # type: ignore[union-attr]
        s.drop_open()
        views.append(seen(s))
    assert all(views[at] == views[at % 3] for at in range(len(views)))
    assert len(views[0][1][1]) == 9


def test_answers_are_folded_in_the_order_of_asking_once_their_time_has_passed() -> None:
    policy = dpb.DPKLUCB(arms=1, epsilon=10**6, first=4)
    s, clock = session(policy, default=0.25, noise=Exact(1))
    asked = s.ask(6)
    for decision in reversed(asked[2:]):
        s.tell(decision, 1.0)
    s.tell(asked[2], 0.0)  # the first answer stays
    clock.now += DAY
    s.settle()
    assert (s.pending, recorded(s)) == ((), 6)
    # the first block: two defaults, and two that were told
    assert s.ledger[0].stop == 4
    assert s.beliefs()[0].mean == pytest.approx((2 * 0.25 + 4) / 6, abs=1e-3)
    with pytest.raises(dpb.DecisionError):
        s.tell(asked[0], 1.0)


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_what_is_held_is_saved_in_the_private_part_alone(policy: Any) -> None:
    s, clock = session(policy)
    decision = s.ask()
    s.tell(decision, reward_of(s, decision, 126 / 1024))
    data = document(s)
    assert "126" not in json.dumps(data["public"]["pending"])
    assert data["private"]["held"] != []
    again = loaded(s, clock=clock)
    clock.now += DAY
    for each in (s, again):
        each.settle()
        assert each.pending == ()
    assert content(again) == content(s)
    with pytest.raises(ValueError, match="answers are held"):
        loaded(changed(data, "public.attribution", None))


def test_a_wrong_answer_is_refused_at_once() -> None:
    s, _ = session()
    decision = s.ask()
    with pytest.raises(dpb.RewardError):
        s.tell(decision, 1.5)
    with pytest.raises(dpb.RewardError):
        s.tell_many([(decision, float("nan"))])
    assert s.pending == (decision,)


# An audit: whether somebody answered is part of the reward. A black box shows all that is public.


def answer(reward: float) -> float | None:
    """What a record of the auditor's tables stands for: its moves are an answer that becomes none
    (1 to 0, .97 to .02), one that becomes the default (1 to 1/2), and the default that was told and
    becomes silence (1/2 to 1/4).
    """
    if reward > 0.6:
        return reward
    return 0.0 if reward > 0.3 else None


def shown(s: dpb.Session) -> list[float]:
    """Who waits, what was done, and the released totals of both arms."""
    return [len(s.pending), s.resolved, s.unread, s.releases, *s.state.totals]


def audited(policy: Any, leaks: bool) -> dpb.AuditReport:
    """Two decisions a day; all that is public after each, and with `leaks` a count of answers."""

    def record(rewards: Any, seed: int, arms: int = 2) -> list[float]:
        s, clock = session(policy, noise=dpb.SimulatedNoise(seed))
        found = list[float]()
        for row in rewards:
            decision = s.ask()
            assert isinstance(decision.action, int)
            told = answer(row[decision.action])
            if told is not None:
                s.tell(decision, told)
            found += [decision.action, *shown(s), *([len(s._tables.held)] if leaks else [])]
            clock.now += DAY / 2
        clock.now += DAY
        s.settle()
        return found + shown(s)

    return dpb.audit(record, 1, runs=3_000, arms=2, rounds=6, workers=1)


@pytest.mark.long
@pytest.mark.parametrize(
    "policy", [POLICIES[1], dpb.DPKLUCB(arms=2, epsilon=1, first=1)], ids=lambda p: p.name
)
def test_an_answer_or_none_costs_at_most_epsilon(policy: Any) -> None:
    """A false alarm comes with probability 10⁻⁶."""
    report = audited(policy, leaks=False)
    assert report.verdict == "not refuted", report.levels
    assert report.lower_bound <= 1
    assert report.lower_bound > 0.5, "nothing is found of the reward: the test misses its aim"


@pytest.mark.long
def test_a_count_of_answers_that_is_published_is_found() -> None:
    report = audited(POLICIES[1], leaks=True)
    assert report.failed
    assert report.lower_bound > 2
