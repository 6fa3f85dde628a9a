"""What a device's client refuses when it is made: before anything of the user's budget is spent."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.core.errors import MessageError
from dpbandits.local.budget import FileBudget
from dpbandits.local.client import Client
from dpbandits.local.messages import decision_to_json

POLICY = dpb.LDPKLUCB(arms=2, epsilon=1, grid=1)


def client(**options: Any) -> Client:
    return Client(dpb.Session(POLICY, noise=dpb.SecureNoise()).description(), most=1, **options)


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "noise without brackets": (
        lambda: client(noise=dpb.SecureNoise),
        "got the class SecureNoise: call it",
    ),
    "noise by its name": (lambda: client(noise="secure"), r"Expected noise=SecureNoise\(\)"),
    "a number for a budget": (
        lambda: client(budget=2),
        "budget such as FileBudget.*got an object of type int",
    ),
    "a path for a budget": (lambda: client(budget="b.json"), "got an object of type str"),
    "a budget without brackets": (lambda: client(budget=FileBudget), "got the class FileBudget"),
    "a report without brackets": (
        lambda: POLICY.randomizer().report(1.0, dpb.SecureNoise),
        "got the class SecureNoise: call it",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what: str) -> None:
    """A class for the noise was taken, and the first answer spent the budget before it failed."""
    call, message = REFUSED[what]
    with pytest.raises(TypeError, match=message):
        call()


def test_what_is_kept_of_a_decision_is_small(tmp_path: Path) -> None:
    """A decision of 120,000 arms was kept whole with its one reward's report."""
    policy = dpb.CUCBLDP2(problem=dpb.TopK(arms=120_000, k=1), epsilon=1)
    device = Client(
        dpb.Session(policy, noise=dpb.SecureNoise()).description(),
        most=1,
        budget=FileBudget(tmp_path / "b", total=1),
    )
    asked = decision_to_json(1, list(range(120_000)), (7,), campaign=device._campaign)
    answer = device.answer(asked, {7: 1.0})
    assert device.answer(asked, {7: 1.0}) == answer
    assert len((tmp_path / "b").read_bytes().rstrip(b"\0")) < 20_000  # of pages of 4,096 bytes


def test_noise_beyond_every_message_is_refused_before_it_is_paid_for() -> None:
    text = dpb.Session(dpb.LDPUCB(arms=2, epsilon=1), noise=dpb.SecureNoise()).description()
    for epsilon in (f"1/{10**30 - 1}", f"1023/{2**50}"):  # the grid has 1024 steps
        described = json.dumps(json.loads(text) | {"epsilon": epsilon})
        with pytest.raises(MessageError, match=r"reports within 60 \* 2\^50 steps"):
            Client(described, most=1)
    described = json.dumps(json.loads(text) | {"epsilon": f"1024/{2**50}"})
    asked = decision_to_json(1, 0, None, campaign=json.loads(text)["campaign"])
    assert "steps" in Client(described, most=1).answer(asked, 1.0)
