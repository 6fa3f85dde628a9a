"""Forgetting is not prevented by signals that arrive meanwhile."""

from __future__ import annotations

from _thread import interrupt_main
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from types import TracebackType
from typing import Any

import pytest

from dpbandits.core.calls import forgetting
from dpbandits.core.calls.forgetting import discreet
from tests.session.test_interruption import Interrupted, Place, traced

REWARD = 0.7314


class Plain(Exception):
    """Of a class with a word of its own for what groups of errors are made of."""

    exceptions = None


@dataclass(frozen=True)
class Frozen(Exception):
    why: str = "no entropy"


def steps_of(error: BaseException) -> list[TracebackType]:
    found, step = list[TracebackType](), error.__traceback__
    while step is not None:
        found.append(step)
        step = step.tb_next
    return found


def cut_off(call: Any, at: int) -> None:
    """Make the call, raising at the `at`-th line of what forgets."""
    passed, begun = 0, set[Any]()

    def visit(place: Place) -> None:
        nonlocal passed
        code = place[0]
        first = code not in begun
        begun.add(code)
        # before the `try:` of `forget`, its first line, nothing can be done
        if code.co_name != "discreetly" and not (code.co_name == "forget" and first):
            passed += 1
            if passed == at:
                raise Interrupted

    traced(call, visit, "line", forgetting.__file__)


@pytest.mark.parametrize("made", [Plain, Frozen])
def test_a_signal_passes_whatever_the_class_of_the_error_that_is_forgotten(made: Any) -> None:
    """Nor do the frames in which it arrived keep those of that error."""

    @discreet
    def call(reward: float) -> None:
        try:
            raise KeyError(reward)
        except KeyError:
            raise made from None

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
    assert at > 20


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
