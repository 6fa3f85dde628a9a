"""What an error shows beside its words: the local variables of the calls it came through, which
logs of errors may keep. Sums, memory, noise and held answers are not among them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from types import FrameType, TracebackType
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.core.calls.forgetting import forget
from dpbandits.noise import SimulatedNoise
from tests.session.interruption.interrupted import PACKAGE, TOP, TOPM, Interrupted, interrupt

REWARD = 0.7314
DIGITS = "7314"


VERBS = "Session.", "SegmentedSession.", "SpecialAsks."
"""Classes of the calls that let an error out: their own frames are still at work then."""


class Failing(SimulatedNoise):
    """Fails as it is asked for noise."""

    def _fail(self, value: Any, **_: Any) -> Any:
        raise OSError("no entropy")

    laplace = laplaces = joint = select = _fail


SESSIONS: dict[str, tuple[Any, dict[str, Any]]] = {
    "single arms": (dpb.DPKLUCB(arms=2, epsilon=1, first=2), {}),
    "units": (dpb.DPKLUCB(arms=2, epsilon=1, first=2), {"rewards": dpb.Range(0, 2)}),
    "guardrail": (
        dpb.DPKLUCB(arms=2, epsilon=1, first=2),
        {"guardrail": dpb.Guardrail("refunds", limit=0.1)},
    ),
    "late answers": (
        dpb.DPKLUCB(arms=2, epsilon=1, first=2),
        {"attribution_window": timedelta(seconds=10)},
    ),
    "segments": (dpb.DPKLUCB(arms=2, epsilon=1, first=2), {"segments": ["x"]}),
    "trees": (dpb.HybridUCB(arms=2, epsilon=1), {}),
    "super arms": (dpb.CUCBDP(problem=TOP, epsilon=1, horizon=100), {}),
    "joint releases": (dpb.DPJointMAT(problem=TOPM, epsilon=4, first=2.0), {}),
    "whole records": (dpb.TreeFTRL(actions=2, epsilon=1, horizon=100), {}),
}


class Playing:
    """A session that is played until its noise fails."""

    def __init__(self, name: str) -> None:
        policy, options = SESSIONS[name]
        self.now, self.name = 0.0, name
        clock = {"clock": lambda: self.now} if name == "late answers" else {}
        self.session: Any = dpb.Session(policy, noise=Failing(1), seed=1, **options, **clock)
        self.segment = {"segment": "x"} if name == "segments" else {}

    def reward(self, decision: dpb.Decision) -> Any:
        if self.name == "guardrail":
            return REWARD, REWARD
        if self.name == "whole records":
            return [REWARD] * 2
        return REWARD if decision.observe is None else [REWARD] * len(decision.observe)

    def until_it_fails(self, tell: Callable[[Any, dpb.Decision, Any], None]) -> None:
        for _ in range(20):
            decision = self.session.ask(**self.segment)
            tell(self.session, decision, self.reward(decision))
            self.now += 6


def tell_one(session: Any, decision: dpb.Decision, reward: Any) -> None:
    session.tell(decision, reward)


def tell_several(session: Any, decision: dpb.Decision, reward: Any) -> None:
    session.tell_many(pair for pair in [(decision, reward)])


def frames_of(error: BaseException) -> Iterator[FrameType]:
    """All frames that hang on an error and on those it came from, but our own."""
    chain, seen = [error], set[int]()
    while chain:
        one = chain.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        for frame in (step.tb_frame for step in steps_of(one)):
            code = frame.f_code
            if code.co_filename.startswith(PACKAGE) or code.co_name == "_fail":
                yield frame
        chain += [each for each in (one.__cause__, one.__context__) if each is not None]


def steps_of(error: BaseException) -> Iterator[TracebackType]:
    step = error.__traceback__
    while step is not None:
        yield step
        step = step.tb_next


def said(known: object) -> str:
    """As logs write it, but for places in memory, in which any digits may stand by chance."""
    return re.sub(r"0x[0-9a-f]+", "0x", repr(known))


def require_nothing_known(error: BaseException) -> None:
    """The verb's own frame may have public values; those of what it called have none."""
    private = (int, float, tuple, list, dict, np.ndarray)
    below = 0
    for frame in frames_of(error):
        known = dict(frame.f_locals)
        assert DIGITS not in said(known), frame
        if frame.f_code.co_qualname.startswith(VERBS):
            continue
        below += 1
        assert not [name for name, value in known.items() if isinstance(value, private)], frame
    assert below


