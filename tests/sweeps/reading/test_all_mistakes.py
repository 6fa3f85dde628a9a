"""A sweep file with several mistakes names all of them at once, wherever they are found: fields
of the wrong kind, values that an environment or a policy refuses, names that there are not.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import dpbandits as dpb
from dpbandits.sweeps import load_config
from dpbandits.terminal.cli import app

WRONG = """
name = "a b"
title = "Many mistakes"
rounds = 0
runs = 2
sede = 7
epsilons = [1]
[[environments]]
name = "first"
law = "bernoulli"
means = [0.7, 1.5]
[[environments]]
name = "second"
law = "gauss"
[[environments]]
name = "third"
law = "bernoulli"
means = [0.7, 0.5]
[[environments]]
name = "third"
law = "bernoulli"
means = [0.7, 0.5]
[[policies]]
class = "DPKLUBC"
[[policies]]
class = "DPKLUCB"
alfa = 2
frist = 3
[[policies]]
class = "DPKLUCB"
alpha = 0.5
[[policies]]
class = "UCB1"
environments = ["second", "thrid"]
"""
EXPECTED = [
    "name: ",
    "rounds: Input should be greater than or equal to 1, got 0",
    "sede: there is no such field here (did you mean seed?)",
    "environments[0] (first): ",
    "environments[1]: expected law = one of bernoulli",
    "environments: 'third' occurs twice",
    "policies[0]: There is no policy 'DPKLUBC' (did you mean DPKLUCB",
    "policies[1]: DPKLUCB does not take 'alfa' (did you mean alpha",
    "policies[1]: DPKLUCB does not take 'frist' (did you mean first",
    "policies[2] (DPKLUCB): Expected alpha=0.5",
    "policy UCB1: there is no environment 'thrid' (did you mean third?)",
]


def refused(folder: Path, text: str) -> list[str]:
    """The lines of the error."""
    path = folder / "sweep.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(dpb.ConfigError) as caught:
        load_config(path)
    said = str(caught.value)
    assert said.startswith(f"{path}: ")
    return said.removeprefix(f"{path}: ").splitlines()


def test_all_mistakes_are_named_at_once_each_in_a_line(tmp_path: Path) -> None:
    first, *lines = refused(tmp_path, WRONG)
    assert first == f"{len(lines)} mistakes:"
    assert len(lines) == len(EXPECTED)
    for words in EXPECTED:
        assert sum(line.strip().startswith(words) for line in lines) == 1, words


def test_missing_fields_are_one_line_and_the_rest_is_looked_at(tmp_path: Path) -> None:
    text = WRONG.replace('title = "Many mistakes"\n', "").replace("rounds = 0\n", "")
    lines = refused(tmp_path, text)
    assert "  missing: title, rounds; not known: sede; `dpbandits run --help` shows a file" in lines
    assert len(lines) == len(EXPECTED)  # a line for the number, one for three fields


def test_a_mistake_that_is_met_twice_is_named_once(tmp_path: Path) -> None:
    """A policy that refuses its arguments does so in every environment."""
    (line,) = refused(
        tmp_path,
        """
name = "x"
title = "x"
rounds = 100
runs = 2
[[environments]]
name = "a"
law = "bernoulli"
means = [0.7, 0.5]
[[environments]]
name = "b"
law = "bernoulli"
means = [0.7, 0.4]
[[policies]]
class = "DPKLUCB"
alpha = 0.5
""",
    )
    assert line.startswith("policies[0] (DPKLUCB): Expected alpha=0.5")


@pytest.mark.parametrize(
    "text",
    ["environments = 3\npolicies = 4", "environments = [3]\npolicies = [4]", "[environments]"],
)
def test_where_nothing_is_left_the_fields_are_named(tmp_path: Path, text: str) -> None:
    said = "\n".join(refused(tmp_path, f'name = "x"\ntitle = "x"\nruns = 1\n{text}\n'))
    assert "missing: " in said
    assert "rounds" in said


def test_the_command_prints_them_all(tmp_path: Path) -> None:
    path = tmp_path / "sweep.toml"
    path.write_text(WRONG, encoding="utf-8")
    result = CliRunner().invoke(app, ["run", str(path)])
    assert result.exit_code == 2
    for words in EXPECTED:
        assert words in result.stderr
