"""A session belongs to the process that made it."""

from __future__ import annotations

import copy
import os
import pickle
from collections.abc import Callable
from fractions import Fraction

import pytest

import dpbandits as dpb
from dpbandits.noise import SimulatedNoise
from tests.session.interruption.interrupted import Silent
from tests.session.interruption.test_shared import calls


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


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize(
    "taken",
    [lambda s: s, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))],
    ids=["itself", "copy", "pickle"],
)
def test_a_forked_child_is_refused(taken: Callable[[dpb.Session], dpb.Session]) -> None:
    session = dpb.Session(dpb.AnytimeLazyUCB(arms=1, epsilon=1, grid=1), noise=Silent(1), seed=1)
    session.ask(3)

    def refuses() -> None:
        for _, call in calls(taken(session)):
            with pytest.raises(dpb.SharedError, match="before the process forked"):
                call()
        own = dpb.Session(dpb.UCB1(arms=1), noise=SimulatedNoise(1))
        own.tell(own.ask(), 1.0)  # one made in the child works

    assert in_a_child(refuses)
    assert in_a_child(lambda: forks_again(session))
    session.tell(1, 1.0)  # the parent goes on
    copied = taken(session)
    copied.tell(copied.ask(), 1.0)
    assert copied._vault.records == 2


def forks_again(session: dpb.Session) -> None:
    own = dpb.Session(dpb.UCB1(arms=1), noise=SimulatedNoise(1))
    assert in_a_child(lambda: refuse_all(session))
    assert in_a_child(lambda: refuse_all(own))  # each child has a mark of its own


def refuse_all(session: dpb.Session) -> None:
    for _, call in calls(session):
        with pytest.raises(dpb.SharedError):
            call()


class Forking(Silent):
    """Forks while it draws, once; the child comes out of the draw as the parent does."""

    child: int | None = None

    def laplace(self, value: int, *, sensitivity: int, epsilon: Fraction) -> int:
        if self.child is None:
            self.child = os.fork()
        return value


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_in_the_middle_of_a_release() -> None:
    """The child inherits a call under way; it ends without a release, and so does every other."""
    noise = Forking(1)
    session = dpb.Session(dpb.AnytimeLazyUCB(arms=1, epsilon=1, grid=1), noise=noise, seed=1)
    session.ask(3)
    try:
        session.tell(1, 1.0)
        refused = False
    except dpb.SharedError:
        refused = True
    if noise.child == 0:
        try:
            refuse_all(session)
            os._exit(0 if refused and session.releases == 0 else 1)
        except BaseException:
            os._exit(1)
    assert noise.child is not None
    assert os.waitstatus_to_exitcode(os.waitpid(noise.child, 0)[1]) == 0
    assert (refused, session.releases) == (False, 1)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_that_goes_round_python_releases_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody cleared the process's mark; its number differs."""
    session = dpb.Session(dpb.AnytimeLazyUCB(arms=1, epsilon=1, grid=1), noise=Silent(1), seed=1)
    session.ask(2)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(dpb.SharedError, match="before the process forked"):
        session.tell(1, 1.0)
    assert session.releases == 0
