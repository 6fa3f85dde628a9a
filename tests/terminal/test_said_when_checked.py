"""What is being done is said only once it is known that it can be done."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from dpbandits.terminal.cli import app

FORECAST = ("forecast", "--rates", ".6,.5", "--visitors", "50", "--epsilon", "1", "--draws", "2")
SWEEP = """
name = "x"
title = "A title"
rounds = 100
runs = 1
[[environments]]
name = "a"
law = "bernoulli"
means = [0.7, 0.5]
[[policies]]
class = "UCB1"
"""


def said(*arguments: str) -> tuple[int, str, str]:
    found = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "120"})
    return found.exit_code, found.stdout, found.stderr


@pytest.mark.parametrize(
    "wrong",
    [
        ("--rates", ".6,1.5"),
        ("--epsilon", "0"),
        ("--policy", "Nobody"),
        ("--within", "nan"),
        ("--visitors", "9" * 30),
        ("--out", "/dev/null/there"),
    ],
)
def test_a_forecast_that_is_refused_does_not_say_that_it_plays(wrong: tuple[str, str]) -> None:
    code, out, errors = said(*FORECAST, *wrong)
    assert code == 2
    assert "Playing" not in out
    assert "played" not in out
    assert "Error" in errors or "Invalid value" in errors


@pytest.mark.parametrize("command", ["demo", "run"])
def test_a_sweep_without_a_folder_to_write_to_is_not_announced(
    command: str, tmp_path: Path
) -> None:
    sweep = tmp_path / "sweep.toml"
    sweep.write_text(SWEEP, encoding="utf-8")
    (tmp_path / "file").touch()
    given = [str(sweep)] if command == "run" else ["--quick"]
    code, out, errors = said(command, *given, "--out", str(tmp_path / "file"))
    assert code == 2
    assert out == ""
    assert "Expected a folder for results that can be written" in errors
