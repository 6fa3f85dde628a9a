"""Calls of the command line that do not fit, and how its help is set."""

from __future__ import annotations

import pytest

from dpbandits.terminal.cli import app
from tests.terminal.test_cli import dpbandits

WRONG = {
    "lst": "No such command 'lst'. Did you mean 'list'?",
    "list --nope": "No such option",
    "forecast": "Missing option '--visitors'",
    "forecast --base .03 --visitors 50,000": "Invalid value for '--visitors'",
}


@pytest.mark.parametrize("call", WRONG)
def test_a_call_that_does_not_fit_is_refused(call: str) -> None:
    result = dpbandits(*call.split())
    assert result.exit_code == 2
    assert WRONG[call] in result.stderr


def test_what_is_no_reward_is_not_repeated() -> None:
    said = dpbandits("campaign", "tell", "trial", "0" * 32, "0.12.3", "--store", "x").stderr
    assert "Invalid value for 'reward'" in said
    assert "0.12.3" not in said


def test_a_fault_is_shown_without_local_variables() -> None:
    """A reward is one, where an answer is told; by itself Typer 0.15 shows them."""
    assert app.pretty_exceptions_show_locals is False
