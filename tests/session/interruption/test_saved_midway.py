"""What is saved in the middle of a release draws no noise again, and an interrupted session can be
saved.
"""

from __future__ import annotations

import contextlib
import copy
import pickle
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.mechanisms import AboveThreshold
from tests.session.interruption.interrupted import (
    POLICIES,
    Interrupted,
    Silent,
    fresh,
    interrupt,
    reward_of,
    standing,
)
from tests.session.small import loaded

RULE = dpb.DPNAS(alpha=0.9, beta=0.5, cap=40, epsilon=1, low=-1, high=1)


class Outage(dpb.SimulatedNoise):
    """From its first question on it answers questions, all with yes, and fails for anything
    else.
    """

    asked, works = 0, False

    def exceeds(self, *given: Any, **named: Any) -> bool:
        self.asked += 1
        return True  # the rule halts, and wants noise for its mean

    def laplace(self, *given: Any, **named: Any) -> int:
        if self.asked and not self.works:
            raise OSError("no entropy now")
        return super().laplace(*given, **named)


def failing(*given: Any) -> float:
    raise OSError("broken")


def begun(noise: Outage) -> dpb.Session:
    """A session with a release that failed after it had drawn."""
    session = dpb.Session(RULE, noise=noise, seed=1)
    while not noise.asked:
        with contextlib.suppress(OSError):
            session.tell(session.ask(), 0.9)
    return session


def test_no_copy_of_a_release_that_was_begun_is_written() -> None:
    """Twelve copies, each continued from the newest, drew twelve more answers about one sum."""
    noise = Outage(1)
    session = begun(noise)
    asked = noise.asked
    for _ in range(3):
        with pytest.raises(dpb.NotRecordedError):
            session.to_json()
    assert noise.asked == asked


def test_a_session_is_saved_once_its_noise_works() -> None:
    noise = Outage(1)
    session = begun(noise)
    noise.works = True
    again = dpb.Session.from_json(session.to_json(), noise=dpb.SimulatedNoise(2))
    assert again.state == session.state
    assert session.releases == 1


def test_no_copy_of_an_answer_that_was_begun_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """`finish` draws for the mean, too; a copy drew for it once more."""
    session = dpb.Session(RULE, noise=dpb.SimulatedNoise(1), seed=1)
    session.tell(session.ask(), 0.5)
    with monkeypatch.context() as broken:
        broken.setattr(AboveThreshold, "mean", failing)
        with pytest.raises(OSError, match="broken"):
            session.finish()
        for _ in range(2):
            with pytest.raises(dpb.NotRecordedError, match="failed again"):
                session.to_json()
    again = loaded(session.to_json())
    assert again.state == session.state
    assert again.state.value is not None, "what was begun is done first"


def test_no_reward_comes_between_two_tries_of_the_last_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One that was told in between was added to the sum, and noise drawn for it once more."""
    noise = Silent(1)
    session = dpb.Session(RULE, noise=noise, seed=1)
    session.tell(session.ask(), 0.5)
    late = session.ask()
    drawn = list[int]()
    honest = noise.laplace

    def noted(value: int, **price: Any) -> int:
        drawn.append(value)
        return honest(value, **price)

    monkeypatch.setattr(noise, "laplace", noted)
    with monkeypatch.context() as broken:
        broken.setattr(AboveThreshold, "mean", failing)
        with pytest.raises(OSError, match="broken"):
            session.finish()
        with pytest.raises(dpb.NotRecordedError):
            session.tell(late, 1.0)
    before = len(drawn)
    session.tell(late, 1.0)
    session.finish()
    assert len(drawn) == before
    assert session.state.value == loaded(session.to_json()).state.value


def test_an_interrupted_session_can_be_saved() -> None:
    """A save was refused after 93 of 241 lines, because "the policy could not plan"."""
    policy, line, stopped = dpb.AnytimeLazyUCB(arms=2, epsilon=1), 0, True
    while stopped:
        line, stopped = line + 1, False
        session = dpb.Session(policy, noise=dpb.SimulatedNoise(1), seed=1)
        with contextlib.suppress(Interrupted):
            stopped = True
            interrupt(lambda: session.tell(session.ask(), 1.0), line)  # noqa: B023  # called at once
            stopped = False
        loaded(session.to_json())
    assert line > 50


@pytest.mark.parametrize("name", ["batches", "super arms"])
def test_an_interrupted_session_can_be_copied(name: str) -> None:
    """A change that had happened and was not carried out yet was kept as a view of a dict, which
    no copy takes along.
    """
    stopped, line, staged = True, 0, 0
    while stopped:
        line, session = line + 1, fresh(POLICIES[name])
        decisions = session.ask(3)
        stopped = False
        for decision in decisions:
            try:
                interrupt(lambda d=decision: session.tell(d, reward_of(session, d)), line)  # type: ignore[misc]  # noqa: B023  # called at once
            except Interrupted:
                stopped = True
        staged += session._vault.staged is not None
        again = copy.deepcopy(session)
        assert standing(again) == standing(session)
        assert standing(pickle.loads(pickle.dumps(again))) == standing(session)
    assert staged > 3
