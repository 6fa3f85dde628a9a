"""Two interruptions in a row: the call that puts in order what the first one left is stopped, too,
at each of its lines.
"""

from __future__ import annotations

from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.session.wheel.turn import Wheel
from tests.session.interruption.interrupted import (
    POLICIES,
    Interrupted,
    fresh,
    interrupt,
    reward_of,
    standing,
)

STRIDES = {"batches": 9, "joint releases": 61}
"""Of the retry's lines the quick tests take every so many-th, each time another one first."""


def begun(policy: Any) -> tuple[dpb.Session, dpb.Decision, Any]:
    """A session whose third decision waits, and the decision's reward."""
    session = fresh(policy)
    for _ in range(2):
        decision = session.ask()
        session.tell(decision, reward_of(session, decision))
    decision = session.ask()
    return session, decision, reward_of(session, decision)


def third_told(policy: Any, *, void: bool = False) -> dpb.Session:
    """What comes of it undisturbed, or without its reward."""
    session, decision, reward = begun(policy)
    if void:
        session.void(decision)
    else:
        session.tell(decision, reward)
    return session


def stopped_at(policy: Any, line: int) -> dpb.Session | None:
    """A session whose third tell was interrupted at this line; None if it passed before."""
    session, decision, reward = begun(policy)
    try:
        interrupt(lambda: session.tell(decision, reward), line)
    except Interrupted:
        return session
    return None


def leaves_a_claim(session: dpb.Session) -> bool:
    return isinstance(session._wheel.busy, tuple) and not session.pending


def claims(policy: Any) -> list[int]:
    """The lines of the tell that leave a claim when it is interrupted there."""
    found, line = list[int](), 1
    while (session := stopped_at(policy, line)) is not None:
        if leaves_a_claim(session):
            found.append(line)
        line += 1
    assert len(found) > 10
    return found


def require_order(policy: Any, stride: int = 1) -> None:
    """However the retry is stopped, the next one leaves what an undisturbed tell leaves, or what a
    session has that was never told.
    """
    references = [standing(third_told(policy)), standing(third_told(policy, void=True))]
    for first in claims(policy):
        second = 1 + first % stride
        while True:
            session = stopped_at(policy, first)
            assert session is not None
            try:
                interrupt(session.settle, second)
                break
            except Interrupted:
                pass
            assert standing(session) == references[session.lost], f"lines {first} and {second}"
            assert session._wheel.balanced
            second += stride


@pytest.mark.parametrize("name", STRIDES)
def test_a_retry_that_is_interrupted_is_made_again(name: str) -> None:
    require_order(POLICIES[name], STRIDES[name])


@pytest.mark.long
@pytest.mark.parametrize("name", STRIDES)
def test_a_retry_that_is_interrupted_at_any_line_is_made_again(name: str) -> None:
    require_order(POLICIES[name])


def test_interruptions_find_a_recovery_that_forgets_what_it_did(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Once a claim is made good, it must not be made good again."""
    honest = Wheel.recover

    def recover(self: Wheel) -> None:
        claim = self.busy
        honest(self)
        if isinstance(claim, tuple):
            self.busy = claim

    monkeypatch.setattr(Wheel, "recover", recover)
    with pytest.raises((AssertionError, dpb.NotRecordedError)):  # wrong, or stuck
        require_order(POLICIES["batches"], STRIDES["batches"])
