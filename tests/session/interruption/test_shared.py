"""A session shared by threads, by processes or with itself: the second caller is refused at once,
and nothing is counted twice.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.noise import SimulatedNoise
from tests.session.interruption.interrupted import Interrupted, Silent, interrupt, left_behind

LONG = 30.0
"""Seconds after which a thread is taken to hang. No verdict hangs on it unless something hangs."""


class Slow(Silent):
    """Waits inside a draw until it is let go, and counts its draws."""

    def __init__(self) -> None:
        super().__init__(1)
        self.inside, self.go, self.draws = threading.Event(), threading.Event(), 0

    def laplace(self, value: int, *, sensitivity: int, epsilon: Fraction) -> int:
        self.draws += 1
        self.inside.set()
        assert self.go.wait(LONG)
        return value


def calls(session: dpb.Session) -> Iterator[tuple[str, Callable[[], Any]]]:
    yield "ask", session.ask
    yield "ask many", lambda: session.ask(2)
    yield "tell", lambda: session.tell(1, 1.0)
    yield "tell_many", lambda: session.tell_many([(1, 1.0)])
    yield "expire", lambda: session.expire(1)
    yield "settle", session.settle
    yield "to_json", session.to_json


@pytest.mark.parametrize(
    "name", [name for name, _ in calls(dpb.Session(dpb.UCB1(arms=1), noise=SimulatedNoise(1)))]
)
def test_a_second_thread_is_refused_at_once(name: str) -> None:
    noise = Slow()
    session = dpb.Session(dpb.AnytimeLazyUCB(arms=1, epsilon=1, grid=1), noise=noise, seed=1)
    session.ask(3)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(session.tell, 1, 1.0)
        assert noise.inside.wait(LONG)
        with pytest.raises(dpb.SharedError, match="under way, in another thread"):
            dict(calls(session))[name]()
        noise.go.set()
        first.result(LONG)
    assert (noise.draws, session.releases, session.state.totals) == (1, 1, (1.0,))
    dict(calls(session))["ask"]()  # the place is free again


class Meddling(Silent):
    """A noise source that uses the session from within one of its calls."""

    session: dpb.Session | None = None

    def laplace(self, value: int, *, sensitivity: int, epsilon: Fraction) -> int:
        if self.session is not None:
            self.session.tell(2, 1.0)
        return value


def test_a_call_from_within_a_call_is_refused() -> None:
    noise = Meddling(1)
    session = dpb.Session(dpb.AnytimeLazyUCB(arms=1, epsilon=1, grid=1), noise=noise, seed=1)
    session.ask(2)
    noise.session = session
    with pytest.raises(dpb.SharedError, match="around this one"):
        session.tell(1, 1.0)
    noise.session = None
    session.tell(2, 1.0)
    assert (session.state.totals, session.state.rounds, session._vault.records) == ((1.0,), (1,), 2)


def test_a_caller_that_was_interrupted_on_its_way_out_blocks_nobody() -> None:
    """At whatever line the first thread is stopped, it and every other thread can call again."""

    def session_at(line: int) -> tuple[dpb.Session, int]:
        session = dpb.Session(
            dpb.AnytimeLazyUCB(arms=1, epsilon=1, grid=1), noise=Silent(1), seed=1
        )
        session.ask(2)
        try:
            return session, interrupt(lambda: session.tell(1, 1.0), line)
        except Interrupted:
            return session, line

    _, lines = session_at(0)
    held = 0
    with ThreadPoolExecutor(1) as pool:
        for line in range(1, lines + 1):
            session, _ = session_at(line)
            held += bool(session._gate.inside)
            assert pool.submit(session.ask).result(LONG).id == 3
            assert session.ask().id == 4
            assert not session._gate.inside
    assert held > 0, "no line leaves the place taken: the test misses what it is about"


@pytest.mark.parametrize(
    "name", [name for name, _ in calls(dpb.Session(dpb.UCB1(arms=1), noise=SimulatedNoise(1)))]
)
def test_any_call_may_follow_one_that_was_interrupted_on_its_way_out(name: str) -> None:
    """Also itself, and calls made of calls."""
    for first in ("ask", "ask many", "to_json"):
        held = 0
        for line in range(1, 100):
            session = dpb.Session(
                dpb.AnytimeLazyUCB(arms=1, epsilon=1, grid=1), noise=Silent(1), seed=1
            )
            session.ask(3)
            try:
                interrupt(dict(calls(session))[first], line)
            except Interrupted:
                held += bool(session._gate.inside)
                dict(calls(session))[name]()
                assert not session._gate.inside
        assert held > 0


def test_a_place_is_taken_over_again_and_again() -> None:
    """Interrupted at every line of taking over, too."""
    session = dpb.Session(dpb.AnytimeLazyUCB(arms=1, epsilon=1, grid=1), noise=Silent(1), seed=1)
    left_behind(session)
    for line in range(1, 200):
        try:
            if interrupt(session.settle, line) < line:
                break
        except Interrupted:
            continue
    left_behind(session)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(session.settle).result(LONG)
    assert not session._gate.inside


class Reentrant(Silent):
    """While its noise is drawn another call reaches the vault behind the gate's back."""

    vault: Any = None
    refused = 0

    def laplace(self, value: int, *, sensitivity: int, epsilon: Fraction) -> int:
        vault, self.vault = self.vault, None
        if vault is not None:
            with ThreadPoolExecutor(1) as pool:
                for call in (
                    vault.release,
                    lambda *given: pool.submit(vault.release, *given).result(),
                ):
                    with pytest.raises(dpb.SharedError, match="under way"):
                        call((0,), 1, ())
                    self.refused += 1
        return value


def test_a_vault_is_released_by_one_call_at_a_time() -> None:
    """Two threads could both pass the check that no other had released, and both release."""
    noise = Reentrant(1)
    session = dpb.Session(dpb.AnytimeLazyUCB(arms=1, epsilon=1, grid=1), noise=noise, seed=1)
    noise.vault = session._vault
    session.tell(session.ask(), 1.0)
    assert (len(session.ledger), session.state.totals, session._vault.turns) == (1, (1.0,), 1)
    assert noise.refused == 2


def looked_at(session: dpb.Session, look: Callable[[], Any]) -> Any:
    """A call that is no method: a durable host has one."""
    session._gate.enter()
    try:
        return look()
    finally:
        session._gate.leave()


def test_a_function_under_way_refuses_others_as_a_method_does() -> None:
    session, other = (
        dpb.Session(dpb.UCB1(arms=1), noise=SimulatedNoise(1), seed=seed) for seed in (1, 2)
    )
    decision = session.ask()
    with pytest.raises(dpb.SharedError, match="under way"):
        looked_at(session, lambda: session.tell(decision, 1.0))
    assert session.pending == (decision,)
    with ThreadPoolExecutor(1) as pool, pytest.raises(dpb.SharedError, match="under way"):
        looked_at(session, lambda: pool.submit(session.ask).result(LONG))
    assert looked_at(session, other.ask).id == 1, "it is another session's call"
