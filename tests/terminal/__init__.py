"""The command line, called in this process."""

from collections.abc import Callable

from typer.testing import CliRunner

from dpbandits.terminal.cli import app

Shell = Callable[..., str]


def shell(*words: str, code: int = 0, stdin: str = "") -> str:
    """What a command prints before it ends with this code."""
    result = CliRunner().invoke(app, words, env={"COLUMNS": "200"}, input=stdin)
    assert result.exit_code == code, result.output
    return result.output


def in_one(text: str) -> str:
    return " ".join(text.split())
