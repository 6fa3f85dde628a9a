"""No error about a reward, a report or a message tells what came, nowhere in its chain: causes,
contexts, notes and arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.local import messages
from dpbandits.local.client import Client
from dpbandits.mechanisms import LocalLaplace
from dpbandits.mechanisms.rewards import checked_reward, checked_rewards, scaled_value

DIGITS = "7314"


class Talkative:
    """A reward that tells itself wherever its code is run."""

    def _tell(self, *_: object) -> Any:
        raise RuntimeError(f"my value is 0.{DIGITS}")

    __float__ = __index__ = __len__ = __iter__ = __getitem__ = __eq__ = __lt__ = __array__ = (
        __hash__
    ) = _tell  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Talkative(0.{DIGITS})"

    __str__ = __repr__


class Wrong(Talkative):
    """The same, with an error that a number may raise."""

    def _tell(self, *_: object) -> Any:
        raise ValueError(f"my value is 0.{DIGITS}")

    __float__ = __index__ = _tell


class Diary(Mapping[int, Any]):
    """A mapping that tells what is in it."""

    def __getitem__(self, arm: int) -> Any:
        raise RuntimeError(f"arm {arm} had 0.{DIGITS}")

    def __iter__(self) -> Iterator[int]:
        return iter(())

    def __len__(self) -> int:
        return 0


def told(error: BaseException) -> str:
    """Everything an error and those it came from say."""
    chain, words = [error], list[str]()
    while chain:
        one = chain.pop()
        words += [
            str(one),
            repr(one),
            repr(one.args),
            *getattr(one, "__notes__", []),
            repr(getattr(one, "doc", "")),
        ]
        chain += [other for other in (one.__cause__, one.__context__) if other is not None]
        chain += list(getattr(one, "exceptions", ()))
    return " ".join(words)


def objects(*values: object) -> Any:
    array = np.empty(len(values), object)
    for at, value in enumerate(values):
        array[at] = value
    return array


REWARDS: list[Any] = [
    Talkative(),
    Wrong(),
    7314.0,
    -0.7314,
    "0.7314",
    b"0.7314",
    0.7314j,
    [7314.0],
    {"x": 0.7314},
    [0.7314, "x"],
    np.array(["0.7314"]),
    np.array([0.7314, 7314.0]),
    np.array("0.7314"),
    [Talkative()],
    [Wrong(), 1.0],
    objects(Talkative(), 1),
    (7314, 0),
]

CHECKS: list[Callable[[Any], object]] = [
    checked_reward,
    lambda reward: scaled_value(reward, 0, 1),
    lambda reward: checked_rewards(reward, 3),
    lambda reward: LocalLaplace(epsilon=1).report(reward, dpb.SimulatedNoise(1)),  # type: ignore[arg-type]
    lambda reward: client().answer(messages.decision_to_json(1, 0, None), reward),
    lambda reward: client().answer(messages.decision_to_json(1, [0, 1, 2], None), reward),
    lambda reward: client().answer(
        messages.decision_to_json(1, [0, 1, 2], None), {0: reward, 1: 0.5, 2: 0.5}
    ),
]


def client() -> Client:
    randomizer = LocalLaplace(epsilon=1, width=3)  # type: ignore[arg-type]
    return Client(
        messages.randomizer_to_json(randomizer), most=1, noise=dpb.SimulatedNoise(1), simulated=True
    )


@pytest.mark.parametrize("check", range(len(CHECKS)))
@pytest.mark.parametrize("at", range(len(REWARDS)))
def test_no_reward_is_told(check: int, at: int) -> None:
    with pytest.raises(dpb.RewardError) as error:
        CHECKS[check](REWARDS[at])
    assert DIGITS not in told(error.value)


def test_a_mapping_tells_nothing() -> None:
    with pytest.raises(dpb.RewardError, match="missing") as error:
        client().answer(messages.decision_to_json(1, [0, 1, 2], None), Diary())
    assert DIGITS not in told(error.value)


def test_the_look_finds_what_is_told() -> None:
    """The control: an error raised in the handler of another carries it along, though it is not
    shown.
    """

    def hidden() -> None:
        try:
            float(Wrong())
        except ValueError:
            raise KeyError from None

    with pytest.raises(KeyError) as error:
        hidden()
    assert error.value.__suppress_context__
    assert DIGITS in told(error.value)


@contextmanager
def suppress_and_keep(errors: list[str]) -> Iterator[None]:
    try:
        yield
    except messages.MessageError as error:
        errors.append(told(error))
