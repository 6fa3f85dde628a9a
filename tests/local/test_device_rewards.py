"""What a user's device is handed: rewards by arm, none missing; descriptions that are read in no
time.
"""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.local import messages
from dpbandits.local.client import Client
from dpbandits.mechanisms import LocalLaplace

DESCRIBED = messages.randomizer_to_json(LocalLaplace(epsilon=1, width=2))  # type: ignore[arg-type]
SUPER_ARM = messages.decision_to_json(7, [0, 3], (0, 3))


def device() -> Client:
    return Client(DESCRIBED, most=1, noise=dpb.SimulatedNoise(1), simulated=True)


@pytest.mark.parametrize(
    ("decision", "reward", "what"),
    [
        (SUPER_ARM, {0: 0.25}, r"rewards of arms \[0, 3\]; those of \[3\] are missing"),
        (SUPER_ARM, {}, r"those of \[0, 3\] are missing"),
        (
            SUPER_ARM,
            [0.25, 0.25],
            "Expected a mapping from arm to reward, got an object of type list",
        ),
        (SUPER_ARM, None, "Expected a mapping from arm to reward, got an object of type NoneType"),
        (
            messages.decision_to_json(7, 3, None),
            {"3": 0.25},
            r"rewards of arms \[3\]; those of \[3\] are missing",
        ),
    ],
)
def test_missing_rewards_are_named_as_such(decision: str, reward: Any, what: str) -> None:
    client = device()
    with pytest.raises(dpb.RewardError, match=what + ".*Nothing was drawn") as error:
        client.answer(decision, reward)
    assert "0.25" not in str(error.value)
    client.answer(decision, {0: 0.5, 3: 0.5})  # the decision was not used up


@pytest.mark.parametrize("epsilon", ["1e6000000", "1e-6000000", "1" * 10**5, "1/" + "7" * 10**5])
def test_a_description_costs_no_time(epsilon: str) -> None:
    text = json.dumps(json.loads(DESCRIBED) | {"epsilon": epsilon})
    tracemalloc.start()
    with pytest.raises(messages.MessageError, match="epsilon") as error:
        Client(text, most=1)
    largest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # The first one took seconds: 10 to the power of 6,000,000 was computed, 2.5 MB long.
    assert largest < 1_000_000
    assert len(str(error.value)) < 200
