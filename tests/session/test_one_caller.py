"""A session shared by threads, by processes or with itself: the second caller is refused at once,
and nothing is counted twice.
"""

from __future__ import annotations

import copy
import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import dpbandits as dpb
from tests.session.small import Exact, content, counts, read, recorded

LONG = 30.0
"""Seconds after which a thread is taken to hang. No verdict hangs on it unless something hangs."""

ONE_ARM = dpb.AnytimeLazyUCB(arms=1, epsilon=1, grid=1)
"""It releases every round."""


def one_arm(noise: Any = None, asked: int = 3) -> dpb.Session:
    session = dpb.Session(ONE_ARM, noise=noise or Exact(1), seed=1)
    session.ask(asked)
    return session


class Slow(Exact):
    """Waits inside a draw until it is let go."""

    def __init__(self) -> None:
        super().__init__(1)
        self.inside, self.go, self.draws = threading.Event(), threading.Event(), 0

    def laplace(self, value: int, **cost: Any) -> int:
        self.draws += 1
        self.inside.set()
        assert self.go.wait(LONG)
        return value


CALLS: dict[str, Callable[[Any], Any]] = {
    "ask": lambda session: session.ask(),
    "ask many": lambda session: session.ask(2),
    "tell": lambda session: session.tell(1, 1.0),
    "tell_many": lambda session: session.tell_many([(1, 1.0)]),
    "expire": lambda session: session.expire(1),
    "void": lambda session: session.void(1),
    "settle": lambda session: session.settle(),
    "drop_open": lambda session: session.drop_open(),
    "add_arm": lambda session: session.add_arm(),
    "to_json": lambda session: session.to_json(),
}


def refuse_all(session: dpb.Session, words: str) -> None:
    for call in CALLS.values():
        with pytest.raises(dpb.SharedError, match=words):
            call(session)


def test_a_second_thread_is_refused_at_once() -> None:
    noise = Slow()
    session = one_arm(noise)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(session.tell, 1, 1.0)
        assert noise.inside.wait(LONG)
        refuse_all(session, "under way, in another thread")
        assert dpb.Session(ONE_ARM, noise=Exact(1)).ask().id == 1, "it is another session's call"
        noise.go.set()
        first.result(LONG)
    assert (noise.draws, session.releases, session.state.totals) == (1, 1, (1.0,))
    assert session.ask().id == 4


class Meddling(Exact):
    """A noise source that uses the session from within one of its calls."""

    session: Any = None

    def laplace(self, value: int, **cost: Any) -> int:
        if self.session is not None:
            refuse_all(self.session, "around this one")
            self.session.tell(2, 1.0)
        return value


def test_a_call_from_within_a_call_is_refused() -> None:
    noise = Meddling(1)
    session = one_arm(noise)
    noise.session = session
    with pytest.raises(dpb.SharedError, match="around this one"):
        session.tell(1, 1.0)
    noise.session = None
    session.tell(2, 1.0)
    assert (session.state.totals, session.state.rounds, recorded(session)) == ((1.0,), (1,), 2)


def test_an_oracle_that_uses_its_session_is_refused() -> None:
    made = list[Any]()

    def heaviest(weights: Any) -> Any:
        if made:
            refuse_all(made[0], "around this one")
        return weights.argsort()[-2:]

    problem = dpb.UserDecisionSet(arms=4, size=2, oracle=heaviest)
    session = dpb.Session(dpb.DPKLCUCB(problem=problem, epsilon=4), noise=Exact(1), seed=1)
    made.append(session)
    for _ in range(60):
        session.tell(session.ask(), [1.0, 0.0])
    assert session.releases > 0


def test_whoever_keeps_an_error_does_not_keep_the_session_busy() -> None:
    """A call that failed as it began was under way for as long as its error was kept."""
    noise, kept = Exact(1), list[BaseException]()
    session = one_arm(noise)
    noise.failing = True
    for call in (lambda: session.tell(1, 1.0), *(lambda c=c: c(session) for c in CALLS.values())):
        with pytest.raises((OSError, dpb.NotRecordedError)) as error:
            call()
        kept.append(error.value)
    noise.failing = False
    session.settle()
    assert (len(kept), session.releases, len(session.pending)) == (1 + len(CALLS), 1, 2)


# Processes


def in_a_child(call: Callable[[], None]) -> bool:
    """Whether the call succeeds in a forked child."""
    child = os.fork()
    if child == 0:
        try:
            call()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


forks = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@forks
@pytest.mark.parametrize("copied", [None, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_a_forked_child_is_refused(copied: Any) -> None:
    """A copy that is made in the child is the child's own only if it comes from a document."""
    session = one_arm()
    taken = session if copied is None else copied(session)

    def refuses() -> None:
        refuse_all(taken, "before a fork")
        own = one_arm()
        own.tell(1, 1.0)  # one made in the child works
        assert in_a_child(lambda: refuse_all(own, "before a fork"))
        assert in_a_child(lambda: refuse_all(taken, "before a fork"))

    assert in_a_child(refuses)
    taken.tell(1, 1.0)  # the parent goes on
    assert recorded(taken) == 1
    assert content(taken)["public"]["counts"] == []


class Forking(Exact):
    """Forks while it draws, once; the child comes out of the draw as the parent does."""

    child: int | None = None

    def laplace(self, value: int, **cost: Any) -> int:
        if self.child is None:
            self.child = os.fork()
        return value


@forks
def test_a_fork_in_the_middle_of_a_release() -> None:
    """The child inherits a call under way; it ends without a release, and so does every other."""
    noise, refused = Forking(1), False
    session = one_arm(noise)
    try:
        session.tell(1, 1.0)
    except dpb.SharedError:
        refused = True
    if noise.child == 0:
        try:
            refuse_all(session, "before a fork")
            os._exit(0 if refused and session.releases == 0 else 1)
        except BaseException:
            os._exit(1)
    assert noise.child is not None
    assert os.waitstatus_to_exitcode(os.waitpid(noise.child, 0)[1]) == 0
    assert (refused, session.releases) == (False, 1)


# Races


@pytest.fixture
def switching() -> Iterator[None]:
    """Threads switch as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("switching")
def test_threads_that_race_count_each_reward_once() -> None:
    """Four threads tell the same decisions; who is refused tries again. Each reward is in exactly
    one sum, each block read once.
    """
    policy = dpb.AnytimeLazyUCB(arms=1, epsilon=1, grid=2**20)
    session, told = dpb.Session(policy, noise=Exact(1), seed=1), list[int]()

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

    decisions = session.ask(400)
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(tell, decision) for decision in decisions for _ in range(4)]:
            done.result(LONG)
    assert sorted(told) == list(range(1, 401))
    assert recorded(session) == 400 == read(session)[0] + counts(session).get(0, 0)
    assert session.state.totals[0] == session.ledger[-1].stop - session.ledger[-1].start
