"""What an error forgets where it came through more than our calls: a generator, another thread, a
stack with no room left.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.core.calls.forgetting import discreet
from tests.session.test_frames_forget import DIGITS, REWARD, Playing, frames_of, said, steps_of


def fails() -> None:
    kept = "for a debugger"
    raise LookupError(kept)


def waiting() -> Iterator[Exception]:
    try:
        fails()
    except LookupError as error:
        yield error
        yield error


def failing_with(error: Exception, decision: dpb.Decision) -> Iterator[Any]:
    yield decision, REWARD
    raise error


def from_a_generator(_: ThreadPoolExecutor) -> tuple[Exception, Iterator[Exception]]:
    steps = waiting()
    return next(steps), steps


def from_a_thread(pool: ThreadPoolExecutor) -> tuple[Exception, Iterator[Exception]]:
    error = pool.submit(fails).exception()
    assert isinstance(error, LookupError)
    return error, iter([error])


@pytest.mark.parametrize("made", [from_a_generator, from_a_thread])
@pytest.mark.parametrize("name", ["single arms", "segments"])
def test_an_error_that_came_from_elsewhere_keeps_what_it_knew_there(name: str, made: Any) -> None:
    """And the generator that it came from goes on."""
    play = Playing(name)
    with ThreadPoolExecutor(1) as pool:
        error, steps = made(pool)
    with pytest.raises(LookupError) as raised:
        play.session.tell_many(failing_with(error, play.session.ask(**play.segment)))
    assert {"kept": "for a debugger"} in [step.tb_frame.f_locals for step in steps_of(raised.value)]
    assert next(steps) is error


def test_what_a_generator_of_ours_handled_is_forgotten() -> None:
    """Nothing says who called it, once it has ended."""

    def pairs(reward: float) -> Iterator[float]:
        try:
            fails()
        except LookupError:
            raise ValueError(len(str(reward))) from sys.exception()
        yield reward

    @discreet
    def call(reward: float) -> None:
        list(pairs(reward))

    with pytest.raises(ValueError, match="6") as error:
        call(REWARD)
    cause = error.value.__cause__
    assert cause is not None
    assert [list(step.tb_frame.f_locals) for step in steps_of(cause)] == [[], []]


DEEP = 60
"""Calls that the stack has room for."""


def deep(call: Callable[[], object], further: int) -> object:
    return deep(call, further - 1) if further else call()


CALLS: dict[str, Callable[[Any, Any], object]] = {
    "tell": lambda session, decision: session.tell(decision, REWARD),
    "swapped": lambda session, decision: session.tell(REWARD, decision),
    "tell_many": lambda session, decision: session.tell_many([(decision, REWARD)]),
    "expire": lambda session, decision: session.expire(REWARD),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", ["single arms", "units", "late answers", "segments"])
def test_a_call_for_which_the_stack_has_no_room_keeps_nothing(name: str, call: str) -> None:
    """At no depth, though what forgets it has no room either."""
    errors = list[Exception]()
    before = sys.getrecursionlimit()
    for further in range(DEEP):
        play = Playing(name)
        told = partial(CALLS[call], play.session, play.session.ask(**play.segment))
        sys.setrecursionlimit(depth() + DEEP)
        try:
            deep(told, further)
        except Exception as error:
            errors.append(error)
        finally:
            sys.setrecursionlimit(before)
    assert len([each for each in errors if isinstance(each, RecursionError)]) > 2
    for each in errors:
        known = [frame.f_locals for frame in frames_of(each)]
        assert DIGITS not in said([known, each, each.__context__])


def depth() -> int:
    frame, found = sys._getframe(), 0
    while frame.f_back is not None:
        frame, found = frame.f_back, found + 1
    return found
