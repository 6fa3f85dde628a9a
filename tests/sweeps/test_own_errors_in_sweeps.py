"""A policy of the user's own that raises in a sweep: the cell is named, or the file's table."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpbandits as dpb
from dpbandits.sweeps import load_config, run_sweep

OWN = """
from dataclasses import dataclass
import dpbandits as dpb
from dpbandits.policies.base import PrivatePolicy

@dataclass(frozen=True, kw_only=True)
class Unmade(dpb.DPKLUCB):
    def validate(self):
        raise LookupError("no such table")

@dataclass(frozen=True, kw_only=True)
class NoAbout(PrivatePolicy):
    pass
"""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Unmade", r"\(own_unmade:Unmade\): LookupError: no such table"),
        ("NoAbout", "about: ClassVar.* own_unmade:NoAbout says nothing"),
    ],
)
def test_a_sweep_file_with_such_a_class_is_refused(name: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "own_unmade.py").write_text(OWN, encoding="utf-8")
    file = tmp_path / "own.toml"
    named = SWEEP.replace("tests.simulation.test_own_errors:Fails", f"own_unmade:{name}")
    file.write_text(named, encoding="utf-8")
    with pytest.raises(dpb.ConfigError, match=words):
        load_config(file)


SWEEP = """
name = "own"
title = "Own"
rounds = 1000
runs = 2
epsilons = [1]
[[environments]]
name = "two arms"
law = "bernoulli"
means = [0.6, 0.4]
[[policies]]
class = "tests.simulation.test_own_errors:Fails"
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_a_sweep_names_the_cell(workers: int, tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(SWEEP if workers == 1 else SWEEP.replace("[1]", "[1, 2]"), encoding="utf-8")
    config = load_config(file)
    with pytest.raises(LookupError, match="no such table") as caught:
        run_sweep(config, tmp_path / "out", workers=workers)
    notes = " ".join(caught.value.__notes__)
    assert "Fails at ε = " in notes
    assert " on two arms." in notes
