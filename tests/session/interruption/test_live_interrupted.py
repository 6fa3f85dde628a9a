"""Arms that come and go, void decisions and dropped blocks, interrupted at every line and made
again: they happen once, nothing is read twice, and nothing is stuck.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from typing import Any

import pytest

import dpbandits as dpb
from tests.session.interruption.interrupted import Interrupted, fresh, interrupt, reward_of
from tests.session.small import loaded

POLICY = dpb.DPKLUCB(arms=["a", "b", "c"], epsilon=1, first=3, grid=2**20)


def begun() -> dpb.Session:
    """Some blocks read, one open, and answers awaited."""
    session = fresh(POLICY)
    for decision in session.ask(14)[:11]:
        session.tell(decision, reward_of(session, decision))
    return session


def add(session: dpb.Session) -> None:
    with contextlib.suppress(ValueError):  # made again, its name is taken
        session.add_arm("d")


CALLS: dict[str, Callable[[dpb.Session], Any]] = {
    "add": add,
    "retire": lambda session: session.retire_arm("a"),
    "pause": lambda session: session.pause_arm("b"),
    "drop": lambda session: session.drop_open(),
    "void": lambda session: session.void(12) if 12 in waiting(session) else None,
    "eligible": lambda session: session.ask(eligible=["b", "c"]),
}


def waiting(session: dpb.Session) -> set[int]:
    return {decision.id for decision in session.pending}


def standing(session: dpb.Session) -> Any:
    session.settle()
    vault = session._vault
    public = {key: vault.public_state()[key] for key in ("records", "counts", "ledger")}
    return session.state, session.arms, public, vault._sums(), vault._memory, session.unread


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_is_made_again_comes_to_the_same(name: str) -> None:
    call, whole = CALLS[name], begun()
    lines = interrupt(lambda: call(whole), 0)
    assert lines > 10
    for line in range(1, lines + 1):
        session = begun()
        with contextlib.suppress(Interrupted):
            interrupt(lambda session=session: call(session), line)  # type: ignore[misc]
        call(session)
        if name != "drop":  # an empty block may be dropped again
            assert standing(session) == standing(whole), f"line {line}"
        goes_on(session)


def goes_on(session: dpb.Session) -> None:
    """Everything that waits can be told, and what follows is asked and read."""
    for decision in session.pending:
        session.tell(decision, reward_of(session, decision))
    for _ in range(30):
        decision = session.ask()
        session.tell(decision, reward_of(session, decision))
    assert session.pending == ()
    vault = session._vault
    assert vault.records + session.lost + session.unread == session._wheel.asked
    spans = [(line.coordinate, line.start, line.stop) for line in session.ledger]
    for coordinate in {span[0] for span in spans}:
        mine = [span for span in spans if span[0] == coordinate]
        assert all(a[2] <= b[1] for a, b in itertools.pairwise(mine)), "read twice"
    loaded(session.to_json())


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_is_not_made_again_leaves_a_session_that_can_be_saved(name: str) -> None:
    """An arm that was half added made documents that could not be loaded."""
    call, whole = CALLS[name], begun()
    lines = interrupt(lambda: call(whole), 0)
    assert lines > 10
    for line in range(1, lines + 1):
        session = begun()
        with contextlib.suppress(Interrupted):
            interrupt(lambda session=session: call(session), line)  # type: ignore[misc]
        again = loaded(session.to_json())
        assert again.arms == session.arms
        goes_on(again)


def test_a_place_is_taken_once_and_lost_at_worst() -> None:
    """Interrupted anywhere, a person is never learned from more often than the cap."""

    def asked(line: int) -> int:
        session = dpb.Session(
            POLICY, noise=dpb.SimulatedNoise(1), seed=1, privacy_unit="user", max_contributions=2
        )
        try:
            lines = interrupt(lambda: session.ask(user="ann"), line)
        except Interrupted:
            lines = line
        for _ in range(4):
            session.ask(user="ann")
        assert sum(decision.learn for decision in session.pending) <= 2
        for decision in session.pending:
            session.tell(decision, 0.5)
        assert 1 <= session._vault.records <= 2
        return lines

    for line in range(1, asked(0) + 1):
        asked(line)


def test_a_session_can_be_looked_at_wherever_a_new_arm_was_interrupted() -> None:
    """The arm is in play before anything is believed of it; `beliefs` failed there."""
    at, passed = 1, False
    while not passed:
        session = fresh(dpb.DPKLUCB(arms=2, epsilon=1))
        session.tell(session.ask(), 1)
        try:
            interrupt(session.add_arm, at)
            passed = True
        except Interrupted:
            pass
        assert len(session.beliefs().rows) in (2, 3)
        assert len(list(session.decisions())) == 1
        assert session.sample_ratio().labels
        assert session.statement()
        at += 1
    assert at > 30
