"""Forgetting does no harm and is not prevented: errors that were being handled before, errors of
unusual classes, and signals that arrive meanwhile.
"""

from __future__ import annotations

import asyncio
from _thread import interrupt_main
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from types import FrameType
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.core.calls import forgetting
from dpbandits.core.calls.forgetting import discreet
from dpbandits.noise import SimulatedNoise
from tests.session.interruption.interrupted import Interrupted, interrupt
from tests.session.test_frames_forget import REWARD, Playing, steps_of, tell_several
from tests.session.test_frames_refused import require_nothing_of_it


async def fetched() -> None:
    kept = "for a debugger"
    try:
        raise KeyError(kept)
    except KeyError:
        raise LookupError from None


CALLS: dict[str, Callable[[Any], object]] = {
    "refused": lambda session: session.tell(session.ask(), "0.7314"),
    "done": lambda session: session.tell_many([(session.ask(), REWARD)]),
    "made": lambda session: session.settle(),
}


@pytest.mark.parametrize("call", CALLS)
def test_an_error_of_a_coroutine_that_was_being_handled_keeps_what_it_knew(call: str) -> None:
    """Nothing says who called it, once it has ended; but it had come out before our call."""
    session = Playing("single arms").session

    async def handles() -> LookupError:
        try:
            await fetched()
        except LookupError as handled:
            with suppress(dpb.RewardError):
                CALLS[call](session)
            return handled
        raise AssertionError

    handled = asyncio.run(handles())
    assert {"kept": "for a debugger"} in [step.tb_frame.f_locals for step in steps_of(handled)]
    assert type(handled.__context__) is KeyError


class Told(Exception):
    """Of a class with a word of its own for what groups of errors are made of."""

    exceptions = None


@dataclass(frozen=True)
class Frozen(Exception):
    why: str = "no entropy"


class FailsWith(SimulatedNoise):
    """Fails with this error as it is asked for noise, and hides another one."""

    def __init__(self, error: Exception) -> None:
        super().__init__(1)
        self.error = error

    def laplace(self, value: int, **_: Any) -> int:
        try:
            raise KeyError(value)
        except KeyError:
            raise self.error from None


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("made", [Told, Frozen])
def test_an_error_of_an_unusual_class_passes_as_it_is(made: Any, many: bool) -> None:
    policy = dpb.DPKLUCB(arms=2, epsilon=1, first=1)
    session = dpb.Session(policy, noise=FailsWith(made()), seed=1)
    tell: Any = tell_several if many else dpb.Session.tell
    with pytest.raises(made) as error:
        tell(session, session.ask(), REWARD)
    assert error.value.__context__ is None
    known = [step.tb_frame.f_locals for step in steps_of(error.value)]
    assert not any("value" in variables for variables in known)


def cut_off(call: Callable[[], object], at: int) -> None:
    """Make the call, raising at the `at`-th line of what forgets."""
    begun = set[FrameType]()

    def counted(frame: FrameType) -> bool:
        name, first = frame.f_code.co_name, frame not in begun
        begun.add(frame)
        # before the `try:` of `forget`, its first line, nothing can be done
        return name != "discreetly" and not (name == "forget" and first)

    interrupt(call, at, within=forgetting.__file__, counted=counted)


@pytest.mark.parametrize("name", ["single arms", "late answers", "segments"])
def test_a_signal_that_arrives_while_an_error_is_forgotten_keeps_nothing(name: str) -> None:
    """It comes from the error that was to be forgotten."""
    at, passed = 1, False
    while not passed:
        play = Playing(name)
        told = partial(play.session.tell, play.session.ask(**play.segment), 7314.0)
        with pytest.raises((Interrupted, dpb.RewardError)) as error:
            cut_off(told, at)
        require_nothing_of_it(error.value)
        passed, at = error.type is dpb.RewardError, at + 1
    assert at > 40


@pytest.mark.parametrize("made", [Told, Frozen])
def test_a_signal_passes_whatever_the_class_of_the_error_that_is_forgotten(made: Any) -> None:
    """Nor do the frames in which it arrived keep those of that error."""

    @discreet
    def call(reward: float) -> None:
        FailsWith(made()).laplace(int(reward * 10_000))

    at, passed = 1, False
    while not passed:
        with pytest.raises((Interrupted, made)) as error:
            cut_off(partial(call, REWARD), at)
        if not (passed := error.type is made):
            known = [step.tb_frame.f_code.co_name for step in steps_of(error.value)]
            assert known[-1] == "discreetly"
            cut = error.value.__context__
            assert type(cut) is made
            assert cut.__traceback__ is cut.__context__ is None
        at += 1
    assert at > 40


def test_a_signal_that_arrives_as_a_generator_goes_on_keeps_nothing() -> None:
    """It has ended then, where it seems to wait."""

    def rewards(reward: float) -> Iterator[float]:
        while True:
            yield reward

    @discreet
    def call(reward: float) -> None:
        signals = chain([None], islice(iter(interrupt_main, 0), 9))
        deque(zip(signals, rewards(reward), strict=False))

    with pytest.raises(KeyboardInterrupt) as error:
        call(REWARD)
    known = [step.tb_frame.f_locals for step in steps_of(error.value)]
    assert len(known) == 4  # this test's, the wrapper's, the call's and the generator's
    assert known[2:] == [{}, {}]
