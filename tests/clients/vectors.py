"""Vectors for both clients, Python's and JavaScript's: devices, what they are asked, the bytes that
the operating system gives them, and what they answer.

    python -m tests.clients.vectors

writes clients/js/test/vectors.json. Nothing in it is random: bytes are those of a seeded generator.
"""

import json
import os
import random
from collections.abc import Iterator
from itertools import count
from typing import Any
from unittest import mock

from dpbandits.core.errors import BudgetError, MessageError, RewardError
from dpbandits.local.client import Client
from tests.clients import texts
from tests.places import REPOSITORY

PATH = REPOSITORY / "clients" / "js" / "test" / "vectors.json"
REWARDS = (
    0.0,
    1.0,
    0.5,
    0.25,
    0.3,
    1 / 3,
    0.7310585786,
    2**-30 + 2**-60,
    1e-20,
    5e-324,
    1 - 2**-53,
)
EPSILONS = ("1", "1/10", "3", "1/1000", "41", "2.5", "1e-3", f"{10**99 + 7}/{10**98 + 3}")
ERRORS = {MessageError: "MessageError", RewardError: "RewardError", BudgetError: "BudgetError"}


class Tape:
    """Bytes in place of the operating system's: what is given first, then seeded ones."""

    def __init__(self, seed: int, first: bytes = b"") -> None:
        self._left, self._rng, self.used = first, random.Random(seed), b""

    def read(self, size: int) -> bytes:
        given, self._left = self._left[:size], self._left[size:]
        given += self._rng.randbytes(size - len(given))
        self.used += given
        return given


def played(step: dict[str, Any], device: Client, tape: Tape) -> dict[str, Any]:
    """The step with the bytes that were used and the report, or the error."""
    reward = step["reward"]
    if isinstance(reward, dict):
        reward = {int(arm): value for arm, value in reward.items()}
    with mock.patch("os.urandom", tape.read):
        try:
            told = {"report": device.answer(step["decision"], reward, datum=step.get("datum"))}
        except tuple(ERRORS) as error:
            told = {"error": ERRORS[type(error)]}
    return step | {"bytes": tape.used.hex()} | told


def vector(
    described: str, steps: list[dict[str, Any]], tapes: Iterator[Tape], **budget: str
) -> dict[str, Any]:
    """One device, and what it answers to each step in turn."""
    budget = {"most": "1e100"} | budget
    device = Client(described, **budget)  # type: ignore[arg-type]
    answered = [played(step, device, next(tapes)) for step in steps]
    return {"description": described} | budget | {"steps": answered}


def laws(tapes: Iterator[Tape]) -> Iterator[dict[str, Any]]:
    """Every randomizer and rounding at several prices, of one reward and of two."""
    for kind in ("LocalLaplace", "RandomizedResponse"):
        for at, epsilon in enumerate(EPSILONS):
            for rounding in ("nearest", "bernoulli"):
                grid = (1, 7, 1024, 2**20)[at % 4]
                one = texts.description(kind, epsilon, grid, rounding)
                steps = [
                    {"decision": texts.decision(i + 1, 0), "reward": reward}
                    for i, reward in enumerate(REWARDS)
                ]
                yield vector(one, steps, tapes)
                two = texts.description(kind, epsilon, grid, rounding, width=3)
                asked = {"decision": texts.decision(9, [4, 2, 0], [0, 4])}
                yield vector(two, [asked | {"reward": {"0": 0.3, "4": 1.0, "2": 0.5}}], tapes)


def budgets(tapes: Iterator[Tape]) -> Iterator[dict[str, Any]]:
    """Decisions asked again, named rewards, totals that end, rewards that are none."""
    two = texts.description("LocalLaplace", "1/3", 1, "nearest", width=2)
    likes = {"0": 1.0, "1": 0.0}
    first = {"decision": texts.decision(1, [0, 1]), "reward": likes}
    second = first | {"decision": texts.decision(2, [0, 1])}
    yield vector(two, [first, first, second, second], tapes, most="1/3", total="2/3")
    yield vector(two, [first, second, first], tapes, most="1/3", total="1/2")
    yield vector(two, [first, first | {"reward": None}], tapes, most="1/3")
    yield vector(two, [first, first | {"decision": texts.decision(1, [1, 0])}], tapes)
    alone = {"decision": texts.decision(3, [0, 1], [1]), "reward": likes, "datum": "likes"}
    both = second | {"datum": "likes"}
    yield vector(two, [alone, alone, both, both, first], tapes, most="1/3", total="1/3")
    yield vector(two, [first | {"decision": text} for text in texts.BAD_DECISIONS], tapes)
    bad = (None, 0.5, {"0": 1.0}, {"0": 1.0, "1": None}, {"0": 1.0, "1": 1.5})
    yield vector(two, [*(first | {"reward": reward} for reward in bad), first], tapes)
    yield vector(
        two, [{"decision": texts.decision(1, [0, 1, 2]), "reward": likes | {"2": 1}}], tapes
    )
    one = texts.description("LocalLaplace", "1/7", 1, "bernoulli")
    asked = {"decision": texts.decision(2**53 - 1, 5)}
    for reward in ({"5": 0.5}, -0.0, -1e-9, 1.0000001):
        yield vector(one, [asked | {"reward": reward}], tapes)
    elsewhere = {"decision": texts.decision(1, 5, campaign="other"), "reward": 1.0}
    yield vector(one, [elsewhere], tapes)


def rejections() -> Iterator[Tape]:
    """Tapes whose first words lie beyond the last whole multiple, and so are read and refused."""
    for seed, words in ((1, 1), (2, 2), (3, 5)):
        yield Tape(seed, b"\xff" * 8 * words)


def made() -> dict[str, Any]:
    """All vectors, and documents with whether a device takes them."""
    tapes = (Tape(seed) for seed in count(100))
    found = [*laws(tapes), *budgets(tapes)]
    for tape in rejections():
        text = texts.description("LocalLaplace", "1/5", 7, "bernoulli")
        found.append(
            vector(text, [{"decision": texts.decision(1, 2), "reward": 0.3}], iter([tape]))
        )
    return {"devices": found, "descriptions": [[text, taken(text)] for text in texts.DESCRIPTIONS]}


def taken(text: str) -> bool:
    """Whether this is a randomizer's description."""
    try:
        Client(text, most="1e100")
    except MessageError:
        return False
    return True


def written(vectors: dict[str, Any]) -> str:
    """The vectors as JSON, a device and a description a line."""
    parts = [
        f'"{name}": [\n' + ",\n".join(json.dumps(entry) for entry in entries) + "\n]"
        for name, entries in vectors.items()
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    PATH.write_text(written(made()), encoding="utf-8")
    print(f"{PATH} written, {os.path.getsize(PATH)} bytes")
