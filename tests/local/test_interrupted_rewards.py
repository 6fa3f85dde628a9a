"""What is raised while a reward is read: an alarm or no memory is no bad reward; what a reward's
own code raises is not repeated.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.local import messages
from dpbandits.mechanisms import rewards
from dpbandits.mechanisms.rewards import checked_reward, checked_rewards, scaled_value
from tests.session.test_private import DIGITS, Talkative, client, objects, told


class Late(Exception):
    """What a handler of alarms may raise: an OSError, a ValueError or an error of its own."""


THREE = messages.decision_to_json(1, [0, 1, 2], None)
READ: list[Callable[[], object]] = [
    lambda: checked_reward(0.5),
    lambda: checked_reward(np.float32(0.5)),
    lambda: scaled_value(1, 0, 1),
    lambda: checked_rewards([0.5, 1, True], 3),
    lambda: checked_rewards(np.array([0.5, 1.0]), 2),
    lambda: client().answer(messages.decision_to_json(1, 0, None), 0.5),
    lambda: client().answer(THREE, {0: 0.5, 1: 0.5, 2: 0.5}),
]


@pytest.mark.parametrize("kind", [TimeoutError, MemoryError, Late, KeyboardInterrupt])
@pytest.mark.parametrize("at", range(len(READ)))
def test_an_interruption_is_no_bad_reward(
    at: int, kind: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers bring no code along: what is raised while they are read is somebody else's."""
    for name in ("number", "numbers"):
        monkeypatch.setattr(rewards, name, raising(kind("the alarm")))
    with pytest.raises(kind, match="the alarm"):
        READ[at]()


def raising(error: BaseException) -> Callable[[object], Any]:
    def read(_: object) -> Any:
        raise error

    return read


class Key:
    """A name for an arm that tells itself when it is looked at."""

    def __hash__(self) -> int:
        return hash(0)

    def __eq__(self, other: object) -> bool:
        raise TimeoutError(f"0.{DIGITS}")


@pytest.mark.parametrize(
    "reward", [Talkative(), [0.5, Talkative(), 0.5], objects(0.5, Talkative(), 0.5), {Key(): 0.5}]
)
def test_code_that_a_reward_brings_along_is_not_heard(reward: Any) -> None:
    """The other side: whatever that code raises, a timeout too, may tell the reward."""
    assert rewards.read_or_none(raising(ZeroDivisionError()), reward) is None
    assert rewards.read_or_none(raising(TimeoutError(f"0.{DIGITS}")), reward) is None
    with pytest.raises(dpb.RewardError) as error:
        client().answer(THREE, reward)
    assert DIGITS not in told(error.value)
