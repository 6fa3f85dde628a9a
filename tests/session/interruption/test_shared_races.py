"""Threads that switch wherever they can: a session is used by one of them at a time."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from types import FrameType
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.core.calls import forgetting, gate
from tests.session.interruption.interrupted import Silent, Traced

GATE = (gate.__file__, forgetting.__file__)
"""Files with lines of the gate: whether a call still runs is asked in the second."""

LONG = 30.0
"""Seconds after which a thread is taken to hang. No verdict hangs on it unless something hangs."""


class Yielding(Silent):
    """Draws its first noise in a generator, and yields when told to."""

    def __init__(self) -> None:
        super().__init__(1)
        self.inside, self.go, self.out, self.end = (threading.Event() for _ in range(4))
        self.used = False

    def laplace(self, value: int, *, sensitivity: int, epsilon: Fraction) -> int:
        if not self.used:
            self.used = True
            numbers = self.numbers()
            next(numbers)
            self.out.set()
            assert self.end.wait(LONG)
        return value

    def numbers(self) -> Iterator[int]:
        self.inside.set()
        assert self.go.wait(LONG)
        yield 0


def refused_at(line: int) -> int:
    """A second thread asks while the first is in a release, and at this line of the gate the first
    thread's generator yields (0: never); the lines of the gate that were begun.
    """
    noise, lines = Yielding(), 0
    session = dpb.Session(dpb.AnytimeLazyUCB(arms=1, epsilon=1, grid=1), noise=noise, seed=1)
    session.ask(3)

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal lines
        if event == "line" and frame.f_code.co_filename in GATE:
            lines += 1
            if lines == line:
                noise.go.set()
                assert noise.out.wait(LONG)
        return trace

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(session.tell, 1, 1.0)
        assert noise.inside.wait(LONG)
        try:
            with (
                Traced(trace),
                pytest.raises(dpb.SharedError, match="under way, in another thread"),
            ):
                session.ask()
        finally:
            noise.go.set()
            noise.end.set()
        first.result(LONG)
    assert (session._wheel.asked, session._vault.records, session.releases) == (3, 1, 1)
    return lines


def test_a_second_thread_is_refused_whenever_a_generator_yields() -> None:
    """The other thread's stack was walked; a generator that yielded cut it off, and the place of a
    call under way was taken over.
    """
    lines = refused_at(0)
    assert lines > 5
    for line in range(1, lines + 1):
        refused_at(line)


@pytest.fixture
def switching() -> Iterator[None]:
    """Threads switch as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


class Ajar(dict[int, Any]):
    """A place that anybody may take: a session without a gate."""

    def setdefault(self, key: int, value: Any) -> Any:  # type: ignore[override]
        return value


JOINT = dpb.DPJointMAT(problem=dpb.UniformMatroid(arms=6, rank=2), epsilon=4, first=8.0)


def raced(seed: int, *, ajar: bool = False) -> list[str]:
    """Four threads ask and tell three rounds each, and try again when refused; what went wrong."""
    session, ids, wrong = dpb.Session(JOINT, noise=Silent(1), seed=seed), list[int](), list[str]()
    if ajar:
        session._inside = Ajar()
    ready = threading.Barrier(4)

    def tried(call: Any) -> Any:
        while True:
            try:
                return call()
            except dpb.SharedError:
                continue

    def play() -> None:
        ready.wait(LONG)
        for _ in range(3):
            try:
                decision = tried(session.ask)
                ids.append(decision.id)
                tried(lambda decision=decision: session.tell(decision, [0.5, 0.5]))
            except Exception as error:
                wrong.append(type(error).__name__)

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(play) for _ in range(4)]:
            done.result(LONG)
    if sorted(ids) != list(range(1, 13)):
        wrong.append("an id was given twice, or not at all")
    if not wrong:
        session.settle()
    counts = session._vault.records, session.lost, len(session.pending), session._wheel.asked
    if counts != (12, 0, 0, 12):
        wrong.append("decisions and records differ")
    return wrong


@pytest.mark.usefixtures("switching")
def test_joint_sessions_that_threads_race_for_stay_whole() -> None:
    for seed in range(150):
        assert raced(seed) == [], f"seed {seed}"


@pytest.mark.usefixtures("switching")
def test_races_find_a_session_without_a_gate() -> None:
    assert any(raced(seed, ajar=True) for seed in range(150))


@pytest.mark.usefixtures("switching")
def test_threads_that_race_count_each_reward_once() -> None:
    """Four threads tell the same decisions; who is refused tries again. Each reward is in exactly
    one sum, each block read once.
    """
    session = dpb.Session(
        dpb.AnytimeLazyUCB(arms=1, epsilon=1, grid=2**20), noise=Silent(1), seed=1
    )
    decisions = session.ask(400)
    told: list[int] = []

    def tell(decision: dpb.Decision) -> None:
        while True:
            try:
                session.tell(decision, 1.0)
                told.append(decision.id)
            except dpb.SharedError:
                continue
            except dpb.DecisionError:
                pass
            return

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(tell, decision) for decision in decisions for _ in range(4)]:
            done.result(LONG)
    session.settle()
    assert sorted(told) == list(range(1, 401))
    assert session._vault.records == 400
    assert (
        sum(line.stop - line.start for line in session.ledger) + sum(session._vault._counts())
        == 400
    )
    released = [(line.stop - line.start) for line in session.ledger]
    assert session.state.totals[0] == released[-1]