@pytest.mark.parametrize("tell", [tell_one, tell_several])
@pytest.mark.parametrize("name", SESSIONS)
def test_an_error_of_the_noise_knows_nothing(name: str, tell: Any) -> None:
    play = Playing(name)
    with pytest.raises(OSError, match="no entropy") as error:
        play.until_it_fails(tell)
    require_nothing_known(error.value)
    with pytest.raises(dpb.NotRecordedError) as again:
        play.session.settle()
    require_nothing_known(again.value)


def test_a_refused_reward_is_in_no_frame() -> None:
    session = Playing("single arms").session
    decision = session.ask()
    with pytest.raises(dpb.RewardError) as error:
        session.tell(decision, 7314.0)
    require_nothing_known(error.value)


def test_a_refused_value_of_an_estimator_is_in_no_frame() -> None:
    estimator = dpb.Estimator(dpb.NAS(alpha=0.5, beta=0.1, cap=100), noise=Failing(1))
    with pytest.raises(dpb.RewardError) as error:
        estimator.add(7314.0)
    assert DIGITS not in said([frame.f_locals for frame in frames_of(error.value)])


PRIVATE = {"private", "sums", "held", "memory", "saved", "plain"}
"""Names under which a save has what is private."""


@pytest.mark.parametrize("name", ["late answers", "trees", "segments"])
def test_no_line_of_a_save_that_is_interrupted_shows_what_is_private(name: str) -> None:
    at, passed = 1, False
    while not passed:
        play = Playing(name)
        decision = play.session.ask(**play.segment)
        if name != "trees":  # whose noise would be drawn, and fails
            play.session.tell(decision, play.reward(decision))
        try:
            interrupt(partial(play.session.to_json, key=bytes(32)), at)
            passed = True
        except Interrupted as error:
            shown = [set(frame.f_locals) for frame in frames_of(error)]
            assert not any(names & PRIVATE for names in shown)  # not of the error
        at += 7
    assert at > 200


def test_a_document_that_is_refused_shows_nothing_of_its_private_part() -> None:
    session = Playing("single arms").session
    session.tell(session.ask(), REWARD)
    text = session.to_json()
    at = text.index('"sums": [') + 9
    for wrong in (text[:at] + "9" + text[at:], text.replace('"turns"', '"moves"'), text[:-9]):
        with pytest.raises(ValueError, match=r"damaged|not JSON") as error:
            dpb.Session.from_json(wrong)
        for frame in frames_of(error.value):
            assert not set(frame.f_locals) - {"call"}, frame  # which call it was


def test_errors_that_were_being_handled_keep_what_they_know() -> None:
    """And generators that wait to go on are not ended."""

    def outer() -> None:
        kept = "for a debugger"
        raise LookupError(kept)

    def waiting() -> Iterator[int]:
        try:
            outer()
        except LookupError:
            yield 1
            yield 2

    steps = waiting()
    next(steps)
    play = Playing("single arms")
    with pytest.raises(LookupError) as handled:
        outer()

    def handle() -> None:
        try:
            raise handled.value
        except LookupError:
            play.until_it_fails(tell_one)

    with pytest.raises(OSError, match="no entropy") as raised:
        handle()
    assert raised.value.__context__ is handled.value
    known = [step.tb_frame.f_locals for step in steps_of(handled.value)]
    assert {"kept": "for a debugger"} in known
    assert next(steps) == 2


def test_an_error_that_refers_to_itself_is_gone_through_once() -> None:
    error = ValueError()
    error.__cause__ = error.__context__ = error
    forget(error, sys._getframe())
