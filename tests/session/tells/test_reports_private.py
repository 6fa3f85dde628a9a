"""No error tells what was in a report or a message."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.local import messages
from dpbandits.mechanisms import LocalLaplace, RandomizedResponse
from dpbandits.mechanisms.randomizers import Report
from dpbandits.vault import checked_report
from tests.session.test_errors_private import DIGITS, Talkative, suppress_and_keep, told


class Hidden(Report):
    """A report with more in it."""

    def __repr__(self) -> str:
        return f"0.{DIGITS}"


NAME = LocalLaplace(epsilon=1).name  # type: ignore[arg-type]
REPORTS: list[Any] = [
    0.7314,
    Talkative(),
    "0.7314",
    Report(0.7314, NAME, "simulated"),
    Report(Talkative(), NAME, "simulated"),  # type: ignore[arg-type]
    Report(3, "0.7314", "simulated"),
    Report(3, Talkative(), "simulated"),
    Report(3, NAME, "0.7314"),  # type: ignore[arg-type]
    Report(3, NAME, Talkative()),
    Report((3, 0.7314), NAME, "simulated"),
    Report((Talkative(),), NAME, "simulated"),  # type: ignore[arg-type]
    Report((), NAME, "simulated"),
    Report(True, NAME, "simulated"),
    Report(7314 * 10**9, NAME, "simulated"),
    Hidden(3, NAME, "simulated"),
    Report([7314], NAME, "simulated"),
    Report(3, "LocalLaplace(epsilon=7314, grid=1024)", "simulated"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("at", range(len(REPORTS)))
def test_no_report_is_told(at: int) -> None:
    randomizer = LocalLaplace(epsilon=1)  # type: ignore[arg-type]
    with pytest.raises((dpb.RewardError, TypeError)) as error:
        checked_report(REPORTS[at], randomizer, "simulated", 1)
    assert DIGITS not in told(error.value)
    assert "Nothing was recorded" in str(error.value)


@pytest.mark.parametrize("at", [at for at in range(len(REPORTS)) if at not in (5, 13, 16)])
def test_no_damaged_report_is_sent(at: int) -> None:
    with pytest.raises(messages.MessageError) as error:
        messages.report_to_json(1, REPORTS[at])
    assert DIGITS not in told(error.value)
    with pytest.raises(messages.MessageError) as error:
        messages.report_to_json(REPORTS[at], Report(3, NAME, "simulated"))
    assert DIGITS not in told(error.value)


def texts() -> Iterator[tuple[Callable[[str], object], str]]:
    """Each of the three messages with a reward in each of its places, and beside them."""
    sound = {
        messages.randomizer_from_json: messages.randomizer_to_json(
            RandomizedResponse(epsilon=1), "a"
        ),  # type: ignore[arg-type]
        messages.decision_from_json: messages.decision_to_json(1, [0, 1], (1,), campaign="a"),
        messages.report_from_json: messages.report_to_json(1, Report(3, NAME, "simulated"), "a"),
    }
    for read, text in sound.items():
        yield from (
            (read, broken)
            for broken in (
                f"0.{DIGITS}",
                text[:-1] + f" 0.{DIGITS}",
                text.replace("{", f'{{"r": 0.{DIGITS}, ', 1),
            )
        )
        for field in json.loads(text):
            for value in (
                0.7314,
                [0.7314],
                {"steps": 0.7314, "rounding": "0.7314"},
                "0.7314" * 100,
                -7314,
                True,
                None,
            ):
                if field != "observe" or value is not None:
                    yield read, json.dumps(json.loads(text) | {field: value})


def test_no_message_is_told() -> None:
    errors = list[str]()
    for read, text in texts():
        with suppress_and_keep(errors):
            read(text)
    assert len(errors) > 100
    assert [error for error in errors if DIGITS in error] == []
