"""An exception at every line of every call: nothing is counted or read twice, nothing is stuck, at
most the one reward is lost.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.noise import SimulatedNoise
from tests.session.interruption.interrupted import (
    POLICIES,
    Interrupted,
    fresh,
    interrupt,
    reward_of,
    standing,
)

ROUNDS = 7


def tell(session: dpb.Session, decision: dpb.Decision) -> None:
    session.tell(decision, reward_of(session, decision))


def tell_many(session: dpb.Session, decision: dpb.Decision) -> None:
    session.tell_many([(decision, reward_of(session, decision))])


def expire(session: dpb.Session, decision: dpb.Decision) -> None:
    session.expire(decision)


Way = Callable[[dpb.Session, dpb.Decision], None]

WAYS: list[tuple[Way, tuple[int, ...]]] = [(tell, (2, 3)), (tell_many, (3,)), (expire, (3,))]
"""Ways to resolve a decision, and in which rounds each is interrupted; in most sessions the third
ends a batch.
"""


def play(
    policy: Any,
    way: Way,
    disturbed: int = 0,
    line: int = 0,
    *,
    skip: bool = False,
    each: str = "line",
) -> tuple[dpb.Session, int]:
    """Some rounds; the resolution of one round is interrupted at a line and made again, or its
    decision is void. The lines it took.
    """
    session, lines = fresh(policy), 0
    for round in range(1, ROUNDS + 1):
        decision = session.ask()
        if round != disturbed:
            way(session, decision)
        elif skip:
            session.void(decision)
        else:
            lines = disturb(session, decision, way, line, each)
    return session, lines


def disturb(session: dpb.Session, decision: dpb.Decision, way: Way, line: int, each: str) -> int:
    try:
        return interrupt(lambda: way(session, decision), line, each=each)
    except Interrupted:
        again(session, decision, way)
    return line


def again(session: dpb.Session, decision: dpb.Decision, way: Way) -> None:
    """Make the call again, as anybody would."""
    with contextlib.suppress(dpb.DecisionError):  # it was claimed: recorded, or lost
        way(session, decision)
    assert decision not in session.pending


def is_accounted_for(session: dpb.Session) -> None:
    """Each decision was recorded, or lost, or waits."""
    session.settle()
    vault = session._vault
    counted = vault.records + session.lost + session.unread
    assert counted + len(session.pending) == session._wheel.asked
    assert [entry for entry in session.ledger if entry.stop <= entry.start] == []


def compare_everywhere(policy: Any, way: Way, rounds: tuple[int, ...], each: str) -> None:
    """Interrupted anywhere, a session stands where the undisturbed one does, or where one does that
    was never told this reward.
    """
    lost = 0
    for round in rounds:
        whole, places = play(policy, way, round, each=each)
        lacking, _ = play(policy, way, round, skip=True)
        references = standing(whole), standing(lacking)
        assert places > 10
        for place in range(1, places + 1):
            session, _ = play(policy, way, round, place, each=each)
            assert standing(session) == references[session.lost], f"round {round}, {each} {place}"
            is_accounted_for(session)
            lost += session.lost
    assert lost > 0, "nothing lies between claim and record: the test misses what it is about"


@pytest.mark.parametrize(("way", "rounds"), WAYS, ids=[way.__name__ for way, _ in WAYS])
@pytest.mark.parametrize("name", POLICIES)
def test_a_tell_counts_once_at_whatever_line_it_is_interrupted(
    name: str, way: Way, rounds: tuple[int, ...]
) -> None:
    compare_everywhere(POLICIES[name], way, rounds, "line")


@pytest.mark.long
def test_a_tell_counts_once_at_whatever_instruction_it_is_interrupted() -> None:
    """Signals arrive between instructions, also within a line. The first tell ends a batch."""
    compare_everywhere(POLICIES["one arm"], tell, (1,), "opcode")


@pytest.mark.parametrize("count", [None, 3])
@pytest.mark.parametrize("name", POLICIES)
def test_an_ask_makes_its_decisions_or_none(name: str, count: int | None) -> None:
    policy = POLICIES[name]

    def asked(line: int) -> tuple[dpb.Session, int]:
        session = fresh(policy)
        for _ in range(2):
            tell(session, session.ask())
        try:
            lines = interrupt(lambda: session.ask(count), line)  # type: ignore[arg-type]
        except Interrupted:
            lines = line
            tell(session, session.ask())
            for decision in session.pending:  # made, and never seen by the caller
                tell(session, decision)
        return session, lines

    session, lines = asked(0)
    for line in range(1, lines + 1):
        session, _ = asked(line)
        assert session.pending == ()
        assert session.lost == 0
        assert session._vault.records in (3, 4, 3 + (count or 0))
        is_accounted_for(session)


def test_finish_answers_once() -> None:
    def finished(line: int) -> tuple[dpb.Session, int]:
        session = fresh(POLICIES["stopping rule"])
        for _ in range(5):
            session.tell(session.ask(), 0.5)
        try:
            return session, interrupt(session.finish, line)
        except Interrupted:
            session.finish()
        return session, line

    whole, lines = finished(0)
    assert whole.policy.estimate(whole.state) is not None  # type: ignore[attr-defined]
    for line in range(1, lines + 1):
        session, _ = finished(line)
        assert standing(session) == standing(whole)
        assert (session.spent, len(session.ledger)) == (whole.spent, len(whole.ledger))


def test_saving_can_be_interrupted() -> None:
    session = fresh(POLICIES["batches"])
    for _ in range(5):
        tell(session, session.ask())
    before, lines = standing(session), interrupt(session.to_json, 0)
    for line in range(1, lines + 1):
        with pytest.raises(Interrupted):
            interrupt(session.to_json, line)
        assert standing(session) == before
    assert standing(dpb.Session.from_json(session.to_json(), noise=session._noise)) == before


@pytest.mark.parametrize("name", POLICIES)
def test_interruptions_in_a_row(name: str) -> None:
    """Every call is interrupted at a line that moves on, and made again until it passes."""
    session, line, interruptions = fresh(POLICIES[name]), 0, 0
    for _ in range(60):
        for call in (session.ask, lambda: tell(session, session.pending[-1])):
            line = line % 97 + 1
            try:
                interrupt(call, line)
            except Interrupted:
                interruptions += 1
            if not session.pending:
                session.ask()
        for decision in session.pending:
            again(session, decision, tell)
    assert interruptions > 10
    is_accounted_for(session)
    assert session.pending == ()
    assert session.spent in (
        None,
        session.policy.guarantee.cost if session.policy.guarantee else None,
    )


class Counting(SimulatedNoise):
    """Counts what was asked of it; another number of questions gives other noise."""

    asked = 0

    def laplace(self, value: int, **price: Any) -> int:
        self.asked += 1
        return value + 7919 * self.asked % 1013

    def exceeds(self, value: int, bar: int, threshold: int, **price: Any) -> bool:
        return self.laplace(value) >= bar + threshold


@pytest.mark.parametrize(
    "name", ["stopping rule", "tree and pending sums", "batches", "whole records"]
)
def test_a_release_that_is_tried_again_draws_nothing_again(name: str) -> None:
    """Where it was interrupted may show what was drawn; with fresh noise the block would tell
    twice. And it answers the same.
    """

    def played(line: int) -> tuple[dpb.Session, Counting, int]:
        noise, lines = Counting(3), 0
        session = dpb.Session(POLICIES[name], noise=noise, seed=1)
        for round in range(1, 8):
            decision = session.ask()
            if round == 4:
                lines = disturb(session, decision, tell, line, "line")
            else:
                tell(session, decision)
        session.settle()
        return session, noise, lines

    whole, undisturbed, lines = played(0)
    assert undisturbed.asked > 1
    compared = 0
    for line in range(1, lines + 1):
        session, noise, _ = played(line)
        if not session.lost:
            assert (noise.asked, session.state) == (undisturbed.asked, whole.state), f"line {line}"
            compared += 1
    assert compared > 10
