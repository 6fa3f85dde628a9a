"""What an error on a user's device shows beside its words: no local variable has the reward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.local.client import Client
from dpbandits.noise import SimulatedNoise
from tests.session.test_frames_refused import require_nothing_of_it

WRONG: dict[str, Callable[[Client, str, str], object]] = {
    "outside [0, 1]": lambda client, first, second: client.answer(first, 7314),
    "text": lambda client, first, second: client.answer(first, "0.7314"),  # type: ignore[arg-type]  # on purpose
    "swapped": lambda client, first, second: client.answer("0.7314", first),  # type: ignore[arg-type]  # on purpose
    "no decision": lambda client, first, second: client.answer("{}", 0.7314),
    "a name that is none": lambda client, first, second: client.answer(first, 0.7314, datum=7314),  # type: ignore[arg-type]  # on purpose
    "beyond its total": lambda client, first, second: [
        client.answer(each, 0.7314) for each in (first, second)
    ],
}


@pytest.mark.parametrize("wrong", WRONG)
def test_an_answer_that_is_refused_is_in_no_frame(wrong: str) -> None:
    session = dpb.Session(dpb.LDPUCB(arms=2, epsilon=1), noise=SimulatedNoise(1))
    asked = [each.to_json() for each in session.ask(2)]
    device: Any = Client(session.description(), most=1, noise=SimulatedNoise(2), simulated=True)
    with pytest.raises((TypeError, ValueError)) as error:
        WRONG[wrong](device, *asked)
    require_nothing_of_it(error.value)


@pytest.mark.parametrize("wrong", [7314.0, "0.7314", [0.7314, 0.7314], [7314.0]])
def test_a_reward_that_no_report_can_be_about_is_in_no_frame(wrong: object) -> None:
    randomizer = dpb.LDPUCB(arms=2, epsilon=1).randomizer()
    assert randomizer is not None
    for call in (randomizer.report, randomizer.put_on_grid):
        with pytest.raises(ValueError, match="Expected") as error:
            call(wrong, SimulatedNoise(1))
        require_nothing_of_it(error.value)
