"""What an error shows beside its words, where the call itself was wrong: the local variables of our
calls have nothing of what came, not even what the caller gave them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Thread
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.noise import SimulatedNoise
from tests.session.test_frames_forget import DIGITS, REWARD, Playing, frames_of, said

Wrong = Callable[[Any, dpb.Decision, dpb.Decision, Any], None]


def require_nothing_of_it(error: BaseException) -> None:
    """Not in our calls' variables, nor in what the errors carry."""
    known = [frame.f_locals for frame in frames_of(error)]
    assert known
    assert DIGITS not in said([known, error, error.__cause__, error.__context__, vars(error)])


def failing(decision: dpb.Decision, reward: Any) -> Iterator[Any]:
    yield decision, reward
    raise ValueError


WRONG: dict[str, Wrong] = {
    "swapped": lambda s, d, e, r: s.tell(r, d),
    "swapped pairs": lambda s, d, e, r: s.tell_many([(r, d)]),
    "a pair that is none": lambda s, d, e, r: s.tell_many([(d, r), r]),
    "a pair twice": lambda s, d, e, r: s.tell_many([(d, r), (d, r)]),
    "a wrong reward": lambda s, d, e, r: s.tell(d, "7314"),
    "a wrong one among several": lambda s, d, e, r: s.tell_many([(d, r), (e, "7314")]),
    "no pairs": lambda s, d, e, r: s.tell_many(REWARD),
    "pairs that fail": lambda s, d, e, r: s.tell_many(failing(d, r)),
    "no decision": lambda s, d, e, r: s.tell(d._replace(campaign="another"), r),
    "a reward expires": lambda s, d, e, r: s.expire(REWARD),
    "a reward is void": lambda s, d, e, r: s.void(REWARD),
    "no message": lambda s, d, e, r: s.tell_message(str(REWARD)),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("name", ["single arms", "guardrail", "late answers", "segments"])
def test_a_wrong_call_keeps_nothing_of_what_came(name: str, wrong: str) -> None:
    play = Playing(name)
    first, second = play.session.ask(2, **play.segment)
    with pytest.raises((TypeError, ValueError, LookupError)) as error:
        WRONG[wrong](play.session, first, second, play.reward(first))
    require_nothing_of_it(error.value)


def test_an_answer_that_comes_late_is_in_no_frame() -> None:
    play = Playing("late answers")
    decision = play.session.ask()
    play.now = 100.0
    with pytest.raises(dpb.DecisionError, match="time has passed") as error:
        play.session.tell(decision, REWARD)
    require_nothing_of_it(error.value)


def test_a_call_that_another_thread_keeps_out_is_in_no_frame() -> None:
    session = Playing("single arms").session
    decision, found = session.ask(), list[BaseException]()

    def told() -> None:
        try:
            session.tell(decision, REWARD)
        except dpb.SharedError as error:
            found.append(error)

    thread = Thread(target=told)
    session._gate.enter()
    thread.start()
    thread.join()
    session._gate.leave()
    require_nothing_of_it(found[0])
    session.tell(decision, REWARD)


@pytest.mark.parametrize("wrong", [7314.0, "7314", [REWARD]])
def test_a_value_that_is_none_is_in_no_frame(wrong: object) -> None:
    rule = dpb.NAS(alpha=0.5, beta=0.1, cap=100)
    estimator = dpb.Estimator(rule, noise=SimulatedNoise(1))
    calls: list[Callable[[], object]] = [
        lambda: estimator.add(wrong),
        lambda: estimator.scaled(wrong),
        lambda: estimator.add(REWARD, at=9),
        lambda: dpb.estimate(rule, [REWARD, wrong], noise=SimulatedNoise(1)),
        lambda: dpb.estimate(rule, iter([REWARD, wrong]), noise=SimulatedNoise(1)),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="Expected") as error:
            call()
        require_nothing_of_it(error.value)


@pytest.mark.parametrize("name", ["single arms", "segments"])
def test_a_document_and_its_key_are_in_no_frame(name: str) -> None:
    session, key = Playing(name).session, b"7314 7314 7314 7314"
    text = session.to_json(key=key)
    for wrong in (text[:-9] + DIGITS, text.replace("public", "7314")):
        with pytest.raises(ValueError, match=r".") as error:
            type(session).from_json(wrong, key=key)
        require_nothing_of_it(error.value)
    session._gate.enter()
    with pytest.raises(dpb.SharedError) as shared:
        session.to_json(key=key)
    session._gate.leave()
    require_nothing_of_it(shared.value)
